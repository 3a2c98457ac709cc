//! `tiered data check` and `tiered data stats`.

use crate::support::{clean_file, stderr, stdout, text, tiered, write};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use tempfile::TempDir;

/// One error, one warning.
fn faulty_file() -> String {
    let mut file = clean_file();
    file["test"]["1-C0"]["states"][1]["open"] = json!([["chest", 9]]);
    file["test"]["1"]["length"] = json!(5);
    file.to_string()
}

#[test]
fn check_passes_a_clean_file() {
    let directory = TempDir::new().unwrap();
    let path = write(&directory, "clean.json", &clean_file().to_string());
    let output = tiered(["data", "check", text(&path)]);
    assert_eq!(output.status.code(), Some(0));
    let summary = format!("{}: test: 3 stories and 2 pairs can be used\n", path.display());
    assert_eq!(stdout(&output), format!("{summary}errors: 0, warnings: 0, notes: 0\n"));
}

#[test]
fn a_path_that_is_not_utf_8_is_checked_and_compared() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join(OsStr::from_bytes(b"faulty-\xff.json"));
    std::fs::write(&path, faulty_file()).unwrap();
    let run = |arguments: &[&OsStr]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tiered")).arg("data").args(arguments).output().unwrap();
        let mut documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
        (output.status.code(), documents.next().unwrap_or_else(|| panic!("{}", stderr(&output))).unwrap())
    };
    let json = OsStr::new("--format=json");
    let (code, checked) = run(&[OsStr::new("check"), path.as_os_str(), json]);
    assert_eq!(code, Some(65));
    assert!(checked["file"].as_str().unwrap().contains("faulty-\u{fffd}.json"), "{checked}");
    std::fs::write(&path, clean_file().to_string()).unwrap();
    let (code, counted) = run(&[OsStr::new("stats"), path.as_os_str(), json]);
    assert!(code == Some(0) && counted["files"][0]["file"].as_str().unwrap().contains('\u{fffd}'), "{counted}");
    let (code, compared) = run(&[OsStr::new("agreement"), path.as_os_str(), path.as_os_str(), json]);
    assert!(code == Some(0) && compared["files"][0]["file"].as_str().unwrap().contains('\u{fffd}'), "{compared}");
}

#[test]
fn check_lists_findings_and_exits_65_on_errors() {
    let directory = TempDir::new().unwrap();
    let path = write(&directory, "faulty.json", &faulty_file());
    let output = tiered(["data", "check", text(&path)]);
    assert_eq!(output.status.code(), Some(65));
    let summary =
        format!("{}: test: 2 stories and 1 pair can be used\nerrors: 1, warnings: 1, notes: 0\n", path.display());
    let expected = format!(
        "error[label-out-of-range]: 1 time\n  {0}: test/1-C0 states[1].open[0]: 9 is not a label of open; it must be from 0 to 8\n\n\
         warning[length-differs]: 1 time\n  {0}: test/1 length: is 5, but the story has 3 sentences; the sentences are used\n\n\
         {summary}",
        path.display()
    );
    assert_eq!(stdout(&output), expected);
    assert!(stderr(&output).contains("can't be used"));
    let expected = format!(
        "{0}: test/1 length: warning[length-differs]: is 5, but the story has 3 sentences; the sentences are used\n\
         {0}: test/1-C0 states[1].open[0]: error[label-out-of-range]: 9 is not a label of open; it must be from 0 to 8\n{summary}",
        path.display()
    );
    assert_eq!(stdout(&tiered(["data", "check", "--verbose", text(&path)])), expected);
}

#[test]
fn check_shows_the_first_findings_of_a_rule_and_counts_all() {
    let directory = TempDir::new().unwrap();
    let path = write(&directory, "faulty.json", &faulty_file());
    let output = stdout(&tiered(["data", "check", text(&path), text(&path), text(&path), text(&path)]));
    assert!(output.contains("error[label-out-of-range]: 4 times\n"), "{output}");
    assert_eq!(output.matches("9 is not a label of open").count(), 3, "{output}");
    assert!(output.contains("  and 1 more: --verbose\n"), "{output}");
    assert!(output.ends_with("errors: 4, warnings: 4, notes: 0\n"), "{output}");
    let errors = stdout(&tiered(["data", "check", "--severity", "error", text(&path)]));
    assert!(errors.contains("error[") && !errors.contains("warning["), "{errors}");
    assert!(errors.ends_with("errors: 1, warnings: 1, notes: 0\n"), "{errors}");
}

