//! A project in a folder of its own, and short ways to edit it.

use serde_json::{Value, json};
use std::path::PathBuf;
use tempfile::TempDir;
use tiered::annotate::{AnnotatedStory, Clash, Direction, EditRefusal, Edited, InWords, OnClash, Op, Project, Sender};
use tiered::language::Language;

pub struct Rig {
    pub project: Option<Project>,
    directory: TempDir,
    n: u64,
}

/// An edit by Ada in window "a" and pass "main", based on the newest revision, unless it is said otherwise.
#[derive(Clone)]
pub struct By {
    pub who: &'static str,
    pub window: &'static str,
    pub pass: &'static str,
    pub base: Option<u64>,
    pub on_clash: OnClash,
    pub seen: Option<u64>,
}

pub const ADA: By = By { who: "Ada", window: "a", pass: "main", base: None, on_clash: OnClash::Tell, seen: None };
pub const BO: By = By { who: "Bo", window: "b", ..ADA };

impl Rig {
    pub fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let project = Some(Project::open(&directory.path().join("project")).unwrap());
        Rig { project, directory, n: 0 }
    }

    pub fn folder(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    pub fn project(&mut self) -> &mut Project {
        self.project.as_mut().unwrap()
    }

    /// Leaves the project and opens it again.
    pub fn reopen(&mut self) {
        self.project = None;
        self.project = Some(Project::open(&self.folder()).unwrap());
    }

    fn sender(&mut self, by: &By) -> Sender<'static> {
        self.n += 1;
        Sender { who: by.who, window: by.window, n: self.n, pass: by.pass, on_clash: by.on_clash, seen: by.seen }
    }

    /// Sends operations as the page does.
    pub fn send(&mut self, by: &By, story: &str, ops: Value) -> Result<Edited, EditRefusal> {
        let ops: Vec<Op> = serde_json::from_value(ops).unwrap();
        let sender = self.sender(by);
        let base = by.base.unwrap_or(self.project().revision());
        self.project().edit(sender, base, Some(story).filter(|story| !story.is_empty()), &ops)
    }

    pub fn ada(&mut self, story: &str, ops: Value) -> Edited {
        self.send(&ADA, story, ops).unwrap()
    }

    pub fn go(&mut self, by: &By, way: Direction) -> Result<Edited, EditRefusal> {
        let sender = self.sender(by);
        self.project().go(sender, way)
    }

    pub fn view(&mut self, story: &str) -> AnnotatedStory {
        self.project().story(story, "main", "Ada", Language::English).unwrap()
    }

    /// The view as JSON, without what changes with every edit.
    pub fn content(&mut self, story: &str, pass: &str) -> Value {
        let mut view =
            serde_json::to_value(self.project().story(story, pass, "Ada", Language::English).unwrap()).unwrap();
        for field in ["revision", "undo", "redo"] {
            view.as_object_mut().unwrap().remove(field);
        }
        view
    }

    /// A plausible story "1" with its entities: 1 Rosa (the actor), 2 box, 3 pen; sentences 1, 2, 3.
    pub fn with_story(&mut self) {
        let sentences = ["Rosa opened the box.", "Rosa put the pen into the box.", "Rosa closed the box."];
        self.ada("", json!([{"op": "add_story", "sentences": sentences}]));
        self.ada(
            "1",
            json!([
                {"op": "entity", "name": "Rosa", "person": true}, {"op": "actor", "name": "Rosa"},
                {"op": "entity", "name": "box"}, {"op": "entity", "name": "pen"},
            ]),
        );
    }

    /// Its labels, an order version "1-O0" and a cloze version "1-C0" with their conflicts.
    pub fn with_versions(&mut self) {
        self.with_story();
        self.ada(
            "1",
            json!([
                {"op": "labels", "entity": 2, "sentence": 1, "values": {"open": 4}},
                {"op": "labels", "entity": 2, "sentence": 2, "values": {"open": 2, "contain": 6}},
                {"op": "labels", "entity": 3, "sentence": 2, "values": {"location": 6}},
                {"op": "labels", "entity": 2, "sentence": 3, "values": {"open": 3}},
                {"op": "labels", "entity": 1, "sentence": 1, "values": {"conscious": 2}},
            ]),
        );
        self.ada("1", json!([{"op": "version", "kind": "order", "swap": [1, 3]}]));
        self.ada("1-O0", json!([{"op": "conflict", "evidence": 3, "breakpoint": 2}]));
        self.ada("1", json!([{"op": "version", "kind": "cloze", "sentence": 1, "text": "Rosa locked the box."}]));
        self.ada(
            "1-C0",
            json!([
                {"op": "labels", "entity": 2, "sentence": 4, "values": {"open": 1}},
                {"op": "conflict", "evidence": 4, "breakpoint": 2},
            ]),
        );
    }
}

/// Field by field: the clash of a refused edit.
pub fn clash(refused: Result<Edited, EditRefusal>) -> Vec<Value> {
    match refused {
        Err(EditRefusal::Clash { clashes, .. }) => clashes.iter().map(told).collect(),
        other => panic!("{other:?}"),
    }
}

/// A clash as the server answers it in English.
fn told(clash: &Clash) -> Value {
    let mut told = serde_json::to_value(clash).unwrap();
    told["what"] = json!(clash.what.english());
    told
}

pub fn gone(refused: Result<Edited, EditRefusal>) -> String {
    refusal(refused, "gone").english()
}

pub fn wrong(refused: Result<Edited, EditRefusal>) -> String {
    refusal(refused, "data").english()
}

/// The refusal, which must be of this kind.
pub fn refusal(refused: Result<Edited, EditRefusal>, kind: &str) -> EditRefusal {
    match refused {
        Err(refusal) if refusal.kind() == kind => refusal,
        other => panic!("{other:?}"),
    }
}
