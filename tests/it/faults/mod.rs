//! Faults put into runs and files on purpose. `make faults` counts all of them, `make test` fewer of each.

mod hostile;

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
    assert_eq!(passed, total, "{name}");
}
