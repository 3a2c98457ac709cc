//! Every command with a fault in every single file operation, as SQLite tests itself: opens and reads too. The faults are
//! put in from outside, by a library that is loaded before the program's own (`operations.c`).

use super::rig::preloaded;
use super::{count, ensure, trials};
use crate::fetch::{self, Answer, Hub, MODEL, Server};
use crate::support::{clean_file, copy_folder, said, text};
use crate::tiny::Tiny;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;
use tiered::model::weights;

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
    /// Has the stories that `data fetch` asks for.
    mirror: Server,
    preloaded: PathBuf,
}

impl Rig {
    /// A folder `before`, in which there is something for every command: a trained run, predictions, a sweep, and old
    /// outputs to replace.
    fn new() -> Self {
        let tiny = Tiny::new();
        let preloaded = preloaded("operations.c", &tiny.path("operations.so"));
        let before = tiny.path("before");
        std::fs::create_dir(&before).unwrap();
        tiny.trained("before/run", &["--set", "train.epochs=1"]);
        let stories = serde_json::json!({"train": clean_file()["test"]}).to_string();
        let mirror = Server::start(move |request| Answer::file(request, stories.as_bytes()));
        let rig = Rig { tiny, hub: Hub::new(fetch::files()), mirror, preloaded };
        let stories = rig.tiny.stories();
        let evaluation = ["eval", "run", "--split", "dev", "--data", text(&stories)];
        let evaluated = rig.hub.command(env!("CARGO_BIN_EXE_tiered")).current_dir(&before).args(evaluation).output();
        let evaluated = evaluated.unwrap();
        assert!(evaluated.status.success(), "{}", said(&evaluated));
        let predictions = before.join("run/eval/stories-dev-all/predictions.jsonl");
        std::fs::copy(predictions, before.join("predictions.jsonl")).unwrap();
        std::fs::write(before.join("story.txt"), "entities: cup\nThe cup fell.\nThe cup broke.\n").unwrap();
        let sweep = format!(
            "name = 'tiny'\nbase = '{}'\nseeds = [0, 1]\n[[evaluate]]\nname = 'dev'\nfile = '{}'\nsplit = 'dev'\n",
            rig.tiny.path("tiny.toml").display(),
            stories.display(),
        );
        std::fs::write(before.join("sweep.toml"), sweep).unwrap();
        std::fs::copy(rig.tiny.path("tiny.toml"), before.join("tiny.toml")).unwrap();
        // Training has chosen what `model calibrate` would choose.
        std::fs::remove_file(before.join("run/best/decode.json")).unwrap();
        for old in ["made.json", "saved.jsonl", "page.html"] {
            std::fs::write(before.join(old), "old").unwrap();
        }
        rig
    }
}

/// One command, and the files and folders that it writes.
struct Sweep<'a> {
    rig: &'a Rig,
    name: String,
    arguments: Vec<String>,
    outputs: &'a [&'a str],
}

impl Sweep<'_> {
    /// Puts each fault into each operation. What the command writes is then what was there or whole, a failure is said
    /// with an exit code of ours, and the same command does its work afterwards.
    fn run(&self) {
        let before = files(&self.rig.tiny.path("before"), self.outputs);
        let folder = self.fresh();
        let whole = self.output(&folder, Fails, 0);
        assert!(whole.status.success(), "{}: {}", self.name, said(&whole));
        let after = files(&folder, self.outputs);
        assert!(self.outputs.is_empty() || after != before, "{} writes nothing", self.name);
        // What writes nothing can leave nothing half.
        let faults = if self.outputs.is_empty() { &[Fails][..] } else { &[Fails, Late, Dies] };
        for &fault in faults {
            self.output(&self.fresh(), fault, 0);
            let operations: u64 = std::fs::read_to_string(self.count()).unwrap().parse().unwrap();
            let sampled: Vec<u64> = (1..=operations).step_by(count((operations as usize / 2).max(1), 1)).collect();
            trials(&fault.row(&self.name), &sampled, |&at| self.check([&before, &after], fault, at));
        }
    }

    fn check(&self, [before, after]: [&Files; 2], fault: Fault, at: u64) -> Result<(), String> {
        let folder = self.fresh();
        let output = self.output(&folder, fault, at);
        let is_known = match (fault, output.status.code()) {
            // Which operation has a number may differ where there are threads: it may have had none.
            (Dies, code) => matches!(code, None | Some(0)),
            (_, code) => matches!(code, Some(0 | 65..=69 | 72..=78)) && !said(&output).contains("panicked"),
        };
        ensure(is_known, || said(&output))?;
        let found = files(&folder, self.outputs);
        for (file, bytes) in &found {
            // Those of an earlier epoch are whole too.
            let is_whole = [before, after].iter().any(|files| files.get(file) == Some(bytes))
                || file.ends_with("model.safetensors") && weights::read(&folder.join(file)).is_ok();
            ensure(is_whole, || format!("half of {}", file.display()))?;
        }
        let differ = || {
            let other = after.keys().chain(found.keys()).filter(|&file| found.get(file) != after.get(file));
            format!("exit code 0, and other files: {:?}; {}", other.collect::<BTreeSet<_>>(), said(&output))
        };
        ensure(!output.status.success() || found == *after, differ)?;
        let again = self.output(&folder, fault, 0);
        // What failed after all was done (an fsync of the folder above) is there now, and an export is not replaced.
        let is_there = self.name == "model export" && again.status.code() == Some(73) && found == *after;
        let is_done = again.status.success() || is_there;
        ensure(is_done, || format!("afterwards: {}", said(&again)))?;
        ensure(files(&folder, self.outputs) == *after, || "afterwards, other files".to_owned())
    }

    /// The program at work in a folder, with a fault in operation `at` there, from 1.
    fn output(&self, folder: &Path, fault: Fault, at: u64) -> Output {
        let mut command = self.rig.hub.command(env!("CARGO_BIN_EXE_tiered"));
        command.current_dir(folder).args(&self.arguments).env("OMP_NUM_THREADS", "1").env("HF_HOME", "hub");
        command
            .env("LD_PRELOAD", &self.rig.preloaded)
            .env("FAULT_BELOW", self.rig.tiny.path(""))
            .env("FAULT_HOW", fault.how())
            .env("FAULT_AT", at.to_string())
            .env("FAULT_COUNT", self.count());
        command.output().unwrap()
    }

    fn count(&self) -> PathBuf {
        self.rig.tiny.path(&format!("count of {}", self.name))
    }

    fn fresh(&self) -> PathBuf {
        let folder = self.rig.tiny.path(&format!("trial of {}", self.name));
        if folder.exists() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        copy_folder(&self.rig.tiny.path("before"), &folder);
        folder
    }
}

