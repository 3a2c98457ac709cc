//! Which published scores stand beside a row.

use super::file::{EvaluationSet, PublishedEntry, SweepFile};
use super::sweep_run::SweepRun;
use crate::error::{Error, Result};

impl SweepRun {
    /// The published scores of its row on a set: the entries that name most of its values. A valid sweep has one at most.
    pub fn published<'a>(&self, file: &'a SweepFile, set: &EvaluationSet) -> Vec<&'a PublishedEntry> {
        let fits = |entry: &&PublishedEntry| {
            entry.set == set.name && entry.row.iter().all(|(axis, value)| self.has(axis, value))
        };
        let fitting: Vec<_> = file.published.iter().filter(fits).collect();
        let most = fitting.iter().map(|entry| entry.row.len()).max();
        fitting.into_iter().filter(|entry| Some(entry.row.len()) == most).collect()
    }
}

/// # Errors
/// `Config` if two published entries fit a row equally well.
pub fn require_one_published(file: &SweepFile, runs: &[SweepRun]) -> Result<()> {
    let each = runs.iter().flat_map(|run| file.evaluate.iter().map(move |set| (run, set)));
    for (run, set) in each {
        if let [first, second, ..] = run.published(file, set)[..] {
            return Err(Error::config(format!(
                "published: {:?} and {:?} fit the row {:?} of set {:?} equally well; a row shows one only: name more values in \
                 one of them",
                first.system,
                second.system,
                run.row_name(),
                set.name
            )));
        }
    }
    Ok(())
}
