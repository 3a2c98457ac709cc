//! `tiered predict` and `tiered doctor`.

use crate::support::{stderr, stdout, text, tiered};
use crate::tiny::Tiny;
use serde_json::Value;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use tiered::untrusted::MAX_PLAIN;

fn shared() -> &'static (Tiny, PathBuf) {
    static SHARED: OnceLock<(Tiny, PathBuf)> = OnceLock::new();
    SHARED.get_or_init(|| {
        let tiny = Tiny::new();
        let run = tiny.trained("run", &["--set", "train.epochs=1"]);
        (tiny, run)
    })
}

/// Predicts what is given on standard input.
fn predict(input: &str, more: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tiered"))
        .args(["predict", text(&shared().1)])
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A wrong command line is answered before the input is read.
    let written = child.stdin.take().unwrap().write_all(input.as_bytes());
    assert!(written.map_or_else(|error| error.kind() == ErrorKind::BrokenPipe, |()| true));
    child.wait_with_output().unwrap()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

const PLAUSIBLE: &str = "Mia opened the drawer.\nMia took a spoon out of the drawer.\n";
const IMPLAUSIBLE: &str = "Mia locked the closed drawer.\nMia took a spoon out of the drawer.\n";

#[test]
fn text_json_and_files_are_answered_alike() {
    let input = format!("{PLAUSIBLE}\n{IMPLAUSIBLE}");
    let names = ["--entities", "Mia, spoon, drawer", "--format=json", "--decode", "pair"];
    let answer = json(&predict(&input, &names));
    let own = format!("entities: Mia, spoon, drawer\n{PLAUSIBLE}\nentities: Mia, spoon, drawer\n{IMPLAUSIBLE}");
    assert_eq!(answer, json(&predict(&own, &["-", "--format=json", "--decode", "pair"])));
    let story = |text: &str| serde_json::json!({"sentences": text.lines().collect::<Vec<_>>(), "entities": ["Mia", "spoon", "drawer"]});
    let file = shared().0.path("typed.json");
    std::fs::write(&file, serde_json::json!({"stories": [story(PLAUSIBLE), story(IMPLAUSIBLE)]}).to_string()).unwrap();
    let output = tiered(["predict", text(&shared().1), text(&file), "--format=json", "--decode", "pair"]);
    assert_eq!(answer, json(&output));

    let choice = &answer["plausible"];
    assert!([0, 1].contains(&choice["story"].as_u64().unwrap()) && choice["probability"].as_f64().unwrap() >= 0.5);
    let conflict = answer["conflict"].as_array().unwrap();
    assert_eq!(conflict.iter().map(|sentence| sentence["sentence"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(conflict[1]["text"], "Mia took a spoon out of the drawer.");
    assert_ne!(conflict[0]["story"], choice["story"]);
    let said = stdout(&predict(&input, &["--entities", "Mia, spoon, drawer", "--decode", "pair"]));
    let [plausible, hardly] = ["plausible (probability ", "only slightly more likely to be plausible than story "];
    let certainty = if choice["probability"].as_f64().unwrap() < 0.6 { hardly } else { plausible };
    assert!(said.starts_with(&format!("Story {} is {certainty}", choice["story"].as_u64().unwrap() + 1)), "{said}");
    assert!(said.contains("sentence 2: \"Mia took a spoon out of the drawer.\""), "{said}");
}

#[test]
fn entities_that_nobody_names_are_found() {
    let input = format!("{PLAUSIBLE}\n{IMPLAUSIBLE}");
    let answer = json(&predict(&input, &["--format=json"]));
    for (story, names) in [(0, vec!["Mia", "drawer", "spoon"]), (1, vec!["Mia", "closed drawer", "spoon", "drawer"])] {
        let story = &answer["stories"][story];
        assert_eq!((&story["entities"], &story["entities_found"]), (&serde_json::json!(names), &Value::Bool(true)));
    }
    let said = stdout(&predict(&input, &[]));
    let found = "\nEntities found in story 1: Mia, drawer, spoon\n\
                 Entities found in story 2: Mia, closed drawer, spoon, drawer\n";
    assert!(said.ends_with(found), "{said}");
    // The same as when they are named, but for the word that they were found.
    let named = format!(
        "entities: Mia, drawer, spoon\n{PLAUSIBLE}\nentities: Mia, closed drawer, spoon, drawer\n{IMPLAUSIBLE}"
    );
    let mut named = json(&predict(&named, &["--format=json"]));
    for story in named["stories"].as_array_mut().unwrap() {
        assert_eq!(story["entities_found"], false);
        story["entities_found"] = true.into();
    }
    assert_eq!(answer, named);
    assert!(!stdout(&predict(&input, &["--entities", "Mia"])).contains("found"));

    let question = serde_json::json!({"sentences": IMPLAUSIBLE.lines().collect::<Vec<_>>()}).to_string();
    for mode in ["--batch", "--follow"] {
        let line = json(&predict(&format!("{question}\n"), &[mode]));
        assert_eq!(line["stories"][0]["entities"][1], "closed drawer", "{line}");
        let refused = predict(&format!("{question}\n"), &[mode, "--format=text"]);
        assert!(refused.status.code() == Some(2) && stderr(&refused).contains("lines of JSON"), "{}", stderr(&refused));
    }
    // Read as Italian, "drawer" after "the" is no noun with an article; "Mia" is a name in both languages.
    let italian = json(&predict(&input, &["--format=json", "--lang", "it"]));
    assert_ne!(italian["stories"][0]["entities"], answer["stories"][0]["entities"]);
    let refused = predict("It.\nShe.\n", &[]);
    assert_eq!(refused.status.code(), Some(65));
    assert!(stderr(&refused).contains("none were found in its sentences; give them with --entities"));
}

#[test]
fn evaluations_with_found_entities_are_kept_apart() {
    let (tiny, run) = shared();
    let stories = tiny.stories();
    let eval = |more: &[&str]| {
        let output = tiered(
            [&["eval", text(run), "--data", text(&stories), "--split", "train", "--format=json"], more].concat(),
        );
        json(&output)
    };
    let (given, found) = (eval(&[]), eval(&["--entities", "found"]));
    assert_eq!((given["data"].get("entities_found"), &found["data"]["entities_found"]), (None, &Value::Bool(true)));
    assert_eq!(given["data"]["pairs"], found["data"]["pairs"]);
    let predictions = |evaluation: &str| std::fs::read(run.join("eval").join(evaluation).join("predictions.jsonl"));
    let [given, found] = ["stories-train-all", "stories-train-all-found"].map(|name| predictions(name).unwrap());
    assert!(given != found, "some entity of the list is not found, or another one is found");
    let tagged = ["--tag", "mine"];
    eval(&tagged);
    let refused = tiered([
        "eval",
        text(run),
        "--data",
        text(&stories),
        "--split",
        "train",
        "--entities",
        "found",
        "--tag",
        "mine",
    ]);
    assert_eq!(refused.status.code(), Some(73), "{}", stderr(&refused));
}

#[test]
fn names_begin_a_story_and_are_those_of_the_next_one_too() {
    let names = "entities: Mia, spoon, drawer\n";
    let answer = json(&predict(&format!("{names}{PLAUSIBLE}\n{names}{IMPLAUSIBLE}"), &["--format=json"]));
    for input in [
        format!("{names}{PLAUSIBLE}{names}{IMPLAUSIBLE}"),
        format!("{names}{PLAUSIBLE}\n{IMPLAUSIBLE}"),
        format!("{names}\n{PLAUSIBLE}\n{names}\n{IMPLAUSIBLE}"),
    ] {
        assert_eq!(answer, json(&predict(&input, &["--format=json"])), "{input}");
    }
    // --entities replaces what the text says.
    let other = predict(
        &format!("entities: cup\n{PLAUSIBLE}\nentities: jar\n{IMPLAUSIBLE}"),
        &["--entities", "Mia, spoon, drawer", "--format=json"],
    );
    assert_eq!(answer, json(&other));
    let alone = predict(&format!("{names}{PLAUSIBLE}"), &[]);
    assert!(stderr(&alone).contains("read as one story of 2 sentences"), "{}", stderr(&alone));
}

#[test]
fn what_is_no_part_of_a_sentence_is_taken_off_and_said() {
    let names = ["--entities", "Mia; spoon; drawer", "--format=json"];
    let answer = json(&predict(&format!("{PLAUSIBLE}\n{IMPLAUSIBLE}"), &names));
    let listed =
        |text: &str| text.lines().enumerate().map(|(i, line)| format!("{}. {line}\n", i + 1)).collect::<String>();
    let output = predict(&format!("# Two stories\n{}---\n{}", listed(PLAUSIBLE), listed(IMPLAUSIBLE)), &names);
    assert_eq!(json(&output), answer);
    let said = "standard input: not read as sentences: lines that begin with # (1); lines without letters, read as blank \
                lines (1); bullets and numbers before sentences (4)";
    assert_eq!(stderr(&output).trim_end(), said);
}

#[test]
fn titles_end_no_sentence() {
    let paragraph = "Mr. Hill opened the drawer. Il sig. Rossi took a spoon out of the drawer.";
    let more = ["--split-sentences", "--entities", "Mr. Hill, drawer, spoon", "--format=json"];
    let answer = json(&predict(paragraph, &more));
    let sentences = answer["stories"][0]["sentences"].as_array().unwrap();
    let texts: Vec<&str> = sentences.iter().map(|sentence| sentence["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["Mr. Hill opened the drawer.", "Il sig. Rossi took a spoon out of the drawer."]);
}

#[test]
fn many_questions_are_answered_a_line_each() {
    let story = |text: &str| serde_json::json!({"sentences": text.lines().collect::<Vec<_>>(), "entities": ["Mia", "spoon", "drawer"]});
    let pair = serde_json::json!({"stories": [story(PLAUSIBLE), story(IMPLAUSIBLE)]}).to_string();
    let alone = story(IMPLAUSIBLE).to_string();
    let output = predict(&format!("{pair}\n\n{alone}\n{pair}\n"), &["--batch"]);
    let answers: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.iter().map(|answer| answer["line"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 2, 3]);
    for (answer, question) in answers.iter().zip([&pair, &alone, &pair]) {
        let single = json(&predict(question, &["--format=json"]));
        for part in ["conflict_detected", "plausible/story", "conflict/0/sentence", "states"] {
            let part = format!("/{part}");
            assert_eq!(answer.pointer(&part), single.pointer(&part), "{part}");
        }
        // The paper's detector says whether a conflict is detected in a single story, and gives no probability.
        let is_pair = answer["stories"].as_array().unwrap().len() == 2;
        assert_eq!(answer.pointer("/plausible/story").is_some(), is_pair, "{answer}");
        assert!(answer["conflict_detected"].is_boolean(), "{answer}");
    }
    let long = story(&"Mia slept.\n".repeat(6)).to_string();
    for (second, said) in [("Mia slept.", "is no JSON object"), (&long, "has 6 sentences")] {
        let refused = predict(&format!("{pair}\n{second}\n"), &["--batch"]);
        let error = stderr(&refused);
        assert!(error.contains("standard input, line 2: ") && error.contains(said), "{error}");
        assert_eq!(refused.status.code(), Some(65));
        assert!(refused.stdout.is_empty(), "nothing is answered before everything is read");
    }
    assert_eq!(predict("\n", &["--batch"]).status.code(), Some(65));
}

#[test]
fn lines_are_answered_as_they_come() {
    let story =
        |text: &str| serde_json::json!({"sentences": text.lines().collect::<Vec<_>>(), "entities": ["Mia", "drawer"]});
    let pair = serde_json::json!({"stories": [story(PLAUSIBLE), story(IMPLAUSIBLE)]}).to_string();
    let run = &shared().1;
    let mut child = Command::new(env!("CARGO_BIN_EXE_tiered"))
        .args(["predict", text(run), "--follow"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    // The next line is written only when the last one is answered.
    let mut ask = |line: &str| -> Value {
        writeln!(stdin, "{line}").unwrap();
        serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap()
    };
    let first = ask(&pair);
    let refused = ask("\nMia slept.");
    let misspelt = ask("{\"sentence\": []}");
    let too_long = ask(&" ".repeat((MAX_PLAIN + 1) as usize));
    let second = ask(&pair);
    drop(stdin);
    assert!(answers.next().is_none() && child.wait().unwrap().success());
    let lines = [&first, &refused, &misspelt, &too_long, &second].map(|answer| answer["line"].as_u64().unwrap());
    assert_eq!(lines, [0, 2, 3, 4, 5]);
    let why = "line 3: is no JSON object; write {\"stories\": [...]} or {\"sentences\": [...]}";
    assert_eq!(refused["error"], why);
    let why = misspelt["error"].as_str().unwrap();
    assert!(why.starts_with("line 4: unknown field") && !why.contains("line 1"), "{why}");
    assert_eq!(too_long["error"], "line 5: is longer than 2 MiB; give fewer stories");
    let batch = predict(&format!("{pair}\n"), &["--batch"]);
    assert_eq!(first, serde_json::from_str::<Value>(stdout(&batch).trim()).unwrap());
    assert_eq!(first["states"], second["states"]);
}

#[test]
fn following_ends_when_nobody_reads_the_answers() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tiered"))
        .args(["predict", text(&shared().1), "--follow"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    // Its end is not the end of the input.
    writeln!(stdin, "Mia slept.").unwrap();
    for _ in 0..600 {
        if let Some(status) = child.try_wait().unwrap() {
            return assert!(status.success());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    panic!("it still waits for lines");
}

#[test]
fn a_single_story_is_believed_as_beside_another() {
    let names = ["--entities", "Mia, spoon, drawer", "--format=json"];
    let alone = json(&predict(PLAUSIBLE, &names));
    let both = json(&predict(&format!("{PLAUSIBLE}\n{IMPLAUSIBLE}"), &names));
    assert_eq!(alone["plausible"], Value::Null);
    assert_eq!(alone["stories"].as_array().unwrap().len(), 1);
    for n in 0..2 {
        let conflict_prob = |answer: &Value| answer["stories"][0]["sentences"][n]["conflict_prob"].as_f64().unwrap();
        assert!((conflict_prob(&alone) - conflict_prob(&both)).abs() < 1e-5);
    }
    let said = stdout(&predict(PLAUSIBLE, &names[..2]));
    let believed = alone["conflict_detected"].as_bool().unwrap();
    assert!(said.starts_with(if believed { "A conflict is detected." } else { "No conflict is detected." }), "{said}");
}

#[test]
fn a_pair_of_a_story_file_is_answered_as_eval_records_it() {
    let (tiny, run) = shared();
    let stories = tiny.stories();
    let data = ["--data", text(&stories), "--split", "train"];
    let answer = json(&tiered(["predict", text(run), "--pair", "2-O0", "--format=json"].into_iter().chain(data)));
    assert!(tiered(["eval", text(run)].into_iter().chain(data)).status.success());
    let recorded = std::fs::read_to_string(run.join("eval/stories-train-all/predictions.jsonl")).unwrap();
    let lines = recorded.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let recorded = lines.into_iter().find(|line| line["id"] == "2-O0").unwrap();
    assert_eq!(answer["plausible"]["story"].as_u64().unwrap(), recorded["plausible"].as_u64().unwrap());
    assert_eq!([0, 1].map(|s| &answer["stories"][s]["id"]), [0, 1].map(|s| &recorded["stories"][s]["id"]));
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let (tiny, run) = shared();
    let long = "A.\n".repeat(6);
    let cases: [(&str, &[&str], i32, &str); 8] = [
        (
            "A.\nB.\n",
            &[],
            65,
            "standard input: story 1 names no entities, and none were found in its sentences; give them with --entities",
        ),
        ("", &["--entities", "a"], 65, "no sentence in line 1"),
        ("A.\n\nB.\n\nC.\n", &["--entities", "a"], 65, "contains 3 stories"),
        ("{\n \"sentences\": 3}", &[], 65, "line 2 column"),
        (&long, &["--entities", "a"], 65, "standard input: story 1: has 6 sentences, but the model reads at most 5"),
        ("A.", &["--entities", "a", "--split", "train"], 2, "--data"),
        ("A.", &["--pair", "0-C0"], 2, "--data"),
        ("A.", &["no-such-file.txt"], 66, "no-such-file.txt"),
    ];
    for (input, more, code, said) in cases {
        let output = predict(input, more);
        assert_eq!(output.status.code(), Some(code), "{said}: {}", stderr(&output));
        assert!(stderr(&output).contains(said) && output.stdout.is_empty(), "{}", stderr(&output));
    }
    let stories = tiny.stories();
    let large = tiny.path("large.json");
    std::fs::write(&large, " ".repeat((2 << 20) + 1)).unwrap();
    for file in [&stories, &large] {
        let output = tiered(["predict", text(run), text(file)]);
        assert_eq!(output.status.code(), Some(65));
        let said = stderr(&output);
        assert!(said.contains("--data FILE --pair ID") && said.contains("tiered eval RUN --data FILE"), "{said}");
    }
    let output = tiered(["predict", text(run), "--data", text(&stories), "--split", "dev", "--pair", "99-C0"]);
    assert_eq!(output.status.code(), Some(65));
    assert!(stderr(&output).contains("has no pair \"99-C0\"; its ids are 0-C0"), "{}", stderr(&output));
    let mut damaged: Value = serde_json::from_slice(&std::fs::read(&stories).unwrap()).unwrap();
    damaged["dev"]["0-C0"]["breakpoint"] = 0.into();
    let file = tiny.path("damaged.json");
    std::fs::write(&file, damaged.to_string()).unwrap();
    for (pair, said) in [("0-C0", "so no pair has this story"), ("99-C0", "(errors: 1)")] {
        let output = tiered(["predict", text(run), "--data", text(&file), "--split", "dev", "--pair", pair]);
        assert_eq!(output.status.code(), Some(65));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
}

#[test]
fn the_doctor_knows_libtorch_and_speed() {
    let machine = json(&tiered(["doctor", "--format=json"]));
    assert!(machine["libtorch"]["version"].as_str().is_some_and(|version| version.starts_with(char::is_numeric)));
    assert!(machine["matmuls"]["gflops"]["fp32"].as_f64().unwrap() > 0.);
    assert!(["fp32", "bf16"].contains(&machine["matmuls"]["chosen"].as_str().unwrap()));
    assert!(machine["cpu"]["threads"].as_u64().unwrap() > 0);
    let said = stdout(&tiered(["doctor"]));
    assert!(["libtorch", "GFLOP/s", "auto chooses", "free disk"].iter().all(|words| said.contains(words)), "{said}");
}
