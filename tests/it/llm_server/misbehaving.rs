//! Servers that lie, break, refuse and never end. Each comes to a clear end, and no answer is lost.

use super::mock::{Speaks, bent, choices, client, connect, honest, settings, setup, start, twisted};
use crate::fetch::{Answer, Ends, Request as Sent, Server};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tiered::error::{Error, ErrorKind, Result};
use tiered::llm::server::{Journal, LlmClient, Server as Asked, ServerKind, Way};
use tiered::llm::{OptionScore, Request, Scorer};

const PROMPT: &str = "Is the story plausible?";

fn score(asked: &Asked) -> Result<Vec<OptionScore>> {
    let continuations = [" false".to_owned(), " true".to_owned()];
    asked.score(&Request { name: "tier 1, row 54 (98)", prompt: PROMPT, continuations: &continuations })
}

/// A vLLM whose probe is answered honestly, and whose answers after that are bent.
fn bent_later(bend: impl Fn(&mut Value) + Send + Sync + 'static) -> (Server, Asked) {
    later(setup(Speaks::Vllm), move |_, answer| {
        let mut value: Value = serde_json::from_slice(&answer.body).unwrap();
        bend(&mut value);
        Answer::new(200, value.to_string())
    })
}

/// A server that is honest until it is connected to; then its completions are twisted.
fn later(
    setup: super::mock::Setup,
    twist: impl Fn(&Sent, Answer) -> Answer + Send + Sync + 'static,
) -> (Server, Asked) {
    let is_on = Arc::new(AtomicBool::new(false));
    let switch = is_on.clone();
    let server = twisted(setup, move |request, answer| {
        let applies = switch.load(Ordering::SeqCst) && request.path.contains("completion");
        if applies { twist(request, answer) } else { answer }
    });
    let asked = connect(&server, None).unwrap();
    is_on.store(true, Ordering::SeqCst);
    server.forget();
    (server, asked)
}

fn logprobs(value: &mut Value) -> &mut Vec<Value> {
    value.pointer_mut("/choices/0/logprobs/token_logprobs").unwrap().as_array_mut().unwrap()
}

fn refused(server: &Server, way: Way) -> Error {
    let error = connect(server, Some(way)).err().unwrap();
    assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
    error
}

#[test]
fn an_echo_that_is_ignored_never_reaches_a_table() {
    // It answers as if echo had not been asked for.
    let ignoring = Server::start(|request| {
        let mut body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        body["echo"] = json!(false);
        honest(setup(Speaks::Vllm), &Sent { body: body.to_string().into(), ..request.clone() })
    });
    assert!(refused(&ignoring, Way::Echo).message.contains("ignores `echo`"));
    assert_eq!(connect(&ignoring, None).unwrap().way(), Way::Forced, "the next way is taken");

    let zeros = bent(setup(Speaks::Vllm), "/v1/completions", |answer| {
        let scores = logprobs(answer);
        let last = scores.len() - 1;
        scores[..last].iter_mut().for_each(|score| *score = json!(0.0));
    });
    let error = refused(&zeros, Way::Echo);
    assert!(error.message.contains("every log-probability is 0"), "{error}");
}

#[test]
fn an_echo_that_is_shifted_by_one_is_refused() {
    for by in [1, -1] {
        let shifted = bent(setup(Speaks::Vllm), "/v1/completions", move |answer| {
            let scores = logprobs(answer);
            let prompt = scores.len() - 1;
            if prompt > 1 && by > 0 {
                scores[1..].rotate_left(1);
            } else if prompt > 1 {
                scores[1..prompt].rotate_right(1);
            }
        });
        let error = refused(&shifted, Way::Echo);
        assert!(error.message.contains("shifted, or changed by the bias"), "{by}: {error}");
    }
}

#[test]
fn a_server_that_takes_no_echo_is_refused_in_its_own_words() {
    let server = start(setup(Speaks::LlamaCpp));
    assert!(refused(&server, Way::Echo).message.contains("Only no echo is supported"));
}

