//! Whether finished runs were trained on the same files: those that their configs name now, and each other's.
//!
//! The folder of a run does not depend on what its files contain, nor on the folders that they are in.

use super::run_files::RunFiles;
use super::{Sweep, SweepRun};
use crate::checkpoint::Inputs;
use crate::config::{Config, Sources, expand};
use crate::durable::{Digests, sha256};
use crate::error::{Error, Result};
use crate::experiment::initial_weights;
use crate::tokenizer::tokenizer_json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file, or the weights in a folder, with which a run was trained.
struct TrainedWith<'a> {
    /// What of the config names it.
    what: &'static str,
    path: &'a Path,
    /// SHA-256 at the time.
    sha256: &'a str,
}

/// A file that has changed since a run was trained with it.
pub(super) struct OtherFile {
    what: &'static str,
    path: PathBuf,
}

impl Sweep {
    /// # Errors
    /// `Data` if the run, whose training has ended, was trained with other files.
    pub(super) fn require_trained_on(&self, run: &SweepRun, files: &RunFiles) -> Result<()> {
        match self.other_file(run, files)? {
            None => Ok(()),
            Some(OtherFile { what, path }) => Err(Error::data(format!(
                "{}: {what} has changed since the run was trained, or is another one of this name: {} (another SHA-256); \
                 restore it, remove this folder to train the run again, or choose another folder with --output",
                files.path.display(),
                path.display()
            ))),
        }
    }

    /// # Errors
    /// `Data` if two runs, whose training has ended, were trained with different versions of a file.
    pub(super) fn require_one_training_data(&self) -> Result<()> {
        let mut first: BTreeMap<(&str, PathBuf), (PathBuf, String)> = BTreeMap::new();
        for run in &self.runs {
            let files = self.files(run);
            if !files.is_trained(run)? {
                continue;
            }
            let Some(inputs) = files.folder()?.inputs()? else { continue };
            for TrainedWith { what, path: file, sha256 } in trained_with(&run.config, &inputs) {
                let of_this = || (files.path.clone(), sha256.to_owned());
                let (path, of_first) = first.entry((what, file.to_owned())).or_insert_with(of_this);
                if of_first != sha256 {
                    return Err(Error::data(format!(
                        "{}: was trained with another version of {what}, {} (another SHA-256), than {}; remove the folder of \
                         the older one and train it again with `tiered sweep run {}`",
                        files.path.display(),
                        file.display(),
                        path.display(),
                        self.arguments()
                    )));
                }
            }
        }
        Ok(())
    }

    /// The first file of a run that has changed since its training. A file that can't be read, and is not needed any more,
    /// counts as unchanged.
    ///
    /// # Errors
    /// `Io` or `Data` if the run's `run.json` can't be read.
    pub(super) fn other_file(&self, run: &SweepRun, files: &RunFiles) -> Result<Option<OtherFile>> {
        let Some(inputs) = files.folder()?.inputs()? else { return Ok(None) };
        let other = trained_with(&run.config, &inputs).into_iter().find(|file| file.has_changed(&self.digests, run));
        Ok(other.map(|TrainedWith { what, path, .. }| OtherFile { what, path: path.to_owned() }))
    }
}

impl TrainedWith<'_> {
    fn has_changed(&self, digests: &Digests, run: &SweepRun) -> bool {
        let now = match self.what {
            ENCODER | INIT_FROM => initial_weights(digests, &run.config),
            CONFIG => run.config.encoder.folder().and_then(|folder| digests.of(&folder.join("config.json"))),
            TOKENIZER => run.config.encoder.folder().and_then(|folder| tokenizer_digest(digests, &folder)),
            _ => expand(self.path).and_then(|file| digests.of(&file)),
        };
        now.is_ok_and(|now| now != self.sha256)
    }
}

/// Of the `tokenizer.json`, as a run notes it; built if there is none.
fn tokenizer_digest(digests: &Digests, folder: &Path) -> Result<String> {
    let file = folder.join("tokenizer.json");
    if file.is_file() { digests.of(&file) } else { Ok(sha256(&tokenizer_json(folder)?)) }
}

const TRAIN: &str = "the file of data.train";
const SOFT_LABELS: &str = "the file of data.train.soft_labels";
const DEV: &str = "the file of data.dev";
const ENCODER: &str = "the file of weights of encoder.path";
const CONFIG: &str = "the config.json of encoder.path";
const TOKENIZER: &str = "the tokenizer of encoder.path";
const INIT_FROM: &str = "the file of weights of init_from";

fn trained_with<'a>(config: &'a Config, inputs: &'a Inputs) -> Vec<TrainedWith<'a>> {
    let mut all = of_sources(TRAIN, &config.data.train, &inputs.train);
    let soft = config.data.train.0.iter().zip(inputs.soft_labels.iter().flat_map(|digests| digests.split(' ')));
    all.extend(soft.filter_map(|(source, sha256)| {
        Some(TrainedWith { what: SOFT_LABELS, path: source.soft_labels.as_deref()?, sha256 })
    }));
    if let Some((sources, sha256)) = config.data.dev.as_ref().zip(inputs.dev.as_ref()) {
        all.extend(of_sources(DEV, sources, sha256));
    }
    let (what, path) = match &config.init_from {
        Some(run) => (INIT_FROM, run),
        None => (ENCODER, &config.encoder.path),
    };
    all.extend(inputs.initial_weights.as_ref().map(|sha256| TrainedWith { what, path, sha256 }));
    let of_encoder = [(CONFIG, &inputs.encoder_config), (TOKENIZER, &inputs.tokenizer)];
    all.extend(of_encoder.map(|(what, sha256)| TrainedWith { what, path: &config.encoder.path, sha256 }));
    all
}

/// The story files of these sources with the SHA-256 that they had. Synthetic sources have no file.
fn of_sources<'a>(what: &'static str, Sources(sources): &'a Sources, then: &'a str) -> Vec<TrainedWith<'a>> {
    let files = sources.iter().zip(then.split(' '));
    files.filter_map(|(source, sha256)| Some(TrainedWith { what, path: source.file.as_deref()?, sha256 })).collect()
}
