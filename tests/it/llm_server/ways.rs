//! Every way finds the same log-probabilities, on every server that has it.

use super::mock::{Speaks, choices, client, connect, settings, setup, start, tokenizer_file};
use super::toy;
use crate::fetch::Server;
use serde_json::Value;
use tempfile::TempDir;
use tiered::error::ErrorKind;
use tiered::llm::server::{Choices, Journal, LlmClient, Server as Asked, ServerKind, Way};
use tiered::llm::{OptionScore, Request, Scorer};

const PROMPT: &str = "Tommaso però era già lì.\nIs the story plausible?";

fn continuations() -> Vec<String> {
    [" false", " true", " in pieces", " 0 and 1", " 1 and 2", " temperature"].map(str::to_owned).to_vec()
}

fn scores(server: &Asked, prompt: &str) -> Vec<OptionScore> {
    server.score(&Request { name: "row 1", prompt, continuations: &continuations() }).unwrap()
}

fn exact(server: &Asked, prompt: &str, bos: usize) {
    for (score, continuation) in scores(server, prompt).iter().zip(continuations()) {
        let OptionScore::Exact { logprob, .. } = *score else { panic!("{continuation}: {score:?}") };
        let expected = toy::score(1, prompt, &continuation, bos);
        assert!((logprob - expected).abs() < 1e-9, "{continuation}: {logprob} instead of {expected}");
    }
}

#[test]
fn echo_and_forced_find_what_the_model_is() {
    for (speaks, kind, ways) in [
        (Speaks::Vllm, ServerKind::Vllm, &[Way::Echo, Way::Forced][..]),
        (Speaks::LlamaCpp, ServerKind::LlamaCpp, &[Way::Forced]),
        (Speaks::LlamaCppPython, ServerKind::LlamaCppPython, &[Way::Forced, Way::Echo]),
    ] {
        let server = start(setup(speaks));
        for way in ways {
            let asked = connect(&server, Some(*way)).unwrap();
            assert_eq!(asked.identity().kind, kind);
            assert!(asked.probe().unwrap().largest_difference < 1e-9);
            exact(&asked, PROMPT, 1);
        }
        assert_eq!(connect(&server, None).unwrap().way(), ways[0], "{speaks:?}: the way that is taken");
    }
}

#[test]
fn the_likeliest_token_at_every_place_is_greedy() {
    let server = start(setup(Speaks::Vllm));
    let greedy = toy::piece(toy::ranked(&toy::logprobs(1, &toy::encode(PROMPT, true)))[0]);
    for way in [Way::Echo, Way::Forced, Way::Top] {
        let asked = connect(&server, Some(way)).unwrap();
        let continuations = [greedy.clone(), " zebra".to_owned()];
        let scores = asked.score(&Request { name: "row 1", prompt: PROMPT, continuations: &continuations }).unwrap();
        assert!(matches!(scores[0], OptionScore::Exact { is_greedy: true, .. }), "{way}: {scores:?}");
        assert!(!matches!(scores[1], OptionScore::Exact { is_greedy: true, .. }), "{way}: {scores:?}");
    }
}

#[test]
fn top_agrees_where_it_knows_and_bounds_what_it_does_not() {
    for speaks in [Speaks::Vllm, Speaks::LlamaCpp, Speaks::LlamaCppPython] {
        let server = start(setup(speaks));
        let asked = connect(&server, Some(Way::Top)).unwrap();
        let (mut known, mut bounds) = (0, 0);
        for (score, continuation) in scores(&asked, PROMPT).iter().zip(continuations()) {
            let expected = toy::score(1, PROMPT, &continuation, 1);
            match *score {
                OptionScore::Exact { logprob, .. } => {
                    known += 1;
                    assert!((logprob - expected).abs() < 1e-9, "{speaks:?} {continuation}");
                }
                OptionScore::AtMost(bound) => {
                    bounds += 1;
                    assert!(expected <= bound + 1e-9, "{speaks:?} {continuation}: {expected} above {bound}");
                }
                OptionScore::Said(_) => panic!("no words"),
            }
        }
        assert!(known >= 2 && bounds >= 1, "{speaks:?}: {known} known, {bounds} bounds");
    }
}

#[test]
fn a_hosted_service_whose_bias_counts_is_asked_for_the_top_with_a_tokenizer_of_ours() {
    let server = start(setup(Speaks::Hosted));
    let error = connect(&server, None).err().unwrap();
    assert!(error.kind == ErrorKind::Config && error.message.contains("--tokenizer"), "{error}");
    let folder = TempDir::new().unwrap();
    let choices = Choices { tokenizer: Some(tokenizer_file(&folder)), ..choices(None) };
    let asked = Asked::connect(client(&server), &choices).unwrap();
    assert_eq!(asked.way(), Way::Top);
    let refusals = asked.refusals().join("\n");
    assert!(refusals.contains("echo") && refusals.contains("every log-probability is 0"), "{refusals}");
    let scores = scores(&asked, PROMPT);
    assert!(scores.iter().any(|score| matches!(score, OptionScore::Exact { .. })), "{scores:?}");
}

#[test]
fn our_own_tokenizer_gives_the_same_as_the_servers() {
    let folder = TempDir::new().unwrap();
    for speaks in [Speaks::Vllm, Speaks::LlamaCpp, Speaks::LlamaCppPython] {
        let server = start(setup(speaks));
        let choices = Choices { tokenizer: Some(tokenizer_file(&folder)), ..choices(Some(Way::Forced)) };
        exact(&Asked::connect(client(&server), &choices).unwrap(), PROMPT, 1);
    }
}