#[test]
fn a_force_that_is_ignored_is_refused() {
    let server = Server::start(|request| {
        let mut body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        if body["logit_bias"].is_array() {
            body["logit_bias"] = json!([]);
        }
        honest(setup(Speaks::LlamaCpp), &Sent { body: body.to_string().into(), ..request.clone() })
    });
    let error = refused(&server, Way::Forced);
    assert!(error.message.contains("was forced"), "{error}");
}

#[test]
fn numbers_that_are_no_log_probabilities_end_the_run_with_the_story() {
    for (wrong, why) in [(Value::Null, "is null"), (json!(0.5), "is positive"), (json!("-1"), "is not a number")] {
        let (_server, asked) = bent_later(move |answer| {
            let scores = logprobs(answer);
            let place = scores.len() - 2;
            scores[place] = wrong.clone();
        });
        let error = score(&asked).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Data, "{error}");
        assert!(error.message.starts_with("tier 1, row 54 (98): ") && error.message.contains(why), "{error}");
        assert!(asked.journal().is_empty(), "it is not kept");
    }
    let missing = |answer: &mut Value| {
        drop(answer.pointer_mut("/choices/0").unwrap().as_object_mut().unwrap().remove("logprobs"))
    };
    let (_server, asked) = bent_later(missing);
    assert!(score(&asked).unwrap_err().message.contains("has no `/choices/0/logprobs`"));
}

