//! What a run folder remembers of its training: metrics of epochs, the table of steps, events.

use super::folder::RunFolder;
use super::json::json_bytes;
use crate::durable;
use crate::error::{Error, Result};
use crate::say::aside;
use crate::schema::{self, SchemaVersion};
use crate::tensorboard::{self, EVENT_FILE};
use crate::train::EpochRecord;
use crate::untrusted::{self, MAX_METRICS, json_line_error};
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

impl RunFolder {
    /// The path of the table of all steps.
    pub fn step_table(&self) -> PathBuf {
        self.path().join("metrics.csv")
    }

    /// Replaces the lines of all epochs.
    pub fn write_metrics(&self, epochs: &[EpochRecord]) -> Result<()> {
        let mut lines = Vec::new();
        for epoch in epochs {
            lines.extend(json_bytes(epoch)?);
            lines.push(b'\n');
        }
        let path = self.path().join("metrics.jsonl");
        match fs::read(&path) {
            Ok(held) if held == lines => durable::extend(&path, &lines)?, // a try before may have failed at its sync
            Err(_) if lines.is_empty() => {}
            _ => durable::replace(&path, &lines)?,
        }
        durable::extend(&self.path().join(EVENT_FILE), &tensorboard::events(epochs, self.started()))
    }

    /// The records of all epochs.
    ///
    /// # Errors
    /// `Io`; `Data`, with the line, if one is not a record.
    pub fn epochs(&self) -> Result<Vec<EpochRecord>> {
        let path = self.path().join("metrics.jsonl");
        let bytes = untrusted::read_if_there(&path, MAX_METRICS).map_err(|error| Error::reading(&path, &error))?;
        let Some(bytes) = bytes else { return Ok(Vec::new()) };
        let wrong = |problem: String| Error::data(format!("{}: {problem}", path.display()));
        let text = untrusted::text(&bytes).map_err(wrong)?;
        let record = |(i, line): (usize, &str)| {
            schema::from_str(line)
                .map_err(|error| wrong(format!("line {}: {}", i + 1, json_line_error(&error))).caused_by(error))
        };
        text.lines().enumerate().map(record).collect()
    }

    /// Whether the run has finished, by its events. A run without events counts as finished.
    pub fn has_ended(&self) -> bool {
        let events = fs::read_to_string(self.path().join("events.jsonl")).unwrap_or_default();
        let events = events.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let mut ends = events.filter_map(|event| match event["event"].as_str() {
            Some("started") => Some(false),
            Some("finished") => Some(true),
            _ => None,
        });
        ends.next_back().unwrap_or(true)
    }

    /// The start of the run in seconds since 1970, from its first event; 0 if there is none.
    fn started(&self) -> f64 {
        let events = fs::read_to_string(self.path().join("events.jsonl")).unwrap_or_default();
        let first = events.lines().next().and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        first.and_then(|event| event["time"].as_f64()).unwrap_or(0.)
    }

    /// Writes an event to `events.jsonl`, or to standard error if that fails.
    pub fn note(&self, event: &str, step: u64, message: &str) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = (since.as_secs_f64() * 1e3).round() / 1e3;
        let line =
            json!({"schema_version": SchemaVersion, "time": seconds, "event": event, "step": step, "message": message});
        let path = self.path().join("events.jsonl");
        if let Err(error) = durable::append(&path, &line.to_string()) {
            aside!("warning: {error}; this event was not written: {line}");
        }
    }
}
