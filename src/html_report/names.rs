//! Names of runs and sets on the page.

use super::read::ReportedRun;
use std::collections::BTreeSet;

/// The distinct items, sorted.
pub fn distinct<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.collect::<BTreeSet<_>>().into_iter().collect()
}

/// A, B, ... Z, then numbers.
pub fn letter(number: usize) -> String {
    u8::try_from(number).ok().filter(|n| *n < 26).map_or(number.to_string(), |n| char::from(b'A' + n).to_string())
}

/// The name of a run; after its letter if there are several runs, which may share a name.
pub fn run_name(runs: &[ReportedRun], run: usize) -> String {
    let name = &runs[run].name;
    if runs.len() == 1 { name.clone() } else { format!("{} · {name}", letter(run)) }
}

/// The name of a set; with that of its run if there are several runs.
pub fn set_name(runs: &[ReportedRun], run: usize, set: &str) -> String {
    if runs.len() == 1 { set.to_owned() } else { format!("{}: {set}", run_name(runs, run)) }
}
