//! What a server says it is: saved with a run, and compared when the run goes on.

use super::client::{LlmClient, Reply};
use super::kind::ServerKind;
use crate::durable::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::untrusted::shown;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A model on a server. Fields that a server doesn't tell are absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Which program answers, as far as it shows.
    pub kind: ServerKind,
    /// As the server names it.
    pub model: String,
    /// The program's own version; only llama.cpp and vLLM tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Of the model's chat template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_sha256: Option<String>,
    /// What else it tells about the model.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// Fields about a model that are kept: those that don't change when a server is started again, and [`OF_START`].
const KEPT: [&str; 3] = ["root", OF_START, "owned_by"];
const KEPT_META: [&str; 6] = ["vocab_type", "n_vocab", "n_ctx_train", "n_embd", "n_params", "size"];
/// vLLM's context length is a flag of its start. It is not compared, because a run that met a prompt too long for it
/// goes on with a larger one.
const OF_START: &str = "max_model_len";

impl Identity {
    /// Asks the server what it is.
    ///
    /// # Errors
    /// As [`LlmClient::ask`]; `Unavailable` if it refuses the key; `Config` if it has other models only.
    pub fn ask(client: &LlmClient, model: &str) -> Result<Self> {
        let mut props = optional(client, "/props", None)?;
        let models = for_key(client, "/v1/models")?;
        let kind = kind(client, &props, &models)?;
        if kind == ServerKind::LlamaCpp && props.is_null() {
            props = for_key(client, "/props")?; // its list of models may be for everybody, this is not
        }
        let entry = entry(kind, &models, model)?;
        let build = match kind {
            ServerKind::LlamaCpp => props["build_info"].as_str().map(str::to_owned),
            ServerKind::Vllm => optional(client, "/version", None)?["version"].as_str().map(str::to_owned),
            _ => None,
        };
        let mut details = Map::new();
        for (fields, of) in [(&KEPT[..], &entry), (&KEPT_META[..], &entry["meta"])] {
            for name in fields.iter().filter(|name| !of[**name].is_null()) {
                details.insert((*name).to_owned(), of[*name].clone());
            }
        }
        Ok(Identity {
            kind,
            model: entry["id"].as_str().unwrap_or(model).to_owned(),
            build,
            template_sha256: props["chat_template"].as_str().map(|template| sha256(template.as_bytes())),
            details,
        })
    }

    /// What differs from another one, field by field. The context length may differ.
    pub fn differences(&self, other: &Identity) -> Vec<String> {
        let fields = |identity: &Identity| {
            let mut identity = identity.clone();
            identity.details.retain(|name, _| name != OF_START);
            match serde_json::to_value(identity) {
                Ok(Value::Object(fields)) => fields,
                _ => Map::new(),
            }
        };
        let (ours, theirs) = (fields(self), fields(other));
        let mut names: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
        names.sort();
        names.dedup();
        let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), |value| shown(&value.to_string(), 120));
        let differing = names.into_iter().filter(|name| ours.get(*name) != theirs.get(*name));
        differing.map(|name| format!("{name}: {} then, {} now", text(ours.get(name)), text(theirs.get(name)))).collect()
    }
}

/// An answer that a server need not have; null without it. Some services answer any path with a web page, or lead from
/// paths that they don't have to another one.
pub fn optional(client: &LlmClient, path: &str, body: Option<&Value>) -> Result<Value> {
    match client.ask(path, body) {
        Ok(Reply::Done(answer)) => Ok(answer),
        Err(error) if !matches!(error.kind, ErrorKind::Data | ErrorKind::Refused) => Err(error),
        Ok(Reply::Refused { .. }) | Err(_) => Ok(Value::Null),
    }
}

/// The same of a path where a server that wants another key says so.
fn for_key(client: &LlmClient, path: &str) -> Result<Value> {
    match client.ask(path, None) {
        Ok(Reply::Refused { status: status @ (401 | 403), message }) => Err(client.refusal(path, status, &message)),
        Ok(Reply::Done(answer)) => Ok(answer),
        Err(error) if error.kind != ErrorKind::Data => Err(error),
        Ok(Reply::Refused { .. }) | Err(_) => Ok(Value::Null),
    }
}

