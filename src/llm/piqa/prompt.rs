//! The benchmark's prompt: one user message, zero-shot, with the line ends and tabs of the f-string in its README.

use super::dataset::Item;
use crate::durable::sha256;
use serde_json::{Value, json};

/// What is asked about an item: 330 characters and those of its texts.
pub fn prompt(item: &Item) -> String {
    let Item { situation, solutions: [first, second], .. } = item;
    [
        "\n\t\t### Task\n\t\t\tGiven the following situation, which option is more likely to be correct?\n\n",
        &format!("\t\t\tSituation: {situation}\n\n\t\t\tOption 0: {first}\n\n\t\t\tOption 1: {second}\n\t\t\t\t\n"),
        "\t\t### Output format\n\t\t\tReturn a valid JSON dictionary with the following key: 'answer' and a value should be ",
        "either 0 (if option 0 is more plausible) or 1 (if option 1 is more plausible).\n\t\t",
    ]
    .concat()
}

/// The schema that the benchmark's programs give to local models.
pub fn answer_schema() -> Value {
    json!({"type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"]})
}

/// SHA-256 of the hexadecimal SHA-256 of every prompt, joined in the items' order.
pub fn prompts_sha256(items: &[Item]) -> String {
    let hashes: String = items.iter().map(|item| sha256(prompt(item).as_bytes())).collect();
    sha256(hashes.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(situation: &str, first: &str, second: &str) -> Item {
        Item { situation: situation.into(), solutions: [first.into(), second.into()], label: None }
    }

    #[test]
    fn the_prompt_is_the_benchmarks_to_the_tab() {
        let asked = prompt(&item("P", "A", "B"));
        assert_eq!(asked.chars().count(), 333);
        assert_eq!(sha256(asked.as_bytes()), "f330ae3d2e3dcc822b8508dfda3197f46fda576fb239b8e82e884a0c2ce5dcf8");
    }

    #[test]
    fn texts_go_in_as_they_are() {
        let asked = prompt(&item("A {situation}\nof two lines", " b ", "ć"));
        assert!(asked.contains("Situation: A {situation}\nof two lines\n\n\t\t\tOption 0:  b \n\n\t\t\tOption 1: ć\n"));
    }

    #[test]
    fn the_hash_of_all_prompts_depends_on_their_order() {
        let [a, b] = [item("P", "A", "B"), item("P", "B", "A")];
        assert_ne!(prompts_sha256(&[a.clone(), b.clone()]), prompts_sha256(&[b, a]));
    }
}