#[test]
fn nan_html_and_other_text_are_no_answers() {
    for (body, why) in [
        (r#"{"choices": [{"logprobs": {"token_logprobs": [NaN]}}]}"#, "not finite"),
        ("<html><body>502 Bad Gateway</body></html>", "a web page"),
        ("upstream said no", "upstream said no"),
        ("", "not JSON"),
    ] {
        let (server, asked) = later(setup(Speaks::Vllm), move |_, _| Answer::new(200, body));
        let error = score(&asked).unwrap_err();
        assert!(error.kind == ErrorKind::Data && error.message.contains(why), "{error}");
        assert_eq!(server.requests().iter().filter(|request| request.path == "/v1/completions").count(), 1);
    }
}

#[test]
fn a_wrong_number_of_tokens_is_an_error() {
    let (_server, asked) = bent_later(|answer| {
        ["token_logprobs", "top_logprobs", "tokens"].iter().for_each(|name| {
            let list = answer.pointer_mut(&format!("/choices/0/logprobs/{name}")).unwrap().as_array_mut().unwrap();
            list.truncate(5);
        });
    });
    assert!(score(&asked).unwrap_err().message.contains("5 log-probabilities for"));

    let (_server, asked) = later(setup(Speaks::LlamaCpp), |_, answer| {
        let mut value: Value = serde_json::from_slice(&answer.body).unwrap();
        value["tokens_evaluated"] = json!(value["tokens_evaluated"].as_u64().unwrap() + 1);
        Answer::new(200, value.to_string())
    });
    assert!(score(&asked).unwrap_err().message.contains("tokens in a prompt of"));
}

#[test]
fn a_body_without_end_is_cut_off() {
    let (_server, asked) = later(setup(Speaks::Vllm), |_, answer| answer.ending(Ends::Never));
    let error = score(&asked).unwrap_err();
    assert!(error.kind == ErrorKind::Refused && error.message.contains("the limit for an answer"), "{error}");
}

/// The first answers to completions fail, then all is well.
fn failing_at_first(times: usize, failing: impl Fn(Answer) -> Answer + Send + Sync + 'static) -> (Server, Asked) {
    let count = AtomicUsize::new(0);
    later(setup(Speaks::Vllm), move |_, answer| match count.fetch_add(1, Ordering::SeqCst) < times {
        true => failing(answer),
        false => answer,
    })
}

#[test]
fn what_may_pass_is_tried_again() {
    let expected = score(&connect(&start(setup(Speaks::Vllm)), None).unwrap()).unwrap();
    for times in [1, 4] {
        for status in [408, 409, 425, 429, 500, 502, 503, 504] {
            let (server, asked) = failing_at_first(times, move |_| Answer::new(status, "busy"));
            assert_eq!(score(&asked).unwrap(), expected, "{status}");
            let sent = server.requests().iter().filter(|request| request.path == "/v1/completions").count();
            assert_eq!(sent, 2 + times, "{status}");
        }
        let (_server, asked) = failing_at_first(times, |answer| answer.ending(Ends::Cut(30)));
        assert_eq!(score(&asked).unwrap(), expected, "a connection that is cut");
        // The same where the server does not say how long its answer is.
        let (_server, asked) = failing_at_first(times, |answer| Answer::new(200, answer.body[..30].to_vec()));
        assert_eq!(score(&asked).unwrap(), expected, "half an answer");
    }
}

#[test]
fn an_error_in_an_answer_with_status_200_is_tried_again_or_told() {
    let expected = score(&connect(&start(setup(Speaks::Vllm)), None).unwrap()).unwrap();
    let busy = r#"{"error": {"message": "upstream overloaded", "code": 429}}"#;
    let (_server, asked) = failing_at_first(2, move |_| Answer::new(200, busy));
    assert_eq!(score(&asked).unwrap(), expected);
    let of_choice =
        r#"{"choices": [{"finish_reason": "error", "error": {"message": "gone", "code": 502}, "text": ""}]}"#;
    let (_server, asked) = failing_at_first(2, move |_| Answer::new(200, of_choice));
    assert_eq!(score(&asked).unwrap(), expected);
    let broken = r#"{"error": {"message": "no GPU is free"}}"#;
    let (_server, asked) = later(setup(Speaks::Vllm), move |_, _| Answer::new(200, broken));
    let error = score(&asked).unwrap_err();
    assert!(error.kind == ErrorKind::Data && error.message.contains("row 54"), "{error}");
    assert!(error.message.contains("answered with an error: no GPU is free"), "{error}");
}

#[test]
fn a_service_may_have_a_web_page_where_others_tell_what_they_are() {
    let server = twisted(setup(Speaks::Hosted), |request, answer| match request.path.as_str() {
        "/props" | "/extras/tokenize" => Answer::new(200, "<!doctype html><html></html>"),
        _ => answer,
    });
    assert_eq!(connect(&server, Some(Way::Said)).unwrap().identity().kind, ServerKind::Other);
}

#[test]
fn what_does_not_pass_stops_so_that_it_can_go_on() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("journal.jsonl");
    let count = AtomicUsize::new(0);
    let (_server, asked) = later(setup(Speaks::Vllm), move |_, answer| match count.fetch_add(1, Ordering::SeqCst) {
        0 => answer,
        _ => Answer::new(503, r#"{"error": {"message": "Loading model"}}"#),
    });
    let asked = asked.with_journal(Journal::open(&path).unwrap());
    let error = score(&asked).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Resumable);
    for part in ["row 54", "503 (Loading model)", "gave up after 5 tries", "run the same command again"] {
        assert!(error.message.contains(part), "{error}");
    }
    let kept = Journal::open(&path).unwrap();
    assert_eq!(kept.len(), 1, "the first option's answer is kept");

    let server = start(setup(Speaks::Vllm));
    let again = connect(&server, None).unwrap().with_journal(kept);
    score(&again).unwrap();
    assert_eq!(again.asked(), 1, "only the other one is asked");
}

#[test]
fn a_server_that_is_not_there_stops_resumably() {
    let server = start(setup(Speaks::Vllm));
    let mut settings = settings(&server);
    settings.address = tiered::http::Address::parse("http://127.0.0.1:9").unwrap();
    let error =
        Asked::connect(LlmClient::new(settings, Box::new(|| false), Box::new(|_| ())), &choices(None)).err().unwrap();
    assert!(error.kind == ErrorKind::Resumable && error.message.contains("no answer"), "{error}");
}

