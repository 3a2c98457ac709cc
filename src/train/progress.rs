//! The progress of a run, and the scores of its epochs.

use super::config::BestModelMetric;
use crate::decode::Decode;
use crate::loss::{LossMean, LossValues};
use crate::metrics::TierCounts;
use serde::{Deserialize, Serialize};

/// Everything that a run must remember besides weights and moments. Random choices follow from seed and position, so no
/// generator is stored.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Steps taken, over the whole run.
    pub step: u64,
    /// Running means of the losses over the steps of the current epoch.
    pub losses: LossMean,
    /// The seconds spent on these steps.
    pub train_seconds: f64,
    /// The records of the epochs that have been evaluated.
    pub epochs: Vec<EpochRecord>,
    /// The best of these epochs.
    pub best: Option<u64>,
}

impl Progress {
    /// The record of the best epoch; `None` before an epoch has ended.
    pub fn best(&self) -> Option<&EpochRecord> {
        self.epochs.iter().find(|record| Some(record.epoch) == self.best)
    }

    /// The number of epochs since the best one.
    pub fn since_best(&self) -> u64 {
        self.best.map_or(0, |best| self.epochs.len() as u64 - best)
    }

    /// The weights of the best epoch are lost, so that it is one of those to come.
    pub fn lose_best(&mut self) {
        self.best = None;
        self.epochs.iter_mut().for_each(|record| record.is_lost = true);
    }

    /// The epochs to come are scored on other dev pairs than those until now.
    pub fn change_dev(&mut self) {
        for record in &mut self.epochs {
            record.has_other_dev = true;
            record.is_lost |= Some(record.epoch) != self.best;
        }
    }

    /// Adds the record of an epoch that has ended; returns whether it is the best so far.
    pub fn finish_epoch(&mut self, record: EpochRecord) -> bool {
        let is_best = !record.is_lost && self.best().is_none_or(|best| record.beats(best));
        if is_best {
            self.best = Some(record.epoch);
        }
        self.epochs.push(record);
        self.losses = LossMean::default();
        self.train_seconds = 0.;
        is_best
    }
}

/// One line of `metrics.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Counted from 1.
    pub epoch: u64,
    /// Steps of the whole run at the end of the epoch.
    pub step: u64,
    /// Averaged over the steps of the epoch, with dropout.
    pub train: LossValues,
    /// `None` without dev pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dev: Option<DevRecord>,
    /// Spent on the steps of the epoch, without pauses of a stopped run.
    pub train_seconds: f64,
    /// Spent on the evaluation on dev.
    pub dev_seconds: f64,
    /// Whether it can't be the best any more: the run resumed after it, and the best weights until then were lost, or the
    /// dev pairs changed and another epoch was the best.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lost: bool,
    /// Whether the run resumed after it with other dev pairs. Scores of later epochs can't be compared with its scores, so
    /// the first of them replaces it if it is the best.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_other_dev: bool,
}

/// The scores on the dev pairs after an epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DevRecord {
    /// Averaged over dev, without dropout.
    pub losses: LossValues,
    /// The decoding with which the best epoch is chosen.
    pub decode: Decode,
    /// Decoded by `threshold`, with the states by argmax.
    pub threshold: TierCounts,
    /// Decoded by `pair`, with the states by argmax.
    pub pair: TierCounts,
    /// Decoded by `decode`, with the threshold of states that gives the most verifiable dev pairs.
    pub calibrated: TierCounts,
    /// The tier that decides which epoch is best.
    #[serde(default)]
    pub metric: BestModelMetric,
}

impl DevRecord {
    /// The tiers with the decoding that counts.
    pub fn tiers(&self) -> &TierCounts {
        match self.decode {
            Decode::Threshold => &self.threshold,
            Decode::Pair | Decode::Contrast => &self.pair,
        }
    }

    /// The count that decides first which epoch is best, in words: "verifiable 70 (pair, states calibrated)".
    pub fn deciding(&self) -> String {
        let name = match self.metric {
            BestModelMetric::Verifiability => "verifiable",
            BestModelMetric::Consistency => "consistent",
            BestModelMetric::Accuracy => "accurate",
        };
        let calibrated = if self.decode == Decode::Threshold { "" } else { ", states calibrated" };
        format!("{name} {} ({}{calibrated})", self.rank(self.metric)[0], self.decode.name())
    }

