//! Servers on this machine that speak as vLLM, llama.cpp, llama-cpp-python and hosted services do, and run the toy model.

use super::toy::{encode, logprobs, piece, ranked};
use crate::fetch::{Answer, Request, Server};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::time::Duration;
use tiered::error::Result;
use tiered::llm::server::{Choices, LlmClient, Server as Asked, ServerSettings, Way};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speaks {
    Vllm,
    LlamaCpp,
    LlamaCppPython,
    /// Text or ids, 5 alternatives, no tokenizer, biases count in what it reports.
    Hosted,
}

/// How the model is set up.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    pub speaks: Speaks,
    pub seed: u64,
    /// The most tokens of a prompt.
    pub context: usize,
    pub build: &'static str,
}

pub fn setup(speaks: Speaks) -> Setup {
    Setup { speaks, seed: 1, context: 100_000, build: "b1" }
}

pub fn start(setup: Setup) -> Server {
    twisted(setup, |_, answer| answer)
}

/// A server that does something to its answers on their way.
pub fn twisted(setup: Setup, twist: impl Fn(&Request, Answer) -> Answer + Send + Sync + 'static) -> Server {
    Server::start(move |request| twist(request, honest(setup, request)))
}

/// A server that wants to be told no temperature in chats.
pub fn without_temperature(setup: Setup) -> Server {
    twisted(setup, |request, answer| {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        match request.path == "/v1/chat/completions" && body.get("temperature").is_some() {
            true => error(400, "'temperature' does not support 0."),
            false => answer,
        }
    })
}

/// Changes the JSON of answers of one path.
pub fn bent(setup: Setup, path: &'static str, bend: impl Fn(&mut Value) + Send + Sync + 'static) -> Server {
    twisted(setup, move |request, answer| {
        if request.path != path || answer.status != 200 {
            return answer;
        }
        let mut value: Value = serde_json::from_slice(&answer.body).unwrap();
        bend(&mut value);
        Answer::new(200, value.to_string())
    })
}

fn ok(value: &Value) -> Answer {
    Answer::new(200, value.to_string()).with("content-type", "application/json")
}

fn error(status: u16, message: &str) -> Answer {
    Answer::new(status, json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string())
}

pub fn honest(setup: Setup, request: &Request) -> Answer {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    match (setup.speaks, request.path.as_str()) {
        (speaks, "/v1/models") => ok(&json!({"object": "list", "data": [{
            "id": "toy", "created": 1, "root": "toy",
            "owned_by": match speaks { Speaks::Vllm => "vllm", Speaks::LlamaCpp => "llamacpp", _ => "me" },
            "max_model_len": if speaks == Speaks::Vllm { json!(setup.context) } else { Value::Null },
        }]})),
        (Speaks::Vllm, "/version") => ok(&json!({"version": setup.build})),
        (Speaks::Vllm, "/tokenize") => {
            tokens(encode(body["prompt"].as_str().unwrap(), body["add_special_tokens"] == true))
        }
        (Speaks::LlamaCpp, "/props") => {
            ok(&json!({"build_info": setup.build, "model_path": "/m/toy.gguf", "chat_template": "{{ messages }}"}))
        }
        (Speaks::LlamaCpp, "/tokenize") => {
            tokens(encode(body["content"].as_str().unwrap(), body["add_special"] == true))
        }
        (Speaks::LlamaCpp, "/completion") => llama_completion(setup, &body),
        (Speaks::LlamaCppPython, "/extras/tokenize") => tokens(encode(body["input"].as_str().unwrap(), true)),
        (Speaks::LlamaCpp, "/v1/completions") => error(400, "Only no echo is supported"),
        (_, "/v1/completions") => completion(setup, &body),
        (_, "/v1/chat/completions") => chat(&body),
        _ => error(404, "Not Found"),
    }
}

fn tokens(ids: Vec<u32>) -> Answer {
    ok(&json!({"tokens": ids, "count": ids.len()}))
}

/// The ids of a prompt as this server reads it.
fn prompt(setup: Setup, prompt: &Value) -> Result<Vec<u32>, Answer> {
    let ids: Vec<u32> = match prompt {
        Value::String(text) => encode(text, true),
        Value::Array(_) if setup.speaks == Speaks::LlamaCppPython => {
            return Err(error(422, "prompt: a string is expected"));
        }
        ids => serde_json::from_value(ids.clone()).unwrap(),
    };
    match ids.len() > setup.context {
        true => Err(error(400, &format!("request ({} tokens) exceeds the available context size", ids.len()))),
        false => Ok(ids),
    }
}

fn llama_completion(setup: Setup, body: &Value) -> Answer {
    assert_eq!((&body["n_predict"], &body["temperature"]), (&json!(1), &json!(0.0)));
    assert_eq!((&body["post_sampling_probs"], &body["top_k"], &body["min_p"]), (&json!(false), &json!(0), &json!(0.0)));
    let ids = match prompt(setup, &body["prompt"]) {
        Ok(ids) => ids,
        Err(answer) => return answer,
    };
    let all = logprobs(setup.seed, &ids);
    let bias = body["logit_bias"].as_array().unwrap().iter();
    let bias = bias.map(|pair| (pair[0].to_string(), pair[1].as_f64().unwrap())).collect::<Vec<_>>();
    let token = biased(&all, &bias);
    let shown = |id: u32| json!({"id": id, "token": piece(id), "bytes": [], "logprob": all[id as usize]});
    let top = ranked(&all).into_iter().take(body["n_probs"].as_u64().unwrap() as usize).map(shown);
    let mut shown = shown(token);
    shown["top_logprobs"] = top.collect();
    ok(
        &json!({"content": piece(token), "truncated": false, "tokens_evaluated": ids.len(), "completion_probabilities": [shown]}),
    )
}

