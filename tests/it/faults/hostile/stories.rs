//! Malformed story files, thousands of small ones and some large ones: no panic, no second of work, no memory.

use super::damage::{WAYS, plain_stories, story_file};
use super::{has_place, peak_memory, timed};
use crate::faults::{count, row};
use crate::mutation::check;
use crate::support::{assert_streams_alike, rng};
use serde::de::IgnoredAny;
use std::fmt::Write;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tiered::data::{Sentences, Severity, StoryFile, pairs, read_file, read_plain};
use tiered::entities;
use tiered::error::Result;
use tiered::language::Language;
use tiered::untrusted;

/// What a file may cost, and how long it may be before it may cost more: longer ones are read too.
const TIME: Duration = Duration::from_secs(1);
const LENGTH: u64 = 32 << 20;
/// A large file may take as many times as long as to read through it as JSON, byte by byte. Beside other work
/// on two cores, a harmless one took 8.3 times; what grows with the square of the length takes far more.
const TIMES_READING: f64 = 16.;
const MEMORY: u64 = 512 << 20;

/// Set in a process of its own, whose memory is that of these files alone.
const ALONE: &str = "TIERED_HOSTILE_ALONE";

/// Runs a test of this module in a process of its own, and prints what that printed.
///
/// `false` in that process.
fn alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        println!(); // after what the test runner has begun
        return false;
    }
    let name = format!("faults::hostile::stories::{test}");
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", &name, "--nocapture", "--test-threads=1"]).env(ALONE, "1").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let shown = printed.lines().filter(|line| line.starts_with("fault |") || line.starts_with("  "));
    shown.for_each(|line| println!("{line}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}\n{}", &stderr[..stderr.len().min(4000)]);
    assert!(printed.contains("fault |"), "{name} ran: {printed}");
    true
}

/// What became of the files.
#[derive(Default)]
struct Tally {
    files: usize,
    passed: usize,
    /// Files, or stories of them, that were refused.
    rejected: usize,
    slowest: Duration,
    failures: String,
}

impl Tally {
    /// Adds a file: `outcome` is whether anything was refused, or what is wrong with how.
    fn add(&mut self, name: &str, outcome: Option<Result<bool, String>>, time: Duration, allowed: Duration) {
        self.files += 1;
        self.slowest = self.slowest.max(time);
        self.rejected += usize::from(matches!(outcome, Some(Ok(true))));
        let failure = match outcome {
            None => Some("panicked".to_owned()),
            Some(Err(problem)) => Some(problem),
            _ if time > allowed => Some(format!("took {time:?} of {allowed:?}")),
            _ => None,
        };
        match failure {
            Some(failure) => writeln!(self.failures, "{name}: {failure}").unwrap(),
            None => self.passed += 1,
        }
    }

    fn finish(self, name: &str) {
        let peak = peak_memory();
        let Tally { files, rejected, slowest, .. } = self;
        println!(
            "  {files} files, {rejected} refused in whole or part; slowest {slowest:.1?}; peak {} MiB",
            peak >> 20
        );
        assert!(peak < MEMORY, "{} MiB", peak >> 20);
        assert!(self.failures.is_empty(), "{}", self.failures);
        row(name, self.passed, self.files);
    }
}

/// Whether anything was refused, with file and place. What was read holds together.
fn judge(path: &Path, outcome: &Result<StoryFile>) -> Result<bool, String> {
    let file = path.file_name().unwrap().to_str().unwrap();
    let fair = |message: &str| {
        let fair = message.contains(file) && !message.chars().any(|c| c.is_control() && c != '\n');
        if fair && message.len() < 3000 {
            Ok(())
        } else {
            Err(format!("message without file, or not fit to print: {message}"))
        }
    };
    let file = match outcome {
        Err(error) => {
            fair(&error.message)?;
            let place = has_place(&error.message);
            return if place { Ok(true) } else { Err(format!("no place in: {}", error.message)) };
        }
        Ok(file) => file,
    };
    check(file);
    let nameless = file.splits.iter().any(|(name, _)| name.is_empty());
    for finding in &file.findings {
        fair(&finding.to_string())?;
        if finding.split.is_empty() && finding.story.is_empty() && !nameless {
            return Err(format!("no place in: {finding}"));
        }
    }
    Ok(file.count(Severity::Error) > 0)
}

#[test]
fn malformed_story_files() {
    if alone("malformed_story_files") {
        return;
    }
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("hostile.json");
    let mut tally = Tally::default();
    for number in 0..count(500, 10_000) {
        let rng = &mut rng(number as u64);
        let name = format!("file {number}");
        if number % 5 == 4 {
            let bytes = plain_stories(rng);
            let (outcome, time) = timed(TIME, || plain(&bytes));
            tally.add(&name, outcome, time, TIME);
            continue;
        }
        std::fs::write(&path, story_file(number % WAYS, rng)).unwrap();
        let (outcome, time) = timed(TIME, || judge(&path, &read_file(&path)));
        tally.add(&name, outcome, time, TIME);
        assert_streams_alike(&path, &read_file(&path));
    }
    assert!(tally.rejected * 3 > tally.files, "only {} of {} refused", tally.rejected, tally.files);
    tally.finish("malformed story files");
}

