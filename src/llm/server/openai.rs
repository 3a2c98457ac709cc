//! The endpoint `/v1/completions` of OpenAI-compatible servers.

use super::answer::{field, list, logprob};
use super::client::LlmClient;
use super::kind::ServerKind;
use super::wire::{Next, Place, Sent, Token, TokenName};
use crate::error::{Error, Result};
use serde_json::{Map, Value, json};

const PATH: &str = "/v1/completions";
/// A bias that makes any token the likeliest, and the largest that hosted services take.
const FORCE: f64 = 1000.;
const HOSTED_FORCE: f64 = 100.;
/// How vLLM names a token by its id.
const BY_ID: &str = "token_id:";

/// One model on one server.
pub struct Completions<'a> {
    pub client: &'a LlmClient,
    pub kind: ServerKind,
    pub model: &'a str,
}

impl Completions<'_> {
    /// One token after the prompt: the likeliest, or the forced one.
    ///
    /// # Errors
    /// As [`LlmClient::get_done`]; `Data` if the answer is not what was asked for.
    pub fn next(&self, prompt: Sent, force: Option<Token>, alternatives: u32) -> Result<Next> {
        let mut body = self.body(prompt, alternatives);
        if let Some(token) = force {
            match self.kind {
                ServerKind::Vllm => body["allowed_token_ids"] = json!([token.id]),
                kind => {
                    let force = if kind == ServerKind::Other { HOSTED_FORCE } else { FORCE };
                    body["logit_bias"] = json!({token.id.to_string(): force});
                }
            }
        }
        read_next(&self.client.get_done(PATH, Some(&body))?)
    }

    /// The places of `tokens` prompt tokens; the first has no log-probability.
    ///
    /// # Errors
    /// As [`Completions::next`]; `Data` if the server counts other tokens than we do.
    pub fn echo(&self, prompt: Sent, tokens: usize) -> Result<Vec<Option<Place>>> {
        let mut body = self.body(prompt, 1);
        body["echo"] = json!(true);
        read_echo(&self.client.get_done(PATH, Some(&body))?, tokens)
    }

    /// One token and no more (0 means no limit to some servers), and nothing that could change or cut what is sampled.
    fn body(&self, prompt: Sent, alternatives: u32) -> Value {
        let mut body = json!({
            "model": self.model, "prompt": prompt.json(), "max_tokens": 1, "temperature": 0.0, "logprobs": alternatives,
            "top_p": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "stream": false,
        });
        let more = match self.kind {
            ServerKind::Vllm => json!({
                "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0, "return_tokens_as_token_ids": true,
                "add_special_tokens": false,
            }),
            ServerKind::LlamaCppPython => json!({"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0}),
            _ => json!({}),
        };
        for (name, value) in more.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        body
    }
}

fn name(text: &str) -> TokenName {
    TokenName { id: text.strip_prefix(BY_ID).and_then(|id| id.parse().ok()), text: text.to_owned() }
}

fn prompt_tokens(answer: &Value) -> Option<u64> {
    answer.pointer("/usage/prompt_tokens")?.as_u64()
}

/// The generated token, from the older form (`token_logprobs`) or the newer one (`content`).
fn read_next(answer: &Value) -> Result<Next> {
    let logprobs = field(answer, "/choices/0/logprobs")?;
    let next = if logprobs["content"].is_array() { from_content(logprobs) } else { from_arrays(logprobs) };
    next.map(|next| Next { prompt_tokens: prompt_tokens(answer), ..next })
}

fn one<'a>(logprobs: &'a Value, pointer: &str) -> Result<&'a Value> {
    match list(logprobs, pointer)?.as_slice() {
        [one] => Ok(one),
        several => Err(Error::data(format!(
            "the server reports {} tokens in `{pointer}` where 1 was generated",
            several.len()
        ))),
    }
}

fn from_content(logprobs: &Value) -> Result<Next> {
    let token = one(logprobs, "/content")?;
    let of = |token: &Value| {
        let id = token["id"].as_u64().and_then(|id| u32::try_from(id).ok());
        let text = token["token"].as_str().unwrap_or_default();
        Ok((TokenName { id: id.or(name(text).id), text: text.to_owned() }, logprob(token.get("logprob"))?))
    };
    let ((token_name, score), listed) = (of(token)?, list(token, "/top_logprobs")?.iter().map(of));
    Ok(Next { token: token_name, score, listed: listed.collect::<Result<_>>()?, prompt_tokens: None })
}

fn from_arrays(logprobs: &Value) -> Result<Next> {
    let token = one(logprobs, "/tokens")?.as_str().unwrap_or_default();
    let score = logprob(Some(one(logprobs, "/token_logprobs")?))?;
    let listed = one(logprobs, "/top_logprobs")?.as_object();
    Ok(Next { token: name(token), score, listed: alternatives(listed)?, prompt_tokens: None })
}

fn alternatives(listed: Option<&Map<String, Value>>) -> Result<Vec<(TokenName, super::answer::TokenScore)>> {
    listed.into_iter().flatten().map(|(token, value)| Ok((name(token), logprob(Some(value))?))).collect()
}

/// The places of an echoed prompt; the one or no generated token after it is left out.
fn read_echo(answer: &Value, tokens: usize) -> Result<Vec<Option<Place>>> {
    let logprobs = field(answer, "/choices/0/logprobs")?;
    let (scores, tops) = (list(logprobs, "/token_logprobs")?, list(logprobs, "/top_logprobs")?);
    if scores.len() < tokens || scores.len() > tokens + 1 || tops.len() != scores.len() {
        let counts = format!("{} log-probabilities for {tokens} prompt tokens and at most 1 more", scores.len());
        return Err(Error::data(format!(
            "the server's echo has {counts}: it ignores `echo`, or has another tokenizer"
        )));
    }
    let place = |(number, (score, top)): (usize, (&Value, &Value))| {
        if number == 0 && score.is_null() {
            return Ok(None);
        }
        let score = logprob(Some(score))?;
        let highest = alternatives(top.as_object())?.iter().map(|(_, score)| score.value()).max_by(f64::total_cmp);
        Ok(Some(Place { score, is_greedy: highest.is_some_and(|highest| score.value() >= highest) }))
    };
    scores.iter().zip(tops).take(tokens).enumerate().map(place).collect()
}
