//! A data set: one JSON object a line, in the benchmark's form or in that of English PIQA.

use crate::durable;
use crate::error::{Error, Result};
use crate::untrusted;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The sets of the South Slavic benchmark, in the order of its published table.
pub const SETS: [&str; 10] = [
    "piqa-en",
    "piqa-sl",
    "piqa-sl-cer",
    "piqa-hr",
    "piqa-hr-ckm",
    "piqa-bs",
    "piqa-sr_latn",
    "piqa-sr_cyrl",
    "piqa-mk",
    "piqa-bg",
];

/// How many items each of [`SETS`] has.
pub const SET_ITEMS: u64 = 100;

/// A situation, and two solutions of which one is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What is to be done: `prompt`, or `goal` in English PIQA.
    pub situation: String,
    /// `solution0` and `solution1`, or `sol1` and `sol2` in English PIQA.
    pub solutions: [String; 2],
    /// The right solution, 0 or 1, where it is known.
    pub label: Option<u8>,
}

/// The items of a file, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PiqaSet {
    /// The file's name without its extension: "piqa-sl".
    pub name: String,
    /// The file that was read.
    pub path: PathBuf,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// At least one.
    pub items: Vec<Item>,
}

/// A line: the benchmark's names, or English PIQA's.
#[derive(Deserialize)]
struct Line {
    #[serde(alias = "goal")]
    prompt: String,
    #[serde(alias = "sol1")]
    solution0: String,
    #[serde(alias = "sol2")]
    solution1: String,
    /// English PIQA's test split on the Hugging Face hub has -1: unknown.
    #[serde(default)]
    label: Option<i64>,
}

impl PiqaSet {
    /// Reads `SET.jsonl`. Labels come from `labels`, else from the lines if each has one, else from `SET-labels.lst`
    /// beside the file (English PIQA: a label a line), else those that no line tells are unknown.
    ///
    /// # Errors
    /// `MissingInput` and `Io` of a file; `Data`, naming the line.
    pub fn read(path: &Path, labels: Option<&Path>) -> Result<Self> {
        let bytes = untrusted::read(path, untrusted::MAX_BATCH).map_err(|error| Error::reading(path, &error))?;
        let about = |message: String| Error::data(message).about(path.display());
        let name = set_name(path)?;
        let text = untrusted::text(&bytes).map_err(about)?;
        let mut items = Vec::new();
        for (number, line) in untrusted::lines(text) {
            items.push(item(line).map_err(|message| about(format!("line {number}: {message}")))?);
        }
        if items.is_empty() {
            return Err(about(
                "holds no items; it needs one JSON object a line, with prompt, solution0, solution1".into(),
            ));
        }
        let mut dataset = PiqaSet { name, path: path.to_owned(), sha256: durable::sha256(&bytes), items };
        let beside = path.with_file_name(format!("{}-labels.lst", dataset.name));
        match labels {
            Some(labels) => dataset.label_from(labels)?,
            None if dataset.items.iter().any(|item| item.label.is_none()) && beside.is_file() => {
                dataset.label_from(&beside)?;
            }
            None => {}
        }
        Ok(dataset)
    }

    /// Takes the labels of a file with one a line.
    fn label_from(&mut self, path: &Path) -> Result<()> {
        let bytes = untrusted::read(path, untrusted::MAX_BATCH).map_err(|error| Error::reading(path, &error))?;
        let about = |message: String| Error::data(message).about(path.display());
        let labels: Vec<&str> = untrusted::text(&bytes).map_err(about)?.lines().map(str::trim).collect();
        let (file, items) = (self.path.display(), self.items.len());
        if labels.len() != items {
            return Err(about(format!("holds {} labels, and {file} {items} items; it needs one a line", labels.len())));
        }
        for (number, (item, label)) in self.items.iter_mut().zip(labels).enumerate() {
            let parsed = label.parse().ok().filter(|&label: &u8| label <= 1);
            let wrong =
                || about(format!("line {}: \"{}\" is no label: 0 or 1", number + 1, untrusted::shown(label, 20)));
            let label = parsed.ok_or_else(wrong)?;
            if item.label.is_some_and(|own| own != label) {
                let message = format!("line {}: {label}, but {file} has another label there; correct one", number + 1);
                return Err(about(message));
            }
            item.label = Some(label);
        }
        Ok(())
    }
}