/// Reads typed stories as `tiered predict` does; whether they were refused, or what is wrong with how.
fn plain(bytes: &[u8]) -> Result<bool, String> {
    let read = untrusted::text(bytes).map_err(|problem| format!("typed.txt: {problem}"));
    let find = |sentences: &[String]| entities::find(sentences, Language::of(sentences));
    let plain = |text| read_plain(text, "typed.txt", &[], Sentences::Split, &find).map_err(|error| error.message);
    let read = read.and_then(plain);
    match read {
        Err(message) if message.starts_with("typed.txt: ") && has_place(&message) && message.len() < 3000 => Ok(true),
        Err(message) => Err(format!("no file or no place in: {message}")),
        Ok(typed) if typed.stories.iter().all(|story| !story.sentences.is_empty() && !story.entities.is_empty()) => {
            Ok(false)
        }
        Ok(_) => Err("a story without sentences or entities".into()),
    }
}

/// A story of these fields under the key.
fn story(key: &str, sentences: &str, states: &str, more: &str) -> String {
    format!("\"{key}\":{{\"story_id\":1,\"sentences\":[{sentences}],\"states\":[{states}]{more}}}")
}

fn list(items: usize, item: impl Fn(usize) -> String) -> String {
    (0..items).map(item).collect::<Vec<_>>().join(",")
}

/// Files whose size, repetition or structure would cost far more than their length.
fn bombs() -> Vec<(&'static str, String)> {
    let file = |stories: &str| format!("{{\"test\":{{{stories}}}}}");
    let good = || story("1", "\"A.\"", "{\"open\":[[\"a\",1]]}", "");
    let implausible = ",\"breakpoint\":1,\"confl_sents\":[0]";
    let entities = |n| format!("{{\"open\":[{}]}}", list(n, |i| format!("[\"e{i}\",1]")));
    let wide = |key: &str, more: &str| story(key, &list(128, |_| "\"\"".into()), &entities(128), more);
    vec![
        ("sentences times entities", file(&story("1", &list(100_000, |_| "\"\"".into()), &entities(50_000), ""))),
        ("sentences times entities, within limits", file(&list(20_000, |i| wide(&i.to_string(), "")))),
        ("pairs with a large story", {
            let large = story("1", &format!("\"{}\"", "x".repeat(900_000)), "{\"open\":[[\"a\",1]]}", "");
            let small = |i| story(&format!("1-C{i}"), "\"A.\",\"B.\"", "{\"open\":[[\"a\",1]]}", implausible);
            file(&format!("{large},{}", list(100_000, small)))
        }),
        (
            "pairs of wide stories",
            file(&format!("{},{}", wide("1", ""), list(10_000, |i| wide(&format!("1-C{i}"), implausible)))),
        ),
        ("one key again and again", format!("{{{}}}", list(199_000, |_| "\"a\":{}".into()))),
        ("one key with and without a suffix", file(&list(90_000, |i| format!("\"1\":0,\"1#{i}\":0")))),
        ("too many keys", format!("{{{}}}", list(10_000_000, |_| "\"\":0".into()))),
        ("stories that are none", file(&list(190_000, |i| format!("\"{i}\":0")))),
        ("stories of a field", file(&list(190_000, |i| format!("\"{i}\":{{\"sentences\":[\"A.\"]}}")))),
        ("fields of one story", file(&format!("\"1\":{{{}}}", list(90_000, |i| format!("\"f{i}\":0"))))),
        (
            "attributes that are none",
            file(&story("1", "\"A.\"", &format!("{{{}}}", list(60_000, |i| format!("\"a{i}\":[]"))), "")),
        ),
        ("labels that are none", {
            let labels = format!("{{\"open\":[{}]}}", list(450_000, |_| "0".into()));
            file(&list(60, |i| story(&i.to_string(), "\"A.\"", &labels, "")))
        }),
        ("spellings of one name", {
            let padding = |i: usize| format!("{:017b}", i).replace('0', " ").replace('1', "\u{a0}");
            let labels = list(25_000, |i| format!("[\"a{}\",1]", padding(i)));
            file(&story("1", "\"A.\"", &format!("{{\"open\":[{labels}]}}"), ""))
        }),
        ("names that differ by a letter", {
            let labels = list(128, |i| format!("[\"{}{i:03}\",1]", "n".repeat(190)));
            file(&list(2_000, |i| story(&i.to_string(), "\"A.\"", &format!("{{\"open\":[{labels}]}}"), "")))
        }),
        (
            "long names",
            file(&story(
                "1",
                "\"A.\"",
                &format!("{{\"open\":[{}]}}", list(9, |i| format!("[\"{}{i}\",1]", "n".repeat(100_000)))),
                "",
            )),
        ),
        (
            "a long key with many findings",
            file(&format!("\"{}\":{{{}}}", "k".repeat(30 << 20), list(90_000, |_| "\"f\":0".into()))),
        ),
        ("a long split", format!("{{\"{}\":{{{}}}}}", "k".repeat(30 << 20), list(90_000, |i| format!("\"{i}\":0")))),
        ("a long story", file(&story("1", &format!("\"{}\"", "x".repeat(60 << 20)), "{}", ""))),
        ("nested, closed", file(&format!("\"1\":{}{}", "[".repeat(30 << 20), "]".repeat(30 << 20)))),
        ("nested, open", "{\"a\":".repeat(12 << 20)),
        (
            "nested in a field",
            file(&story("1", "\"A.\"", "{}", &format!(",\"x\":{}{}", "[".repeat(200), "]".repeat(200)))),
        ),
        (
            "conflicts without end",
            file(&story(
                "1-C0",
                "\"A.\",\"B.\"",
                "{\"open\":[[\"a\",1]]}",
                &format!(",\"breakpoint\":1,\"confl_sents\":[[{}]]", list(450_000, |_| "0".into())),
            )),
        ),
        ("kinds to be inferred", {
            let of = |i: usize| format!("\"{}\"", format!("{i:04}").repeat(20));
            let plausible = story("1", &list(128, of), "{\"open\":[[\"a\",1]]}", "");
            let other = |i| story(&format!("x{i}"), &list(128, of), "{\"open\":[[\"a\",1]]}", implausible);
            file(&format!("{plausible},{}", list(4_000, other)))
        }),
        ("spaces", format!("{}{{}}", " ".repeat(60 << 20))),
        ("lines", format!("{}{{\"test\":{{{}}}", "\n".repeat(60 << 20), good())),
        ("a number", format!("{{\"test\":{}}}", "9".repeat(60 << 20))),
        ("many stories", file(&list(300_000, |i| story(&i.to_string(), "\"A.\"", "{\"open\":[[\"a\",1]]}", "")))),
        ("spaces after stories", {
            let some = file(&list(100_000, |i| story(&i.to_string(), "\"A.\"", "{\"open\":[[\"a\",1]]}", "")));
            some + &" ".repeat(10 << 20)
        }),
        ("more spaces than are read at once", " ".repeat(untrusted::MAX_UNREAD as usize + (1 << 20))),
    ]
}

