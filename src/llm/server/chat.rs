//! The way `said`: the model answers in words, through `/v1/chat/completions`. No log-probabilities.

use super::answer::field;
use super::client::{Client, Reply};
use super::kind::ServerKind;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const PATH: &str = "/v1/chat/completions";

/// A turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// `system`, `user` or `assistant`.
    pub role: String,
    pub content: String,
}

/// What is asked in words.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// For messages: "tier 2, row 54 (98)".
    pub name: &'a str,
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
/// As [`Client::get_done`]; `Data` if the answer has no text.
pub fn say(client: &Client, kind: ServerKind, model: &str, question: &Question) -> Result<String> {
    let mut body = json!({
        "model": model, "messages": question.messages, "max_tokens": question.max_tokens, "temperature": 0.0,
        "stream": false,
    });
    if let Some(form) = question.form {
        body["response_format"] = form.clone();
    }
    if kind != ServerKind::Other {
        body["chat_template_kwargs"] = json!({"enable_thinking": false});
    }
    loop {
        match client.ask(PATH, Some(&body))? {
            Reply::Done(answer) => return read(&answer),
            Reply::Refused { status: 400 | 422, message } if adapt(&mut body, &message) => {}
            Reply::Refused { status, message } => return Err(client.refusal(PATH, status, &message)),
        }
    }
}

/// Leaves out what the server refuses, as far as the question stays the same. Whether anything changed.
fn adapt(body: &mut Value, message: &str) -> bool {
    let Some(fields) = body.as_object_mut() else { return false };
    if message.contains("max_completion_tokens")
        && let Some(most) = fields.remove("max_tokens")
    {
        fields.insert("max_completion_tokens".to_owned(), most);
        return true;
    }
    let refused = ["temperature", "chat_template_kwargs"].into_iter().find(|name| message.contains(name));
    refused.is_some_and(|name| fields.remove(name).is_some())
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
        let mut body = json!({"max_tokens": 5, "temperature": 0.0});
        assert!(adapt(&mut body, "Use 'max_completion_tokens' instead."));
        assert!(adapt(&mut body, "'temperature' does not support 0."));
        assert_eq!(body, json!({"max_completion_tokens": 5}));
        assert!(!adapt(&mut body, "'temperature' does not support 0.") && !adapt(&mut body, "other"));
    }

    #[test]
    fn nothing_said_is_no_text_and_no_error() {
        let of = |content: Value| read(&json!({"choices": [{"message": {"content": content}}]}));
        assert_eq!(of(json!("vero")).unwrap(), "vero");
        assert_eq!(of(Value::Null).unwrap(), "");
        assert!(of(json!(1)).is_err() && read(&json!({"choices": []})).is_err());
    }
}