/// The name of the set: of the file, without its extension.
fn set_name(path: &Path) -> Result<String> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let name = untrusted::component(stem).map_err(|error| Error::data(format!("{}: {error}", path.display())))?;
    Ok(name.to_owned())
}

fn item(line: &str) -> Result<Item, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| untrusted::json_line_error(&error))?;
    let label = match line.label {
        None | Some(-1) => None,
        Some(label @ (0 | 1)) => Some(label as u8),
        Some(label) => return Err(format!("label {label}: it must be 0 or 1")),
    };
    let texts = [("the situation", &line.prompt), ("solution 0", &line.solution0), ("solution 1", &line.solution1)];
    if let Some((name, _)) = texts.into_iter().find(|(_, text)| text.trim().is_empty()) {
        return Err(format!("{name} is empty"));
    }
    Ok(Item { situation: line.prompt, solutions: [line.solution0, line.solution1], label })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn read(name: &str, text: &str, labels: Option<&str>) -> Result<PiqaSet> {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        if let Some(labels) = labels {
            std::fs::write(folder.path().join("valid-labels.lst"), labels).unwrap();
        }
        PiqaSet::read(&path, None)
    }

    #[test]
    fn the_form_of_the_benchmark_is_read() {
        let text = "{\"prompt\": \"Juha je prevroča.\", \"solution0\": \"Pihni.\", \"solution1\": \"Soli.\", \"label\": 0, \"language\": \"sl\"}\n\n\
                    {\"prompt\": \"B\", \"solution0\": \"a\", \"solution1\": \"b\", \"label\": 1}\n";
        let dataset = read("piqa-sl.jsonl", text, None).unwrap();
        assert_eq!(dataset.name, "piqa-sl");
        let solutions = ["Pihni.", "Soli."].map(str::to_owned);
        assert_eq!(dataset.items[0], Item { situation: "Juha je prevroča.".into(), solutions, label: Some(0) });
        assert_eq!(dataset.items[1].label, Some(1));
    }

    #[test]
    fn english_piqa_has_its_labels_in_a_file_of_their_own() {
        let line = r#"{"goal": "Cool the soup", "sol1": "Blow on it", "sol2": "Salt it"}"#;
        let text = format!("{line}\n{line}\n");
        let labels = |labels| read("valid.jsonl", &text, labels);
        let known = |dataset: PiqaSet| dataset.items.iter().map(|item| item.label).collect::<Vec<_>>();
        assert_eq!(known(labels(Some("1\n0\n")).unwrap()), [Some(1), Some(0)]);
        assert_eq!(known(labels(None).unwrap()), [None, None]);
        let some = text.replacen('}', r#", "label": 0}"#, 1);
        let labels_of_some = |labels| known(read("valid.jsonl", &some, labels).unwrap());
        assert_eq!(labels_of_some(Some("0\n1\n")), [Some(0), Some(1)], "the lines have not all of them");
        let refused = read("valid.jsonl", &some, Some("1\n1\n")).unwrap_err().message;
        assert!(refused.contains("valid-labels.lst: line 1: 1, but") && refused.ends_with("correct one"), "{refused}");
        assert_eq!(labels_of_some(None), [Some(0), None]);
        assert!(labels(Some("1\n")).unwrap_err().message.contains("holds 1 labels, and "));
        assert!(labels(Some("1\n2\n")).unwrap_err().message.ends_with("line 2: \"2\" is no label: 0 or 1"));
    }

    #[test]
    fn a_wrong_line_is_named() {
        let said = |text: &str| {
            let error = read("a.jsonl", text, None).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Data);
            error.message
        };
        let good = r#"{"prompt": "a", "solution0": "b", "solution1": "c", "label": 0}"#;
        assert!(said(&format!("{good}\n{{\"prompt\": \"a\"}}")).contains("line 2: missing field `solution0`"));
        assert!(said(&good.replace(": 0", ": 2")).ends_with("line 1: label 2: it must be 0 or 1"));
        assert!(said(&good.replace("\"c\"", "\" \"")).ends_with("line 1: solution 1 is empty"));
        assert!(said("\n").contains("holds no items"));
        assert_eq!(PiqaSet::read(Path::new("none.jsonl"), None).unwrap_err().kind, ErrorKind::MissingInput);
    }
}
