//! `metrics.csv`: a row for each step, and a row for each epoch with its dev scores, like PyTorch Lightning's
//! CSVLogger. A value that a row lacks is empty.

use crate::durable;
use crate::error::Result;
use crate::loss::LossValues;
use crate::metrics::TierCounts;
use crate::train::{DevRecord, Progress, TrainEvent};
use std::fmt::Write;
use std::path::PathBuf;

const COLUMNS: &str = "step,epoch,learning_rate,gradient_norm,\
                       preconditions,effects,conflicts,story,single_story,\
                       dev_preconditions,dev_effects,dev_conflicts,dev_story,dev_single_story,\
                       dev_threshold_accuracy,dev_threshold_consistency,dev_threshold_verifiability,\
                       dev_pair_accuracy,dev_pair_consistency,dev_pair_verifiability";
/// Numbers of columns: step, losses, tiers in two decodings.
const OF_STEP: usize = 2;
const OF_LOSSES: usize = 5;
const OF_TIERS: usize = 6;
/// The limit for a table, in bytes: a step has about 150.
const MAX_TABLE: u64 = 1 << 32;

/// The rows of a run, all in memory.
pub struct StepTable {
    path: PathBuf,
    text: String,
}

impl StepTable {
    pub fn new(path: PathBuf) -> Self {
        StepTable { path, text: format!("{COLUMNS}\n") }
    }

    /// Keeps the existing rows up to the position where the run resumes. A row that was torn by a kill is the last one.
    ///
    /// # Errors
    /// `Io` if there are rows and they can't be read.
    pub fn resume(path: PathBuf, progress: &Progress) -> Result<Self> {
        let there = durable::whole_lines(&path, MAX_TABLE)?;
        let mut table = StepTable::new(path);
        let mut epochs = 0;
        for row in String::from_utf8_lossy(&there).lines().skip(1) {
            let mut cells = row.split(',');
            let step = cells.next().and_then(|step| step.parse().ok()).unwrap_or(u64::MAX);
            epochs += usize::from(cells.nth(1) == Some(""));
            if step > progress.step || epochs > progress.epochs.len() {
                break;
            }
            table.text.extend([row, "\n"]);
        }
        Ok(table)
    }

    pub fn add(&mut self, event: &TrainEvent) {
        let cells = match event {
            TrainEvent::Encoded { .. } => return,
            TrainEvent::Step(step) => {
                let start = [step.learning_rate, step.gradient_norm].map(Some);
                let dev = [None; OF_LOSSES + OF_TIERS];
                (step.step, step.epoch, [&start[..], &losses(&step.losses), &dev].concat())
            }
            TrainEvent::Epoch { record, .. } => {
                let dev = record.dev.as_ref().map_or([None; OF_LOSSES + OF_TIERS], of_dev);
                (record.step, record.epoch, [&[None; OF_STEP + OF_LOSSES][..], &dev].concat())
            }
        };
        let (step, epoch, cells) = cells;
        let cells = cells.iter().map(|cell| cell.map_or_else(String::new, |value| value.to_string()));
        let cells = cells.collect::<Vec<_>>().join(",");
        let _ = writeln!(self.text, "{step},{epoch},{cells}");
    }

    /// Writes the rows to the file.
    ///
    /// # Errors
    /// `CantCreate`, `Io`.
    pub fn write(&self) -> Result<()> {
        durable::extend(&self.path, self.text.as_bytes())
    }
}

fn losses(values: &LossValues) -> [Option<f64>; OF_LOSSES] {
    let &LossValues { preconditions, effects, conflicts, story, single_story } = values;
    [Some(preconditions), Some(effects), Some(conflicts), Some(story), single_story]
}

fn of_dev(dev: &DevRecord) -> [Option<f64>; OF_LOSSES + OF_TIERS] {
    let mut cells = [None; OF_LOSSES + OF_TIERS];
    cells[..OF_LOSSES].copy_from_slice(&losses(&dev.losses));
    for (cells, tiers) in cells[OF_LOSSES..].chunks_mut(3).zip([&dev.threshold, &dev.pair]) {
        cells.copy_from_slice(&shares(tiers));
    }
    cells
}

fn shares(tiers: &TierCounts) -> [Option<f64>; 3] {
    [tiers.accurate, tiers.consistent, tiers.verifiable].map(|count| Some(count as f64 / tiers.pairs as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::{EpochRecord, StepRecord};

    fn step(step: u64, epoch: u64) -> TrainEvent {
        let losses = LossValues { preconditions: 0.5, effects: 0.25, conflicts: 1., story: 2., single_story: None };
        TrainEvent::Step(StepRecord { epoch, step, steps: 4, losses, gradient_norm: 3., learning_rate: 1e-5, pairs: 2 })
    }

    fn epoch(step: u64, epoch: u64) -> EpochRecord {
        let train = LossValues::default();
        EpochRecord {
            epoch,
            step,
            train,
            dev: None,
            train_seconds: 1.,
            dev_seconds: 1.,
            is_lost: false,
            has_other_dev: false,
        }
    }

    #[test]
    fn a_table_goes_on_from_where_the_run_does() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = || folder.path().join("metrics.csv");
        let mut table = StepTable::new(path());
        let epochs = [(2, 1), (4, 2)].map(|(step, number)| epoch(step, number));
        let ended = |record: &EpochRecord| TrainEvent::Epoch { record: record.clone(), is_best: true };
        let events = [step(1, 1), step(2, 1), ended(&epochs[0]), step(3, 2), step(4, 2), ended(&epochs[1])];
        events.iter().for_each(|event| table.add(event));
        table.write().unwrap();
        let rows: Vec<&str> = table.text.lines().collect();
        assert_eq!(rows[1], "1,1,0.00001,3,0.5,0.25,1,2,,,,,,,,,,,,");
        assert!(rows.iter().all(|row| row.split(',').count() == COLUMNS.split(',').count()), "{rows:?}");
        // Steps taken, epochs evaluated, rows kept.
        for (step, evaluated, kept) in [(0, 0, 1), (1, 0, 2), (2, 0, 3), (2, 1, 4), (3, 1, 5), (4, 1, 6), (4, 2, 7)] {
            let progress = Progress { step, epochs: epochs[..evaluated].to_vec(), ..Progress::default() };
            let kept_rows = |progress: &Progress| StepTable::resume(path(), progress).unwrap().text.lines().count();
            assert_eq!(kept_rows(&progress), kept, "{step} {evaluated}");
        }
        let torn = table.text.trim_end();
        std::fs::write(path(), &torn[..torn.len() - 1]).unwrap();
        let progress = Progress { step: 4, epochs: epochs.to_vec(), ..Progress::default() };
        assert_eq!(StepTable::resume(path(), &progress).unwrap().text.lines().count(), 6);
    }
}