    /// The best epoch has the largest rank. The paper's detector is scored as the paper decodes it, the joint detector
    /// as it will be calibrated at the end of training.
    fn rank(&self, metric: BestModelMetric) -> [u64; 3] {
        let TierCounts { accurate, consistent, verifiable, .. } = *match self.decode {
            Decode::Threshold => &self.threshold,
            Decode::Pair | Decode::Contrast => &self.calibrated,
        };
        match metric {
            BestModelMetric::Verifiability => [verifiable, accurate, self.tiers().verifiable],
            BestModelMetric::Consistency => [consistent, verifiable, accurate],
            BestModelMetric::Accuracy => [accurate, consistent, verifiable],
        }
    }
}

impl EpochRecord {
    /// Whether the epoch replaces the best one so far; on a tie it does not. Without dev pairs, every epoch replaces
    /// the one before. A metric that changed when the run resumed applies to both epochs.
    fn beats(&self, best: &EpochRecord) -> bool {
        match (&self.dev, &best.dev) {
            (Some(dev), Some(of_best)) if self.has_other_dev == best.has_other_dev => {
                dev.rank(dev.metric) > of_best.rank(dev.metric)
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best of epochs with these numbers of accurate, consistent and verifiable pairs, decoded by `pair`.
    fn best(metric: BestModelMetric, epochs: &[[u64; 3]]) -> Option<u64> {
        let mut progress = Progress::default();
        for (epoch, &[accurate, consistent, verifiable]) in (1..).zip(epochs) {
            progress.finish_epoch(record(epoch, metric, TierCounts { pairs: 9, accurate, consistent, verifiable }));
        }
        progress.best
    }

    fn record(epoch: u64, metric: BestModelMetric, tiers: TierCounts) -> EpochRecord {
        let dev = DevRecord {
            losses: LossValues::default(),
            decode: Decode::Pair,
            threshold: TierCounts::default(),
            pair: tiers,
            calibrated: tiers,
            metric,
        };
        EpochRecord {
            epoch,
            step: epoch,
            train: LossValues::default(),
            dev: Some(dev),
            train_seconds: 1.,
            dev_seconds: 1.,
            is_lost: false,
            has_other_dev: false,
        }
    }

    #[test]
    fn the_best_epoch_is_chosen_by_the_metric() {
        let epochs = [[5, 3, 3], [6, 5, 2], [7, 4, 1]];
        assert_eq!(best(BestModelMetric::Verifiability, &epochs), Some(1));
        assert_eq!(best(BestModelMetric::Consistency, &epochs), Some(2));
        assert_eq!(best(BestModelMetric::Accuracy, &epochs), Some(3));
    }

    #[test]
    fn scores_of_other_pairs_are_not_compared() {
        let mut progress = Progress::default();
        let scored = |epoch: u64, accurate: u64| {
            let tiers = TierCounts { pairs: 9, accurate, consistent: 0, verifiable: 0 };
            record(epoch, BestModelMetric::Accuracy, tiers)
        };
        assert!(progress.finish_epoch(scored(1, 7)));
        assert!(!progress.finish_epoch(scored(2, 7)));
        progress.change_dev();
        assert!(progress.finish_epoch(scored(3, 1)) && !progress.finish_epoch(scored(4, 1)));
        assert_eq!((progress.best, progress.since_best()), (Some(3), 1));
    }

    /// The best epoch of a run that was resumed with other dev pairs and stopped before an epoch has ended with them.
    #[test]
    fn scores_of_former_pairs_are_compared_with_each_other() {
        let scored = |(epoch, accurate)| {
            let tiers = TierCounts { pairs: 9, accurate, consistent: 0, verifiable: 0 };
            EpochRecord { has_other_dev: true, ..record(epoch, BestModelMetric::Accuracy, tiers) }
        };
        let mut progress = Progress::default();
        let are_best = [(1, 5), (2, 8), (3, 6)].map(|epoch| progress.finish_epoch(scored(epoch)));
        assert_eq!((are_best, progress.best), ([true, true, false], Some(2)));
        progress.change_dev();
        assert!(progress.finish_epoch(EpochRecord { has_other_dev: false, ..scored((4, 1)) }));
        progress.change_dev();
        let mut replayed = Progress::default();
        for epoch in progress.epochs {
            replayed.finish_epoch(epoch);
        }
        assert_eq!(replayed.best, Some(4), "not the one with more accurate pairs of former dev pairs");
    }

    #[test]
    fn ties_go_to_the_next_tier_and_then_to_the_earlier_epoch() {
        assert_eq!(best(BestModelMetric::Verifiability, &[[5, 4, 3], [6, 3, 3], [6, 5, 3]]), Some(2));
        assert_eq!(best(BestModelMetric::Consistency, &[[6, 4, 1], [5, 4, 2], [5, 4, 2]]), Some(2));
        assert_eq!(best(BestModelMetric::Accuracy, &[[6, 3, 2], [6, 4, 1], [6, 4, 1]]), Some(2));
    }
}
