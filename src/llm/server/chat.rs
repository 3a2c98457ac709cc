//! Chats, through `/v1/chat/completions`, and the way `said`: the model answers in words. No log-probabilities.

use super::answer::field;
use super::client::{LlmClient, Reply};
use super::kind::ServerKind;
use crate::error::{Error, Result};
use crate::llm::Message;
use crate::llm::thought::split_thought;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

const PATH: &str = "/v1/chat/completions";

/// What is asked in words.
#[derive(Debug, Clone, Copy)]
pub struct Conversation<'a> {
    /// For messages: "tier 2, row 54 (98)".
    pub name: &'a str,
    /// The turns so far; the model says the next one.
    pub messages: &'a [Message],
    /// The most tokens of the answer.
    pub max_tokens: u32,
    /// `response_format`, if the answer should have a form.
    pub form: Option<&'a Value>,
}

/// What the model says, at temperature 0. Newer hosted models refuse some parameters; those are then left out or
/// renamed.
///
/// # Errors
/// As [`LlmClient::get_done`]; `Data` if the answer has no text.
pub fn say(
    client: &LlmClient,
    kind: ServerKind,
    model: &str,
    asked: &Conversation,
    refused: &Refused,
) -> Result<String> {
    let more = asked.form.map_or_else(|| json!({}), |form| json!({"response_format": form}));
    read(&ask(client, kind, model, asked.messages, asked.max_tokens, more, refused)?)
}

