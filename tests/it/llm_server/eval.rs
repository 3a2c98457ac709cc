//! `tiered llm eval` from end to end: the files, interruptions of every kind, and going on with the same bytes.

use super::mock::{Setup, Speaks, bent, setup, start, twisted, without_temperature};
use crate::fetch::{Answer, Request, Server};
use crate::support::{clean_file, stderr, stdout, text, tiered};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;

/// Stories that nobody published, three for each number: plausible, cloze, order.
fn stories() -> String {
    let story = |number: usize, letter: &str| {
        let (kind, broken) = match letter {
            "-C0" => (json!("cloze"), Some(("non c'è più", [0, 2]))),
            "-O0" => (json!("order"), Some(("è già lì", [1, 3]))),
            _ => (Value::Null, None),
        };
        let state = ["open", "exist", "location"][number % 3];
        let word = broken.map_or("aperta", |(word, _)| word);
        let sentences: Vec<String> = (0..5)
            .map(|i| format!("Nell'ora {i} la scatola {number} {}.", if i == 2 { word } else { "c'è" }))
            .collect();
        json!({
            "story_id": number, "example_id": format!("{number}{letter}"), "type": kind, "sentences": sentences,
            "length": 5, "plausible": broken.is_none(), "breakpoint": broken.map_or(-1, |(_, pair)| pair[1] as i64),
            "confl_sents": broken.map_or(vec![], |(_, pair)| vec![pair[0]]), "confl_pairs": [],
            "states": state,
        })
        .to_string()
    };
    let all = (0..4).flat_map(|number| ["", "-C0", "-O0"].map(|letter| story(number, letter) + "\n"));
    all.collect()
}

struct Rig {
    folder: TempDir,
}

impl Rig {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("stories.jsonl"), stories()).unwrap();
        Rig { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, server: &Server, output: &str, more: &[&str]) -> Command {
        self.command_at(&server.url, output, more)
    }

    fn command_at(&self, url: &str, output: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
        command.args(["llm", "eval", "--data", text(&self.path("stories.jsonl")), "--server", url]);
        command.args(["--model", "toy", "--protocol", "gita4calamita", "--no-cascade"]);
        command.args(["--output", text(&self.path(output))]).args(more);
        command
            .env("ALL_PROXY", "http://127.0.0.1:1")
            .env_remove("NO_PROXY")
            .env_remove("no_proxy")
            .env("TIERED_RETRY_MS", "1")
            .env("SOURCE_DATE_EPOCH", "1769860800")
            .env("OPENAI_API_KEY", "sk-secret");
        command
    }

    fn run(&self, server: &Server, output: &str, more: &[&str]) -> Output {
        self.command(server, output, more).output().unwrap()
    }

    fn done(&self, server: &Server, output: &str, more: &[&str]) -> Output {
        let run = self.run(server, output, more);
        assert_eq!(run.status.code(), Some(0), "{}{}", stdout(&run), stderr(&run));
        run
    }

    /// Every file of a run with its bytes.
    fn files(&self, output: &str) -> BTreeMap<String, Vec<u8>> {
        let entries = std::fs::read_dir(self.path(output)).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| (path.file_name().unwrap().to_str().unwrap().into(), std::fs::read(path).unwrap())).collect()
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.path(path)).unwrap()).unwrap()
    }
}

fn llama() -> Setup {
    setup(Speaks::LlamaCpp)
}

/// A server that sends a signal to the program at its N-th completion (from 1).
fn signalling(signal: i32, at: usize) -> (Server, Arc<OnceLock<u32>>) {
    let (pid, count) = (Arc::new(OnceLock::new()), AtomicUsize::new(0));
    let known = pid.clone();
    let server = twisted(llama(), move |request, answer| {
        if request.path == "/completion" && 1 + count.fetch_add(1, Ordering::SeqCst) == at {
            // SAFETY: the process is a child of this test, and has not been waited for.
            assert_eq!(unsafe { libc::kill(*known.wait() as i32, signal) }, 0);
        }
        answer
    });
    (server, pid)
}

