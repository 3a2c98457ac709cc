//! Whether finished runs were trained on the same story files: those that their configs name now, and each other's.
//!
//! The folder of a run does not depend on what its files contain, nor on the folders that they are in.

use super::run_files::RunFiles;
use super::{Sweep, SweepRun};
use crate::config::{DataSource, Sources, expand};
use crate::durable::Digests;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
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

    /// # Errors
    /// `Data` if two runs, whose training has ended, were trained on different versions of a story file.
    pub(super) fn require_one_training_data(&self) -> Result<()> {
        let mut first: BTreeMap<&Path, (PathBuf, String)> = BTreeMap::new();
        for run in &self.runs {
            let files = self.files(run);
            if !files.is_trained(run)? {
                continue;
            }
            let Some(inputs) = files.folder()?.inputs()? else { continue };
            for (file, sha256) in story_files(&run.config.data.train, &inputs.train) {
                let (path, of_first) = first.entry(file).or_insert_with(|| (files.path.clone(), sha256.to_owned()));
                if of_first != sha256 {
                    return Err(Error::data(format!(
                        "{}: was trained on another version of {} (another SHA-256) than {}; remove the folder of \
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

/// The first file whose SHA-256 is not the one that it had.
fn changed<'a>(now: &Digests, sources: &'a Sources, then: &str) -> Option<&'a Path> {
    let sha256 = |file: &Path| now.of(&expand(file)?);
    story_files(sources, then).find_map(|(file, then)| sha256(file).is_ok_and(|now| now != then).then_some(file))
}

/// The files of `data.train` with the SHA-256 that they had. Synthetic sources have no file.
fn story_files<'a, 'b>(Sources(sources): &'a Sources, then: &'b str) -> impl Iterator<Item = (&'a Path, &'b str)> {
    let of_file = |(source, then): (&'a DataSource, &'b str)| Some((source.file.as_deref()?, then));
    sources.iter().zip(then.split(' ')).filter_map(of_file)
}
