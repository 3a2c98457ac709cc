//! Asks a model the items of a data set, in words.

use super::answer::read_answer;
use super::answer_log::AnswerLog;
use super::dataset::Dataset;
use super::parallel::in_order;
use super::prompt::prompt;
use crate::durable::sha256;
use crate::error::Result;
use std::num::NonZeroUsize;

/// Whoever answers a prompt in words: a chat model at temperature 0. Several threads may ask at once.
pub trait Chat: Sync {
    /// The text that answers a single user message. `name` says in messages what is asked: "piqa-sl, item 12".
    ///
    /// # Errors
    /// Those of [`Scorer::score`](crate::llm::Scorer::score).
    fn answer(&self, name: &str, prompt: &str) -> Result<String>;
}

/// The answers to a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// One for each item: 0, 1, or `None` if the text held no answer.
    pub answers: Vec<Option<u8>>,
    /// How many texts were in the log before.
    pub reused: usize,
}

/// Asks every item that the log doesn't know, `at_once` at the same time, and calls `done` after each item.
///
/// # Errors
/// Those of [`Chat::answer`] and of the log. What was answered before is in the log.
pub fn ask(
    dataset: &Dataset,
    chat: &dyn Chat,
    log: &AnswerLog,
    at_once: NonZeroUsize,
    done: &(dyn Fn() + Sync),
) -> Result<Answered> {
    let answer = |number: usize| {
        let prompt = prompt(&dataset.items[number]);
        let hash = sha256(prompt.as_bytes());
        let known = log.known(&hash);
        let answer = match known {
            Some(text) => read_answer(text),
            None => {
                let text = chat.answer(&format!("{}, item {number}", dataset.name), &prompt)?;
                log.append(number, &hash, &text)?;
                read_answer(&text)
            }
        };
        done();
        Ok((answer, known.is_some()))
    };
    let answers = in_order(dataset.items.len(), at_once, answer)?;
    let reused = answers.iter().filter(|(_, reused)| *reused).count();
    Ok(Answered { answers: answers.into_iter().map(|(answer, _)| answer).collect(), reused })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};
    use crate::llm::piqa::Item;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Answers 1 if the situation holds a "1" and nothing useful to "?"; stops answering after some prompts.
    struct Model {
        answers: usize,
        asked: AtomicUsize,
    }

    impl Chat for Model {
        fn answer(&self, name: &str, prompt: &str) -> Result<String> {
            if self.asked.fetch_add(1, Ordering::Relaxed) >= self.answers {
                return Err(Error::new(ErrorKind::Resumable, format!("{name}: no answer")));
            }
            let situation = prompt.split("Situation: ").nth(1).unwrap().lines().next().unwrap();
            let answer = format!("{{\"answer\": {}}}", u8::from(situation.contains('1')));
            Ok(if situation.contains('?') { "Both.".to_owned() } else { answer })
        }
    }

    fn dataset() -> Dataset {
        let item =
            |situation: &str| Item { situation: situation.into(), solutions: ["a".into(), "b".into()], label: Some(0) };
        let items = ["x 1", "x 0", "x ?", "y 1"].map(item).to_vec();
        Dataset { name: "piqa-x".into(), path: "piqa-x.jsonl".into(), sha256: String::new(), items }
    }

    fn asked(model: &Model, log: &AnswerLog) -> Result<Answered> {
        ask(&dataset(), model, log, NonZeroUsize::MIN, &|| {})
    }

    #[test]
    fn a_run_that_was_stopped_asks_only_what_is_missing() {
        let folder = tempfile::TempDir::new().unwrap();
        let open = || AnswerLog::open(&folder.path().join("answers.jsonl"), "m").unwrap();
        let tired = Model { answers: 2, asked: AtomicUsize::new(0) };
        let error = asked(&tired, &open()).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Resumable, "piqa-x, item 2: no answer"));
        let model = Model { answers: 9, asked: AtomicUsize::new(0) };
        let answers = vec![Some(1), Some(0), None, Some(1)];
        assert_eq!(asked(&model, &open()).unwrap(), Answered { answers: answers.clone(), reused: 2 });
        assert_eq!(model.asked.load(Ordering::Relaxed), 2);
        assert_eq!(asked(&tired, &open()).unwrap(), Answered { answers, reused: 4 });
    }
}
