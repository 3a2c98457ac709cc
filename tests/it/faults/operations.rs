//! Every command with a fault in every single file operation, as SQLite tests itself: opens and reads too. The faults are
//! put in from outside, by a library that is loaded before the program's own (`operations.c`).

use super::rig::{copy_folder, said};
use super::{count, ensure, trials};
use crate::fetch::{self, Answer, Hub, MODEL, Server};
use crate::support::{clean_file, text};
use crate::tiny::Tiny;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Files of a folder by their name.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// What happens to an operation.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// It isn't done.
    Fails,
    /// It is done, and is said to have failed: a file server's answer was lost.
    Late,
    /// The program is killed before it; in a rename, when what had the name is gone already.
    Dies,
}

use Fault::{Dies, Fails, Late};

impl Fault {
    fn how(self) -> &'static str {
        match self {
            Fails => "fails",
            Late => "late",
            Dies => "dies",
        }
    }

    fn row(self, command: &str) -> String {
        let what = match self {
            Fails => "fails once: an error or no difference, nothing half",
            Late => "is done and fails once: an error or no difference, nothing half",
            Dies => "kills it, and a rename has removed what was there: nothing half, and done again",
        };
        format!("`{command}`, each file operation {what}")
    }
}

struct Rig {
    tiny: Tiny,
    hub: Hub,
    /// Has the stories that `fetch data` asks for.
    mirror: Server,
    preloaded: PathBuf,
}

impl Rig {
    /// A folder `before`, in which there is something for every command: a trained run, predictions, a study, and old
    /// outputs to replace.
    fn new() -> Self {
        let tiny = Tiny::new();
        let preloaded = tiny.path("operations.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/faults/operations.c");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-o", text(&preloaded), text(&source), "-ldl"])
            .status()
            .unwrap();
        assert!(built.success());
        let before = tiny.path("before");
        std::fs::create_dir(&before).unwrap();
        tiny.trained("before/run", &["--set", "train.epochs=1"]);
        let stories = serde_json::json!({"train": clean_file()["test"]}).to_string();
        let mirror = Server::start(move |request| Answer::file(request, stories.as_bytes()));
        let rig = Rig { tiny, hub: Hub::new(fetch::files()), mirror, preloaded };
        let stories = rig.tiny.stories();
        let evaluation = words(&format!("eval run --split dev --data {}", text(&stories)));
        let evaluated = rig.run(&before, &evaluation, Fails, 0);
        assert!(evaluated.status.success(), "{}", said(&evaluated));
        let predictions = before.join("run/eval/stories-dev-all/predictions.jsonl");
        std::fs::copy(predictions, before.join("predictions.jsonl")).unwrap();
        std::fs::write(before.join("story.txt"), "entities: cup\nThe cup fell.\nThe cup broke.\n").unwrap();
        let study = format!(
            "name = 'tiny'\nbase = '{}'\nseeds = [0, 1]\n[[evaluate]]\nname = 'dev'\nfile = '{}'\nsplit = 'dev'\n",
            rig.tiny.path("tiny.toml").display(),
            stories.display(),
        );
        std::fs::write(before.join("study.toml"), study).unwrap();
        // Training has chosen what `tune` would choose.
        std::fs::remove_file(before.join("run/best/decode.json")).unwrap();
        for old in ["made.json", "saved.jsonl", "page.html"] {
            std::fs::write(before.join(old), "old").unwrap();
        }
        rig
    }

    /// The program at work in a folder, with a fault in operation `at` there, from 1.
    fn run(&self, folder: &Path, arguments: &[String], fault: Fault, at: u64) -> Output {
        let mut command = self.hub.command(env!("CARGO_BIN_EXE_tiered"));
        command.current_dir(folder).args(arguments).env("OMP_NUM_THREADS", "1").env("HF_HOME", "hub");
        command
            .env("LD_PRELOAD", &self.preloaded)
            .env("FAULT_BELOW", self.tiny.path(""))
            .env("FAULT_HOW", fault.how())
            .env("FAULT_AT", at.to_string())
            .env("FAULT_COUNT", self.tiny.path("count"));
        command.output().unwrap()
    }

    fn fresh(&self) -> PathBuf {
        let folder = self.tiny.path("trial");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        copy_folder(&self.tiny.path("before"), &folder);
        folder
    }

