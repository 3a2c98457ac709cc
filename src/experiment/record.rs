//! What an evaluation leaves in the run folder: predictions, report, and the model card made anew.

use super::folder::{RunFolder, Which, json_bytes};
use super::{TrainedRun, own_decode};
use crate::card::{self, Facts, Source};
use crate::config::{Config, DataSource, Sources};
use crate::decode::{Decode, StateDecode};
use crate::durable;
use crate::error::{Error, Result};
use crate::metrics::{Calibration, StateCounts};
use crate::outside::{self, MAX_CONFIG, component};
use crate::prediction::{PairPrediction, read_predictions, write_predictions};
use crate::report::{DataDescription, PublishedRow, Report, TierRow};
use crate::train::{EpochRecord, Part, Progress};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The folder of an evaluation in the run folder. The partition's name is whatever a story file says. Evaluations of the
/// last weights have their own.
///
/// # Errors
/// `Refused` if file or partition have names that can't be those of a folder.
pub fn evaluation_name(data: &Path, split: &str, kind: &str, which: Which) -> Result<String> {
    let stem = data.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{stem}-{split}-{kind}{}", which.suffix());
    for part in [stem.as_ref(), split, &name] {
        component(part).map_err(|error| {
            let message = format!(
                "{}: {error}; predictions are saved in a folder named after file and partition: rename",
                data.display()
            );
            Error::new(crate::error::ErrorKind::Refused, message)
        })?;
    }
    Ok(name)
}

impl TrainedRun {
    /// The decoding of conflicts that the run's detector was made for.
    pub fn own_decode(&self) -> Decode {
        own_decode(&self.config)
    }

    /// Argmax, and what was chosen on dev if that is another.
    pub fn states(&self) -> Vec<StateDecode> {
        let chosen = self.tuned.as_ref().map(|tuned| tuned.states);
        std::iter::once(StateDecode::Argmax).chain(chosen.filter(|&states| states != StateDecode::Argmax)).collect()
    }

    /// The report of recorded predictions by every one of these decodings.
    pub fn report(
        &self,
        data: DataDescription,
        predictions: &[PairPrediction],
        conflicts: &[Decode],
        states: &[StateDecode],
        published: Vec<PublishedRow>,
    ) -> Report {
        let temperatures = std::iter::once(1.).chain(self.tuned.as_ref().map(|tuned| tuned.temperature));
        Report {
            system: self.folder.path().display().to_string(),
            data,
            rows: TierRow::by_decoding(predictions, conflicts, states),
            states: StateCounts::of(predictions).scores(),
            calibration: temperatures.map(|temperature| Calibration::of(predictions, temperature)).collect(),
            published,
        }
    }

    /// Keeps an evaluation in the run folder and writes the model card anew, if it is of the best weights; returns the
    /// file of the predictions.
    ///
    /// # Errors
    /// `Refused` if the name leads out of the folder; `CantCreate`, `Io`.
    pub fn record(&self, evaluation: &str, predictions: &[PairPrediction], report: &Report) -> Result<PathBuf> {
        let file = self.folder.evaluation_file(evaluation, "predictions.jsonl")?;
        let part = self.folder.evaluation_file(evaluation, "predictions.part")?;
        durable::write_with(&part, |part| write_predictions(part, predictions))?;
        durable::rename(&part, &file)?;
        self.folder.write_evaluation(evaluation, "report.json", &report.to_json())?;
        let weights = Weights { epoch: self.folder.epoch_of(self.which)? };
        self.folder.write_evaluation(evaluation, WEIGHTS, &String::from_utf8_lossy(&json_bytes(&weights)?))?;
        if self.which == Which::Best {
            self.folder.write_card(&self.config)?;
        }
        Ok(file)
    }

    /// Keeps the evaluation on the run's own dev pairs, of which `parts` says where each source has its own.
    ///
    /// # Errors
    /// As [`TrainedRun::record`]; `Config` if the run has no dev pairs.
    pub fn record_dev(&self, predictions: &[PairPrediction], parts: &[Part]) -> Result<()> {
        let Sources(sources) = self.dev_sources()?;
        let mut each = sources.iter().zip(parts);
        each.try_for_each(|(source, part)| self.record_source(source, &predictions[part.pairs.clone()]))
    }

