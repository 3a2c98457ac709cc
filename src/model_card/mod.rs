//! The model card of a run: a README.md with the front matter of the Hugging Face hub
//! (<https://huggingface.co/docs/hub/model-cards>, "model-index" from Papers with Code).

mod known;
mod matter;

use crate::error::{Error, ErrorKind, Result};
use crate::report::{DataDescription, Report, Table, TierRow, of_states, share};
use crate::say::counted;
use crate::untrusted::shown;
use askama::Template;

/// The longest name that is shown, in characters.
const LONGEST: usize = 120;

/// The contents of a card.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The name of the run.
    pub name: String,
    /// Name and type of the pretrained encoder.
    pub encoder: String,
    pub encoder_type: String,
    /// The kind of conflict detector.
    pub detector: String,
    /// The splits that the weights were trained on.
    pub train: Vec<Source>,
    /// The splits that the best epoch was chosen on. Empty if the last epoch was kept.
    pub dev: Vec<Source>,
    pub seed: u64,
    /// The number of trained epochs.
    pub epochs: u64,
    /// The epoch of the best weights.
    pub best_epoch: Option<u64>,
    /// Reports of the best weights, one for each set.
    pub reports: Vec<Report>,
}

/// A split of a story file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub file: String,
    pub split: String,
    /// The largest number of pairs that were read, if not all.
    pub limit: Option<usize>,
    /// The SHA-256 of the file.
    pub sha256: Option<String>,
}

#[derive(Template)]
#[template(path = "card.md", escape = "none")]
struct Card<'a> {
    front_matter: String,
    name: String,
    version: &'a str,
    encoder: String,
    encoder_type: String,
    detector: String,
    train: String,
    dev: Option<String>,
    seed: u64,
    epochs: u64,
    best_epoch: Option<u64>,
    licences: Vec<String>,
    results: Vec<Results>,
}

/// The table of one set.
struct Results {
    title: String,
    table: String,
}

/// The card as Markdown.
///
/// # Errors
/// `Internal` if it can't be written.
pub fn card(facts: &Facts) -> Result<String> {
    let internal = |error: String| Error::new(ErrorKind::Internal, format!("the model card can't be written: {error}"));
    let files = facts.train.iter().chain(&facts.dev).map(|source| source.file.as_str());
    let files = files.chain(facts.reports.iter().filter_map(|report| report.data.file.as_deref()));
    let card = Card {
        front_matter: matter::front_matter(facts).map_err(internal)?,
        name: escaped(&facts.name),
        version: env!("CARGO_PKG_VERSION"),
        encoder: escaped(&facts.encoder),
        encoder_type: escaped(&facts.encoder_type),
        detector: escaped(&facts.detector),
        train: described(&facts.train).unwrap_or_default(),
        dev: described(&facts.dev),
        seed: facts.seed,
        epochs: facts.epochs,
        best_epoch: facts.best_epoch,
        licences: known::licences(files),
        results: facts.reports.iter().map(results).collect(),
    };
    card.render().map_err(|error| internal(error.to_string()))
}

/// `None` if there are none.
fn described(sources: &[Source]) -> Option<String> {
    let described: Vec<String> = sources.iter().map(described_source).collect();
    (!described.is_empty()).then(|| described.join("; "))
}

fn described_source(source: &Source) -> String {
    let known = known::dataset(&source.file).map_or(String::new(), |known| format!(" ({})", known.name));
    let sha256 = source.sha256.as_ref().map_or(String::new(), |sha256| format!(", SHA-256 `{sha256}`"));
    let limit = source.limit.map_or(String::new(), |limit| format!(", at most its first {}", counted(limit, "pair")));
    format!("{}{known}, split {}{limit}{sha256}", escaped(file_name(&source.file)), escaped(&source.split))
}

fn results(report: &Report) -> Results {
    let mut table = Table::new(["decoding", "accuracy", "consistency", "verifiability"]);
    for row in &report.rows {
        let TierRow { accuracy, consistency, verifiability, .. } = row;
        table.push([row.name(), share(accuracy), share(consistency), of_states(&report.data, share(verifiability))]);
    }
    Results { title: escaped(&set_name(&report.data)), table: table.to_markdown() }
}

/// "it.json, test: 48 pairs (all)".
fn set_name(data: &DataDescription) -> String {
    let file = data.file.as_deref().map_or("stories", file_name);
    let split = data.split.as_ref().map_or(String::new(), |split| format!(", {split}"));
    format!("{file}{split}: {} ({}){}", counted(data.pairs, "pair"), data.kind, data.remark())
}

/// The name of a file without its folder, which may be private.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Untrusted text, escaped so that Markdown shows it as it is.
fn escaped(text: &str) -> String {
    let special = |c: char| c.is_ascii_punctuation() && !".,-+:()=".contains(c);
    let escape = |c: char| if special(c) { vec!['\\', c] } else { vec![c] };
    shown(text, LONGEST).chars().flat_map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_not_become_markup() {
        assert_eq!(escaped("<b>|`x`"), "\\<b\\>\\|\\`x\\`");
        assert_eq!(escaped("a\n# b"), "a\\\\u\\{a\\}\\# b");
        assert_eq!(file_name("a/b/www.json"), "www.json");
    }
}
