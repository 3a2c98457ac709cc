//! One concept has one name (docs/glossary.md): names that were given up occur nowhere in what is read or typed.

use crate::support::files_below;
use std::path::{Path, PathBuf};

/// Words and phrases that were given up, and what to write instead. They match whole words, in any case.
const GIVEN_UP: [(&str, &str); 42] = [
    ("make-stories", "data synthesize"),
    ("reorder-stories", "data reorder"),
    ("made stories", "synthetic stories"),
    ("made story", "synthetic story"),
    ("made pairs", "synthetic pairs"),
    ("made ones", "synthetic ones"),
    ("re-ordered", "reordered"),
    ("re-order", "reorder"),
    ("told like", "in the style of"),
    ("belief", "conflict probability"),
    ("beliefs", "conflict probabilities"),
    ("slot", "cell"),
    ("slots", "cells"),
    ("surest", "top-1"),
    ("asserted", "predicted"),
    ("asserts", "predicts"),
    ("explained pairs", "pairs with verifiable states"),
    ("recognised", "recall"),
    ("minded", "order sensitivity"),
    ("wrong way round", "order sensitivity"),
    ("loss.alone", "loss.single_story"),
    ("partition", "split"),
    ("partitions", "splits"),
    ("system that says", "ensemble"),
    ("temperature as it is", "uncalibrated"),
    ("tune", "calibrate"),
    ("tuned", "calibrated"),
    ("tuning", "calibration"),
    ("study", "sweep"),
    ("studies", "sweeps"),
    ("passed over", "skipped"),
    ("passed-over", "skipped"),
    ("by heart", "overfit"),
    ("state_inputs", "state_sample_ratio"),
    ("product rate", "matmul rate"),
    ("share of the machine's", "model FLOPs utilisation"),
    ("matrix products", "matmuls"),
    ("matrix product", "matmul"),
    ("peer", "reference implementation"),
    ("peers", "reference implementations"),
    ("makes no sense", "say what is wrong"),
    ("cell of a sweep", "run of a sweep"),
];

#[test]
fn names_that_were_given_up_occur_nowhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for path in read_by_users(root) {
        let name = path.strip_prefix(root).unwrap().display();
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            for (word, instead) in given_up(line) {
                found.push(format!("{name}:{}: {word:?}: write {instead:?}", number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{} times:\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_given_up_name_is_found_and_parts_of_words_are_not() {
    let words = |line| given_up(line).map(|(word, _)| word).collect::<Vec<_>>();
    assert_eq!(words("Its **Beliefs** (see `loss.alone`)"), ["beliefs", "loss.alone"]);
    assert_eq!(words("a StudyFile, attuned, pieces.partition(|piece| piece)"), [""; 0]);
}

/// Documents, help and messages (which stand in the sources), pages, configs, scripts.
fn read_by_users(root: &Path) -> Vec<PathBuf> {
    let mut files = vec![root.join("README.md"), root.join("Makefile"), root.join("Cargo.toml")];
    for folder in ["docs", "src", "templates", "configs", "scripts", "benches", "data", "checkpoints"] {
        files.extend(files_below(&root.join(folder)));
    }
    let is_text = |path: &Path| {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        ["md", "rs", "html", "css", "js", "toml", "py", "sh"].contains(&extension) || path.ends_with("Makefile")
    };
    let is_data = |path: &Path| {
        ["data/world", "data/lexicon", "checkpoints/encoders", "scripts/italian_household.toml"]
            .iter()
            .any(|data| path.starts_with(root.join(data)))
    };
    files.retain(|path| is_text(path) && !is_data(path));
    files
}

fn given_up(line: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let line = line.to_lowercase().replace(".partition(", "");
    GIVEN_UP.into_iter().filter(move |(word, _)| has_word(&line, word))
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
    line.match_indices(word)
        .any(|(at, _)| !is_part(line[..at].chars().next_back()) && !is_part(line[at + word.len()..].chars().next()))
}
