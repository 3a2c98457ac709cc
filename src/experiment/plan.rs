//! What is to be trained, before the inputs are read. With several processes the first one plans, and the others follow
//! its plan.

use super::compute::Compute;
use super::folder::{EncoderFiles, RunFolder, exists_already};
use super::inputs::PreparedInputs;
use super::resume::Resumed;
use super::save::RunInputs;
use super::seen::seen_before;
use super::{changes, origin, start};
use crate::config::{Config, expand};
use crate::durable::{self, Digests};
use crate::error::{Error, ErrorKind, Result};
use crate::machine::made_with;
use crate::model::detector::of_config;
use crate::say::quoted;
use crate::train::Network;
use std::path::{Path, PathBuf};

/// The run that is to be trained.
pub struct RunPlan {
    pub(super) config: Config,
    /// The same, with paths as the run's folder is to have them: they may have been found from where the run was made.
    pub(super) recorded: Config,
    pub(super) compute: Compute,
    pub(super) limit: Option<usize>,
    /// The folder with the encoder's config and tokenizer.
    pub(super) encoder_folder: PathBuf,
    pub(super) out: PathBuf,
    pub(super) begins: PlannedStart,
    pub(super) warnings: Vec<String>,
}

/// Where a run is to start.
pub enum PlannedStart {
    /// In a new folder.
    New,
    /// In the folder of a run that was started before.
    Begun(Box<Resumed>),
    /// Where the first process says.
    Following,
}

/// Where a run starts.
pub enum Start {
    /// In a new folder, with this encoder.
    New(EncoderFiles),
    /// In the folder of a run that was started before.
    Begun(Box<Resumed>),
    /// Where the first process does, which alone has the folder.
    Following,
}

/// What was read for a plan.
pub struct Prepared {
    pub inputs: PreparedInputs,
    pub facts: RunInputs,
    pub network: Network,
    pub start: Start,
}

impl RunPlan {
    /// A new run.
    ///
    /// # Errors
    /// `CantCreate` if `out` exists; `Config`; `Unavailable`.
    pub fn new(config: Config, out: &Path, limit: Option<usize>) -> Result<Self> {
        require_new(out)?;
        let compute = Compute::resolve(&config)?;
        let encoder_folder = config.encoder.folder_with_config()?;
        let (out, begins) = (out.to_owned(), PlannedStart::New);
        let recorded = config.clone();
        Ok(RunPlan { config, recorded, compute, limit, encoder_folder, out, begins, warnings: Vec::new() })
    }

    /// To resume the run in `out` from its newest intact checkpoint. Without `config`, the run's own config is used,
    /// with `overrides`.
    ///
    /// # Errors
    /// `MissingInput` if there is no run; `CantCreate` if another process trains it; `Config` if keys changed that must
    /// not change; `Data` if no checkpoint is intact.
    pub fn resume(out: &Path, config: Option<Config>, overrides: &[String], limit: Option<usize>) -> Result<Self> {
        let (resumed, run_config, mut warnings) = Resumed::find(out)?;
        let of_folder = || Config::open(&resumed.folder.config_file(), overrides);
        let is_of_folder = config.is_none();
        let mut config = config.map_or_else(of_folder, Ok)?;
        changes::resolve_as(&run_config, &mut config);
        warnings.extend(changes::compare(&run_config, &config)?);
        let mut recorded = config.clone();
        let anchored = origin::anchor(&mut recorded, &run_config, out);
        anchored.map_err(|error| Error::reading(Path::new("."), &error))?;
        if is_of_folder {
            origin::follow(origin::paths(&mut config), out);
        }
        if recorded.encoder.path != run_config.encoder.path {
            match config.encoder.folder_with_config() {
                Ok(folder) => resumed.require_encoder(&folder)?,
                Err(_) => recorded.encoder.path = run_config.encoder.path.clone(), // the run has a copy of what it needs
            }
        }
        let compute = Compute::resolve(&config)?;
        let limit = resumed.limit(limit)?;
        let encoder_folder = resumed.folder.encoder_folder();
        let (out, begins) = (out.to_owned(), PlannedStart::Begun(Box::new(resumed)));
        Ok(RunPlan { config, recorded, compute, limit, encoder_folder, out, begins, warnings })
    }