    /// Puts each fault into each operation of one command. What it writes is then what was there or whole, a failure is
    /// said with an exit code of ours, and the same command does its work afterwards.
    fn sweep(&self, name: &str, arguments: &[String], outputs: &[&str]) {
        let before = files(&self.tiny.path("before"), outputs);
        let folder = self.fresh();
        let whole = self.run(&folder, arguments, Fails, 0);
        assert!(whole.status.success(), "{name}: {}", said(&whole));
        let after = files(&folder, outputs);
        assert!(outputs.is_empty() || after != before, "{name} writes nothing");
        let operations: u64 = std::fs::read_to_string(self.tiny.path("count")).unwrap().parse().unwrap();
        for fault in [Fails, Late, Dies] {
            let check = |&at: &u64| self.check(arguments, outputs, [&before, &after], fault, at);
            let sampled: Vec<u64> = (1..=operations).step_by(count((operations as usize / 2).max(1), 1)).collect();
            trials(&fault.row(name), &sampled, check);
        }
    }

    fn check(
        &self,
        arguments: &[String],
        outputs: &[&str],
        [before, after]: [&Files; 2],
        fault: Fault,
        at: u64,
    ) -> Result<(), String> {
        let folder = self.fresh();
        let output = self.run(&folder, arguments, fault, at);
        let is_known = match (fault, output.status.code()) {
            // Which operation has a number may differ where there are threads: it may have had none.
            (Dies, code) => matches!(code, None | Some(0)),
            (_, code) => matches!(code, Some(0 | 65..=69 | 72..=78)) && !said(&output).contains("panicked"),
        };
        ensure(is_known, || said(&output))?;
        let found = files(&folder, outputs);
        for (file, bytes) in &found {
            let is_whole = [before, after].iter().any(|files| files.get(file) == Some(bytes));
            ensure(is_whole, || format!("half of {}", file.display()))?;
        }
        ensure(!output.status.success() || found == *after, || "exit code 0, and other files".to_owned())?;
        let again = self.run(&folder, arguments, fault, 0);
        // What failed after all was done (an fsync of the folder above) may be there now, and is not replaced.
        let is_done = again.status.success() || (again.status.code() == Some(73) && found == *after);
        ensure(is_done, || format!("afterwards: {}", said(&again)))?;
        ensure(files(&folder, outputs) == *after, || "afterwards, other files".to_owned())
    }
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// These files, and those in these folders; of "FOLDER/**/NAME" those of that name.
fn files(folder: &Path, outputs: &[&str]) -> Files {
    let mut found = Files::new();
    for output in outputs {
        let (top, wanted) = output.split_once("/**/").map_or((*output, None), |(top, name)| (top, Some(name)));
        let mut todo = vec![PathBuf::from(top)];
        while let Some(name) = todo.pop() {
            let path = folder.join(&name);
            if path.is_dir() {
                todo.extend(std::fs::read_dir(&path).unwrap().map(|entry| name.join(entry.unwrap().file_name())));
            } else if path.exists() && wanted.is_none_or(|wanted| name.ends_with(wanted)) {
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn every_command_with_a_fault_in_every_operation() {
    let rig = Rig::new();
    let stories = text(&rig.tiny.stories()).to_owned();
    let config = text(&rig.tiny.path("tiny.toml")).to_owned();
    for (name, arguments, outputs) in [
        ("data check", format!("data check {stories}"), &[][..]),
        ("data stats", format!("data stats {stories}"), &[]),
        ("make-stories", "make-stories --lang en --pairs 2 --seed 0 --out made.json --force".into(), &["made.json"]),
        ("reorder-stories", format!("reorder-stories --data {stories} --out made.json --force"), &["made.json"]),
        ("score", "score predictions.jsonl --save saved.jsonl --force".into(), &["saved.jsonl"]),
        ("eval", format!("eval run --data {stories} --split train"), &["run/eval", "run/README.md"]),
        ("predict", "predict run story.txt".into(), &[]),
        ("tune", "tune run".into(), &["run/best/decode.json"]),
        ("analyse", format!("analyse run --data {stories} --split train"), &[]),
        ("export", "export run --out exported".into(), &["exported"]),
        ("report", "report run --html page.html --force".into(), &["page.html"]),
        ("train", format!("train --config {config} --out new --resume"), &["new/best", "new/last"]),
        ("fetch model", format!("fetch model {MODEL}"), &["hub/**/config.json", "hub/**/model.safetensors"]),
        ("fetch data", format!("fetch data trip --from {} --out fetched", rig.mirror.url), &["fetched/**/www.json"]),
        ("study", "study run study.toml --out study".into(), &["study/**/best/model.safetensors"]),
    ] {
        rig.sweep(name, &words(&arguments), outputs);
    }
}
