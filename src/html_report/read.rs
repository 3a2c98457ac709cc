//! Reads from a run folder what the page needs.

use crate::analysis::{Analysis, Facts, PredictionSource, facts};
use crate::config::{Config, expand};
use crate::data;
use crate::decode::{Decode, StateDecode};
use crate::error::{ErrorKind, Result};
use crate::experiment::{CheckpointKind, RunFolder, own_decode};
use crate::llm::Said;
use crate::metrics::{Share, StoryGroups, Tiered};
use crate::prediction::{LabelledPair, PairPrediction, PredictionFormat};
use crate::report::{DataDescription, Report};
use crate::say::{aside, counted};
use crate::train::EpochRecord;
use std::path::Path;

/// A run and its evaluations.
pub struct ReportedRun {
    pub name: String,
    /// A line that describes it.
    pub facts: String,
    pub epochs: Vec<EpochRecord>,
    /// The epoch of the best weights.
    pub best_epoch: Option<u64>,
    pub sets: Vec<EvaluatedSet>,
}

/// One evaluation of the best weights.
pub struct EvaluatedSet {
    /// "it.json, test"; with the kind unless it is "all". On a page, sets that differ have names that differ.
    pub name: String,
    pub report: Report,
    /// The decoding of conflicts on the page: that of the run's detector; `None`: as recorded.
    pub conflicts: Option<Decode>,
    /// The decoding of states on the page: as chosen on dev.
    pub states: StateDecode,
    /// With the states of the most likely classes instead of these.
    pub verifiability_by_argmax: Share,
    /// The decoded predictions.
    pub predictions: Vec<LabelledPair>,
    pub analysis: Analysis,
    /// Whether predicted states are about entities. A language model may name a state alone.
    pub names_entities: bool,
    /// What a language model was asked and said; empty for a trained run.
    pub said: Vec<Said>,
}