    /// Reads and checks everything that the run needs. Writes nothing. Returns warnings too.
    ///
    /// # Errors
    /// Errors of data, encoder or config; `Data` if the inputs of a run that was started before have changed.
    pub(super) fn read(&mut self) -> Result<Prepared> {
        let RunPlan { config, recorded, compute, limit, encoder_folder, begins, .. } = self;
        require_whole_steps(config)?;
        let inputs = PreparedInputs::read(config, encoder_folder, *limit)?;
        let mut digests = inputs.digests(encoder_folder, *limit)?;
        let made_with = made_with(compute.device);
        let (model, train, device) = (&inputs.model_config, &inputs.train, compute.device);
        let pretrained =
            |folder: &Path, config: &Config| start::pretrained(config, model, folder, train, device, &of_config);
        let (network, start) = match std::mem::replace(begins, PlannedStart::Following) {
            PlannedStart::New => {
                digests.earlier = seen_before(config)?;
                self.warnings.extend(unended(config)?);
                let files = EncoderFiles { folder: encoder_folder.clone(), tokenizer: inputs.tokenizer.clone() };
                let network = pretrained(encoder_folder, config)?;
                digests.initial_weights = Some(start::initial_weights(&Digests::new(), config)?);
                (network, Start::New(files))
            }
            PlannedStart::Begun(resumed) => {
                self.warnings.extend(resumed.compare(config, &digests, &made_with)?);
                (digests.earlier, digests.initial_weights) = match resumed.weights() {
                    Some(_) => (resumed.earlier(config, &digests), resumed.initial_weights()),
                    // It starts anew, with these.
                    None => {
                        self.warnings.extend(unended(config)?);
                        (seen_before(config)?, Some(start::initial_weights(&Digests::new(), config)?))
                    }
                };
                let network = match resumed.weights() {
                    Some(file) => start::resumed(config, model, &file, train, device)?,
                    None => {
                        let encoder = config.encoder.folder()?;
                        resumed.require_encoder(&encoder)?;
                        pretrained(&encoder, config)?
                    }
                };
                (network, Start::Begun(resumed))
            }
            PlannedStart::Following => (start::unset(config, model, train, device), Start::Following),
        };
        let facts = RunInputs { config: recorded.clone(), inputs: digests, made_with };
        Ok(Prepared { inputs, facts, network, start })
    }
}

/// A warning if the run of `init_from` is not at its end: its weights are not what they will be.
///
/// # Errors
/// `MissingInput` if it is not a run folder; `Config` if a variable in its path is not set.
fn unended(config: &Config) -> Result<Option<String>> {
    let Some(run) = &config.init_from else { return Ok(None) };
    let folder = RunFolder::open(&expand(run)?)?;
    let warning = || {
        let (path, named) = (folder.path().display(), quoted(folder.path().display()));
        format!(
            "init_from: {path}: its training has not come to its end; its best weights so far are taken (`tiered train \
             --resume {named}` goes on with it)"
        )
    };
    Ok((!folder.has_ended()).then(warning))
}

/// # Errors
/// `Config` if the detector's running means would be those of shards.
fn require_whole_steps(config: &Config) -> Result<()> {
    match config.model.detector.standardize && config.train.shards > 1 {
        true => Err(Error::config(
            "model.detector.standardize needs train.shards = 1: its running means are those of whole steps",
        )),
        false => Ok(()),
    }
}

/// Whether it is a folder without anything in it.
pub fn is_empty_folder(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Whether another folder can be renamed to the name of this empty one: it is as `mkdir` makes it.
fn is_replaceable(path: &Path) -> bool {
    let device = |path: &Path| std::os::unix::fs::MetadataExt::dev(&path.symlink_metadata().ok()?).into();
    let above = path.parent().map(|above| if above.as_os_str().is_empty() { Path::new(".") } else { above });
    let is_link = path.components().collect::<PathBuf>().is_symlink(); // a slash at the end would follow it
    path.file_name().is_some() && !is_link && above.and_then(device) == device(path)
}

/// # Errors
/// `CantCreate` if the folder has anything in it or can't be made.
fn require_new(out: &Path) -> Result<()> {
    let refused = |why: &str| Err(Error::new(ErrorKind::CantCreate, format!("{}: {why}", out.display())));
    match is_empty_folder(out) {
        true if is_replaceable(out) => durable::require_creatable(out),
        true => refused("is a mount point, a link or the current folder; name a new folder in it with --output"),
        false if out.exists() => Err(exists_already(out)),
        false if out.is_symlink() => refused("is a link to nothing; remove it, or choose another folder with --output"),
        false => durable::require_creatable(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_new_run_needs_a_name_of_its_own() {
        let folder = tempfile::TempDir::new().unwrap();
        let [empty, full, link, dangling, new] =
            ["empty", "full", "link", "dangling", "new"].map(|name| folder.path().join(name));
        fs::create_dir(&empty).unwrap();
        fs::create_dir_all(full.join("run")).unwrap();
        symlink(&empty, &link).unwrap();
        symlink("nowhere", &dangling).unwrap();
        for (path, problem) in [
            (&empty, None),
            (&new, None),
            (&full, Some("exists already; resume it")),
            (&link, Some("is a mount point, a link or the current folder; name a new folder in it")),
            (&link.join(""), Some("is a mount point, a link or the current folder")),
            (&dangling, Some("is a link to nothing")),
        ] {
            let refused = require_new(path).err().map(|error| error.message);
            assert_eq!(refused.is_some(), problem.is_some(), "{refused:?}");
            assert!(problem.is_none_or(|problem| refused.as_ref().unwrap().contains(problem)), "{refused:?}");
        }
    }
}