#[test]
fn large_story_files() {
    if alone("large_story_files") {
        return;
    }
    let directory = tempfile::TempDir::new().unwrap();
    // Written by a process of their own: their text would count as this one's memory.
    let mut child = Command::new(std::env::current_exe().unwrap());
    let name = "faults::hostile::stories::write_large_story_files";
    let written =
        child.args(["--exact", name, "--ignored", "--nocapture"]).env(BOMBS, directory.path()).output().unwrap();
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let mut tally = Tally::default();
    let mut files: Vec<_> = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 20, "{files:?}");
    for path in files {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let allowed = allowed(&path);
        let (outcome, time) = timed(allowed, || {
            let file = read_file(&path);
            let splits = file.iter().flat_map(|file| &file.splits);
            let pairs: usize = splits.map(|(_, stories)| pairs(stories, 0).len()).sum();
            let is_faulty = file.as_ref().map_or(true, |file| !file.findings.is_empty());
            (is_faulty, pairs)
        });
        println!("  {name}: {time:.1?} of {allowed:.1?}, peak {} MiB", peak_memory() >> 20);
        if !["many stories", "spaces after stories", "lines", "spaces"].contains(&name) {
            assert!(outcome.is_some_and(|(is_faulty, _)| is_faulty), "{name}");
        }
        let judged = outcome.map(|_| judge(&path, &read_file(&path)));
        tally.add(name, judged, time, allowed);
    }
    tally.finish("large story files");
}

/// How long a large file may take: longer on a machine that needs long to read through it as JSON.
fn allowed(path: &Path) -> Duration {
    let length = std::fs::metadata(path).unwrap().len();
    let by_length = TIME.mul_f64((length as f64 / LENGTH as f64).max(1.));
    let read = || serde_json::from_reader::<_, IgnoredAny>(BufReader::new(File::open(path).unwrap())).is_ok();
    match timed(Duration::MAX, read) {
        (Some(true), reading) => by_length.max(reading.mul_f64(TIMES_READING)),
        _ => by_length,
    }
}

const BOMBS: &str = "TIERED_HOSTILE_BOMBS";

#[test]
#[ignore = "run by large_story_files"]
fn write_large_story_files() {
    let Some(directory) = std::env::var_os(BOMBS) else { return };
    for (name, text) in bombs() {
        std::fs::write(Path::new(&directory).join(format!("{name}.json")), text).unwrap();
    }
}

#[test]
fn a_split_of_a_shared_folder_is_no_path() {
    let story_file = crate::support::clean_file().to_string().replace("\"test\"", "\"../../escaped\"");
    let directory = tempfile::TempDir::new().unwrap();
    let path = crate::support::write(&directory, "stories.json", &story_file);
    let run = directory.path().join("run");
    let output = crate::support::tiered(["eval", crate::support::text(&run), "--data", crate::support::text(&path)]);
    let message = crate::support::stderr(&output);
    assert_eq!(output.status.code(), Some(77), "{message}");
    assert!(message.contains("stories.json") && message.contains("\"../../escaped\""), "{message}");
}