#[test]
fn check_prints_json_lines() {
    let directory = TempDir::new().unwrap();
    let output = tiered(["data", "check", "--format=json", text(&write(&directory, "faulty.json", &faulty_file()))]);
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((&lines[1]["code"], &lines[1]["severity"]), (&json!("label-out-of-range"), &json!("error")));
    assert_eq!((&lines[1]["story"], &lines[1]["field"]), (&json!("1-C0"), &json!("states[1].open[0]")));
}

#[test]
fn missing_and_broken_files_have_their_exit_codes() {
    let directory = TempDir::new().unwrap();
    let broken = write(&directory, "broken.json", "{\n  \"test\": {,}\n}");
    for (file, code, message) in
        [("no-such-file.json", 66, "no-such-file.json"), (text(&broken), 65, "line 2 column 12")]
    {
        for command in ["check", "stats"] {
            let output = tiered(["data", command, file]);
            assert_eq!(output.status.code(), Some(code));
            assert!(stderr(&output).contains(message), "{}", stderr(&output));
        }
    }
    assert_eq!(tiered(["data", "check"]).status.code(), Some(2));
    // What is wrong with one file hides nothing of the others.
    let faulty = write(&directory, "faulty.json", &faulty_file());
    let output = tiered(["data", "check", "no-such-file.json", text(&faulty), text(&broken)]);
    assert_eq!(output.status.code(), Some(66));
    assert!(
        stdout(&output).contains("label-out-of-range") && stdout(&output).contains("errors: 1"),
        "{}",
        stdout(&output)
    );
    let said = stderr(&output);
    assert!(said.contains("no-such-file.json") && said.contains("line 2 column 12"), "{said}");
}

#[test]
fn the_name_of_a_split_is_on_one_line() {
    let directory = TempDir::new().unwrap();
    let file = clean_file().to_string().replacen("\"test\":", "\"a\\nerrors: 0\":", 1);
    let path = write(&directory, "split.json", &file);
    for command in ["check", "stats"] {
        let shown = stdout(&tiered(["data", command, text(&path)]));
        assert!(shown.contains("a\\u{a}errors: 0") && !shown.contains("\nerrors: 0:"), "{shown}");
    }
}

#[test]
fn new_stories_have_a_split_that_can_be_a_folder_and_do_not_replace_what_they_come_from() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("new.json");
    let make = ["data", "synthesize", "--lang", "en", "--pairs", "4", "--output", text(&path)];
    for split in ["../x", ""] {
        let output = tiered(make.into_iter().chain(["--split", split]));
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    }
    assert!(!path.exists() && tiered(make).status.success());
    let before = std::fs::read(&path).unwrap();
    let output = tiered(["data", "reorder", "--data", text(&path), "--output", text(&path), "--force"]);
    assert!(output.status.code() == Some(2) && stderr(&output).contains("would be lost"), "{}", stderr(&output));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn quiet_commands_say_only_their_results() {
    let directory = TempDir::new().unwrap();
    let path = write(&directory, "clean.json", &clean_file().to_string());
    let made = directory.path().join("made.json");
    let reorder = ["data", "reorder", "--data", text(&path), "--split", "test", "--force", "--output", text(&made)];
    // The hash is that of the first download, so nothing is downloaded.
    let www = directory.path().join("data/trip/www.json");
    std::fs::create_dir_all(www.parent().unwrap()).unwrap();
    std::fs::copy(&path, &www).unwrap();
    let hash = tiered::durable::sha256(&std::fs::read(&path).unwrap());
    std::fs::write(www.with_file_name("www.json.sha256"), format!("{hash}  www.json\n")).unwrap();
    let fetch = ["data", "fetch", "trip", "--from", "http://127.0.0.1:9", "--output", text(directory.path())];
    for (command, said) in [(&reorder[..], "made.json: 2 pairs\n"), (&fetch[..], "www.json: already present\n")] {
        let loud = tiered(command.iter().copied());
        assert!(loud.status.success() && stderr(&loud).ends_with(said), "{}", stderr(&loud));
        let quiet = tiered(command.iter().copied().chain(["--quiet"]));
        assert_eq!((quiet.status.code(), stderr(&quiet)), (Some(0), String::new()));
        assert_eq!(stdout(&quiet), stdout(&loud));
    }
}

