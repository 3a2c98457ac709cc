//! A server that is killed while two people annotate: nothing that was acknowledged is lost, and nothing is made twice.

use super::served::start;
use crate::app_server::Server;
use crate::faults::{count, row};
use crate::support::rng;
use rand::RngExt;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// An annotator's script: the edits that were sent so far, all of which must be there once.
struct Script {
    who: &'static str,
    window: &'static str,
    /// The story that only this one edits.
    story: String,
    n: u64,
    /// The last edit, if it was not acknowledged.
    open: Option<Value>,
    inserted: Vec<String>,
    labels: BTreeMap<(u64, &'static str), u64>,
}

const ATTRIBUTES: [&str; 4] = ["open", "wet", "clean", "contain"];

impl Script {
    fn new(who: &'static str, window: &'static str) -> Self {
        Script { who, window, story: String::new(), n: 0, open: None, inserted: Vec::new(), labels: BTreeMap::new() }
    }

    /// Whether the server acknowledged the request.
    fn send(&self, server: &Server, request: &Value) -> Option<Value> {
        let headers = server.own_headers();
        let answered = server.try_send("POST /api/annotate/edit", &headers, request.to_string().as_bytes())?;
        let answer = serde_json::from_str(&answered.body).ok()?; // cut off by the kill
        assert_eq!(answered.status, 200, "{answer}");
        Some(answer)
    }

    fn request(&mut self, ops: Value) -> Value {
        self.n += 1;
        let story = if self.story.is_empty() { json!(null) } else { json!(self.story) };
        json!({"who": self.who, "window": self.window, "n": self.n, "pass": "main", "base": 0, "story": story, "ops": ops})
    }

    fn begin(&mut self, server: &Server) {
        let request = self.request(json!([
            {"op": "add_story", "sentences": ["Rosa opened the box."]}, {"op": "entity", "name": "box"},
        ]));
        self.story = self.send(server, &request).unwrap()["story"].as_str().unwrap().to_owned();
    }

    /// The next edit: every fifth inserts a sentence, the others label.
    fn next(&mut self) -> Value {
        let number = self.n + 1;
        if number.is_multiple_of(5) && self.inserted.len() < 100 {
            let text = format!("Sentence {number}.");
            self.inserted.push(text.clone());
            return self.request(json!([{"op": "insert", "after": 1, "text": text}]));
        }
        let (attribute, label) = (ATTRIBUTES[number as usize % 4], number % 9);
        self.labels.insert((1, attribute), label);
        self.request(json!([{"op": "labels", "entity": 1, "sentence": 1, "values": {attribute: label}}]))
    }

    /// Edits until the server is gone. The number of edits that it acknowledged.
    fn run(&mut self, server: &Server) -> usize {
        let mut acknowledged = 0;
        loop {
            let request = self.next();
            self.open = Some(request.clone());
            if self.send(server, &request).is_none() {
                return acknowledged;
            }
            self.open = None;
            acknowledged += 1;
        }
    }

    /// Sends the edit again that was not acknowledged, and compares the story with what it should be.
    fn check(&mut self, server: &Server) {
        if let Some(open) = self.open.take() {
            self.send(server, &open).unwrap();
        }
        let view = server.get(&format!("/api/annotate/story?story={}", self.story)).json();
        let mut inserted: Vec<_> =
            view["sentences"].as_array().unwrap().iter().map(|s| s["text"].as_str().unwrap()).collect();
        assert_eq!(inserted.remove(0), "Rosa opened the box.");
        inserted.reverse();
        assert_eq!(inserted, self.inserted);
        let values = &view["labels"][0]["values"];
        for (&(_, attribute), label) in &self.labels {
            assert_eq!(&values[attribute], label, "{attribute}: {view}");
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost_by_kill_9() {
    let kills = count(6, 50);
    let (folder, mut rng) = (TempDir::new().unwrap(), rng(50));
    let mut scripts = [Script::new("Ada", "a"), Script::new("Bo", "b")];
    let mut server = start(&folder, &[]);
    scripts.iter_mut().for_each(|script| script.begin(&server));
    let (mut acknowledged, mut opened) = (0, Duration::ZERO);
    for _ in 0..kills {
        let moment = Duration::from_micros(rng.random_range(0..400_000));
        let process = server.process().id();
        acknowledged += std::thread::scope(|scope| {
            let server = &server;
            let running: Vec<_> = scripts.iter_mut().map(|script| scope.spawn(move || script.run(server))).collect();
            std::thread::sleep(moment);
            let killed = std::process::Command::new("kill").args(["-9", &process.to_string()]).status().unwrap();
            assert!(killed.success());
            running.into_iter().map(|running| running.join().unwrap()).sum::<usize>()
        });
        drop(server);
        let start_time = Instant::now();
        server = start(&folder, &[]);
        assert!(folder.path().join("project/main.json").exists());
        opened += start_time.elapsed();
        scripts.iter_mut().for_each(|script| script.check(&server));
    }
    println!(
        "{kills} kills, {acknowledged} acknowledged edits, none lost; started again in {:?} on average",
        opened / kills as u32
    );
    row("kill -9 while two people annotate: nothing acknowledged is lost", kills, kills);
    assert!(acknowledged > 3 * kills, "{acknowledged}");
}

/// The disk is full at every file operation in turn: the edit is refused, and can be sent again.
#[test]
fn an_edit_that_can_not_be_written_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let project = folder.path().join("project");
    let mut refused = 0;
    for operation in 1..12 {
        let point = format!("error:{operation}");
        let Some(server) =
            Server::start_with([("TIERED_FAIL_POINT", point.as_str())], &["--project", project.to_str().unwrap()])
        else {
            continue; // it could not begin
        };
        let mut script = Script::new("Ada", ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"][operation - 1]);
        for _ in 0..4 {
            let request = script.request(json!([{"op": "add_story", "sentences": [format!("Story of {operation}.")]}]));
            let post = |request: &Value| server.post("/api/annotate/edit", &request.to_string());
            let revision = || server.get("/api/annotate/project").json()["revision"].clone();
            let before = revision();
            let answered = post(&request);
            if answered.status != 200 {
                refused += 1;
                assert_eq!(
                    (answered.status, answered.json()["error"]["kind"].as_str()),
                    (507, Some("io")),
                    "{}",
                    answered.body
                );
                assert_eq!(revision(), before);
                assert_eq!(post(&request).status, 200, "it can be sent again");
            }
        }
        drop(server);
        let entries = std::fs::read_to_string(project.join("journal.jsonl")).unwrap();
        assert!(entries.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    }
    assert!(refused >= 4, "{refused}");
}
