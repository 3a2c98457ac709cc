//! The benchmark's files of results: `results.json`, and a Markdown table for each set.

use super::score::ScoredSubmission;
use crate::error::{Error, Result};
use crate::untrusted;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;

/// A row of `results.json`. Its further keys are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultRow {
    /// The system, as its submission names it.
    #[serde(rename = "Model")]
    pub model: String,
    /// The name of the data set: "piqa-sl".
    #[serde(rename = "Test Dataset")]
    pub set: String,
    /// Between 0 and 1.
    #[serde(rename = "Accuracy")]
    pub accuracy: f64,
    /// Further keys, such as the scores by language; they are written back as they were read.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl From<&ScoredSubmission> for ResultRow {
    fn from(scored: &ScoredSubmission) -> Self {
        let accuracy = scored.accuracy.fraction().expect("a data set has items");
        let language = scored.set.replace("piqa-", "");
        let by_language = json!({language: {"Accuracy": accuracy}});
        let more = Map::from_iter([("Language-Specific Scores".to_owned(), by_language)]);
        ResultRow { model: scored.system.clone(), set: scored.set.clone(), accuracy, more }
    }
}

/// The rows of `results.json`; none if the file does not exist.
///
/// # Errors
/// `Io`; `Data` if it is something else.
pub fn read_results(path: &Path) -> Result<Vec<ResultRow>> {
    match untrusted::read_if_there(path, untrusted::MAX_BATCH) {
        Ok(None) => Ok(Vec::new()),
        Ok(Some(bytes)) => {
            let text = untrusted::text(&bytes).map_err(|problem| Error::data(problem).about(path.display()))?;
            serde_json::from_str(text).map_err(|error| {
                Error::data(format!("{}: is no file of results: {}", path.display(), untrusted::json_error(&error)))
                    .caused_by(error)
            })
        }
        Err(error) => Err(Error::reading(path, &error)),
    }
}

/// Puts rows among others. A row takes the place of those of the same system and set (the benchmark's program would
/// double them); other rows go to the end.
pub fn replace_rows(mut rows: Vec<ResultRow>, new: &[ResultRow]) -> Vec<ResultRow> {
    for row in new {
        let is_same = |old: &ResultRow| old.model == row.model && old.set == row.set;
        let place = rows.iter().position(is_same).unwrap_or(rows.len());
        rows.retain(|old| !is_same(old));
        rows.insert(place, row.clone());
    }
    rows
}

/// The content of `results.json`.
pub fn results_json(rows: &[ResultRow]) -> String {
    serde_json::to_string_pretty(rows).expect("rows can be written as JSON")
}

/// The content of `results-SET.md`: best first, three decimals.
pub fn set_table(rows: &[ResultRow], set: &str) -> String {
    let mut of_set: Vec<&ResultRow> = rows.iter().filter(|row| row.set == set).collect();
    of_set.sort_by(|a, b| b.accuracy.total_cmp(&a.accuracy));
    let header = ["Model", "Test Dataset", "Accuracy"].map(str::to_owned);
    let cells = of_set.iter().map(|row| [escaped(&row.model), escaped(&row.set), format!("{:.3}", row.accuracy)]);
    let lines: Vec<[String; 3]> = std::iter::once(header).chain(cells).collect();
    let [models, sets, scores] = [0, 1, 2].map(|i| lines.iter().map(|line| line[i].chars().count()).max().unwrap_or(0));
    let mut text =
        lines.iter().map(|[model, set, score]| format!("| {model:models$} | {set:sets$} | {score:>scores$} |"));
    let header = text.next().unwrap_or_default();
    let rule = format!("|:{}|:{}|{}:|", "-".repeat(models + 1), "-".repeat(sets + 1), "-".repeat(scores + 1));
    let lines: Vec<String> = [format!("## {set}"), String::new(), header, rule].into_iter().chain(text).collect();
    lines.join("\n") + "\n"
}

/// For a cell of a Markdown table.
fn escaped(text: &str) -> String {
    untrusted::shown(text, untrusted::MAX_NAME).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::piqa::PiqaProtocol;
    use crate::metrics::Share;

    fn row(system: &str, set: &str, right: u64) -> ResultRow {
        let (system, set, accuracy) = (system.to_owned(), set.to_owned(), Share::new(right, 100));
        ResultRow::from(&ScoredSubmission {
            system,
            set,
            protocol: PiqaProtocol::Answer,
            accuracy,
            unanswered: 0,
            ignored_sets: 0,
        })
    }

    #[test]
    fn a_row_is_that_of_the_benchmark() {
        let expected = "[\n  {\n    \"Model\": \"gemma3:27b\",\n    \"Test Dataset\": \"piqa-sl-cer\",\n    \"Accuracy\": 0.57,\n    \
                        \"Language-Specific Scores\": {\n      \"sl-cer\": {\n        \"Accuracy\": 0.57\n      }\n    }\n  }\n]";
        assert_eq!(results_json(&[row("gemma3:27b", "piqa-sl-cer", 57)]), expected);
        assert!(
            results_json(&[row("a", "piqa-bs", 100)]).contains("\"Accuracy\": 1.0,"),
            "a float, as Python writes it"
        );
    }

    #[test]
    fn a_systems_row_is_replaced_and_what_was_doubled_is_one() {
        let [a, b, other] = [row("a", "piqa-hr", 50), row("b", "piqa-hr", 60), row("a", "piqa-sl", 70)];
        let old = vec![a.clone(), b.clone(), a, other.clone()];
        let new = [row("a", "piqa-hr", 80), row("c", "piqa-hr", 10)];
        assert_eq!(replace_rows(old, &new), [new[0].clone(), b, other, new[1].clone()]);
    }

    #[test]
    fn the_table_of_a_set_has_the_best_first() {
        let rows =
            [row("a", "piqa-hr", 50), row("b|c", "piqa-hr", 97), row("d", "piqa-sl", 99), row("e", "piqa-hr", 50)];
        let expected = "## piqa-hr\n\n\
                        | Model | Test Dataset | Accuracy |\n\
                        |:------|:-------------|---------:|\n\
                        | b\\|c  | piqa-hr      |    0.970 |\n\
                        | a     | piqa-hr      |    0.500 |\n\
                        | e     | piqa-hr      |    0.500 |\n";
        assert_eq!(set_table(&rows, "piqa-hr"), expected);
    }

    #[test]
    fn results_are_read_again_and_something_else_is_refused() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("results.json");
        assert_eq!(read_results(&path).unwrap(), []);
        let rows = [row("a", "piqa-hr", 50)];
        std::fs::write(&path, results_json(&rows)).unwrap();
        assert_eq!(read_results(&path).unwrap(), rows);
        std::fs::write(&path, "{}").unwrap();
        assert!(read_results(&path).unwrap_err().message.contains("is no file of results"));
    }
}
