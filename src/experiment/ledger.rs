//! The ledger: which scores of pairs that training has not seen were ever looked at. A test set that is scored often is
//! no longer one.

use super::json::json_bytes;
use super::run::TrainedRun;
use crate::durable::{self, FileDigest};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{Share, undefined};
use crate::report::{DataDescription, Report, Seen, TierRow};
use crate::say::aside;
use serde::Serialize;
use std::path::{Path, PathBuf};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The file in a run folder.
pub(super) const SCORINGS: &str = "scorings.jsonl";

/// Names the file that collects the scorings of all runs.
const LEDGER: &str = "TIERED_LEDGER";

/// One scoring: a line.
#[derive(Serialize)]
struct Scoring<'a> {
    /// In UTC.
    time: String,
    /// The run folder, as it was named.
    run: &'a str,
    /// SHA-256 of its `config.toml`.
    config: String,
    /// SHA-256 of the weights.
    weights: String,
    /// Epochs that were over when the weights were saved.
    epoch: Option<u64>,
    data: &'a DataDescription,
    rows: Vec<Score<'a>>,
}

#[derive(Serialize)]
struct Score<'a> {
    decoding: &'a str,
    states: String,
    accuracy: Share,
    consistency: Share,
    #[serde(with = "undefined")]
    verifiability: Share,
}

impl<'a> Score<'a> {
    fn of(row: &'a TierRow) -> Self {
        Score {
            decoding: &row.decoding,
            states: row.states.to_string(),
            accuracy: row.accuracy,
            consistency: row.consistency,
            verifiability: row.verifiability,
        }
    }
}

/// The ledger that `TIERED_LEDGER` names.
fn ledger() -> Option<PathBuf> {
    std::env::var_os(LEDGER).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Checks, before anything is computed, that the ledger can be written to.
///
/// # Errors
/// `CantCreate`.
pub fn check_ledger() -> Result<()> {
    let Some(path) = ledger() else { return Ok(()) };
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    opened.map(drop).map_err(|error| {
        let message =
            format!("{LEDGER}={}: {error}; name a file that can be written, or unset {LEDGER}", path.display());
        Error::new(ErrorKind::CantCreate, message).caused_by(error)
    })
}

impl TrainedRun {
    /// Notes a scoring in the run folder, and in the ledger if there is one. Scores of pairs that the run was all trained
    /// or chosen on are not noted.
    ///
    /// # Errors
    /// `Io` if the weights can't be read or the ledger can't be written. A run folder that can't be written to is only
    /// warned of.
    pub fn note_scoring(&self, report: &Report) -> Result<()> {
        if report.data.seen != Seen::Nothing && !report.data.seen_in_part {
            return Ok(());
        }
        let digest = |path: &Path| FileDigest::of_file(path).map(|digest| digest.sha256);
        let scoring = Scoring {
            time: OffsetDateTime::now_utc()
                .format(&Rfc3339)
                .map_err(|error| Error::new(ErrorKind::Internal, format!("the time can't be written: {error}")))?,
            run: &report.system,
            config: digest(&self.folder.config_file())?,
            weights: self.weights_digest()?,
            epoch: self.epoch,
            data: &report.data,
            rows: report.rows.iter().map(Score::of).collect(),
        };
        let line = String::from_utf8_lossy(&json_bytes(&scoring)?).into_owned();
        if let Err(error) = durable::append(&self.folder.path().join(SCORINGS), &line) {
            aside!("warning: {error}; this scoring is not noted in the run folder");
        }
        ledger().map_or(Ok(()), |path| durable::append(&path, &line))
    }
}
