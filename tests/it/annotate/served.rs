//! Annotation over HTTP.

use crate::app_server::Server;
use crate::support::{stderr, text, tiered};
use crate::tiny::Tiny;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A server with a project in a folder of its own.
pub struct Served {
    pub server: Server,
    pub folder: TempDir,
    n: u64,
}

impl Served {
    pub fn start(runs: &[&Path]) -> Self {
        let folder = TempDir::new().unwrap();
        let server = start(&folder, runs);
        Served { server, folder, n: 0 }
    }

    pub fn get(&self, path: &str) -> Value {
        let answered = self.server.get(&format!("/api/annotate/{path}"));
        assert_eq!(answered.status, 200, "{path}: {}", answered.body);
        answered.json()
    }

    /// Sends a request of Ada's with more fields. The status, and the answer.
    pub fn post(&mut self, path: &str, fields: Value) -> (u16, Value) {
        self.n += 1;
        let mut request = json!({"who": "Ada", "window": "a", "n": self.n, "pass": "main"});
        let (Value::Object(request_fields), Value::Object(fields)) = (&mut request, fields) else { unreachable!() };
        request_fields.extend(fields);
        let answered = self.server.post(&format!("/api/annotate/{path}"), &request.to_string());
        (answered.status, answered.json())
    }

    /// An edit that must succeed, based on the newest revision.
    pub fn edit(&mut self, story: Option<&str>, ops: Value) -> Value {
        let base = self.get("project")["revision"].clone();
        let (status, answer) = self.post("edit", json!({"base": base, "story": story, "ops": ops}));
        assert_eq!(status, 200, "{answer}");
        answer
    }
}

pub fn start(folder: &TempDir, runs: &[&Path]) -> Server {
    let project = folder.path().join("project");
    Server::start(runs.iter().copied(), &["--project", project.to_str().unwrap()])
}

const SENTENCES: [&str; 3] = ["Rosa opened the box.", "Rosa put the pen into the box.", "Rosa closed the box."];

#[test]
fn a_story_is_written_annotated_and_exported() {
    let mut served = Served::start(&[]);
    assert_eq!(served.server.get("/api/models").json()["project"], json!(true));
    let made = served.edit(None, json!([{"op": "add_story", "sentences": SENTENCES}]));
    assert_eq!((&made["story"], &made["view"]["proposed"]["actor"]), (&json!("1"), &json!("Rosa")));
    assert_eq!(made["schema_version"], json!(1));
    served.edit(Some("1"), json!([
        {"op": "entity", "name": "Rosa", "person": true}, {"op": "actor", "entity": null, "name": "Rosa"}, {"op": "entity", "name": "box"},
        {"op": "labels", "entity": 2, "sentence": 1, "values": {"open": 4, "wet": null}},
    ]));
    let version = served.edit(Some("1"), json!([{"op": "version", "kind": "order", "swap": [1, 3]}]));
    assert_eq!(version["story"], json!("1-O0"));
    served.edit(Some("1-O0"), json!([{"op": "conflict", "evidence": 3, "breakpoint": 2}]));
    let export = served.get("export?format=gita&split=dev");
    assert_eq!(export["left_out"], json!([]));
    let keys: Vec<_> = export["file"]["dev"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["1", "1-O0"]);
    let files = std::fs::read_dir(served.folder.path().join("project")).unwrap();
    let mut names: Vec<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["journal.jsonl", "lock", "main.json"]);
    let file = export["file"].to_string();
    let (status, imported) = served.post("import", json!({"text": file}));
    assert_eq!((status, &imported["stories"][1]), (200, &json!({"story": "2-O0", "was": "1-O0"})), "{imported}");
    let lines = served.get("project");
    assert_eq!(lines["stories"].as_array().unwrap().len(), 4);
    let (_, undone) = served.post("undo", json!({}));
    assert_eq!((&undone["view"], &undone["story"]), (&json!(null), &json!("2")));
    assert_eq!(served.post("redo", json!({})).1["view"]["story"], json!("2"));
    let events = served.get("events?since=3");
    assert_eq!(events["events"].as_array().unwrap().len(), 4, "{events}");
}

