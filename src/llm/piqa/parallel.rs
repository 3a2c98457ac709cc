//! Several requests at once, with results in order.

use crate::error::{Error, Result};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// `work(0)`, …, `work(count - 1)`, `at_once` of them at the same time. After an error no further work begins.
///
/// # Errors
/// The error of the lowest number that failed.
pub(super) fn in_order<T: Send>(
    count: usize,
    at_once: NonZeroUsize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let done: Mutex<Vec<Option<Result<T>>>> = Mutex::new((0..count).map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..at_once.get().min(count) {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let result = work(number);
                    failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    done.lock().expect("no thread panicked")[number] = Some(result);
                }
            });
        }
    });
    let done: Vec<Result<T>> = done.into_inner().expect("no thread panicked").into_iter().flatten().collect();
    let results = done.into_iter().collect::<Result<Vec<T>, Error>>()?;
    assert_eq!(results.len(), count, "everything was done, or something failed");
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_once(number: usize) -> NonZeroUsize {
        NonZeroUsize::new(number).unwrap()
    }

    #[test]
    fn results_are_in_order_however_many_work() {
        for threads in [1, 3, 50] {
            let results = in_order(20, at_once(threads), |number| Ok(number * number)).unwrap();
            assert_eq!(results, (0..20).map(|number| number * number).collect::<Vec<_>>());
        }
        assert_eq!(in_order(0, at_once(2), Ok).unwrap(), [0; 0]);
    }

    #[test]
    fn nothing_begins_after_an_error() {
        let begun = AtomicUsize::new(0);
        let work = |number| {
            begun.fetch_add(1, Ordering::Relaxed);
            if number == 3 { Err(Error::data("three")) } else { Ok(()) }
        };
        assert_eq!(in_order(1000, at_once(1), work).unwrap_err().message, "three");
        assert_eq!(begun.into_inner(), 4);
    }
}