/// The token generated with these biases.
fn biased(logprobs: &[f64], bias: &[(String, f64)]) -> u32 {
    let mut biased = logprobs.to_vec();
    bias.iter().for_each(|(id, bias)| biased[id.parse::<usize>().unwrap()] += bias);
    ranked(&biased)[0]
}

fn completion(setup: Setup, body: &Value) -> Answer {
    assert_eq!((&body["max_tokens"], &body["temperature"]), (&json!(1), &json!(0.0)));
    let most = body["logprobs"].as_u64().unwrap() as usize;
    let ids = match prompt(setup, &body["prompt"]) {
        Ok(ids) => ids,
        Err(answer) => return answer,
    };
    let is_hosted = setup.speaks == Speaks::Hosted;
    if is_hosted && (most > 5 || body["echo"] == true) {
        return error(400, "logprobs must be at most 5, and not with echo");
    }
    let bias = body["logit_bias"].as_object().into_iter().flatten();
    let mut bias: Vec<_> = bias.map(|(id, bias)| (id.clone(), bias.as_f64().unwrap())).collect();
    bias.extend(body["allowed_token_ids"].as_array().into_iter().flatten().map(|id| (id.to_string(), 1e4)));
    let plain = logprobs(setup.seed, &ids);
    let token = biased(&plain, &bias);
    let mut places: Vec<(u32, Option<Vec<f64>>)> = Vec::new();
    if body["echo"] == true {
        let before = |place: usize| (place > 0).then(|| logprobs(setup.seed, &ids[..place]));
        places.extend(ids.iter().enumerate().map(|(place, id)| (*id, before(place))));
        if setup.speaks == Speaks::LlamaCppPython {
            // It leaves the start token out of its list, and has no log-probability for the first one in it.
            places.remove(0);
            places[0].1 = None;
        }
    }
    places.push((token, Some(if is_hosted { with_bias(&plain, &bias) } else { plain })));
    ok(&json!({
        "choices": [{"text": piece(token), "logprobs": arrays(setup, body, &places, most)}],
        "usage": {"prompt_tokens": ids.len(), "completion_tokens": 1},
    }))
}

/// What a bias makes of the distribution.
fn with_bias(logprobs: &[f64], bias: &[(String, f64)]) -> Vec<f64> {
    let mut biased = logprobs.to_vec();
    bias.iter().for_each(|(id, bias)| biased[id.parse::<usize>().unwrap()] += bias);
    let total = biased.iter().map(|logit| logit.exp()).sum::<f64>().ln();
    biased.into_iter().map(|logit| logit - total).collect()
}

fn arrays(setup: Setup, body: &Value, places: &[(u32, Option<Vec<f64>>)], most: usize) -> Value {
    let by_id = setup.speaks == Speaks::Vllm && body["return_tokens_as_token_ids"] == true;
    let name = |id: u32| if by_id { format!("token_id:{id}") } else { piece(id) };
    let logprob = |(id, all): &(u32, Option<Vec<f64>>)| all.as_ref().map(|all| all[*id as usize]);
    let top = |(id, all): &(u32, Option<Vec<f64>>)| {
        let all = all.as_ref()?;
        let listed = ranked(all).into_iter().take(most).chain([*id]);
        Some(listed.map(|id| (name(id), json!(all[id as usize]))).collect::<Map<_, _>>())
    };
    json!({
        "tokens": places.iter().map(|(id, _)| name(*id)).collect::<Vec<_>>(),
        "token_logprobs": places.iter().map(logprob).collect::<Vec<_>>(),
        "top_logprobs": places.iter().map(top).collect::<Vec<_>>(),
        "text_offset": vec![0; places.len()],
    })
}

/// Says "true" if the number of letters is even.
fn chat(body: &Value) -> Answer {
    let text = body["messages"][0]["content"].as_str().unwrap();
    if body["logprobs"] == true {
        // The first token, among the others.
        assert_eq!((&body["max_tokens"], &body["top_logprobs"]), (&json!(1), &json!(20)));
        let tops: [f64; 2] = if text.len().is_multiple_of(2) { [-0.25, -2.0] } else { [-2.0, -0.25] };
        let token = |(token, logprob): (&str, f64)| json!({"token": token, "logprob": logprob});
        let mut tops = [("true", tops[0]), ("false", tops[1]), ("The", -4.)];
        tops.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut first = token(tops[0]);
        first["top_logprobs"] = tops.map(token).to_vec().into();
        return ok(&json!({"choices": [{"logprobs": {"content": [first]}}]}));
    }
    let said = if text.len().is_multiple_of(2) { "True." } else { "I cannot tell." };
    ok(&json!({"choices": [{"message": {"role": "assistant", "content": said}}]}))
}

pub fn settings(server: &Server) -> ServerSettings {
    let timeout = Duration::from_secs(20);
    let mut settings = ServerSettings::from_environment(&server.url, "NO_SUCH_KEY", timeout).unwrap();
    settings.first_pause = Duration::from_millis(1);
    settings
}

pub fn client(server: &Server) -> LlmClient {
    LlmClient::new(settings(server), Box::new(|| false), Box::new(|_| ()))
}

pub fn choices(way: Option<Way>) -> Choices {
    Choices { model: "toy".into(), way, ..Choices::default() }
}

pub fn connect(server: &Server, way: Option<Way>) -> Result<Asked> {
    Asked::connect(client(server), &choices(way))
}

/// The tokenizer as a file.
pub fn tokenizer_file(folder: &tempfile::TempDir) -> PathBuf {
    crate::support::write(folder, "tokenizer.json", super::toy::tokenizer_json())
}