/// Who keeps their own value has seen two values, and a third one counts too.
#[test]
fn what_is_changed_after_a_clash_was_told_is_told_as_well() {
    let mut served = Served::start(&[]);
    served.edit(None, json!([{"op": "add_story", "sentences": SENTENCES}]));
    let mut edit = |window: &str, n: u64, sentence: u32, text: &str, more: Value| {
        let ops = json!([{"op": "text", "sentence": sentence, "text": text}]);
        let mut edit = json!({"window": window, "n": n, "base": 1, "story": "1", "ops": ops});
        edit.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        served.post("edit", edit)
    };
    assert_eq!(edit("b", 1, 1, "Bo's.", json!({})).0, 200);
    let (status, clash) = edit("c", 1, 1, "Cy's.", json!({}));
    assert_eq!(
        (status, &clash["error"]["revision"], &clash["error"]["story"]),
        (409, &json!(2), &json!("1")),
        "{clash}"
    );
    assert_eq!(edit("d", 1, 1, "Di's.", json!({"base": 2})).0, 200);
    let (status, clash) = edit("c", 2, 1, "Cy's.", json!({"on_clash": "override", "seen": 2}));
    let (told, revision) = (&clash["error"]["clash"][0]["theirs"], &clash["error"]["revision"]);
    assert_eq!((status, told, revision), (409, &json!("Di's."), &json!(3)), "{clash}");
    let (status, ahead) = edit("c", 3, 1, "Cy's.", json!({"on_clash": "override", "seen": 9}));
    assert_eq!((status, &ahead["error"]["kind"]), (422, &json!("data")), "{ahead}");
    assert_eq!(edit("d", 2, 2, "Another sentence.", json!({"base": 3})).0, 200);
    let (status, edited) = edit("c", 4, 1, "Cy's.", json!({"on_clash": "override", "seen": 3}));
    assert_eq!((status, &edited["view"]["sentences"][0]["text"]), (200, &json!("Cy's.")), "{edited}");
}

#[test]
fn what_is_refused_says_why() {
    let mut served = Served::start(&[]);
    served.edit(None, json!([{"op": "add_story", "sentences": SENTENCES}]));
    let corrected = |text: &str| json!([{"op": "text", "sentence": 1, "text": text}]);
    let from =
        |window: &str, n: u64, ops: Value| json!({"window": window, "n": n, "base": 1, "story": "1", "ops": ops});
    assert_eq!(served.post("edit", from("b", 1, corrected("Bo's."))).0, 200);
    let (status, clash) = served.post("edit", from("c", 1, corrected("Cy's.")));
    assert_eq!((status, &clash["error"]["kind"]), (409, &json!("clash")));
    let told = &clash["error"]["clash"][0];
    assert_eq!((&told["yours"], &told["theirs"], &told["sentence"]), (&json!("Cy's."), &json!("Bo's."), &json!(1)));
    let (status, again) = served.post("edit", from("b", 1, corrected("Bo's.")));
    assert_eq!((status, &again["repeated"]), (200, &json!(true)));
    let cases = [
        ("edit", json!({"base": 2, "story": "9", "ops": []}), 404, "gone", "no story"),
        ("edit", json!({"base": 2, "story": "1", "ops": [{"op": "fly"}]}), 422, "data", "unknown variant `fly`"),
        ("edit", json!({"base": 99, "story": "1", "ops": []}), 422, "data", "load the page again"),
        ("edit", json!({"base": 2, "story": "1", "ops": [], "project": "0"}), 409, "other_project", "another project"),
        ("redo", json!({}), 404, "gone", "nothing to redo"),
        ("undo", json!({"pass": "A/B"}), 422, "data", "`pass` must be"),
        ("import", json!({"text": "[]"}), 422, "data", "must be an object of splits"),
        ("propose", json!({"story": "1"}), 422, "data", "add them first"),
    ];
    for (path, fields, expected, kind, message) in cases {
        let (status, answer) = served.post(path, fields);
        assert_eq!((status, &answer["error"]["kind"]), (expected, &json!(kind)), "{path}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(message), "{path}: {answer}");
    }
    served.edit(Some("1"), json!([{"op": "entity", "name": "box"}]));
    assert_eq!(served.post("propose", json!({"story": "1"})).0, 404, "no run is loaded");
    let huge = json!({"base": 2, "story": "1", "ops": corrected(&"x".repeat(3 << 20))});
    assert_eq!(served.server.post("/api/annotate/edit", &huge.to_string()).status, 413);
}

/// They are copies: the journal has everything.
#[test]
fn story_files_that_cannot_be_written_keep_nobody_from_opening_and_exporting() {
    let mut served = Served::start(&[]);
    served.edit(None, json!([{"op": "add_story", "sentences": SENTENCES}, {"op": "entity", "name": "box"}]));
    let Served { server, folder, .. } = served;
    drop(server);
    let main = folder.path().join("project/main.json");
    let _ = std::fs::remove_file(&main);
    std::fs::create_dir(&main).unwrap();
    let server = start(&folder, &[]);
    let served = Served { server, folder, n: 0 };
    assert_eq!(served.get("export")["file"]["test"].as_object().unwrap().len(), 1);
}

/// The file would be refused by `tiered data check`.
#[test]
fn an_export_with_a_split_name_that_is_too_long_is_refused() {
    let mut served = Served::start(&[]);
    served.edit(
        None,
        json!([{"op": "add_story", "sentences": SENTENCES}, {"op": "entity", "name": "box", "person": false}]),
    );
    let fair = "è".repeat(200);
    let export = served.get(&format!("export?split={}", "%C3%A8".repeat(200)));
    assert_eq!((&export["left_out"], export["file"][fair].as_object().unwrap().len()), (&json!([]), 1));
    for length in [201, 251] {
        let answered = served.server.get(&format!("/api/annotate/export?split={}", "x".repeat(length)));
        assert_eq!(answered.status, 422, "{}", answered.body);
        assert_eq!(answered.json()["error"]["kind"], json!("data"));
        let message = answered.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("shorten it to at most 200"), "{message}");
    }
}

