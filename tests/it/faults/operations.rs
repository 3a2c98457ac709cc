//! Every command with every single file operation failing once, as SQLite tests itself: opens and reads too. They are
//! made to fail from outside, by a library that is loaded before the program's own (`operations.c`).

use super::rig::{copy_folder, said};
use super::{count, ensure, row};
use crate::support::text;
use crate::tiny::Tiny;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Files of a folder by their name.
type Files = BTreeMap<PathBuf, Vec<u8>>;

struct Rig {
    tiny: Tiny,
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
        let rig = Rig { tiny, preloaded };
        let stories = rig.tiny.stories();
        let evaluated = rig.command(&before, &words("eval run --split dev --data"), 0).arg(&stories).output().unwrap();
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

    /// The program at work in a folder; operation `at` fails there, from 1.
    fn command(&self, folder: &Path, arguments: &[String], at: u64) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
        command.current_dir(folder).args(arguments).env("OMP_NUM_THREADS", "1").env("TIERED_RETRY_MS", "1");
        command
            .env("LD_PRELOAD", &self.preloaded)
            .env("FAULT_BELOW", self.tiny.path(""))
            .env("FAULT_AT", at.to_string());
        command.env("FAULT_COUNT", self.tiny.path("count"));
        command
    }

    fn fresh(&self) -> PathBuf {
        let folder = self.tiny.path("trial");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        copy_folder(&self.tiny.path("before"), &folder);
        folder
    }

    fn run(&self, folder: &Path, arguments: &[String], at: u64) -> Output {
        self.command(folder, arguments, at).output().unwrap()
    }

    /// Fails each operation of one command: it says so with an exit code of ours or does its work all the same, what it
    /// writes is what was there or whole, and the same command then does its work.
    fn sweep(&self, name: &str, arguments: &[String], outputs: &[&str]) {
        let before = files(&self.tiny.path("before"), outputs);
        let folder = self.fresh();
        let whole = self.run(&folder, arguments, 0);
        assert!(whole.status.success(), "{name}: {}", said(&whole));
        let after = files(&folder, outputs);
        assert!(outputs.is_empty() || after != before, "{name} writes nothing");
        let operations: u64 = std::fs::read_to_string(self.tiny.path("count")).unwrap().parse().unwrap();
        let sampled: Vec<u64> = (1..=operations).step_by(count((operations as usize / 3).max(1), 1)).collect();
        let check = |at: u64| {
            let folder = self.fresh();
            let output = self.run(&folder, arguments, at);
            let code = output.status.code();
            let is_known = matches!(code, Some(0 | 65..=69 | 72..=78)) && !said(&output).contains("panicked");
            ensure(is_known, || format!("exit code {code:?}: {}", said(&output)))?;
            let found = files(&folder, outputs);
            for (file, bytes) in &found {
                let is_whole = [&before, &after].iter().any(|files| files.get(file) == Some(bytes));
                ensure(is_whole, || format!("half of {}", file.display()))?;
            }
            ensure(code != Some(0) || found == after, || "exit code 0, and other files".to_owned())?;
            let again = self.run(&folder, arguments, 0);
            // What failed after all was done (an fsync of the folder above) may be there now, and is not replaced.
            let is_done = again.status.success() || (again.status.code() == Some(73) && found == after);
            ensure(is_done, || format!("afterwards: {}", said(&again)))?;
            ensure(files(&folder, outputs) == after, || "afterwards, other files".to_owned())
        };
        let failed = sampled.iter().filter(|&&at| match check(at) {
            Ok(()) => false,
            Err(why) => {
                eprintln!("{name}, operation {at} of {operations}: {why}");
                true
            }
        });
        let passed = sampled.len() - failed.count();
        row(
            &format!("`{name}`, each file operation fails once: an error or no difference, nothing half"),
            passed,
            sampled.len(),
        );
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
fn every_command_with_every_operation_failing() {
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
        ("study", "study run study.toml --out study".into(), &["study/**/best/model.safetensors"]),
    ] {
        rig.sweep(name, &words(&arguments), outputs);
    }
}
