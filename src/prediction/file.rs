//! Files of predictions: ours (JSON lines), and the published ones (a JSON list).

use super::{LabelledPair, published};
use crate::error::{Error, Result};
use crate::schema;
use crate::untrusted::{self, MAX_PREDICTIONS, json_line_error};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::hash::Hash;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The format of a file of predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredictionFormat {
    /// One complete [`LabelledPair`] on each line.
    Lines,
    /// The list released with GITA: implausible stories only, and nontrivial states only.
    Published,
}

/// A file of predictions after reading.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionFile {
    /// As its first character shows.
    pub format: PredictionFormat,
    /// In the order of the file. [`LabelledPair::check`] passed for every pair.
    pub pairs: Vec<LabelledPair>,
}

/// Reads either format. The first character shows which one it is.
///
/// # Errors
/// `MissingInput` or `Io` if the file can't be read; `Data`, with the line or item, if its content is invalid.
pub fn read_predictions(path: &Path) -> Result<PredictionFile> {
    parse_predictions(path, &prediction_bytes(path)?)
}

/// The bytes of a file of predictions, up to [`MAX_PREDICTIONS`].
///
/// # Errors
/// `MissingInput` or `Io` if the file can't be read; `Data` if it is larger.
pub fn prediction_bytes(path: &Path) -> Result<Vec<u8>> {
    untrusted::read(path, MAX_PREDICTIONS).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => wrong(path, &format!("{error}; split it")),
        _ => Error::reading(path, &error),
    })
}

/// Reads the predictions in the bytes of a file. `path` is named in errors.
///
/// # Errors
/// `Data`, like [`read_predictions`].
pub fn parse_predictions(path: &Path, bytes: &[u8]) -> Result<PredictionFile> {
    let text = untrusted::text(bytes).map_err(|problem| wrong(path, &problem))?;
    let (format, pairs) = match text.trim_start().chars().next() {
        Some('[') => (PredictionFormat::Published, published::parse(text)),
        Some('{') if is_other_document(text) => {
            let problem =
                "is a JSON document of another kind, such as a story file or a report; name a predictions.jsonl";
            return Err(wrong(path, problem));
        }
        Some('{') => (PredictionFormat::Lines, parse_lines(text)),
        _ => (PredictionFormat::Lines, Ok(Vec::new())),
    };
    let pairs = match pairs {
        Ok(pairs) if pairs.is_empty() => {
            Err("contains no predictions, neither as JSON lines nor as a JSON list".into())
        }
        pairs => pairs,
    };
    Ok(PredictionFile { format, pairs: pairs.map_err(|message| wrong(path, &message))? })
}

/// Writes predictions as JSON lines; replaces the content of `path`.
///
/// # Errors
/// `Internal` if [`LabelledPair::check`] fails; `CantCreate` or `Io` if writing fails.
pub fn write_predictions(path: &Path, predictions: &[LabelledPair]) -> Result<()> {
    let failed = |error| Error::writing(path, &error);
    let mut file = BufWriter::new(std::fs::File::create(path).map_err(failed)?);
    write_lines(&mut file, path, predictions)?;
    file.flush().map_err(failed)
}

/// Writes predictions as JSON lines into an open file. `path` is named in errors.
///
/// # Errors
/// Like [`write_predictions`].
pub fn write_lines(file: &mut dyn Write, path: &Path, predictions: &[LabelledPair]) -> Result<()> {
    for prediction in predictions {
        let internal = |message: String| {
            Error::new(crate::error::ErrorKind::Internal, format!("prediction of pair {:?}: {message}", prediction.id))
        };
        prediction.check().map_err(internal)?;
        let line = schema::to_string(prediction).map_err(|error| internal(error.to_string()))?;
        writeln!(file, "{line}").map_err(|error| Error::writing(path, &error))?;
    }
    Ok(())
}

fn parse_lines(text: &str) -> Result<Vec<LabelledPair>, String> {
    // Another story of this name is another pair: one of the published lists has such a pair.
    let named = |pair: &LabelledPair| (pair.id.clone(), pair.implausible_story().prediction.sentences.clone());
    distinct_lines(text, parse_line, named)
}

/// A pair from each line; no two have the same id and the same of what `named` tells beside it.
///
/// # Errors
/// That of `parse`, or the second line of a pair; with the number of the line.
pub fn distinct_lines<T, K: Eq + Hash>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, String>,
    named: impl Fn(&T) -> (String, K),
) -> Result<Vec<T>, String> {
    let mut line_of = HashMap::new();
    let parsed = |(number, line)| {
        let at_line = |problem: String| format!("line {number}: {problem}");
        let pair = parse(line).map_err(at_line)?;
        let (id, rest) = named(&pair);
        match line_of.insert((id.clone(), rest), number) {
            None => Ok(pair),
            Some(first) => Err(at_line(format!("pair {id:?} is on line {first} too; remove one of them"))),
        }
    };
    untrusted::lines(text).map(parsed).collect()
}

fn parse_line(line: &str) -> Result<LabelledPair, String> {
    let pair: LabelledPair = schema::from_str(line).map_err(|error| match is_of_tiers(line) {
        true => "is a line of a file of tiers, which only `tiered compare` reads; name the predictions".to_owned(),
        false => json_line_error(&error),
    })?;
    pair.check()?;
    Ok(pair)
}

/// Whether the whole text is one JSON object that is neither a prediction nor the tiers of one.
fn is_other_document(text: &str) -> bool {
    let object = serde_json::from_str::<HashMap<String, IgnoredAny>>(text);
    object.is_ok_and(|object| !["id", "tiers"].into_iter().any(|key| object.contains_key(key)))
}

fn is_of_tiers(line: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(line).is_ok_and(|line| line.contains_key("tiers"))
}

fn wrong(path: &Path, message: &str) -> Error {
    Error::data(format!("{}: {message}", path.display()))
}
