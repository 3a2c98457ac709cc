//! Faults put into runs and files on purpose. `make faults` counts all of them, `make test` fewer of each.

mod clock;
mod disk;
mod files;
mod hostile;
mod kill;
mod limits;
mod numbers;
mod operations;
mod rig;
mod threads;
mod together;

/// How many times to try: `full` where the environment has `TIERED_FAULTS=full`, else `short`.
pub fn count(short: usize, full: usize) -> usize {
    match std::env::var("TIERED_FAULTS").as_deref() {
        Ok("full") => full,
        _ => short,
    }
}

/// Prints the line of the table for one fault, and fails unless all trials passed.
pub fn row(name: &str, passed: usize, total: usize) {
    println!("fault | {name} | {passed}/{total}");
    assert!(total > 0, "{name}: nothing was tried");
    assert_eq!(passed, total, "{name}");
}

/// Tries each of these faults, says what failed, and prints the line of the table.
fn trials<T: std::fmt::Debug>(name: &str, faults: &[T], check: impl Fn(&T) -> Result<(), String>) {
    let failed = |fault: &&T| match check(fault) {
        Ok(()) => false,
        Err(why) => {
            eprintln!("{name}, {fault:?}: {why}");
            true
        }
    };
    row(name, faults.len() - faults.iter().filter(failed).count(), faults.len());
}

/// `Err` with these words unless it holds.
fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
