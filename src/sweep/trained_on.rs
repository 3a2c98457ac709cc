//! Whether a finished run was trained on the story files that its config names now.
//!
//! The folder of a run does not depend on what its files contain, nor on the folders that they are in.

use super::digests::Digests;
use super::run_files::RunFiles;
use super::{Sweep, SweepRun};
use crate::config::{DataSource, Sources};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

impl Sweep {
    /// # Errors
    /// `Data` if the run, whose training has ended, was trained on other story files.
    pub(super) fn require_trained_on(&self, run: &SweepRun, files: &RunFiles) -> Result<()> {
        match self.other_file(run, files)? {
            None => Ok(()),
            Some(path) => Err(Error::data(format!(
                "{}: the file of data.train has changed since the run was trained, or is another one of this name: {} (another \
                 SHA-256); restore it, remove this folder to train the run again, or choose another folder with --output",
                files.path.display(),
                path.display()
            ))),
        }
    }

    /// The first story file of a run's `data.train` that has changed since its training. A file that can't be read, and is
    /// not needed any more, counts as unchanged.
    ///
    /// # Errors
    /// `Io` or `Data` if the run's `run.json` can't be read.
    pub(super) fn other_file(&self, run: &SweepRun, files: &RunFiles) -> Result<Option<PathBuf>> {
        let Some(inputs) = files.folder()?.inputs()? else { return Ok(None) };
        Ok(changed(&self.digests, &run.config.data.train, &inputs.train).map(Path::to_owned))
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
