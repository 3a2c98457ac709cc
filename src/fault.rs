//! Injects faults that environment variables ask for, so that tests can break the very program that ships.
//!
//! This is always compiled in: tests then run the program that users run. The check at a file operation reads a cached
//! variable, which costs nothing beside an fsync. A training step contains no fault: `TIERED_POISON` is read once, when
//! training starts, and only then an observer of the steps is installed that injects it. Whoever can set the variables
//! can end the program anyway.
//!
//! | variable | effect |
//! |---|---|
//! | `TIERED_FAIL_POINT=abort:N` | abort right after the N-th file operation (from 1) of the process |
//! | `TIERED_FAIL_POINT=pause:N` | say "paused" on standard error after it, and wait to be killed |
//! | `TIERED_FAIL_POINT=error:N` | the N-th operation fails: no space left; `errors:N`: it and all later ones fail |
//! | `TIERED_POISON=TARGET=VALUE@STEP` | put a value into a loss term, `gradient:NAME` or `weight:NAME` at that step |
//! | `TIERED_POISON=pause=SECONDS@STEP` | say "paused" in that step, and wait so long; `pause-after`: at its end |
//! | `TIERED_RETRY_MS=N` | the pause before a failed save is tried again for the first time |

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What happens at a file operation.
#[derive(Clone, Copy)]
struct FailPoint {
    action: Action,
    operation: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Action {
    Abort,
    Pause,
    Error,
    Errors,
}

impl FailPoint {
    fn parse(text: &str) -> Option<Self> {
        let (action, operation) = text.split_once(':')?;
        let action = match action {
            "abort" => Action::Abort,
            "pause" => Action::Pause,
            "error" => Action::Error,
            "errors" => Action::Errors,
            _ => return None,
        };
        Some(FailPoint { action, operation: operation.parse().ok()? })
    }

    fn fails(self, number: u64) -> bool {
        match self.action {
            Action::Error => number == self.operation,
            Action::Errors => number >= self.operation,
            Action::Abort | Action::Pause => false,
        }
    }
}

/// A variable of the table above, parsed.
///
/// # Panics
/// If it is set and invalid: otherwise a test that injects nothing would pass.
fn variable<T>(name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(parse(&text).unwrap_or_else(|| panic!("{name}={text} is invalid; src/fault.rs lists what is allowed")))
}

/// Does one file operation (a write, an fsync, a rename, an unlink), unless a fault is set for it.
pub fn operation<T>(act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    static POINT: OnceLock<Option<FailPoint>> = OnceLock::new();
    static OPERATIONS: AtomicU64 = AtomicU64::new(0);
    let Some(point) = *POINT.get_or_init(|| variable("TIERED_FAIL_POINT", FailPoint::parse)) else { return act() };
    let number = 1 + OPERATIONS.fetch_add(1, Ordering::SeqCst);
    if point.fails(number) {
        return Err(io::Error::new(io::ErrorKind::StorageFull, "no space left (injected)"));
    }
    let result = act();
    match point.action {
        Action::Abort if number == point.operation => std::process::abort(),
        Action::Pause if number == point.operation => loop {
            let _ = writeln!(io::stderr(), "paused");
            std::thread::sleep(Duration::from_secs(60));
        },
        _ => result,
    }
}

/// The pause before the first retry.
pub fn retry_pause(usual: Duration) -> Duration {
    let milliseconds = variable("TIERED_RETRY_MS", |text| text.parse().ok());
    milliseconds.map_or(usual, Duration::from_millis)
}

/// A value to inject at one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Poison {
    /// The name of a loss, `gradient:NAME`, `weight:NAME`, `pause` or `pause-after`.
    pub target: String,
    /// Put into the middle of a gradient or weight; a loss is multiplied by it; seconds of a pause.
    pub value: f64,
    /// Counted from 1.
    pub step: u64,
}

impl Poison {
    fn parse(text: &str) -> Option<Self> {
        let (target, rest) = text.split_once('=')?;
        let (value, step) = rest.split_once('@')?;
        Some(Poison { target: target.to_owned(), value: value.parse().ok()?, step: step.parse().ok()? })
    }

    /// What `TIERED_POISON` asks for.
    pub fn requested() -> Option<Poison> {
        variable("TIERED_POISON", Poison::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_parsed() {
        let failing = |text: &str| (1..=4).map(|n| FailPoint::parse(text).unwrap().fails(n)).collect::<Vec<_>>();
        assert_eq!(failing("error:3"), [false, false, true, false]);
        assert_eq!(failing("errors:3"), [false, false, true, true]);
        assert_eq!(failing("abort:3"), [false; 4]);
        assert!(FailPoint::parse("abort").is_none() && FailPoint::parse("burn:1").is_none());
        let poison = Poison::parse("weight:a.b=-inf@7").unwrap();
        assert_eq!(poison, Poison { target: "weight:a.b".into(), value: f64::NEG_INFINITY, step: 7 });
    }
}
