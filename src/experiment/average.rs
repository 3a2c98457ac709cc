//! The mean of the weights of several runs, as a run of its own (Wortsman et al., Model soups, ICML 2022).

use super::folder::{CheckpointKind, EncoderFiles, RunFolder};
use super::json::json_bytes;
use super::origin::Origin;
use crate::checkpoint::Inputs;
use crate::config::{Config, DataConfig, Sources};
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use crate::model::weights::{self, NamedTensors};
use crate::schema;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// `average.json` of a run folder: the runs whose weights were averaged.
#[derive(Serialize, Deserialize)]
pub struct Average {
    pub(super) runs: Vec<AveragedRun>,
}

/// A run whose best weights were averaged.
#[derive(Serialize, Deserialize)]
pub(super) struct AveragedRun {
    #[serde(serialize_with = "schema::path")]
    folder: PathBuf,
    seed: u64,
    /// SHA-256 of names, shapes and values of its weights.
    weights: String,
}

impl Average {
    const FILE: &str = "average.json";
}

impl RunFolder {
    /// The runs that this one is the mean of, if it is.
    ///
    /// # Errors
    /// `Io`; `Data` if the file is not one that [`average`] wrote.
    pub(super) fn average(&self) -> Result<Option<Average>> {
        durable::read_document(&self.path().join(Average::FILE))
    }
}

/// A run to average.
struct Member {
    folder: RunFolder,
    config: Config,
}

impl Member {
    fn open(path: &Path) -> Result<Self> {
        let folder = RunFolder::open(path)?;
        let config = Config::open(&folder.config_file(), &[])?;
        Ok(Member { folder, config })
    }

    /// What it was made from; the weights with which it was started, and what was seen earlier, aside.
    fn files(&self) -> Result<Inputs> {
        Ok(Inputs { initial_weights: None, earlier: Vec::new(), ..self.folder.required_inputs()? })
    }

    /// The settings of its data that count: files are compared by their contents, and `workers` change no result.
    fn data(&self) -> DataConfig {
        let mut data = self.config.data.clone();
        let sources = std::iter::once(&mut data.train).chain(data.dev.as_mut());
        for source in sources.flat_map(|Sources(sources)| sources) {
            source.file = source.file.take().map(|_| PathBuf::new());
            source.soft_labels = source.soft_labels.take().map(|_| PathBuf::new());
        }
        data.workers = None;
        data
    }

    /// What must be the same in all runs but is not the same in `other`.
    fn difference(&self, other: &Self) -> Result<Option<&'static str>> {
        Ok(if self.folder.model_config()? != other.folder.model_config()? {
            Some("the model")
        } else if self.files()? != other.files()? {
            Some("the story files, the tokenizer or the encoder's config")
        } else if self.data() != other.data() {
            Some("the settings of [data]")
        } else {
            None
        })
    }
}

/// Makes a run folder whose best weights are the mean of the runs' best weights. The runs may differ in seed, losses and
/// training; they should have started from the same weights (`init_from`). Everything else is the first run's.
///
/// # Errors
/// `Config` if the runs differ in model or data; `CantCreate` if `output` exists; errors of reading and writing.
pub fn average(runs: &[PathBuf], output: &Path) -> Result<RunFolder> {
    let members = runs.iter().map(|run| Member::open(run)).collect::<Result<Vec<_>>>()?;
    let [first, others @ ..] = &members[..] else { return Err(Error::config("name at least two runs to average")) };
    for (i, run) in runs.iter().enumerate() {
        let real = |run: &Path| run.canonicalize().ok();
        if runs[..i].iter().any(|other| real(other) == real(run)) {
            return Err(Error::new(
                ErrorKind::Usage,
                format!("{}: is named twice; name different runs", run.display()),
            ));
        }
    }
    for other in others {
        if let Some(difference) = first.difference(other)? {
            let [a, b] = [first, other].map(|member| member.folder.path().display());
            let remedy = "average runs that differ only in seed, losses or training";
            return Err(Error::config(format!("{a} and {b} differ in {difference}; {remedy}")));
        }
    }
    if output.symlink_metadata().is_ok() {
        return Err(exists(output));
    }
    let mut of_runs = Vec::new();
    let mut sums = NamedTensors::new();
    for Member { folder, config } in &members {
        let tensors = weights::read(&folder.required_weights(CheckpointKind::Best)?)?;
        of_runs.push(AveragedRun {
            folder: folder.path().to_owned(),
            seed: config.seed,
            weights: weights::sha256(&tensors),
        });
        add(&mut sums, tensors, folder)?;
    }
    let means = sums.into_iter().map(|(name, sum)| (name, sum / members.len() as f64)).collect();
    let mut inputs = first.files()?;
    for member in &members {
        inputs.add_earlier(member.folder.required_inputs()?.earlier);
    }
    write(first, &inputs, &means, &Average { runs: of_runs }, output)
}

fn exists(output: &Path) -> Error {
    Error::new(ErrorKind::CantCreate, format!("{}: exists already; name a new folder with --output", output.display()))
}

/// Adds a run's weights to the sums.
fn add(sums: &mut NamedTensors, tensors: NamedTensors, folder: &RunFolder) -> Result<()> {
    if sums.is_empty() {
        *sums = tensors;
        return Ok(());
    }
    let is_same = sums.len() == tensors.len()
        && sums.iter().all(|(name, sum)| tensors.get(name).is_some_and(|tensor| tensor.size() == sum.size()));
    if !is_same {
        let file = folder.weights_file(CheckpointKind::Best);
        return Err(Error::config(format!("{}: has other tensors than the first run", file.display())));
    }
    for (name, tensor) in tensors {
        let _ = sums.get_mut(&name).expect("the names are the same").g_add_(&tensor);
    }
    Ok(())
}

/// Writes the folder beside its final place, and renames it when it is complete.
fn write(first: &Member, inputs: &Inputs, means: &NamedTensors, average: &Average, output: &Path) -> Result<RunFolder> {
    let Member { folder, config } = first;
    let beside = durable::folder_beside(output)?;
    let part = beside.path().join("run");
    let tokenizer =
        fs::read(folder.tokenizer_file()).map_err(|error| Error::reading(&folder.tokenizer_file(), &error))?;
    let encoder = EncoderFiles { folder: folder.encoder_folder(), tokenizer };
    let (made, lock) = RunFolder::create(&part, config, &folder.model_config()?, inputs, &encoder)?;
    let best = made.weights_file(CheckpointKind::Best);
    durable::write_with(&best, |path| weights::write(path, means))?;
    made.keep(CheckpointKind::Last, &best)?;
    durable::write(&part.join(Average::FILE), &json_bytes(average)?)?;
    let origin = Origin::of_run(folder.path()).map_err(|error| Error::reading(folder.path(), &error))?;
    if let Some(origin) = origin {
        durable::replace(&part.join(Origin::FILE), &json_bytes(&origin)?)?; // the config's paths are those of the first run
    }
    drop(lock);
    for folder in ["best", "last", ""] {
        durable::sync_folder(&part.join(folder))?;
    }
    durable::rename(&part, output).map_err(|error| if output.exists() { exists(output) } else { error })?;
    durable::sync_parent(output)?;
    RunFolder::open(output)
}
