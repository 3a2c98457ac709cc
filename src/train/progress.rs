//! How far a run is, and what its epochs came to.

use crate::decode::Decode;
use crate::loss::{LossMean, LossValues};
use crate::metrics::TierCounts;
use serde::{Deserialize, Serialize};

/// All that a run has to remember beside weights and moments. Every random choice follows from seed and position, so
/// that there is no generator among it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Steps taken, over the whole run.
    pub step: u64,
    /// Running means of the losses, of the steps taken in the epoch that is not evaluated yet.
    pub losses: LossMean,
    /// Spent on these steps.
    pub train_seconds: f64,
    /// Of the epochs that are evaluated.
    pub epochs: Vec<EpochRecord>,
    /// The best of these.
    pub best: Option<u64>,
}

impl Progress {
    pub fn best(&self) -> Option<&EpochRecord> {
        self.epochs.iter().find(|record| Some(record.epoch) == self.best)
    }

    /// Takes in the record of an epoch that is over, and says whether it is the best so far.
    pub fn finish_epoch(&mut self, record: EpochRecord) -> bool {
        let is_best = self.best().is_none_or(|best| record.rank() > best.rank());
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
    /// From 1.
    pub epoch: u64,
    pub step: u64,
    /// Averaged over the steps of the epoch, with dropout.
    pub train: LossValues,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dev: Option<DevRecord>,
    pub train_seconds: f64,
    pub dev_seconds: f64,
}

/// How the dev pairs fare after an epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DevRecord {
    pub losses: LossValues,
    /// The decoding by which the best epoch is chosen.
    pub decode: Decode,
    pub threshold: TierCounts,
    pub pair: TierCounts,
    /// By `decode`, with states asserted in the way that explains most of these pairs.
    pub tuned: TierCounts,
}

impl DevRecord {
    /// By the decoding that counts.
    pub fn tiers(&self) -> &TierCounts {
        match self.decode {
            Decode::Threshold => &self.threshold,
            Decode::Pair | Decode::Contrast => &self.pair,
        }
    }

    /// By what the best epoch is chosen: the paper's detector as the paper decodes it, the joint one as it will be
    /// tuned when training ends.
    fn chosen_by(&self) -> &TierCounts {
        match self.decode {
            Decode::Threshold => &self.threshold,
            Decode::Pair | Decode::Contrast => &self.tuned,
        }
    }
}

impl EpochRecord {
    /// The epoch with the larger one is kept, on a tie the earlier: dev verifiability, then dev accuracy, then dev
    /// verifiability with the states by argmax. Without dev pairs every epoch beats the ones before.
    pub fn rank(&self) -> (u64, u64, u64) {
        match &self.dev {
            Some(dev) => (dev.chosen_by().verifiable, dev.chosen_by().accurate, dev.tiers().verifiable),
            None => (0, 0, self.epoch),
        }
    }
}