#[test]
fn a_pause_that_the_server_asks_for_is_kept() {
    let server = Server::start(|_| Answer::new(429, "slow down").with("retry-after", 30));
    let waits = Arc::new(Mutex::new(Vec::new()));
    let heard = waits.clone();
    // The program is told to stop as soon as the pause is known, so that no test has to wait.
    let stop = waits.clone();
    let client = LlmClient::new(
        settings(&server),
        Box::new(move || !stop.lock().unwrap().is_empty()),
        Box::new(move |wait| heard.lock().unwrap().push(wait.pause)),
    );
    let error = Asked::connect(client, &choices(None)).err().unwrap();
    assert_eq!((error.kind, waits.lock().unwrap().as_slice()), (ErrorKind::Resumable, &[Duration::from_secs(30)][..]));

    let server = Server::start(|_| Answer::new(429, "come back tomorrow").with("retry-after", 86_400));
    let error = connect(&server, None).err().unwrap();
    assert!(error.kind == ErrorKind::Resumable && error.message.contains("asks to wait 86400 s"), "{error}");
}

#[test]
fn a_server_that_is_too_slow_is_given_up() {
    let (server, _) = later(setup(Speaks::Vllm), |_, answer| answer.ending(Ends::Stalls(10)));
    let mut settings = settings(&server);
    settings.connection.timeout = Duration::from_millis(100);
    let asked = Asked::connect(LlmClient::new(settings, Box::new(|| false), Box::new(|_| ())), &choices(None));
    let error = asked.err().unwrap();
    assert!(error.kind == ErrorKind::Resumable && error.message.contains("gave up after 5 tries"), "{error}");
}