#[test]
fn stats_count_by_kind() {
    let directory = TempDir::new().unwrap();
    let path = write(&directory, "clean.json", &clean_file().to_string());
    let output = tiered(["data", "stats", text(&path)]);
    assert!(output.status.success());
    let line = |name: &str| {
        let found = stdout(&output).lines().find(|line| line.trim_start().starts_with(name)).map(str::to_owned);
        found.unwrap().split_whitespace().rev().take(4).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(line("stories"), ["3", "1", "1", "1"]);
    assert_eq!(line("entities"), ["6", "2", "2", "2"]);
    assert_eq!(line("nontrivial labels"), ["9", "3", "3", "3"]);
    let output = tiered(["data", "stats", "--format=json", text(&path)]);
    let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
    let open = &stats["files"][0]["splits"][0]["order"]["nontrivial_by_attribute"]["open"];
    assert_eq!((open, &stats["files"][0]["splits"][0]["split"]), (&json!(3), &json!("test")));
}

#[test]
fn stats_tell_that_stories_are_left_out() {
    let directory = TempDir::new().unwrap();
    let path = write(&directory, "faulty file.json", &faulty_file());
    let output = tiered(["data", "stats", "--format=json", text(&path)]);
    let warning = format!(
        "warning: {0}: some stories can't be used and aren't counted; `tiered data check '{0}'` lists them\n",
        path.display()
    );
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), warning));
    let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&stats["files"][0]["errors"], &stats["files"][0]["splits"][0]["all"]["stories"]),
        (&json!(1), &json!(2))
    );
    let clean = write(&directory, "clean.json", &clean_file().to_string());
    assert_eq!(stderr(&tiered(["data", "stats", text(&clean)])), "");
}

#[test]
fn rates_name_the_folders_of_files_with_one_name_and_the_splits_on_one_line() {
    let directory = TempDir::new().unwrap();
    let file = clean_file().to_string().replacen("\"test\":", "\"a\\nb\":", 1);
    let paths = ["one/stories.json", "two/stories.json"].map(|name| {
        let path = directory.path().join(name);
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &file).unwrap();
        path
    });
    let other = write(&directory, "other.json", &file);
    let [first, second, other] = [&paths[0], &paths[1], &other].map(|path| text(path));
    let output = stdout(&tiered(["data", "stats", "--rates", "--format=markdown", first, second, other]));
    let heading = format!("|  | {first}, a\\u{{a}}b | {second}, a\\u{{a}}b | other.json, a\\u{{a}}b |");
    assert_eq!(output.lines().next(), Some(heading.as_str()));
}

#[test]
fn rates_are_shares_and_averages_of_every_split() {
    let directory = TempDir::new().unwrap();
    let path = write(&directory, "clean.json", &clean_file().to_string());
    let output = tiered(["data", "stats", "--rates", "--format=markdown", text(&path), text(&path)]);
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = stdout(&output);
    for line in [
        "|  | clean.json, test | clean.json, test |",
        "| words a sentence | 4.3 | 4.3 |",
        "| nontrivial labels per 100 sentences | 100.0 | 100.0 |",
        "| - open | 100.0 | 100.0 |",
        "| - power | 0.0 | 0.0 |",
        "| cloze: distance 1, % of conflicts | 100.0 | 100.0 |",
        "| order: distance 4 or more, % of conflicts | 0.0 | 0.0 |",
        "| cloze: sentences before 0, % of conflicts | 100.0 | 100.0 |",
        "| cloze: sentences after 0, % of conflicts | 0.0 | 0.0 |",
        "| cloze: sentences after 1, % of conflicts | 100.0 | 100.0 |",
    ] {
        assert!(lines.lines().any(|printed| printed == line), "{line:?} is not in\n{lines}");
    }
}
