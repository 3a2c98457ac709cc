//! The model card of a run: a README.md with the front matter of the Hugging Face hub
//! (<https://huggingface.co/docs/hub/model-cards>, "model-index" from Papers with Code).

mod contents;
mod known;
mod matter;

pub use contents::{CardContents, CardSource};

use crate::error::{Error, ErrorKind, Result};
use crate::report::{Report, Table, TierRow, of_states, share};
use crate::say::counted;
use crate::untrusted::shown;
use askama::Template;
use contents::{LONGEST, file_name, set_name};

#[derive(Template)]
#[template(path = "card.md", escape = "none")]
struct Card<'a> {
    front_matter: String,
    name: String,
    version: &'a str,
    encoder: String,
    encoder_type: String,
    detector: String,
    init_from: Option<String>,
    train: String,
    left_out: Option<&'a str>,
    dev: Option<String>,
    averaged: Option<usize>,
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
pub fn card(contents: &CardContents) -> Result<String> {
    let internal = |error: String| Error::new(ErrorKind::Internal, format!("the model card can't be written: {error}"));
    let files = contents.train.iter().chain(&contents.dev).map(|source| source.file.as_str());
    let files = files.chain(contents.reports.iter().filter_map(|report| report.data.file.as_deref()));
    let card = Card {
        front_matter: matter::front_matter(contents).map_err(internal)?,
        name: escaped(&contents.name),
        version: env!("CARGO_PKG_VERSION"),
        encoder: escaped(&contents.encoder),
        encoder_type: escaped(&contents.encoder_type),
        detector: escaped(&contents.detector),
        init_from: contents.init_from.as_deref().map(escaped),
        train: described(&contents.train).unwrap_or_default(),
        left_out: contents.left_out.as_deref(),
        dev: described(&contents.dev),
        averaged: contents.averaged,
        seed: contents.seed,
        epochs: contents.epochs,
        best_epoch: contents.best_epoch,
        licences: known::licences(files),
        results: contents.reports.iter().map(results).collect(),
    };
    card.render().map_err(|error| internal(error.to_string()))
}

/// `None` if there are none.
fn described(sources: &[CardSource]) -> Option<String> {
    let described: Vec<String> = sources.iter().map(described_source).collect();
    (!described.is_empty()).then(|| described.join("; "))
}

fn described_source(source: &CardSource) -> String {
    let known = known::dataset(&source.file).map_or(String::new(), |known| format!(" ({})", known.name));
    let sha256 = source.sha256.as_ref().map_or(String::new(), |sha256| format!(", SHA-256 `{sha256}`"));
    let kind = source.kind.map_or(String::new(), |kind| format!(", only its {} pairs", kind.name()));
    let limit = source.limit.map_or(String::new(), |limit| format!(", at most its first {}", counted(limit, "pair")));
    let soft = source.soft_labels.as_ref();
    let soft = soft.map_or(String::new(), |file| format!(", with the soft labels of {}", escaped(file_name(file))));
    format!("{}{known}, split {}{kind}{limit}{sha256}{soft}", escaped(file_name(&source.file)), escaped(&source.split))
}

fn results(report: &Report) -> Results {
    let mut table = Table::new(["decoding", "accuracy", "consistency", "verifiability"]);
    for row in &report.rows {
        let TierRow { accuracy, consistency, verifiability, .. } = row;
        table.push([row.name(), share(accuracy), share(consistency), of_states(&report.data, share(verifiability))]);
    }
    Results { title: escaped(&set_name(&report.data)), table: table.to_markdown() }
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