#[test]
fn start_tokens_are_as_many_as_wanted_and_never_one_too_many() {
    let server = start(setup(Speaks::LlamaCpp));
    for bos in [0, 1, 2] {
        let choices = Choices { bos: Some(bos), ..choices(None) };
        let asked = Asked::connect(client(&server), &choices).unwrap();
        exact(&asked, PROMPT, bos as usize);
        assert_eq!(asked.bos_of("<s>a").unwrap(), bos as usize);
    }
    let asked = connect(&server, None).unwrap();
    let with_own = format!("<s>{PROMPT}");
    assert_eq!(scores(&asked, &with_own), scores(&asked, PROMPT), "the text's start token is not doubled");

    let server = start(setup(Speaks::LlamaCppPython));
    let asked = connect(&server, None).unwrap();
    let request = Request { name: "row 1", prompt: &with_own, continuations: &continuations() };
    let error = asked.score(&request).unwrap_err();
    assert!(error.message.contains("row 1: the model would see 2 start tokens instead of 1"), "{error}");
}

#[test]
fn options_that_change_the_prompts_tokens_are_counted() {
    let server = start(setup(Speaks::Vllm));
    let asked = connect(&server, None).unwrap();
    scores(&asked, PROMPT);
    assert_eq!(asked.unaligned(), 0);
    // " t" and "rux" become " tru" and "x".
    let continuations = ["rux".to_owned(), "xx".to_owned()];
    asked.score(&Request { name: "row 1", prompt: "a t", continuations: &continuations }).unwrap();
    assert_eq!(asked.unaligned(), 1);
}

#[test]
fn options_that_begin_alike_share_requests_and_the_journal_spares_the_rest() {
    let server = start(setup(Speaks::LlamaCpp));
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("journal.jsonl");
    let asked = connect(&server, None).unwrap().with_journal(Journal::open(&path).unwrap());
    server.forget();
    let continuations = [" 1 and 1", " 1 and 2", " 1 and 3"].map(str::to_owned);
    let request = Request { name: "row 1", prompt: PROMPT, continuations: &continuations };
    let first = asked.score(&request).unwrap();
    // " 1" and " and" once; " 1", " 2" are tokens, " 3" is two, of which the first is shared by nothing.
    // Before all of them the prompt is evaluated afresh.
    assert_eq!(completions(&server), 1 + 2 + 1 + 1 + 2);
    assert_eq!(afresh(&server), [true, false, false, false, false, false, false]);
    assert_eq!(asked.asked(), 3);
    server.forget();
    assert_eq!(asked.score(&request).unwrap(), first);
    let again = connect(&server, None).unwrap().with_journal(Journal::open(&path).unwrap());
    server.forget();
    assert_eq!(again.score(&request).unwrap(), first);
    assert_eq!((server.requests().len(), again.asked()), (0, 0), "nothing is asked twice");
}

fn completions(server: &Server) -> usize {
    server.requests().iter().filter(|request| request.path == "/completion").count()
}

/// Whether each completion evaluated its prompt afresh.
fn afresh(server: &Server) -> Vec<bool> {
    let completions = server.requests().into_iter().filter(|request| request.path == "/completion");
    let bodies = completions.map(|request| serde_json::from_slice::<Value>(&request.body).unwrap());
    bodies.map(|body| body["cache_prompt"] == false).collect()
}

#[test]
fn words_are_an_option_or_none_and_are_kept_too() {
    let server = start(setup(Speaks::Hosted));
    let asked = connect(&server, Some(Way::Said)).unwrap();
    let options = [" false".to_owned(), " true".to_owned()];
    let said = |prompt| asked.score(&Request { name: "row 1", prompt, continuations: &options }).unwrap();
    assert_eq!(said("even"), [OptionScore::Said(false), OptionScore::Said(true)]);
    assert_eq!(said("odd"), [OptionScore::Said(false), OptionScore::Said(false)]);
    server.forget();
    said("even");
    assert!(server.requests().is_empty(), "the journal answers");
}

#[test]
fn the_key_goes_to_the_server_and_into_nothing_else() {
    let server = start(setup(Speaks::Vllm));
    let mut settings = settings(&server);
    settings.key = Some(tiered::http::ApiKey::parse("sk-secret", "KEY").unwrap().unwrap());
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("journal.jsonl");
    let client = LlmClient::new(settings, Box::new(|| false), Box::new(|_| ()));
    let asked = Asked::connect(client, &choices(None)).unwrap().with_journal(Journal::open(&path).unwrap());
    scores(&asked, PROMPT);
    let sent = server.requests();
    assert!(sent.iter().all(|request| request.header("authorization") == Some("Bearer sk-secret")));
    assert!(sent.iter().all(|request| !String::from_utf8_lossy(&request.body).contains("secret")));
    assert!(!std::fs::read_to_string(&path).unwrap().contains("secret"));
}

#[test]
fn every_request_says_all_that_could_be_set_otherwise() {
    let server = start(setup(Speaks::Vllm));
    let asked = connect(&server, Some(Way::Forced)).unwrap();
    scores(&asked, PROMPT);
    let bodies = server.requests().into_iter().filter(|request| request.path == "/v1/completions");
    for body in bodies.map(|request| serde_json::from_slice::<Value>(&request.body).unwrap()) {
        assert!(body["prompt"].is_array() && body["max_tokens"] == 1 && body["temperature"] == 0.0, "{body}");
        assert!(body["top_p"] == 1.0 && body["top_k"] == 0 && body["repetition_penalty"] == 1.0, "{body}");
    }
}