#[test]
fn a_second_server_on_a_project_is_refused() {
    let served = Served::start(&[]);
    let project = served.folder.path().join("project");
    let output = tiered(["app", "--port", "0", "--no-browser", "--project", text(&project)]);
    assert_eq!(output.status.code(), Some(73));
    assert!(stderr(&output).contains("another tiered app works on this project"), "{}", stderr(&output));
}

#[test]
fn a_project_that_can_not_be_begun_leaves_nothing() {
    let folder = tempfile::TempDir::new().unwrap();
    let (file, new) = (folder.path().join("file"), folder.path().join("new"));
    std::fs::write(&file, "").unwrap();
    let app = |project: &Path, port: &str| tiered(["app", "--port", port, "--no-browser", "--project", text(project)]);
    let refused = app(&file, "0");
    assert_eq!(refused.status.code(), Some(73));
    assert!(stderr(&refused).contains("is not a folder"), "{}", stderr(&refused));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    assert_eq!(app(&new, &taken.local_addr().unwrap().port().to_string()).status.code(), Some(69));
    assert!(!new.exists());
}

#[test]
fn labels_have_words_in_both_languages() {
    let served = Served::start(&[]);
    let open = |lang: &str| {
        let words = served.get(&format!("words?lang={lang}"));
        let open = words["attributes"].as_array().unwrap().iter().find(|a| a["name"] == "open").unwrap().clone();
        [open["words"].clone(), open["labels"][4]["words"].clone(), open["labels"][0]["words"].clone()]
    };
    assert_eq!(open("en"), [json!("open"), json!("closed → open"), json!("nothing to report")]);
    assert_eq!(open("it"), [json!("apertura"), json!("chiuso → aperto"), json!("niente da segnalare")]);
    assert_eq!(served.server.get("/api/annotate/words?lang=xx").status, 400);
}

#[test]
fn a_run_proposes_labels_and_says_where_it_is_unsure() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "model.detector.kind=joint", "--set", "loss.single_story=0.5"]);
    let mut served = Served::start(&[&run]);
    served.edit(None, json!([{"op": "add_story", "sentences": SENTENCES}]));
    served.edit(
        Some("1"),
        json!([
            {"op": "entity", "name": "Rosa", "person": true}, {"op": "actor", "name": "Rosa"},
            {"op": "entity", "name": "box"}, {"op": "entity", "name": "pen"},
        ]),
    );
    served.edit(Some("1"), json!([{"op": "version", "kind": "order", "swap": [1, 3]}]));
    let (status, proposal) = served.post("propose", json!({"story": "1-O0"}));
    assert_eq!((status, &proposal["run"], &proposal["story"]), (200, &json!("run"), &json!("1-O0")));
    let cells = proposal["cells"].as_array().unwrap();
    let of = |entity: u64, sentence: u64| cells.iter().any(|c| c["entity"] == entity && c["sentence"] == sentence);
    assert!(of(1, 2) && of(2, 3) && of(3, 2), "all that is named: {proposal}");
    let probabilities =
        cells.iter().flat_map(|cell| cell["labels"].as_array().unwrap()).map(|l| l["probability"].as_f64());
    assert!(probabilities.clone().count() >= cells.len());
    assert!(probabilities.into_iter().all(|p| (0. ..=1.).contains(&p.unwrap())));
    let conflicts = proposal["conflict"].as_array().unwrap();
    assert_eq!(conflicts.len(), 3);
    assert!(conflicts.windows(2).all(|two| two[0]["probability"].as_f64() >= two[1]["probability"].as_f64()));
    assert!((0. ..=1.).contains(&proposal["plausible"].as_f64().unwrap()));
    let plausible = served.post("propose", json!({"story": "1"})).1;
    assert_eq!((&plausible["conflict"], &plausible["plausible"]), (&json!([]), &json!(null)));
    let deadline = Instant::now() + Duration::from_secs(60);
    let order = |served: &Served, by: &str| loop {
        let order = served.get(&format!("order?by={by}"));
        if order["ready"] == order["total"] {
            return order;
        }
        assert!(Instant::now() < deadline, "{order}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let unsure = order(&served, "unsure");
    assert_eq!((&unsure["total"], unsure["stories"].as_array().unwrap().len()), (&json!(2), 2));
    let scores = |order: &Value| -> Vec<f64> {
        order["stories"].as_array().unwrap().iter().map(|story| story["score"].as_f64().unwrap()).collect()
    };
    assert!(scores(&unsure)[0] > scores(&unsure)[1], "{unsure}");
    assert_eq!(order(&served, "disagree")["stories"], json!([]), "nothing is answered yet");
    served.edit(Some("1"), json!([{"op": "labels", "entity": 2, "sentence": 1, "values": {"open": 4, "wet": 1}}]));
    let disagree = order(&served, "disagree");
    assert_eq!(disagree["stories"].as_array().unwrap().len(), 2);
    assert!(disagree["stories"][0]["score"].as_f64().unwrap() > 0.);
}