    fn record_source(&self, source: &DataSource, predictions: &[PairPrediction]) -> Result<()> {
        let kind = source.kind.map_or("all", |kind| kind.name());
        let name = evaluation_name(&source.file, &source.split, kind, self.which)?;
        let data = DataDescription {
            file: Some(source.file.display().to_string()),
            split: Some(source.split.clone()),
            kind: kind.to_owned(),
            pairs: predictions.len() as u64,
        };
        let recorded = Decode::Threshold.apply(predictions);
        let report = self.report(data, &recorded, &Decode::REPORTED, &self.states(), Vec::new());
        self.record(&name, &recorded, &report).map(|_| ())
    }
}

/// Which weights an evaluation is of, in a file beside it.
#[derive(PartialEq, Serialize, Deserialize)]
struct Weights {
    /// None before the first epoch is over.
    epoch: Option<u64>,
}

const WEIGHTS: &str = "weights.json";

impl RunFolder {
    /// Predictions of an evaluation, if there are any and they are of the weights that the run has now. (Evaluations of
    /// a time when that was not recorded are taken for such.)
    ///
    /// # Errors
    /// `Io`, `Data`.
    pub fn predictions(&self, evaluation: &str, which: Which) -> Result<Option<Vec<PairPrediction>>> {
        let path = self.evaluated(evaluation, "predictions.jsonl")?;
        let now = Weights { epoch: self.epoch_of(which)? };
        let then = outside::read_regular(&self.evaluated(evaluation, WEIGHTS)?, MAX_CONFIG).ok();
        let then = then.and_then(|bytes| serde_json::from_slice::<Weights>(&bytes).ok());
        if !path.is_file() || then.is_some_and(|then| then != now) {
            return Ok(None);
        }
        read_predictions(&path).map(|file| Some(file.pairs))
    }

    /// The epoch after which these weights were kept.
    fn epoch_of(&self, which: Which) -> Result<Option<u64>> {
        let epochs = self.epochs()?;
        Ok(match which {
            Which::Best => best_epoch(epochs),
            Which::Last => epochs.last().map(|epoch| epoch.epoch),
        })
    }

    /// Writes the model card from what is in the folder.
    ///
    /// # Errors
    /// `Data` if a file in it is not one of ours; `CantCreate`, `Io`.
    pub fn write_card(&self, config: &Config) -> Result<()> {
        let of_best = self.evaluations()?.into_iter().filter(|name| !name.ends_with(Which::Last.suffix()));
        let reports = of_best.map(|name| self.report(&name)).collect::<Result<_>>()?;
        let card = card::card(&self.facts(config, reports)?)?;
        durable::replace(&self.card_file(), card.as_bytes())
    }

    fn facts(&self, config: &Config, reports: Vec<Report>) -> Result<Facts> {
        let (inputs, model, epochs) = (self.inputs().ok(), self.model_config()?, self.epochs()?);
        let described = |Sources(sources): &Sources, digests: Option<&str>| -> Vec<Source> {
            let mut digests = digests.unwrap_or_default().split(' ').map(str::to_owned).filter(|one| !one.is_empty());
            let described = sources.iter().map(|source| Source {
                file: source.file.display().to_string(),
                split: source.split.clone(),
                sha256: digests.next(),
            });
            described.collect()
        };
        let of_dev = inputs.as_ref().and_then(|inputs| inputs.dev.as_deref());
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let real = self.path().canonicalize();
        Ok(Facts {
            name: name(real.as_deref().unwrap_or(self.path())),
            encoder: name(&config.encoder.path),
            encoder_type: model.encoder.family.name().to_owned(),
            detector: plain_name(&model.detector.kind)?,
            train: described(&config.data.train, inputs.as_ref().map(|inputs| inputs.train.as_str())),
            dev: config.data.dev.as_ref().map_or(Vec::new(), |dev| described(dev, of_dev)),
            seed: config.seed,
            epochs: epochs.len() as u64,
            best_epoch: best_epoch(epochs),
            reports,
        })
    }
}

/// The name that a value has in JSON.
fn plain_name(value: &impl Serialize) -> Result<String> {
    Ok(String::from_utf8_lossy(&json_bytes(value)?).trim_matches('"').to_owned())
}

/// The epoch whose weights are kept.
fn best_epoch(epochs: Vec<EpochRecord>) -> Option<u64> {
    let mut progress = Progress::default();
    for epoch in epochs {
        progress.finish_epoch(epoch);
    }
    progress.best
}