impl ReportedRun {
    pub fn read(path: &Path) -> Result<Self> {
        let folder = RunFolder::open(path)?;
        let config = Config::open(&folder.config_file(), &[])?;
        let epochs = folder.epochs()?;
        let of_best = folder.evaluations()?.into_iter().filter(|name| !name.ends_with(CheckpointKind::Last.suffix()));
        let sets = of_best
            .filter_map(|name| EvaluatedSet::read(&folder, &config, &name).transpose())
            .collect::<Result<_>>()?;
        let real = path.canonicalize();
        let name = real.as_deref().unwrap_or(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (facts, best_epoch) = (described(&folder, &config, &epochs)?, folder.epoch_of(CheckpointKind::Best)?);
        Ok(ReportedRun { name, facts, epochs, best_epoch, sets })
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
    /// How its pairs were read, if not as in training.
    pub fn way_to_read(&self) -> String {
        self.report.data.reading_remark()
    }

    /// `None`, with a warning, if the evaluation is not of the present weights.
    fn read(folder: &RunFolder, config: &Config, name: &str) -> Result<Option<Self>> {
        let report = folder.report(name)?;
        let Some(saved) = folder.predictions(name, CheckpointKind::Best)? else {
            aside!(
                "warning: {}: eval/{name} has no predictions of the present weights; it is left out (`tiered eval` \
                 makes new predictions)",
                folder.path().display()
            );
            return Ok(None);
        };
        let calibrated = folder.calibrated(CheckpointKind::Best)?;
        let conflicts = own_decode(config);
        let can_decode = saved.iter().all(LabelledPair::has_state_probabilities);
        let states = calibrated.as_ref().map(|calibrated| calibrated.states).filter(|_| can_decode).unwrap_or_default();
        let by_argmax = conflicts.apply(&saved);
        let predictions = states.apply(&by_argmax);
        let source = PredictionSource {
            system: report.system.clone(),
            data: DataDescription { pairs: predictions.len() as u64, ..report.data.clone() },
            format: PredictionFormat::Lines,
            decoding: conflicts.name().to_owned(),
            states,
            temperature: calibrated.map(|calibrated| calibrated.temperature),
        };
        let analysis = Analysis::of(source, &predictions, &facts_of(&report.data, config.seed, &predictions)?);
        Ok(Some(EvaluatedSet {
            name: set_name(&report.data),
            report,
            conflicts: Some(conflicts),
            states,
            verifiability_by_argmax: verifiability(&by_argmax),
            predictions,
            analysis,
            names_entities: true,
            said: Vec::new(),
        }))
    }
}

impl EvaluatedSet {
    /// Whether it has predicted states and gold states of entities.
    pub fn can_be_analysed(&self) -> bool {
        self.names_entities
            && !self.predictions.is_empty()
            && self.predictions.iter().all(LabelledPair::has_gold_states)
    }

    /// The name of the decoding of conflicts.
    pub fn decoding(&self) -> &str {
        &self.analysis.decoding
    }

    /// The predicted sentences in conflict of each story.
    pub fn conflict_by_story(&self, prediction: &PairPrediction) -> [Vec<usize>; 2] {
        let Some(conflicts) = self.conflicts else {
            let mut sentences = [Vec::new(), Vec::new()];
            sentences[1 - prediction.plausible].clone_from(&prediction.conflict);
            return sentences;
        };
        conflicts.by_story(prediction)
    }

    /// How its predictions are decoded, in words.
    pub fn reading(&self) -> String {
        let Some(conflicts) = self.conflicts else {
            let states = match self.names_entities {
                true => "predicted states: those that it names",
                false => "predicted state: right if any gold state at the conflict has this name",
            };
            return format!("predicted conflict: the sentence pair that it names · {states}");
        };
        let conflicts = match conflicts {
            Decode::Threshold => "predicted conflict: sentences of conflict probability 0.5 or more",
            Decode::Pair => "predicted conflict: the most likely sentence pair",
            Decode::Contrast => "predicted conflict: the most likely sentence pair that the other story does not have",
        };
        let states = match self.states {
            StateDecode::Argmax => "predicted states: the most likely class".to_owned(),
            StateDecode::Threshold(p) => format!("predicted states: nontrivial states of probability {p} or more"),
            StateDecode::Single => "predicted states: one attribute of one entity at the conflict".to_owned(),
            StateDecode::ThresholdTop1(p) => format!(
                "predicted states: nontrivial states of probability {p} or more, and where none at the conflict \
                 reaches it, the most probable one"
            ),
        };
        format!("{conflicts} · {states}")
    }
}

/// Undefined where gold states are unknown.
fn verifiability(predictions: &[LabelledPair]) -> Share {
    match predictions.iter().all(LabelledPair::has_gold_states) {
        true => StoryGroups::of(predictions).share_of_pairs(predictions, LabelledPair::is_verifiable),
        false => Share::default(),
    }
}

pub fn set_name(data: &DataDescription) -> String {
    named(data, data.file.as_deref().map_or("stories", |file| file.rsplit('/').next().unwrap_or(file)))
}

/// The same with another name of its file.
pub fn named(data: &DataDescription, file: &str) -> String {
    let split = data.split.as_ref().map_or(String::new(), |split| format!(", {split}"));
    let kind = if data.kind == "all" { String::new() } else { format!(", {}", data.kind) };
    format!("{file}{split}{kind}{}", data.remark())
}

/// The locations of stories, if the story file still exists and has these pairs. Everything else works without it.
///
/// # Errors
/// `Io` if the file exists and can't be read.
pub fn facts_of(data: &DataDescription, seed: u64, predictions: &[LabelledPair]) -> Result<Facts> {
    let Some((path, split)) = data.file.as_ref().zip(data.split.as_ref()) else { return Ok(Facts::new()) };
    let read = expand(Path::new(path)).and_then(|path| data::read_file(&path));
    let pairs = match read.and_then(|file| Ok(data::pairs(file.split(split)?, seed))) {
        Err(error) if error.kind == ErrorKind::Io => return Err(error),
        Err(_) => return Ok(Facts::new()),
        Ok(pairs) => pairs,
    };
    let fits = |prediction: &LabelledPair| {
        let pair = pairs.iter().find(|pair| pair.id == prediction.id);
        pair.is_some_and(|pair| {
            prediction.implausible_story().prediction.sentences == pair.implausible_story().sentences
        })
    };
    Ok(if predictions.iter().all(fits) { facts(&pairs) } else { Facts::new() })
}
