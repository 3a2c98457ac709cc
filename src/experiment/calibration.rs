//! Chooses temperature and state threshold on the dev pairs of a run, and saves them beside the weights.

use super::fit::own_decode;
use super::origin;
use super::record::require_evaluation_names;
use super::run::TrainedRun;
use super::seen::{chosen_on, seen_by};
use super::sources::{OpenedSources, PairSelection};
use crate::calibrate::{Calibrated, ChosenOn, StateTrial, best, fit_temperature, try_states};
use crate::checkpoint::Inputs;
use crate::config::Sources;
use crate::data::Pair;
use crate::error::{Error, ErrorKind, Result};
use crate::prediction::LabelledPair;
use crate::say::aside;
use crate::train::MixtureComponent;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// The choice, and the trials behind it.
pub struct DevCalibration {
    /// The choice, as it is saved in `decode.json`.
    pub calibrated: Calibrated,
    /// Every way to predict states that was tried, in the order of the tries.
    pub trials: Vec<StateTrial>,
    /// Predictions of the dev pairs, with the groups of their own files; no conflict is decoded.
    pub predictions: Vec<LabelledPair>,
}

/// The pairs of a run's dev sources, as they are now.
pub struct CalibrationPairs {
    /// As many as training used (`--limit`).
    pub pairs: Vec<Pair>,
    /// Which of them each source has.
    pub parts: Vec<MixtureComponent>,
    /// The SHA-256 of each source's file, separated by spaces.
    pub digests: String,
}

impl TrainedRun {
    /// Reads the pairs of the run's dev sources. Warns of files that training did not have.
    ///
    /// # Errors
    /// `Config` if the run has no dev sources; `Refused` if their evaluations can't be saved under their names; errors of
    /// reading the files.
    pub fn dev_pairs(&self) -> Result<CalibrationPairs> {
        let mut sources = self.dev_sources()?.clone();
        require_evaluation_names(&sources)?;
        origin::follow(sources.0.iter_mut().filter_map(|source| source.file.as_mut()), self.folder.path());
        let inputs = self.folder.inputs()?;
        let limit = inputs.as_ref().and_then(|inputs| inputs.limit);
        let selection = PairSelection { seed: self.config.seed, leave_out: self.config.data.leave_out, limit };
        let mut opened = OpenedSources::open(&sources, selection)?;
        if let Some(then) = inputs.and_then(|inputs| inputs.dev) {
            warn_of_changes(&sources, &then, &opened.sha256);
        }
        let pairs = opened.pairs(self.config.seed, false)?;
        Ok(CalibrationPairs { pairs, parts: opened.parts, digests: opened.sha256 })
    }

    /// Notes in `run.json` that something is chosen on the dev pairs with these digests, if they are not those of training.
    ///
    /// # Errors
    /// `Io` or `Data` if `run.json` can't be read; `CantCreate`, `Io`.
    pub fn note_choice(&self, digests: &str) -> Result<()> {
        let Some(mut inputs) = self.folder.inputs()? else { return Ok(()) };
        let known = seen_by(&self.folder, &self.config)?;
        let now = chosen_on(&self.config, &Inputs { dev: Some(digests.to_owned()), ..inputs.clone() });
        let new: Vec<_> = now.into_iter().filter(|source| !known.contains(source)).collect();
        if new.is_empty() {
            return Ok(());
        }
        inputs.earlier.extend(new);
        self.folder.replace_inputs(&inputs)
    }

    /// Chooses temperature and state threshold on dev pairs and saves them in the run folder. `progress` is called with
    /// the number of pairs of each batch.
    pub fn calibrate(&self, dev: Vec<Pair>, progress: impl FnMut(usize)) -> Result<DevCalibration> {
        let groups = own_groups(&dev);
        let evaluation = self.evaluate(dev, progress).map_err(|error| match self.dev_sources() {
            Ok(sources) => error.about(sources.files()),
            Err(_) => error,
        })?;
        let calibration = self.choose(evaluation.predictions, &groups)?;
        self.require_present_weights()?;
        self.folder.save_calibrated(self.which, &calibration.calibrated)?;
        Ok(calibration)
    }

    /// # Errors
    /// `Unavailable` if the run folder has got other weights since these were loaded.
    fn require_present_weights(&self) -> Result<()> {
        let path = self.folder.weights_file(self.which);
        let identity = |data: Metadata| (data.dev(), data.ino());
        let [these, present] = [self.weights.metadata(), path.metadata()].map(|data| data.map(identity));
        let is_present =
            these.and_then(|these| Ok(these == present?)).map_err(|error| Error::reading(&path, &error))?;
        let problem = "has been replaced while it was calibrated; nothing was saved; calibrate again";
        if is_present {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::Unavailable, format!("{}: {problem}", path.display())))
        }
    }

    /// Chooses from predictions of the dev pairs, and saves nothing. `groups` are their [`own_groups`].
    pub(super) fn choose(&self, mut predictions: Vec<LabelledPair>, groups: &[i64]) -> Result<DevCalibration> {
        predictions.iter_mut().zip(groups).for_each(|(pair, group)| pair.group = *group);
        let sources = self.dev_sources()?;
        let conflicts = own_decode(&self.config);
        let trials = try_states(&predictions, conflicts);
        let calibrated = Calibrated {
            temperature: fit_temperature(&predictions),
            states: best(&trials).map(|trial| trial.states).unwrap_or_default(),
            chosen_on: ChosenOn {
                file: sources.files().into(),
                split: sources.splits(),
                pairs: predictions.len() as u64,
                conflicts,
            },
        };
        Ok(DevCalibration { calibrated, trials, predictions })
    }

    pub(super) fn dev_sources(&self) -> Result<&Sources> {
        self.config.data.dev.as_ref().ok_or_else(|| {
            let config = self.folder.config_file();
            Error::config(format!("{}: has no data.dev; calibration needs the run's own dev pairs", config.display()))
        })
    }
}

/// The story group of each pair as its file numbers it. [`Pair::group`] tells the groups of several sources apart.
pub(super) fn own_groups(pairs: &[Pair]) -> Vec<i64> {
    pairs.iter().map(|pair| pair.stories[0].group).collect()
}

/// Warns of files that are not those with which the run was trained, by the SHA-256 of each source's.
fn warn_of_changes(Sources(sources): &Sources, then: &str, now: &str) {
    let digests = then.split(' ').zip(now.split(' '));
    for (source, _) in sources.iter().zip(digests).filter(|(_, (then, now))| then != now) {
        aside!(
            "warning: {}: has changed since the run was trained (another SHA-256); temperature and states are chosen on its \
             present pairs",
            source.name()
        );
    }
}
