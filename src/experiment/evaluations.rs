//! The evaluations in a run folder.

use super::folder::RunFolder;
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use crate::report::Report;
use crate::schema;
use crate::untrusted::{self, MAX_CONFIG, json_error};
use std::fs;
use std::path::PathBuf;

impl RunFolder {
    /// The path of a file of this evaluation. Its folder is created.
    ///
    /// # Errors
    /// `Refused` if the name or a link leads out of the run folder; `CantCreate`, `Io`.
    pub fn evaluation_file(&self, evaluation: &str, file: &str) -> Result<PathBuf> {
        untrusted::component(evaluation)
            .and_then(|name| untrusted::within(self.path(), &format!("eval/{name}/{file}")))
            .map_err(|error| Error::new(ErrorKind::Refused, format!("{}: {error}", self.path().display())))?;
        let folder = self.path().join("eval").join(evaluation);
        fs::create_dir_all(&folder).map_err(|error| Error::writing(&folder, &error))?;
        Ok(folder.join(file))
    }

    /// Writes a file of this evaluation; replaces it if it exists.
    pub fn write_evaluation(&self, evaluation: &str, file: &str, text: &str) -> Result<()> {
        let path = self.evaluation_file(evaluation, file)?;
        durable::replace(&path, text.as_bytes())
    }

    /// The names of the evaluations in the folder, sorted.
    ///
    /// # Errors
    /// `Io`.
    pub fn evaluations(&self) -> Result<Vec<String>> {
        let folder = self.path().join("eval");
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| Error::reading(&folder, &error))?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| Error::reading(&folder, &error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if untrusted::component(&name).is_ok() && entry.path().join("report.json").is_file() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Reads the report of an evaluation.
    ///
    /// # Errors
    /// `MissingInput`, `Io`; `Data` if [`RunFolder::write_evaluation`] did not write the file.
    pub fn report(&self, evaluation: &str) -> Result<Report> {
        let path = self.evaluated(evaluation, "report.json")?;
        let bytes = untrusted::read_regular(&path, MAX_CONFIG).map_err(|error| Error::reading(&path, &error))?;
        let wrong = |problem: String| Error::data(format!("{}: {problem}", path.display()));
        schema::check(&bytes).map_err(|error| wrong(json_error(&error)).caused_by(error))?;
        serde_json::from_slice(&bytes).map_err(|error| {
            wrong(format!("{}; evaluate again with `tiered eval`", json_error(&error))).caused_by(error)
        })
    }

    /// The path of a file of an evaluation. The file may be missing.
    pub(super) fn evaluated(&self, evaluation: &str, file: &str) -> Result<PathBuf> {
        untrusted::within(self.path(), &format!("eval/{evaluation}/{file}"))
            .map_err(|error| Error::new(ErrorKind::Refused, format!("{}: {error}", self.path().display())))
    }
}
