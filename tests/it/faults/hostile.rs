//! Files that somebody made to do harm, or that a broken program left: refused with file and place, at once, and
//! without taking memory.

mod configs;
mod damage;
mod fuzz;
mod names;
mod predictions;
mod stories;
mod weights;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What reading came to (`None` after a panic), and the time it took this thread: on a busy machine the time that passes
/// says nothing. What took longer than `limit` is read up to twice more, and the shortest time counts: a shared machine
/// takes time away once, a file takes it each time. A minute, or four times the limit, is long enough to tell
/// that it waits for something.
fn timed<T>(limit: Duration, read: impl Fn() -> T) -> (Option<T>, Duration) {
    let patience = limit.saturating_mul(4).max(Duration::from_secs(60));
    let once = || {
        let (started, before) = (Instant::now(), thread_time());
        let outcome = catch_unwind(AssertUnwindSafe(&read)).ok();
        assert!(started.elapsed() < patience, "{:?} passed", started.elapsed());
        (outcome, thread_time() - before)
    };
    let mut shortest = once();
    for _ in 0..2 {
        if shortest.1 > limit {
            let again = once();
            if again.1 < shortest.1 {
                shortest = again;
            }
        }
    }
    shortest
}

/// The time this thread has run.
fn thread_time() -> Duration {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(schedule.split_whitespace().next().unwrap().parse().unwrap())
}

/// The most memory this process ever had, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() << 10
}

/// Whether a message says where in the file it went wrong.
fn has_place(message: &str) -> bool {
    let numbered = |word: &str| {
        message.match_indices(word).any(|(at, _)| message[at + word.len()..].starts_with(|c: char| c.is_ascii_digit()))
    };
    ["line ", "lines ", "column ", "byte ", "bytes ", "story ", "item "].into_iter().any(numbered)
        || ["tensor \"", "it is larger than "].iter().any(|place| message.contains(place))
}