fn interrupted(rig: &Rig, output: &str, signal: i32, at: usize) -> Output {
    let (server, pid) = signalling(signal, at);
    let mut command = rig.command(&server, output, &[]);
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    pid.set(child.id()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_run_writes_records_summary_and_journal() {
    let (rig, server) = (Rig::new(), start(llama()));
    let run = rig.done(&server, "run", &[]);
    let said = stdout(&run);
    for part in ["llama.cpp b1, model toy, way forced", "probe: ", "tier 1: ", " of 12 right", "tier 3: "] {
        assert!(said.contains(part), "{said}");
    }
    let names: Vec<String> = rig.files("run").into_keys().collect();
    let date = "2026-01-31T12-00-00";
    let mut expected = vec!["journal.jsonl".to_owned(), "lock".into(), "results.json".into(), "run.json".into()];
    for task in ["story_class", "conflict_detec", "physical_state"] {
        expected.extend([format!("results_{task}_{date}.json"), format!("samples_{task}_{date}.jsonl")]);
    }
    expected.sort();
    assert_eq!(names, expected);

    let results = rig.json("run/results.json");
    assert_eq!(
        (&results["way"], &results["server"]["model"], &results["bos_seen"]),
        (&json!("forced"), &json!("toy"), &json!(1))
    );
    assert_eq!(results["asked"]["departures"], json!(["every implausible story asked in every tier"]));
    let asked: Vec<_> =
        results["tiers"].as_array().unwrap().iter().map(|tier| tier["asked"].as_u64().unwrap()).collect();
    assert_eq!(asked, [12, 8, 8]);
    assert!(
        results["probe"]["largest_difference"].as_f64().unwrap() < 1e-9
            && results["tiers"][0]["prompts_sha256"].is_string()
    );
    let journal = std::fs::read_to_string(rig.path("run/journal.jsonl")).unwrap();
    assert_eq!(journal.lines().count(), 12 * 2 + 8 * 10 + 8 * 14);
    let of_tier = rig.json(&format!("run/results_story_class_{date}.json"));
    assert_eq!(of_tier["tiered"]["departures"], json!(["every implausible story asked in every tier"]));
    for (name, bytes) in rig.files("run") {
        assert!(!String::from_utf8_lossy(&bytes).contains("sk-secret"), "{name}");
    }
}

#[test]
fn every_way_and_any_number_at_once_give_the_same_answers() {
    let (rig, server) = (Rig::new(), start(setup(Speaks::Vllm)));
    let settings = ["--tiers", "2", "--shots", "1", "--way"];
    rig.done(&server, "echo", &[&settings[..], &["echo"]].concat());
    rig.done(&server, "four", &[&settings[..], &["echo", "--concurrency", "4"]].concat());
    rig.done(&server, "forced", &[&settings[..], &["forced"]].concat());
    let (echo, mut four) = (rig.files("echo"), rig.files("four"));
    four.insert("journal.jsonl".into(), echo["journal.jsonl"].clone());
    assert!(echo == four, "the order of asking does not matter");
    let samples = "samples_conflict_detec_2026-01-31T12-00-00.jsonl";
    assert!(echo[samples] == rig.files("forced")[samples], "log-probabilities of forced and echo differ");
}

#[test]
fn a_run_that_is_killed_anywhere_goes_on_to_the_same_bytes() {
    let (rig, server) = (Rig::new(), start(llama()));
    rig.done(&server, "whole", &[]);
    let whole = rig.files("whole");
    server.forget();
    // In the probe, in tier 1, in tier 2, in tier 3.
    for at in [3, 60, 100, 500] {
        let output = format!("killed{at}");
        assert_eq!(interrupted(&rig, &output, libc::SIGKILL, at).status.signal(), Some(libc::SIGKILL));
        assert!(!rig.path(&output).join("results.json").exists());
        let before = std::fs::read(rig.path(&output).join("journal.jsonl")).unwrap_or_default();
        let run = rig.done(&server, &output, &[]);
        assert_eq!(stdout(&run).contains("going on; "), !before.is_empty(), "{at}: {}", stdout(&run));
        assert!(rig.files(&output) == whole, "killed at request {at}");
        assert!(whole["journal.jsonl"].starts_with(&before), "what was answered is not asked again");
    }
}

#[test]
fn a_torn_line_is_asked_again() {
    let (rig, server) = (Rig::new(), start(llama()));
    rig.done(&server, "run", &[]);
    let requests = server.requests().len();
    let whole = rig.files("run");
    let journal = &whole["journal.jsonl"];
    for cut in [1, 20, 300] {
        std::fs::write(rig.path("run/journal.jsonl"), &journal[..journal.len() - cut]).unwrap();
        rig.done(&server, "run", &[]);
        assert!(rig.files("run") == whole, "cut by {cut}");
    }
    // A finished run is not asked again but for the probe.
    server.forget();
    rig.done(&server, "run", &[]);
    assert!(rig.files("run") == whole && server.requests().len() < requests / 4);
}

#[test]
fn a_signal_stops_it_and_the_same_command_goes_on() {
    let (rig, server) = (Rig::new(), start(llama()));
    rig.done(&server, "whole", &[]);
    let run = interrupted(&rig, "stopped", libc::SIGINT, 100);
    assert_eq!(run.status.code(), Some(75), "{}", stderr(&run));
    for part in
        ["stopping after the requests in progress; press again", "stopped; run the same command again", "kept in "]
    {
        assert!(stderr(&run).contains(part), "{}", stderr(&run));
    }
    rig.done(&server, "stopped", &[]);
    assert!(rig.files("stopped") == rig.files("whole"));
}

#[test]
fn a_server_that_goes_away_ends_it_with_75_and_nothing_is_lost() {
    let rig = Rig::new();
    let count = AtomicUsize::new(0);
    let failing = twisted(llama(), move |request: &Request, answer| match request.path.as_str() {
        "/completion" if count.fetch_add(1, Ordering::SeqCst) >= 100 => Answer::new(503, "gone"),
        _ => answer,
    });
    let run = rig.run(&failing, "run", &[]);
    assert_eq!(run.status.code(), Some(75), "{}", stderr(&run));
    let said = stderr(&run);
    assert!(said.contains("trying again") && said.contains("gave up after 5 tries"), "{said}");
    assert!(!rig.path("run/results.json").exists(), "a tier that is not whole has no figure");
    let server = start(llama());
    rig.done(&server, "run", &[]);
    rig.done(&server, "whole", &[]);
    assert!(rig.files("run") == rig.files("whole"));
}

#[test]
fn another_model_under_the_same_name_is_refused() {
    let rig = Rig::new();
    interrupted(&rig, "run", libc::SIGKILL, 100);
    let before = rig.files("run");
    let mut other = llama();
    other.seed = 2;
    let refused = |server: &Server, more: &[&str], part: &str| {
        let run = rig.run(server, "run", more);
        assert_eq!(run.status.code(), Some(78), "{}", stderr(&run));
        assert!(stderr(&run).contains("this run began otherwise") && stderr(&run).contains(part), "{}", stderr(&run));
        assert!(rig.files("run") == before, "nothing changed");
    };
    refused(&start(other), &[], "the model's own words");
    let mut rebuilt = llama();
    rebuilt.build = "b2";
    refused(&start(rebuilt), &[], "build: \"b1\" then, \"b2\" now");
    refused(&start(llama()), &["--shots", "1"], "shots: 3 then, 1 now");
    refused(&start(llama()), &["--way", "top"], "way: \"forced\" then, \"top\" now");
}

/// The context length is a flag of the server's start, so that what the message advises must help.
#[test]
fn a_run_that_met_a_short_context_goes_on_with_a_larger_one() {
    let rig = Rig::new();
    let mut short = setup(Speaks::Vllm);
    short.context = 200;
    let run = rig.run(&start(short), "run", &["--tiers", "1"]);
    assert_eq!(run.status.code(), Some(78), "{}", stderr(&run));
    assert!(stderr(&run).contains("start it with a larger context"), "{}", stderr(&run));
    rig.done(&start(setup(Speaks::Vllm)), "run", &["--tiers", "1"]);
    assert_eq!(rig.json("run/results.json")["server"]["details"]["max_model_len"], 200, "as the run began");
}

#[test]
fn what_the_command_line_asks_in_vain_is_said_at_once() {
    let (rig, server) = (Rig::new(), start(llama()));
    let code = |more: &[&str]| {
        let run = rig.run(&server, "run", more);
        assert!(!rig.path("run/results.json").exists() || run.status.success());
        (run.status.code().unwrap(), stderr(&run))
    };
    assert_eq!(code(&["--shots", "6"]).0, 2);
    assert_eq!(code(&["--way", "said", "--chat-template", "x.jinja"]).0, 2);
    let run = rig.command_at("http://192.0.2.1:8000", "run", &[]).output().unwrap();
    assert!(run.status.code() == Some(2) && stderr(&run).contains("use https, or a tunnel"), "{}", stderr(&run));
    let (status, said) = code(&["--way", "echo"]);
    assert!(status == 69 && said.contains("Only no echo is supported"), "{said}");
    std::fs::create_dir(rig.path("full")).unwrap();
    std::fs::write(rig.path("full/thesis.tex"), "mine").unwrap();
    assert_eq!(rig.run(&server, "full", &[]).status.code(), Some(73));
}

#[test]
fn a_key_that_is_refused_is_not_shown() {
    let rig = Rig::new();
    let server = Server::start(|request| {
        let key = request.header("authorization").unwrap_or_default().to_owned();
        Answer::new(401, json!({"error": {"message": format!("Incorrect key: {key}")}}).to_string())
    });
    let run = rig.run(&server, "run", &[]);
    assert_eq!(run.status.code(), Some(69));
    assert!(stderr(&run).contains("Incorrect key") && stderr(&run).contains("OPENAI_API_KEY: is it the right key?"));
    assert!(!stderr(&run).contains("sk-secret") && !stdout(&run).contains("sk-secret"));
}

#[test]
fn har_is_asked_pair_by_pair_and_its_predictions_are_scored() {
    let (rig, server) = (Rig::new(), start(llama()));
    std::fs::write(rig.path("trip.json"), clean_file().to_string()).unwrap();
    let har = |output: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
        command.args([
            "llm",
            "eval",
            "--data",
            text(&rig.path("trip.json")),
            "--server",
            &server.url,
            "--model",
            "toy",
        ]);
        command.args(["--protocol", "har", "--shot", "1-C0", "--shots-split", "test"]).args(more);
        command.args(["--output", text(&rig.path(output))]).env("SOURCE_DATE_EPOCH", "1769860800").output().unwrap()
    };
    let run = har("har", &[]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let results = rig.json("har/results.json");
    assert_eq!(
        (&results["pairs"], &results["bos_seen"], &results["asked"]["shots_from"]),
        (&json!(2), &json!(1), &json!(["1-C0"]))
    );
    let scored = tiered(["score", text(&rig.path("har/predictions.jsonl"))]);
    assert!(scored.status.success(), "{}", stderr(&scored));
    let files = rig.files("har");
    std::fs::remove_file(rig.path("har/predictions.jsonl")).unwrap();
    har("har", &[]);
    assert!(rig.files("har") == files, "the journal answers again");

    let questions = std::fs::read_to_string(rig.path("har/questions.jsonl")).unwrap();
    let questions: Vec<Value> = questions.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(questions.len(), 2 * 6, "story, sentences, and twice an entity and its state");
    assert!(questions[0]["prompt"].as_str().unwrap().ends_with("Story") && questions[0]["options"][1]["text"] == "B");

    let refused = har("refused", &["--seed", "7"]);
    assert!(refused.status.code() == Some(2) && stderr(&refused).contains("no --chat-template, --shots, --seed"));

    har("limited", &["--limit", "2"]);
    let departures = |run: &str| rig.json(&format!("{run}/results.json"))["asked"]["departures"].clone();
    assert_eq!(departures("limited"), departures("har"), "two pairs are all of them");

    har("swapped", &["--swapped"]);
    let compared = |other: &str| {
        tiered(["llm", "score", text(&rig.path("har")), "--swapped", text(&rig.path(other)), "--format", "json"])
    };
    let itself = compared("har");
    let why = "shows the stories of a pair in the same order as";
    assert!(itself.status.code() == Some(65) && stderr(&itself).contains(why), "{}", stderr(&itself));
    let agreement = |other: &str| {
        let scored = compared(other);
        assert!(scored.status.success(), "{}", stderr(&scored));
        let agreement: Value = serde_json::from_str(&stdout(&scored)).unwrap();
        assert!(agreement.get("stories").is_none(), "{agreement}");
        agreement["pairs"]["fraction"].as_f64().unwrap()
    };
    let chosen = |run: &str| -> Vec<Value> {
        let predictions = std::fs::read_to_string(rig.path(run).join("predictions.jsonl")).unwrap();
        predictions.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["plausible"].clone()).collect()
    };
    let alike = chosen("har").iter().zip(&chosen("swapped")).filter(|(a, b)| a == b).count();
    assert_eq!(agreement("swapped"), alike as f64 / 2.);

    let run = har("other", &["--swapped", "--shot", "1-O0"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let other = compared("other");
    let why = format!("differs in more than the order from {}: shots; ", text(&rig.path("har")));
    assert!(other.status.code() == Some(65) && stderr(&other).contains(&why), "{}", stderr(&other));

    let run = har("started", &["--swapped", "--bos", "2"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let started = compared("started");
    let why = format!("differs in more than the order from {}: bos; ", text(&rig.path("har")));
    assert!(started.status.code() == Some(65) && stderr(&started).contains(&why), "{}", stderr(&started));
}

/// A run with every switch, its prompts, and what it says of itself.
#[test]
fn what_differs_from_the_protocol_is_asked_and_named() {
    let (rig, server) = (Rig::new(), start(llama()));
    let recorded = |output: &str, row: usize| -> Value {
        let path = rig.path(output).join("samples_story_class_2026-01-31T12-00-00.jsonl");
        let samples = std::fs::read_to_string(path).unwrap();
        serde_json::from_str::<Value>(samples.lines().nth(row).unwrap()).unwrap()["arguments"]["gen_args_1"].clone()
    };
    let run = |output: &str, flags: &[&str], departures: &[&str]| {
        rig.done(&server, output, &[flags, &["--tiers", "1"]].concat());
        let asked = rig.json(&format!("{output}/results.json"))["asked"].clone();
        assert_eq!(asked["departures"], json!([departures, &["every implausible story asked in every tier"]].concat()));
        let printed = |more: &[&str]| {
            let data = rig.path("stories.jsonl");
            let arguments = ["llm", "prompt", "--data", text(&data), "--tier", "1", "--row", "5"];
            let printed = tiered(arguments.iter().chain(flags).chain(more).copied());
            assert!(printed.status.success(), "{}", stderr(&printed));
            stdout(&printed).trim_end_matches('\n').to_owned()
        };
        assert_eq!(recorded(output, 5)["arg_0"].as_str().unwrap(), printed(&[]));
        let option = recorded(output, 5)["arg_1"].as_str().unwrap().to_owned();
        assert_eq!(format!("{option:?}"), printed(&["--options"]).lines().nth(1).unwrap());
        (printed(&[]), option)
    };
    let (plain, option) = run("plain", &[], &[]);
    assert!(plain.contains("true or false") && option == " true");
    let flags = ["--swapped", "--no-blank", "--seed", "7"];
    let named = ["shots drawn from seed 7", "options named in the other order", "no blank before an option"];
    let (other, option) = run("other", &flags, &named);
    assert!(other.contains("false or true") && option == "true");
    assert_ne!(other.split_once("\n\n").unwrap().1, plain.split_once("\n\n").unwrap().1, "other shots");
    let (fixed, _) = run("fixed", &["--shot", "0", "--shot", "2-C0"], &["2 shots", "fixed shots"]);
    let places = ["scatola 0 ", "scatola 2 ", "scatola 1 "].map(|words| fixed.find(words).unwrap());
    assert!(places[0] < places[1] && places[1] < places[2], "{fixed}");
    std::fs::write(rig.path("more.jsonl"), stories().replace("scatola", "cassa")).unwrap();
    let (others, _) = run("others", &["--shots-data", text(&rig.path("more.jsonl"))], &["shots from other stories"]);
    assert_eq!((others.matches("cassa ").count(), others.matches("scatola ").count()), (15, 5), "{others}");
    let refused = rig.run(&server, "refused", &["--shot", "17"]);
    assert!(refused.status.code() == Some(65) && stderr(&refused).contains("no such story"), "{}", stderr(&refused));
    assert!(!rig.path("refused").exists(), "nothing is written");
}

#[test]
fn words_are_asked_for_where_there_are_no_log_probabilities() {
    let (rig, server) = (Rig::new(), start(setup(Speaks::Hosted)));
    rig.done(&server, "run", &["--way", "said", "--tiers", "1"]);
    let results = rig.json("run/results.json");
    assert_eq!((&results["way"], &results["probe"]), (&json!("said"), &Value::Null));
    let departures = results["asked"]["departures"].to_string();
    assert!(departures.contains("answers in words, not by likelihood"), "{departures}");
    let page = tiered(["report", "html", text(&rig.path("run")), "--output", text(&rig.path("page.html"))]);
    let why = "has no predictions.jsonl, which `tiered llm eval` writes";
    assert!(page.status.code() == Some(65) && stderr(&page).contains(why), "{}", stderr(&page));
}

/// A service that only chats: options are compared by the first token of the answer.
#[test]
fn options_are_looked_for_among_the_first_tokens_of_a_chat() {
    let (rig, server) = (Rig::new(), start(setup(Speaks::Hosted)));
    rig.done(&server, "run", &["--way", "top-chat", "--tiers", "1"]);
    let results = rig.json("run/results.json");
    assert_eq!((&results["way"], &results["bos_seen"]), (&json!("top-chat"), &json!(0)));
    assert_eq!(results["probe"]["probes"][0]["by_way"], results["probe"]["probes"][0]["generated"]);
    let departures = results["asked"]["departures"].to_string();
    assert!(departures.contains("by the first token of a chat, without a blank"), "{departures}");
    let samples = std::fs::read_to_string(rig.path("run/samples_story_class_2026-01-31T12-00-00.jsonl")).unwrap();
    for line in samples.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let is_even = line["arguments"]["gen_args_0"]["arg_0"].as_str().unwrap().len().is_multiple_of(2);
        let expected = if is_even { ["-2.0", "-0.25"] } else { ["-0.25", "-2.0"] };
        assert_eq!([&line["filtered_resps"][0][0], &line["filtered_resps"][1][0]], expected);
    }
    let files = rig.files("run");
    rig.done(&server, "run", &["--way", "top-chat", "--tiers", "1"]);
    assert!(rig.files("run") == files, "the journal answers again");

    let silent = bent(setup(Speaks::Hosted), "/v1/chat/completions", |answer| {
        answer["choices"][0].as_object_mut().unwrap().remove("logprobs");
    });
    let refused = rig.run(&silent, "silent", &["--way", "top-chat", "--tiers", "1"]);
    assert!(refused.status.code() == Some(69) && stderr(&refused).contains("--way said"), "{}", stderr(&refused));
}

const LEFT_OUT: &str = "the server refuses `temperature`, so it was left out";

#[test]
fn a_parameter_that_was_refused_is_named_again_when_the_run_goes_on() {
    let (rig, server) = (Rig::new(), without_temperature(setup(Speaks::Hosted)));
    let in_words = ["--way", "said", "--tiers", "1", "--quiet"];
    let said = |server: &Server| {
        let output = rig.done(server, "run", &in_words);
        assert!(!stdout(&output).is_empty(), "results are no progress");
        stderr(&output)
    };
    assert!(said(&server).contains(LEFT_OUT));
    let files = rig.files("run");
    assert_eq!(rig.json("run/results.json")["left_out"], json!(["temperature"]));
    let asked = |server: &Server| {
        let chats = server.requests().into_iter().filter(|request| request.path == "/v1/chat/completions");
        chats.map(|request| serde_json::from_slice::<Value>(&request.body).unwrap()).collect::<Vec<_>>()
    };
    server.forget();
    assert!(said(&server).contains(LEFT_OUT) && rig.files("run") == files && asked(&server).is_empty());
    let scored = tiered(["llm", "score", text(&rig.path("run"))]);
    assert_eq!(stdout(&scored).matches(LEFT_OUT).count(), 1, "{}{}", stdout(&scored), stderr(&scored));

    // A server that takes it meanwhile is asked as before.
    let journal = String::from_utf8(files["journal.jsonl"].clone()).unwrap();
    let beginning: String = journal.lines().take(4).map(|line| format!("{line}\n")).collect();
    assert!(beginning.lines().next().unwrap().contains(r#""left_out":"temperature""#), "{beginning}");
    std::fs::write(rig.path("run/journal.jsonl"), beginning).unwrap();
    let taking = start(setup(Speaks::Hosted));
    assert!(said(&taking).contains(LEFT_OUT) && rig.files("run") == files);
    assert!(asked(&taking).iter().all(|body| body.get("temperature").is_none()));
}

#[test]
fn piqa_names_a_parameter_that_was_refused_too() {
    let (data, folder) = (crate::llm_piqa::data(), TempDir::new().unwrap());
    let (set, output) = (data.path().join("piqa-sl.jsonl"), folder.path().join("run"));
    let server = without_temperature(setup(Speaks::Hosted));
    let asked = ["llm", "piqa", "eval", "--data", text(&set), "--server", &server.url, "--model", "toy"];
    for time in ["first", "again"] {
        let run = tiered(asked.into_iter().chain(["--output", text(&output), "--quiet"]));
        let is_said = stdout(&run).contains("accuracy") && stderr(&run).contains(LEFT_OUT);
        assert!(run.status.success() && is_said, "{time}: {}{}", stdout(&run), stderr(&run));
    }
    let refused = |more: &[&str]| {
        let run = tiered(asked.iter().chain(&["--output", text(&output)]).chain(more).copied());
        (run.status.code(), stderr(&run))
    };
    let named = |name: &str| {
        tiered(asked.iter().chain(&["--output", text(&output), "--system", name]).copied()).status.success()
    };
    assert!(named("a:b"));
    let first = std::fs::read(output.join("submission-a-b-piqa-sl.json")).unwrap();
    let (code, said) = refused(&["--system", "a-b"]);
    assert!(code == Some(73) && said.contains("is of another system than a-b") && named("a:b"), "{said}");
    assert_eq!(std::fs::read(output.join("submission-a-b-piqa-sl.json")).unwrap(), first);
    assert_eq!(refused(&["--concurrency", "257"]).0, Some(2));

    let submission = std::fs::read(output.join("submission-toy-piqa-sl.json")).unwrap();
    let submission: Value = serde_json::from_slice(&submission).unwrap();
    assert_eq!(submission["tiered"]["left_out"], json!(["temperature"]));
}

#[test]
fn piqa_takes_labels_a_name_a_form_and_a_key() {
    let (data, folder) = (crate::llm_piqa::data(), TempDir::new().unwrap());
    let (set, labels) = (data.path().join("piqa-sl.jsonl"), folder.path().join("mine.lst"));
    let unlabelled = |line: &str| {
        let mut item: Value = serde_json::from_str(line).unwrap();
        item.as_object_mut().unwrap().remove("label");
        item.to_string() + "\n"
    };
    let items: String = std::fs::read_to_string(&set).unwrap().lines().map(unlabelled).collect();
    std::fs::write(&set, items).unwrap();
    std::fs::write(&labels, "0\n0\n0\n1\n").unwrap();
    let server = bent(setup(Speaks::Hosted), "/v1/chat/completions", |answer| {
        answer["choices"][0]["message"]["content"] = json!("{\"answer\": 0}");
    });
    // What was said, and the form and the key of the requests.
    let ask = |output: &str, more: &[&str]| {
        let before = server.requests().len();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
        command.args(["llm", "piqa", "eval", "--data", text(&set), "--server", &server.url, "--model", "toy"]);
        command.args(["--output", text(&folder.path().join(output))]).args(more);
        let run = command.env("OPENAI_API_KEY", "sk-usual").env("MY_KEY", "sk-mine").output().unwrap();
        assert!(run.status.success(), "{}{}", stdout(&run), stderr(&run));
        let asked = server.requests().split_off(before);
        let last = asked.last().unwrap();
        assert_eq!(last.path, "/v1/chat/completions");
        let body: Value = serde_json::from_slice(&last.body).unwrap();
        let key = last.header("authorization").unwrap().to_owned();
        (stdout(&run), body["response_format"]["type"].clone(), key)
    };
    let (said, form, key) = ask("usual", &[]);
    assert!(said.contains("the labels are not known") && said.contains("submission-toy-piqa-sl.json"), "{said}");
    assert_eq!((form, key.as_str()), (json!("json_object"), "Bearer sk-usual"));
    let schema = ask("schema", &["--response-format", "json-schema"]);
    assert_eq!(schema.1, json!("json_schema"));
    let mine =
        ["--labels", text(&labels), "--system", "My toy", "--response-format", "none", "--api-key-env", "MY_KEY"];
    let (said, form, key) = ask("mine", &mine);
    assert!(said.contains("3/4"), "{said}");
    assert_eq!((form, key.as_str()), (Value::Null, "Bearer sk-mine"));
    let submission = std::fs::read(folder.path().join("mine/submission-My-toy-piqa-sl.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&submission).unwrap()["system"], json!("My toy"));
}

#[test]
fn a_story_without_a_conflict_is_refused_before_anything_is_asked() {
    let (rig, server) = (Rig::new(), start(llama()));
    let path = rig.path("stories.jsonl");
    std::fs::write(&path, stories().replacen(r#""confl_sents":[0]"#, r#""confl_sents":[]"#, 1)).unwrap();
    let run = rig.run(&server, "run", &["--tiers", "2"]);
    assert_eq!(run.status.code(), Some(65), "{}", stderr(&run));
    for part in [text(&path), "row 1 (0-C0)", "names no sentences in conflict"] {
        assert!(stderr(&run).contains(part), "{part}: {}", stderr(&run));
    }
    assert!(server.requests().is_empty() && !rig.path("run").exists());
    rig.done(&server, "run", &["--tiers", "1"]);
}

#[test]
fn an_implausible_story_of_one_sentence_is_refused_before_anything_is_asked() {
    let (rig, server) = (Rig::new(), start(llama()));
    let path = rig.path("stories.jsonl");
    let mut lines: Vec<Value> = stories().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines[1]["sentences"].as_array_mut().unwrap().truncate(1);
    std::fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let run = rig.run(&server, "run", &[]);
    assert_eq!(run.status.code(), Some(65), "{}", stderr(&run));
    for part in [text(&path), "row 1 (0-C0)", "fewer than two sentences"] {
        assert!(stderr(&run).contains(part), "{part}: {}", stderr(&run));
    }
    assert!(server.requests().is_empty() && !rig.path("run").exists());
}

#[test]
fn a_limit_is_named_only_if_it_leaves_stories_out_and_warnings_are_about_the_others() {
    let (rig, server) = (Rig::new(), start(llama()));
    // Rows 6 to 8, of which two are implausible.
    std::fs::write(rig.path("stories.jsonl"), stories().replace(r#""states":"location""#, r#""states":"magic""#))
        .unwrap();
    let limited = |limit: &str| {
        let run = rig.done(&server, limit, &["--tiers", "1", "--limit", limit]);
        (stderr(&run), rig.json(&format!("{limit}/results.json"))["asked"]["departures"].to_string())
    };
    let (warnings, departures) = limited("3");
    assert!(
        departures.contains("only the first 3 stories") && !warnings.contains("warning"),
        "{departures} {warnings}"
    );
    let (warnings, departures) = limited("12");
    assert!(
        !departures.contains("only the first") && warnings.matches("magic").count() == 2,
        "{departures} {warnings}"
    );
    assert!(warnings.contains("row 7 (2-C0)"), "{warnings}");
}
