//! Cross-validation: with `folds = K`, every config is trained K times, each time without one fold of the story groups,
//! and evaluated on that fold. Together the K evaluations are of every pair, by runs that have not seen it.

use super::file::{EvaluationSet, StateChoice, SweepFile};
use crate::config::{Config, DataSource, Sources};
use crate::data::Fold;

const MAX_FOLDS: u32 = 100;

/// Otherwise sets that are not held out would be evaluated on a fold only, and a test set would not reach the ledger.
pub(super) const LEAVES_OUT: &str = "data.leave_out is for single runs; in a sweep remove it, and write `folds`";

impl SweepFile {
    /// The folds, or nothing once.
    pub(super) fn each_fold(&self) -> Vec<Option<Fold>> {
        self.folds.map_or(vec![None], |of| Fold::all(of).map(Some).collect())
    }

    /// # Errors
    /// What does not go with `folds`.
    pub(super) fn validate_folds(&self) -> Result<(), String> {
        let Some(folds) = self.folds else { return Ok(()) };
        if !(2..=MAX_FOLDS).contains(&folds) {
            return Err(format!("folds must be from 2 to {MAX_FOLDS}"));
        }
        if self.states.contains(&StateChoice::Calibrated) {
            return Err("folds: states can't be \"calibrated\", since there is no dev to choose a threshold on".into());
        }
        let of_set = self.evaluate.iter().find(|set| set.published.is_some()).map(|set| &set.name);
        match of_set.or(self.published.first().map(|entry| &entry.set)) {
            Some(set) => {
                Err(format!("folds: evaluate {set:?}: published scores are of whole sets; remove `published`"))
            }
            None => Ok(()),
        }
    }
}

/// The config without a fold: it trains on the rest of `data.train` and `data.dev`, for all its epochs.
///
/// # Errors
/// If the config leaves out a fold itself, or is invalid without dev; if a set of `evaluate` is not trained on.
pub(super) fn without(fold: Fold, mut config: Config, evaluate: &[EvaluationSet]) -> Result<Config, String> {
    if config.data.leave_out.replace(fold).is_some() {
        return Err(LEAVES_OUT.into());
    }
    config.data.train.0.extend(config.data.dev.take().into_iter().flat_map(|Sources(dev)| dev));
    config.validate().map_err(|problem| format!("without dev, as `folds` trains: {problem}"))?;
    let is_trained = |set: &EvaluationSet, split: &str| {
        let is_of = |source: &DataSource| source.story_file() == Some((set.file.as_path(), split));
        config.data.train.0.iter().any(is_of)
    };
    for set in evaluate {
        if let Some(split) = set.splits.iter().find(|split| !is_trained(set, split)) {
            return Err(format!(
                "folds: evaluate {:?}: split {split:?} of {} is in neither data.train nor data.dev, so it can't be held \
                 out of training; evaluate finished recipes on it, without folds",
                set.name,
                set.file.display()
            ));
        }
    }
    Ok(config)
}
