//! What is chosen on the dev pairs of a run, and kept beside the weights.

use super::material::{SourcePairs, read_pairs};
use super::{TrainedRun, origin, own_decode};
use crate::config::Sources;
use crate::data::Pair;
use crate::error::{Error, Result};
use crate::prediction::PairPrediction;
use crate::train::Part;
use crate::tune::{ChosenOn, Trial, Tuned, best, fit_temperature, try_states};

/// What was chosen, from what was tried.
pub struct Tuning {
    pub tuned: Tuned,
    pub trials: Vec<Trial>,
    /// Of the dev pairs, no conflict decoded.
    pub predictions: Vec<PairPrediction>,
}

impl TrainedRun {
    /// The pairs of the run's dev sources, as many as it was trained with (`--limit`), and the part that each of these is of them.
    ///
    /// # Errors
    /// `Config` if it has none; whatever is wrong with the file.
    pub fn dev_pairs(&self) -> Result<(Vec<Pair>, Vec<Part>)> {
        let mut sources = self.dev_sources()?.clone();
        origin::follow(sources.0.iter_mut().map(|source| &mut source.file), self.folder.path());
        let limit = self.folder.inputs()?.and_then(|inputs| inputs.limit);
        let SourcePairs { pairs, parts, .. } = read_pairs(&sources, self.config.seed, limit)?;
        Ok((pairs, parts))
    }

    /// Chooses temperature and state threshold on dev pairs and keeps them in the run folder; `progress` is told how
    /// many pairs each batch held.
    pub fn tune(&self, dev: Vec<Pair>, progress: impl FnMut(usize)) -> Result<Tuning> {
        let evaluation = self.evaluate(dev, progress).map_err(|error| match self.dev_sources() {
            Ok(sources) => error.about(sources.files()),
            Err(_) => error,
        })?;
        let tuning = self.choose(evaluation.predictions)?;
        self.folder.save_tuned(self.which, &tuning.tuned)?;
        Ok(tuning)
    }

    /// Chooses by what was predicted of the dev pairs, and keeps nothing.
    pub(super) fn choose(&self, predictions: Vec<PairPrediction>) -> Result<Tuning> {
        let sources = self.dev_sources()?;
        let conflicts = own_decode(&self.config);
        let trials = try_states(&predictions, conflicts);
        let tuned = Tuned {
            temperature: fit_temperature(&predictions),
            states: best(&trials).map(|trial| trial.states).unwrap_or_default(),
            chosen_on: ChosenOn {
                file: sources.files().into(),
                split: sources.splits(),
                pairs: predictions.len() as u64,
                conflicts,
            },
        };
        Ok(Tuning { tuned, trials, predictions })
    }

    pub(super) fn dev_sources(&self) -> Result<&Sources> {
        self.config.data.dev.as_ref().ok_or_else(|| {
            let config = self.folder.config_file();
            Error::config(format!("{}: has no data.dev, and nothing is chosen on other pairs", config.display()))
        })
    }
}
