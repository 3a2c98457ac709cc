//! Whether a finished run was trained on the story files that its config names now.
//!
//! The folder of a run does not depend on what its files contain, nor on the folders that they are in.

use super::digests::Digests;
use super::run_files::RunFiles;
use super::{Sweep, SweepRun};
use crate::config::{DataSource, Sources};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// A story file that is not the one that a run was trained or chosen on.
pub struct OtherFile {
    /// `data.train` or `data.dev`.
    key: &'static str,
    path: PathBuf,
}

impl Sweep {
    /// # Errors
    /// `Data` if the run, whose training has ended, was trained on other story files.
    pub(super) fn require_trained_on(&self, run: &SweepRun, files: &RunFiles) -> Result<()> {
        match self.other_file(run, files)? {
            None => Ok(()),
            Some(OtherFile { key, path }) => Err(Error::data(format!(
                "{}: the file of {key} has changed since the run was trained, or is another one of this name: {} (another \
                 SHA-256); restore it, remove this folder to train the run again, or choose another folder with --output",
                files.path.display(),
                path.display()
            ))),
        }
    }

    /// The first story file of a run's config that has changed since its training. A file that can't be read, and is not
    /// needed any more, counts as unchanged.
    ///
    /// # Errors
    /// `Io` or `Data` if the run's `run.json` can't be read.
    pub(super) fn other_file(&self, run: &SweepRun, files: &RunFiles) -> Result<Option<OtherFile>> {
        let Some(inputs) = files.folder()?.inputs()? else { return Ok(None) };
        let data = &run.config.data;
        let train = ("data.train", &data.train, inputs.train.as_str());
        let dev = data.dev.as_ref().zip(inputs.dev.as_deref()).map(|(dev, digests)| ("data.dev", dev, digests));
        Ok(std::iter::once(train).chain(dev).find_map(|(key, sources, digests)| {
            Some(OtherFile { key, path: changed(&self.digests, sources, digests)?.to_owned() })
        }))
    }
}

/// The first file whose SHA-256 is not the one that it had. Synthetic sources have no file.
fn changed<'a>(now: &Digests, Sources(sources): &'a Sources, then: &str) -> Option<&'a Path> {
    let is_changed = |(source, then): (&'a DataSource, &str)| {
        let file = source.file.as_deref()?;
        now.of(file).is_ok_and(|now| now != then).then_some(file)
    };
    sources.iter().zip(then.split(' ')).find_map(is_changed)
}
