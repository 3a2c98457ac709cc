//! Does the same work for many items, several at once.

use crate::error::Result;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The results in the order of the items, which are numbered from 0. After an error no new item is begun.
///
/// # Errors
/// Of several errors, that of the earliest item.
pub fn in_parallel<T: Send>(
    items: usize,
    concurrency: usize,
    work: &(dyn Fn(usize) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Mutex<Vec<Option<Result<T>>>> = Mutex::new((0..items).map(|_| None).collect());
    let worker = || {
        while !failed.load(Ordering::Relaxed) {
            let item = next.fetch_add(1, Ordering::Relaxed);
            if item >= items {
                break;
            }
            let result = work(item);
            if result.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            results.lock().expect("no thread panicked")[item] = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..concurrency.clamp(1, items.max(1)) {
            scope.spawn(worker);
        }
    });
    results.into_inner().expect("no thread panicked").into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn results_are_in_order_and_the_earliest_error_wins() {
        for concurrency in [0, 1, 3, 50] {
            let squares = in_parallel(20, concurrency, &|item| Ok(item * item)).unwrap();
            assert_eq!(squares, (0..20).map(|item| item * item).collect::<Vec<_>>());
            let begun = AtomicUsize::new(0);
            let failing = |item: usize| {
                begun.fetch_add(1, Ordering::Relaxed);
                if item >= 2 { Err(Error::data(item.to_string())) } else { Ok(item) }
            };
            let error = in_parallel(1000, concurrency, &failing).unwrap_err();
            assert_eq!(error.message, "2");
            assert!(begun.into_inner() < 500);
        }
        assert_eq!(in_parallel(0, 4, &|item| Ok(item)).unwrap(), [0; 0]);
    }
}
