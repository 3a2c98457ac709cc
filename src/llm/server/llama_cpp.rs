//! llama.cpp's own endpoint `/completion`: its log-probabilities are of the plain softmax, before biases.

use super::answer::{field, list, logprob};
use super::client::LlmClient;
use super::wire::{Next, Sent, Token, TokenName};
use crate::error::{Error, Result};
use serde_json::{Value, json};

/// A bias that makes any token the likeliest.
const FORCE: f64 = 1000.;

/// One token after the prompt: the likeliest, or the forced one. What the server has evaluated already is used again.
///
/// # Errors
/// As [`LlmClient::get_done`]; `Data` if the answer is not what was asked for.
pub fn next(client: &LlmClient, prompt: Sent, force: Option<Token>, alternatives: u32) -> Result<Next> {
    read(&client.get_done("/completion", Some(&request(prompt, force, alternatives)))?)
}

/// Lets the server evaluate the prompt afresh. Log-probabilities of a quantised model depend, by some hundredths, on the
/// parts in which a prompt was evaluated; after this they no longer depend on what was asked before, and all options
/// are evaluated alike.
///
/// # Errors
/// As [`next`].
pub fn evaluate_afresh(client: &LlmClient, prompt: Sent) -> Result<()> {
    let mut body = request(prompt, None, 1);
    body["cache_prompt"] = json!(false);
    require_whole(&client.get_done("/completion", Some(&body))?)
}

/// Everything that could change or cut what is sampled is set: the server's user may have set it otherwise.
fn request(prompt: Sent, force: Option<Token>, alternatives: u32) -> Value {
    let bias: Vec<Value> = force.iter().map(|token| json!([token.id, FORCE])).collect();
    json!({
        "prompt": prompt.json(), "n_predict": 1, "n_probs": alternatives, "logit_bias": bias,
        "temperature": 0.0, "samplers": ["temperature"], "post_sampling_probs": false, "cache_prompt": true,
        "repeat_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "dry_multiplier": 0.0, "mirostat": 0,
        "top_k": 0, "top_p": 1.0, "min_p": 0.0, "typical_p": 1.0, "xtc_probability": 0.0, "ignore_eos": false,
        "stream": false,
    })
}

/// # Errors
/// `Config` if the server cut the prompt.
fn require_whole(answer: &Value) -> Result<()> {
    if answer["truncated"] == true {
        let remedy = "start llama-server with a larger context (--ctx-size; it is divided among --parallel)";
        return Err(Error::config(format!("the prompt is too long for the server, which cut it; {remedy}")));
    }
    Ok(())
}

fn read(answer: &Value) -> Result<Next> {
    require_whole(answer)?;
    let tokens = list(answer, "/completion_probabilities")?;
    let [token] = tokens.as_slice() else {
        let why = format!("the server reports {} tokens where 1 was generated", tokens.len());
        return Err(Error::data(format!("{why}; a token that is part of a character can't be scored by this server")));
    };
    let listed = list(token, "/top_logprobs")?.iter().map(|token| Ok((name(token)?, logprob(token.get("logprob"))?)));
    Ok(Next {
        token: name(token)?,
        score: logprob(token.get("logprob"))?,
        listed: listed.collect::<Result<_>>()?,
        prompt_tokens: answer["tokens_evaluated"].as_u64(),
    })
}

fn name(token: &Value) -> Result<TokenName> {
    let id = field(token, "/id")?.as_u64().and_then(|id| u32::try_from(id).ok());
    let id = id.ok_or_else(|| Error::data("the server's token `id` is not a token id"))?;
    Ok(TokenName { id: Some(id), text: token["token"].as_str().unwrap_or_default().to_owned() })
}
