//! Asks a model the items of a data set, in words.

use super::answer::{UNANSWERED, read_answer};
use super::dataset::PiqaSet;
use super::prompt::prompt;
use crate::durable::sha256;
use crate::error::Result;
use crate::llm::parallel::in_parallel;
use crate::schema;
use serde::Serialize;

/// Whoever answers a prompt in words: a chat model at temperature 0. Several threads may ask at once.
pub trait Chat: Sync {
    /// The text that answers a single user message. `name` says in messages what is asked: "piqa-sl, item 12".
    ///
    /// # Errors
    /// Those of [`Scorer::score`](crate::llm::Scorer::score).
    fn answer(&self, name: &str, prompt: &str) -> Result<String>;
}

/// Asks every item, `concurrency` at the same time, and calls `done` after each. One text for each item.
///
/// # Errors
/// Those of [`Chat::answer`].
pub fn ask(dataset: &PiqaSet, chat: &dyn Chat, concurrency: usize, done: &(dyn Fn() + Sync)) -> Result<Vec<String>> {
    in_parallel(dataset.items.len(), concurrency, &|number| {
        let text = chat.answer(&format!("{}, item {number}", dataset.name), &prompt(&dataset.items[number]))?;
        done();
        Ok(text)
    })
}

/// A line of the file with the answers as the model gave them.
#[derive(Serialize)]
struct Record<'a> {
    /// Number of the item, from 0.
    item: usize,
    prompt_sha256: String,
    /// What was read from the text; 2 if nothing.
    answer: u8,
    text: &'a str,
}

/// The answers as JSON, one a line, for a person to look into.
pub fn answer_lines(dataset: &PiqaSet, texts: &[String]) -> String {
    let line = |(item, text): (usize, &String)| {
        let prompt_sha256 = sha256(prompt(&dataset.items[item]).as_bytes());
        let record = Record { item, prompt_sha256, answer: read_answer(text).unwrap_or(UNANSWERED), text };
        schema::to_string(&record).expect("text can be written as JSON") + "\n"
    };
    texts.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};
    use crate::llm::piqa::Item;

    /// Answers the first line of the situation; nothing to "?".
    struct Echo;

    impl Chat for Echo {
        fn answer(&self, name: &str, prompt: &str) -> Result<String> {
            let situation = prompt.split("Situation: ").nth(1).unwrap().lines().next().unwrap();
            match situation {
                "?" => Err(Error::new(ErrorKind::Resumable, format!("{name}: no answer"))),
                _ => Ok(situation.to_owned()),
            }
        }
    }

    fn dataset(situations: &[&str]) -> PiqaSet {
        let item = |situation: &&str| Item {
            situation: (*situation).to_owned(),
            solutions: ["a".to_owned(), "b".to_owned()],
            label: Some(0),
        };
        let items = situations.iter().map(item).collect();
        PiqaSet { name: "piqa-x".into(), path: "piqa-x.jsonl".into(), sha256: String::new(), items }
    }

    #[test]
    fn each_item_is_asked_and_its_answer_kept_as_it_is() {
        let dataset = dataset(&["{\"answer\": 1}", "Both.", "{\"answer\": 0}"]);
        let texts = ask(&dataset, &Echo, 3, &|| {}).unwrap();
        assert_eq!(texts, ["{\"answer\": 1}", "Both.", "{\"answer\": 0}"]);
        let lines = answer_lines(&dataset, &texts);
        let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.iter().map(|line| line["answer"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 0]);
        assert_eq!((&lines[1]["text"], &lines[1]["item"]), (&"Both.".into(), &1.into()));
        assert_eq!(lines[1]["prompt_sha256"], sha256(prompt(&dataset.items[1]).as_bytes()));
    }

    #[test]
    fn an_item_without_an_answer_ends_the_asking_and_is_named() {
        let error = ask(&dataset(&["x", "?", "y"]), &Echo, 1, &|| {}).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Resumable, "piqa-x, item 1: no answer"));
    }
}