fn kind(client: &LlmClient, props: &Value, models: &Value) -> Result<ServerKind> {
    let owner = models.pointer("/data/0/owned_by").and_then(Value::as_str);
    if props["build_info"].is_string() || owner == Some("llamacpp") {
        return Ok(ServerKind::LlamaCpp);
    }
    if owner == Some("vllm") {
        return Ok(ServerKind::Vllm);
    }
    let body = serde_json::json!({"input": "a"});
    let answer = optional(client, "/extras/tokenize", Some(&body))?;
    Ok(if answer["tokens"].is_array() { ServerKind::LlamaCppPython } else { ServerKind::Other })
}

/// The model's entry in the server's list. llama.cpp has one model and answers to any name; Ollama lists a model that is
/// named without a tag as `NAME:latest`.
fn entry(kind: ServerKind, models: &Value, model: &str) -> Result<Value> {
    let Some(list) = models["data"].as_array().filter(|list| !list.is_empty()) else { return Ok(Value::Null) };
    let latest = format!("{model}:latest");
    let named = |name: &str| list.iter().find(|entry| entry["id"] == name);
    if let Some(entry) = named(model).or_else(|| named(&latest)) {
        return Ok(entry.clone());
    }
    match list.as_slice() {
        [only] if kind == ServerKind::LlamaCpp => Ok(only.clone()),
        _ => {
            let names: Vec<&str> = list.iter().filter_map(|entry| entry["id"].as_str()).take(20).collect();
            let names = shown(&names.join(", "), 400);
            Err(Error::config(format!("--model {model}: the server does not have it; it has: {names}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_name_the_field_and_both_values() {
        let one = Identity {
            kind: ServerKind::LlamaCpp,
            model: "a".into(),
            build: Some("b1".into()),
            template_sha256: None,
            details: Map::new(),
        };
        assert!(one.differences(&one).is_empty());
        let other = Identity { build: None, model: "b".into(), ..one.clone() };
        assert_eq!(one.differences(&other), ["build: \"b1\" then, nothing now", "model: \"a\" then, \"b\" now"]);
        let with = |root: &str, context: u32| {
            let details = json!({"root": root, "max_model_len": context}).as_object().cloned().unwrap();
            Identity { details, ..one.clone() }
        };
        assert!(with("a", 512).differences(&with("a", 4096)).is_empty(), "a flag of the start");
        let of_root = with("a", 512).differences(&with("b", 4096));
        assert_eq!(of_root, [r#"details: {"root":"a"} then, {"root":"b"} now"#]);
    }

    #[test]
    fn a_model_is_found_by_name_and_others_are_listed() {
        let models = json!({"data": [{"id": "a"}, {"id": "b"}]});
        assert_eq!(entry(ServerKind::Vllm, &models, "b").unwrap()["id"], "b");
        assert!(entry(ServerKind::Vllm, &models, "c").unwrap_err().message.ends_with("it has: a, b"));
        let one = json!({"data": [{"id": "a"}]});
        assert_eq!(entry(ServerKind::LlamaCpp, &one, "c").unwrap()["id"], "a");
        assert!(entry(ServerKind::Vllm, &one, "c").is_err());
        assert!(entry(ServerKind::Other, &json!({}), "c").unwrap().is_null());
        let tagged = json!({"data": [{"id": "a:1b"}, {"id": "a:latest"}, {"id": "b:latest"}, {"id": "b"}]});
        let id = |model| entry(ServerKind::Other, &tagged, model).unwrap()["id"].clone();
        assert_eq!((id("a"), id("b"), id("a:1b")), (json!("a:latest"), json!("b"), json!("a:1b")));
        assert!(entry(ServerKind::Other, &tagged, "a:2b").is_err());
    }
}