/// These files, and those in these folders; of "FOLDER/**/NAME" those of that name. What a killed program was still making
/// has no name yet that anybody reads.
fn files(folder: &Path, outputs: &[&str]) -> Files {
    let mut found = Files::new();
    for output in outputs {
        let (top, wanted) = output.split_once("/**/").map_or((*output, None), |(top, name)| (top, Some(name)));
        let mut todo = vec![PathBuf::from(top)];
        while let Some(name) = todo.pop() {
            let path = folder.join(&name);
            if text(&name).ends_with(".part") {
                continue;
            }
            if path.is_dir() {
                todo.extend(std::fs::read_dir(&path).unwrap().map(|entry| name.join(entry.unwrap().file_name())));
            } else if path.exists() && wanted.is_none_or(|wanted| name.ends_with(wanted)) {
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Sweeps through one command; "STORIES" in it is the file of them.
fn at_every_operation(name: &str, command: &str, outputs: &[&str]) {
    static RIG: OnceLock<Rig> = OnceLock::new();
    let rig = RIG.get_or_init(Rig::new);
    let arguments = command.replace("STORIES", text(&rig.tiny.stories())).replace("MIRROR", &rig.mirror.url);
    let arguments = arguments.split_whitespace().map(str::to_owned).collect();
    Sweep { rig, name: name.to_owned(), arguments, outputs }.run();
}

#[test]
fn data_check() {
    at_every_operation("data check", "data check STORIES", &[]);
}

#[test]
fn data_stats() {
    at_every_operation("data stats", "data stats STORIES", &[]);
}

#[test]
fn data_synthesize() {
    at_every_operation(
        "data synthesize",
        "data synthesize --lang en --pairs 2 --seed 0 --output made.json --force",
        &["made.json"],
    );
}

#[test]
fn data_reorder() {
    at_every_operation("data reorder", "data reorder --data STORIES --output made.json --force", &["made.json"]);
}

#[test]
fn score() {
    at_every_operation("score", "score predictions.jsonl --output saved.jsonl --force", &["saved.jsonl"]);
}

#[test]
fn eval() {
    at_every_operation("eval", "eval run --data STORIES --split train", &["run/eval", "run/README.md"]);
}

#[test]
fn predict() {
    at_every_operation("predict", "predict run story.txt", &[]);
}

#[test]
fn model_calibrate() {
    at_every_operation("model calibrate", "model calibrate run", &["run/best/decode.json"]);
}

#[test]
fn report_text() {
    at_every_operation("report text", "report text run --data STORIES --split train", &[]);
}

#[test]
fn model_export() {
    at_every_operation("model export", "model export run --output exported", &["exported"]);
}

#[test]
fn report_html() {
    at_every_operation("report html", "report html run --output page.html --force", &["page.html"]);
}

#[test]
fn train() {
    at_every_operation("train", "train --config tiny.toml --output new --resume", &["new/best", "new/last"]);
}

#[test]
fn model_fetch() {
    let outputs = ["hub/**/config.json", "hub/**/model.safetensors"];
    at_every_operation("model fetch", &format!("model fetch {MODEL}"), &outputs);
}

#[test]
fn data_fetch() {
    at_every_operation("data fetch", "data fetch trip --from MIRROR --output fetched", &["fetched/**/www.json"]);
}

#[test]
fn sweep() {
    at_every_operation("sweep", "sweep run sweep.toml --output sweep", &["sweep/**/best/model.safetensors"]);
}
