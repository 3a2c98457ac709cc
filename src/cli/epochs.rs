//! How an epoch is told: two rows of an aligned table on a terminal, one line with the name of every number elsewhere.

use crate::loss::LossValues;
use crate::metrics::TierCounts;
use crate::train::{DevRecord, EpochRecord};
use std::io::IsTerminal;

/// The widths of the columns, which are those of their names.
const TIERS: [&str; 3] = ["accurate", "consistent", "verifiable"];

pub(super) struct Epochs {
    is_table: bool,
    has_header: bool,
}

impl Epochs {
    pub fn new() -> Self {
        Epochs { is_table: std::io::stdout().is_terminal(), has_header: false }
    }

    /// What is printed of an epoch.
    pub fn told(&mut self, epoch: &EpochRecord, is_best: bool) -> String {
        if !self.is_table {
            return line(epoch, is_best);
        }
        let header = if self.has_header { String::new() } else { header(&epoch.train) + "\n" };
        self.has_header = true;
        header + &rows(epoch, is_best)
    }
}

fn line(epoch: &EpochRecord, is_best: bool) -> String {
    let mut line = format!("epoch {}: train {} ({:.0} s)", epoch.epoch, epoch.train, epoch.train_seconds);
    let Some(dev) = &epoch.dev else { return line };
    line += &format!(" | dev {} ({:.0} s)", dev.losses, epoch.dev_seconds);
    for (name, tiers) in [("threshold", &dev.threshold), ("pair", &dev.pair)] {
        let TierCounts { accurate, consistent, verifiable, pairs } = tiers;
        line += &format!(" | {name}: accurate {accurate}, consistent {consistent}, verifiable {verifiable} of {pairs}");
    }
    line + &format!(" | {}{}", dev.deciding(), if is_best { ": best so far" } else { "" })
}

fn header(losses: &LossValues) -> String {
    let names = losses.named().into_iter().map(|(name, _)| words(name));
    let columns: Vec<String> = names.chain(TIERS.map(str::to_owned)).collect();
    format!("epoch  pairs  {}  seconds", columns.join("  "))
}

fn rows(epoch: &EpochRecord, is_best: bool) -> String {
    let train = row(&format!("{:>5}", epoch.epoch), "train", &epoch.train, None, epoch.train_seconds);
    let Some(dev) = &epoch.dev else { return train };
    let best = if is_best { format!("  best so far: {}", dev.deciding()) } else { String::new() };
    format!("{train}\n{}{best}", row("     ", "dev", &dev.losses, Some(dev), epoch.dev_seconds))
}

fn row(epoch: &str, pairs: &str, losses: &LossValues, dev: Option<&DevRecord>, seconds: f64) -> String {
    let losses = losses.named().into_iter().map(|(name, loss)| format!("{loss:>width$.3}", width = words(name).len()));
    let tiers = dev.map(|dev| {
        let TierCounts { accurate, consistent, verifiable, pairs } = *dev.tiers();
        [accurate, consistent, verifiable].map(|count| format!("{count}/{pairs}"))
    });
    let tiers = tiers.unwrap_or_default().into_iter().zip(TIERS);
    let tiers = tiers.map(|(count, name)| format!("{count:>width$}", width = name.len()));
    let columns: Vec<String> = losses.chain(tiers).collect();
    format!("{epoch}  {pairs:<5}  {}  {seconds:>7.0}", columns.join("  "))
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Decode;

    #[test]
    fn epochs_align_under_their_names() {
        let losses =
            |story| LossValues { preconditions: 0.14, effects: 1.5, conflicts: 2.864, story, single_story: None };
        let tiers = |accurate| TierCounts { accurate, consistent: 51, verifiable: 4, pairs: 173 };
        let dev = DevRecord {
            losses: losses(0.541),
            decode: Decode::Pair,
            threshold: tiers(130),
            pair: tiers(131),
            calibrated: TierCounts { verifiable: 19, ..tiers(131) },
            metric: Default::default(),
        };
        let epoch = EpochRecord {
            epoch: 1,
            step: 81,
            train: losses(0.642),
            dev: Some(dev),
            train_seconds: 91.,
            dev_seconds: 15.,
            is_lost: false,
            has_other_dev: false,
        };
        let mut epochs = Epochs { is_table: true, has_header: false };
        let table = "\
epoch  pairs  preconditions  effects  conflicts  story  accurate  consistent  verifiable  seconds
    1  train          0.140    1.500      2.864  0.642                                         91
       dev            0.140    1.500      2.864  0.541   131/173      51/173       4/173       15  best so far: \
verifiable 19 (pair, states calibrated)";
        assert_eq!(epochs.told(&epoch, true), table);
        assert_eq!(epochs.told(&epoch, false).lines().count(), 2, "the header stands once");
    }
}