#[test]
fn refusals_are_final_and_in_the_servers_words() {
    for (status, kind, part) in [
        (400, ErrorKind::Config, "no such field"),
        (401, ErrorKind::Unavailable, "NO_SUCH_KEY: it is not set"),
        (403, ErrorKind::Unavailable, "NO_SUCH_KEY"),
        (404, ErrorKind::Unavailable, "check --server and --model"),
        (422, ErrorKind::Config, "no such field"),
    ] {
        let message = json!({"error": {"message": "no such field"}}).to_string();
        let (server, asked) = later(setup(Speaks::Vllm), move |_, _| Answer::new(status, message.clone()));
        let error = score(&asked).unwrap_err();
        assert!(error.kind == kind && error.message.contains(part) && error.message.contains("row 54"), "{error}");
        assert_eq!(server.requests().iter().filter(|request| request.path == "/v1/completions").count(), 1);
    }
    let server = Server::start(|_| Answer::new(401, r#"{"error": "Unauthorized"}"#));
    assert!(connect(&server, None).err().unwrap().message.contains("Unauthorized"));
    let server = Server::start(|_| Answer::redirect("https://elsewhere.example/"));
    assert_eq!(connect(&server, None).err().unwrap().kind, ErrorKind::Refused);
}

/// Gateways may keep these paths to themselves, or lead from them to a page where people log in.
#[test]
fn paths_that_a_server_need_not_have_may_be_refused() {
    let answers: [fn() -> Answer; 2] =
        [|| Answer::new(403, r#"{"message": "Missing token"}"#), || Answer::redirect("/login")];
    for answer in answers {
        let is_of_models = |path: &str| path == "/v1/models" || path.contains("completion") || path == "/tokenize";
        let server = twisted(
            setup(Speaks::Vllm),
            move |request, honest| {
                if is_of_models(&request.path) { honest } else { answer() }
            },
        );
        let asked = connect(&server, None).unwrap();
        assert!(score(&asked).is_ok());
    }
    // llama.cpp shows its model to everybody; that another key is wanted is said all the same.
    let server = twisted(setup(Speaks::LlamaCpp), |request, honest| match request.path.as_str() {
        "/v1/models" => honest,
        _ => Answer::new(401, r#"{"error": {"message": "Invalid API key"}}"#),
    });
    let error = connect(&server, None).err().unwrap();
    assert!(error.message.contains("Invalid API key") && error.message.contains("NO_SUCH_KEY"), "{error}");
}

#[test]
fn a_prompt_that_is_too_long_names_the_story() {
    let mut small = setup(Speaks::LlamaCpp);
    small.context = 60;
    let asked = connect(&start(small), None).unwrap();
    let prompt = "Tommaso aspetta. ".repeat(10);
    let continuations = [" false".to_owned(), " true".to_owned()];
    let request = Request { name: "tier 1, row 54 (98)", prompt: prompt.trim_end(), continuations: &continuations };
    let error = asked.score(&request).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Config);
    for part in ["tier 1, row 54 (98): ", "exceeds the available context size", "larger context"] {
        assert!(error.message.contains(part), "{error}");
    }
    let (_server, asked) = later(setup(Speaks::LlamaCpp), |_, answer| {
        let mut value: Value = serde_json::from_slice(&answer.body).unwrap();
        value["truncated"] = json!(true);
        Answer::new(200, value.to_string())
    });
    assert!(score(&asked).unwrap_err().message.contains("which cut it"));
}

#[test]
fn options_that_are_all_zero_are_an_error_and_are_not_kept() {
    let (_server, asked) = later(setup(Speaks::LlamaCpp), |_, answer| {
        let mut value: Value = serde_json::from_slice(&answer.body).unwrap();
        value["completion_probabilities"][0]["logprob"] = json!(0.0);
        Answer::new(200, value.to_string())
    });
    let error = score(&asked).unwrap_err();
    assert!(error.kind == ErrorKind::Data && error.message.contains("all options have log-probability 0"), "{error}");
    assert!(asked.journal().is_empty());
}

#[test]
fn first_tokens_that_are_all_zero_are_not_kept_so_that_a_repaired_server_goes_on() {
    let is_broken = Arc::new(AtomicBool::new(false));
    let switch = is_broken.clone();
    let server = bent(setup(Speaks::Hosted), "/v1/chat/completions", move |answer| {
        if switch.load(Ordering::SeqCst) {
            let first = &mut answer["choices"][0]["logprobs"]["content"][0];
            first["logprob"] = json!(0.0);
            first["top_logprobs"].as_array_mut().unwrap().iter_mut().for_each(|token| token["logprob"] = json!(0.0));
        }
    });
    let asked = connect(&server, Some(Way::TopChat)).unwrap();
    is_broken.store(true, Ordering::SeqCst);
    let error = score(&asked).unwrap_err();
    assert!(error.kind == ErrorKind::Data && error.message.contains("all options have log-probability 0"), "{error}");
    assert!(asked.journal().is_empty());
    is_broken.store(false, Ordering::SeqCst);
    assert_eq!((score(&asked).unwrap().len(), asked.journal().len()), (2, 2));
}

#[test]
fn the_lowest_float_ranks_last_and_is_only_a_bound() {
    let count = AtomicUsize::new(0);
    let (_server, asked) = later(setup(Speaks::LlamaCpp), move |_, answer| {
        let mut value: Value = serde_json::from_slice(&answer.body).unwrap();
        // The first one evaluates the prompt.
        if count.fetch_add(1, Ordering::SeqCst) == 1 {
            value["completion_probabilities"][0]["logprob"] = json!(-3.402_823_466_385_288_6e38);
        }
        Answer::new(200, value.to_string())
    });
    let scores = score(&asked).unwrap();
    assert_eq!(scores[0], OptionScore::AtMost(-87.));
    assert!(matches!(scores[1], OptionScore::Exact { .. }), "{scores:?}");
}

#[test]
fn a_model_that_is_not_there_is_named_with_those_that_are() {
    let server = start(setup(Speaks::Vllm));
    let error =
        Asked::connect(client(&server), &tiered::llm::server::Choices { model: "other".into(), ..choices(None) });
    let error = error.err().unwrap();
    assert!(error.kind == ErrorKind::Config && error.message.contains("it has: toy"), "{error}");
}
