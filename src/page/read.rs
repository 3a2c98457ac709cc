//! What a page needs of a run folder.

use crate::analysis::{Analysis, Facts, Source, facts};
use crate::config::{Config, expand};
use crate::data;
use crate::decode::{Decode, StateDecode};
use crate::error::{ErrorKind, Result};
use crate::experiment::{RunFolder, Which, own_decode};
use crate::prediction::{PairPrediction, PredictionFormat};
use crate::report::{DataDescription, Report};
use crate::say::{aside, counted};
use crate::train::EpochRecord;
use std::path::Path;

/// A run and its evaluations.
pub struct Run {
    pub name: String,
    /// A line about it.
    pub facts: String,
    pub epochs: Vec<EpochRecord>,
    /// Whose weights are the best.
    pub best_epoch: Option<u64>,
    pub sets: Vec<EvaluatedSet>,
}

/// One evaluation of the best weights.
pub struct EvaluatedSet {
    /// "it.json, test", with the kind unless that is all.
    pub name: String,
    pub report: Report,
    /// How conflicts and states are read here: as the run's detector is made for, and as chosen on dev.
    pub conflicts: Decode,
    pub states: StateDecode,
    /// Decoded so.
    pub predictions: Vec<PairPrediction>,
    pub analysis: Analysis,
}

impl Run {
    pub fn read(path: &Path) -> Result<Self> {
        let folder = RunFolder::open(path)?;
        let config = Config::open(&folder.config_file(), &[])?;
        let epochs = folder.epochs()?;
        let of_best = folder.evaluations()?.into_iter().filter(|name| !name.ends_with(Which::Last.suffix()));
        let sets = of_best.map(|name| EvaluatedSet::read(&folder, &config, &name)).collect::<Result<_>>()?;
        let real = path.canonicalize();
        let name = real.as_deref().unwrap_or(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (facts, best_epoch) = (described(&folder, &config, &epochs)?, folder.epoch_of(Which::Best)?);
        Ok(Run { name, facts, epochs, best_epoch, sets })
    }
}

/// "joint detector on e5-small, 322 ... ".
fn described(folder: &RunFolder, config: &Config, epochs: &[EpochRecord]) -> Result<String> {
    let model = folder.model_config()?;
    let encoder = config.encoder.path.file_name().unwrap_or_default().to_string_lossy();
    let detector = match own_decode(config) {
        Decode::Threshold => "the paper's detector",
        Decode::Pair | Decode::Contrast => "joint detector",
    };
    let layers = counted(model.encoder.num_hidden_layers, "layer");
    let epochs = counted(epochs.len(), "epoch");
    Ok(format!("{detector} on {encoder} ({layers}), {epochs}, seed {}", config.seed))
}

impl EvaluatedSet {
    fn read(folder: &RunFolder, config: &Config, name: &str) -> Result<Self> {
        let report = folder.report(name)?;
        let saved = folder.predictions(name, Which::Best)?;
        if saved.is_none() {
            aside!(
                "warning: {}: eval/{name} has no predictions of these weights; its pairs are left out (`tiered eval` \
                 makes them)",
                folder.path().display()
            );
        }
        let saved = saved.unwrap_or_default();
        let tuned = folder.tuned(Which::Best)?;
        let conflicts = own_decode(config);
        let can_decode = saved.iter().all(PairPrediction::has_state_probabilities);
        let states = tuned.as_ref().map(|tuned| tuned.states).filter(|_| can_decode).unwrap_or_default();
        let predictions = states.apply(&conflicts.apply(&saved));
        let source = Source {
            system: report.system.clone(),
            data: DataDescription { pairs: predictions.len() as u64, ..report.data.clone() },
            format: PredictionFormat::Lines,
            decoding: conflicts.name().to_owned(),
            states,
            temperature: tuned.map(|tuned| tuned.temperature),
        };
        let analysis = Analysis::of(source, &predictions, &facts_of(&report.data, config, &predictions)?);
        Ok(EvaluatedSet { name: set_name(&report.data), report, conflicts, states, predictions, analysis })
    }
}

impl EvaluatedSet {
    /// Whether there are predictions, and gold states to compare them with.
    pub fn can_be_analysed(&self) -> bool {
        !self.predictions.is_empty() && self.predictions.iter().all(PairPrediction::has_gold_states)
    }

    /// How its predictions are read here, in words.
    pub fn reading(&self) -> String {
        let conflicts = match self.conflicts {
            Decode::Threshold => "in conflict: sentences believed in with at least one half",
            Decode::Pair => "in conflict: the best supported pair of sentences",
            Decode::Contrast => "in conflict: the best supported pair of sentences that the other story has not",
        };
        let states = match self.states {
            StateDecode::Argmax => "asserted: the most likely states".to_owned(),
            StateDecode::Threshold(p) => format!("asserted: states of probability {p} or more"),
            StateDecode::Surest(p) => format!("asserted: states of probability {p} or more, and a conflict's surest"),
        };
        format!("{conflicts} · {states}")
    }
}

fn set_name(data: &DataDescription) -> String {
    let file = data.file.as_deref().map_or("stories", |file| file.rsplit('/').next().unwrap_or(file));
    let split = data.split.as_ref().map_or(String::new(), |split| format!(", {split}"));
    let kind = if data.kind == "all" { String::new() } else { format!(", {}", data.kind) };
    format!("{file}{split}{kind}{}", data.remark())
}

/// Rooms, if the story file is still where it was and has these pairs. Without it nothing else is missed.
///
/// # Errors
/// `Io` if it is there and can't be read.
fn facts_of(data: &DataDescription, config: &Config, predictions: &[PairPrediction]) -> Result<Facts> {
    let Some((path, split)) = data.file.as_ref().zip(data.split.as_ref()) else { return Ok(Facts::new()) };
    let read = expand(Path::new(path)).and_then(|path| data::read_file(&path));
    let pairs = match read.and_then(|file| Ok(data::pairs(file.partition(split)?, config.seed))) {
        Err(error) if error.kind == ErrorKind::Io => return Err(error),
        Err(_) => return Ok(Facts::new()),
        Ok(pairs) => pairs,
    };
    let fits = |prediction: &PairPrediction| {
        let pair = pairs.iter().find(|pair| pair.id == prediction.id);
        pair.is_some_and(|pair| prediction.implausible_story().sentences == pair.implausible_story().sentences)
    };
    Ok(if predictions.iter().all(fits) { facts(&pairs) } else { Facts::new() })
}