/// The answer to a chat, at temperature 0. `more` has further parameters.
///
/// # Errors
/// As [`LlmClient::get_done`].
pub(super) fn ask(
    client: &LlmClient,
    kind: ServerKind,
    model: &str,
    messages: &[Message],
    max_tokens: u32,
    more: Value,
    refused: &Refused,
) -> Result<Value> {
    let mut body = json!({
        "model": model, "messages": messages, "max_tokens": max_tokens, "temperature": 0.0, "stream": false,
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    if kind != ServerKind::Other {
        body["chat_template_kwargs"] = json!({"enable_thinking": false});
    }
    refused.names().into_iter().for_each(|name| leave_out(&mut body, name));
    loop {
        match client.ask(PATH, Some(&body))? {
            Reply::Done(answer) => return Ok(answer),
            Reply::Refused { status: 400 | 422, message } if refused.adapt(&mut body, &message) => {}
            Reply::Refused { status, message } => return Err(client.refusal(PATH, status, &message)),
        }
    }
}

/// Parameters that the server refused. They are left out of later questions too.
#[derive(Debug, Default)]
pub struct Refused(Mutex<BTreeSet<&'static str>>);

/// Parameters without which the question stays the same.
const DISPENSABLE: [&str; 2] = ["temperature", "chat_template_kwargs"];

impl Refused {
    fn held(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn names(&self) -> Vec<&'static str> {
        self.held().iter().copied().collect()
    }

    /// Adds those that it refused when the run began.
    pub fn add(&self, names: &[String]) {
        self.held().extend(DISPENSABLE.into_iter().filter(|known| names.iter().any(|name| name == known)));
    }

    /// Leaves out what the server refuses, as far as the question stays the same. Whether anything changed.
    fn adapt(&self, body: &mut Value, message: &str) -> bool {
        let name = match message.contains("max_completion_tokens") {
            true => Some("max_tokens"),
            false => DISPENSABLE.into_iter().find(|name| message.contains(name)),
        };
        let Some(name) = name.filter(|name| body.get(name).is_some()) else { return false };
        leave_out(body, name);
        self.held().insert(name);
        true
    }
}

/// Without a parameter; newer services know `max_tokens` by another name.
fn leave_out(body: &mut Value, name: &str) {
    let Some(value) = body.as_object_mut().and_then(|fields| fields.remove(name)) else { return };
    if name == "max_tokens" {
        body["max_completion_tokens"] = value;
    }
}

/// What denies the words after it, as [`words`] has it: "not", the end of "isn't", and the Italian "non" and "non è",
/// also where the accent is a character of its own.
const NEGATIONS: [&str; 5] = [" not", "n t", " non", " non è", " non e"];

/// Which of the options an answer is: the one that it is word for word, or the only one whose words stand in it. Case,
/// punctuation and thoughts don't count. None if a thought has no end, or if the option is denied in the same clause.
pub fn option_said(text: &str, options: &[&str]) -> Option<usize> {
    let (said, None) = split_thought(text) else { return None };
    let (text, options) = (words(said), options.iter().map(|option| words(option)).collect::<Vec<_>>());
    let exact = options.iter().position(|option| *option == text);
    let mut within = options.iter().enumerate().filter(|(_, option)| text.contains(option.as_str()));
    let clauses: Vec<String> = said.split(['.', '!', '?', ':', ';', ',', '\n']).map(words).collect();
    let denies = |clause: &String, option: &str| NEGATIONS.iter().any(|not| clause.contains(&format!("{not}{option}")));
    let is_denied = |option: &str| clauses.iter().any(|clause| denies(clause, option));
    let only = match (within.next(), within.next()) {
        (Some((number, option)), None) if !is_denied(option) => Some(number),
        _ => None,
    };
    exact.or(only)
}

/// In lower case, without punctuation, a blank around each word.
fn words(text: &str) -> String {
    let plain = text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " ");
    format!(" {} ", plain.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn read(answer: &Value) -> Result<String> {
    let message = field(answer, "/choices/0/message")?;
    match &message["content"] {
        Value::String(text) => Ok(text.clone()),
        // A refusal, or thinking that left no room: nothing was said.
        Value::Null => Ok(String::new()),
        _ => Err(Error::data("the server's answer has a `content` that is not text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_service_refuses_is_renamed_or_left_out_once() {
        let (mut body, refused) = (json!({"max_tokens": 5, "temperature": 0.0}), Refused::default());
        assert!(refused.adapt(&mut body, "Use 'max_completion_tokens' instead."));
        assert!(refused.adapt(&mut body, "'temperature' does not support 0."));
        assert_eq!(body, json!({"max_completion_tokens": 5}));
        assert_eq!(refused.names(), ["max_tokens", "temperature"]);
        assert!(!refused.adapt(&mut body, "'temperature' does not support 0.") && !refused.adapt(&mut body, "other"));
    }

    #[test]
    fn an_answer_in_words_is_one_option_or_none() {
        let said = |text: &str| option_said(text, &["false", "true", "in pieces", "0 and 1"]);
        assert_eq!((said("True."), said("The story is false"), said(" In pieces\n")), (Some(1), Some(0), Some(2)));
        assert_eq!(
            (said("Sentences 0 and 1"), said("10 and 1"), said("true or false"), said("")),
            (Some(3), None, None, None)
        );
    }

    #[test]
    fn what_is_denied_is_no_option_and_not_the_other_one() {
        let said = |text: &str| option_said(text, &["false", "true", "in pieces", "0 and 1"]);
        for text in [
            "The story is not true.",
            "Not true",
            "It isn't true.",
            "It ISN’T **false**!",
            "True? No, it is not true.",
            "La storia non è true.",
            "La storia non e\u{300} true.",
            "non in pieces",
            "Not 0 and 1",
            "It is not false, but true.",
        ] {
            assert_eq!(said(text), None, "{text}");
        }
        assert_eq!((said("I am not sure, but true"), said("The answer is: false")), (Some(1), Some(0)));
        assert_eq!((said("Is it odd? It is not. True"), said("Non so:\nfalse")), (Some(1), Some(0)));
    }

    #[test]
    fn thoughts_are_not_said() {
        let said = |text: &str| option_said(text, &["false", "true"]);
        assert_eq!(said("<think>Is it false?</think>\n\nTrue."), Some(1));
        assert_eq!(said("Is it false?</think>True."), Some(1), "opened in the prompt");
        assert_eq!((said("<think>It may be true, because"), said("<think>True.</think>")), (None, None));
        assert_eq!(said("true <think>or"), None);
    }

    #[test]
    fn nothing_said_is_no_text_and_no_error() {
        let of = |content: Value| read(&json!({"choices": [{"message": {"content": content}}]}));
        assert_eq!(of(json!("vero")).unwrap(), "vero");
        assert_eq!(of(Value::Null).unwrap(), "");
        assert!(of(json!(1)).is_err() && read(&json!({"choices": []})).is_err());
    }
}
