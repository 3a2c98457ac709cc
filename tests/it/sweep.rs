//! Sweeps of tiny models: run, killed, stopped, shared, compared.

use crate::support::{send, stderr, stdout, text, tiered};
use crate::tiny::Tiny;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tiered::durable::Lock;
use tiered::experiment::{CheckpointKind, RunFolder, Trial};
use tiered::report::comparison::Comparison;
use tiered::sweep::{Sweep, SweepRun};

/// Two detectors by two seeds, evaluated on two sets.
struct Rig {
    tiny: Tiny,
    file: PathBuf,
}

impl Rig {
    fn new(more: &str) -> Self {
        let tiny = Tiny::new();
        let (base, stories) = (tiny.config(), tiny.stories());
        let sweep = format!(
            "name = 'tiny'\nbase = '{base}'\nseeds = [0, 1]\nset = {{ model.dropout = 0.1 }}\ndecode = ['threshold', 'pair']\n\
             [[axes]]\nname = 'detector'\nvalues = [{{ name = 'paper' }}, {{ name = 'joint', set.model.detector.kind = 'joint' }}]\n\
             [[evaluate]]\nname = 'dev'\nfile = '{stories}'\nsplit = 'dev'\n\
             [[evaluate]]\nname = 'seen'\nfile = '{stories}'\nsplit = 'train'\nkind = 'cloze'\n\
             [[published]]\nsystem = 'RoBERTa'\nset = 'dev'\nrow = {{ detector = 'paper' }}\nscores = [73.6, 22.4, 10.6]\n\
             {more}",
            base = base.display(),
            stories = stories.display(),
        );
        let file = tiny.path("tiny-sweep.toml");
        fs::write(&file, sweep).unwrap();
        Rig { tiny, file }
    }

    /// A set more, of a story file of its own.
    fn add_set(&self) -> PathBuf {
        let set = self.tiny.path("set.json");
        fs::copy(self.tiny.stories(), &set).unwrap();
        let sweep = fs::read_to_string(&self.file).unwrap();
        let evaluate = format!("\n[[evaluate]]\nname = 'own'\nfile = '{}'\nsplit = 'dev'\n", set.display());
        fs::write(&self.file, sweep + &evaluate).unwrap();
        set
    }

    fn command(&self, what: &str, out: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
        command.args(["sweep", what, text(&self.file), "--output", text(&self.tiny.path(out))]).args(more);
        command.env("OMP_NUM_THREADS", "1").stdin(Stdio::null());
        command
    }

    fn run(&self, what: &str, out: &str, more: &[&str]) -> Output {
        self.command(what, out, more).output().unwrap()
    }

    fn succeeds(&self, what: &str, out: &str, more: &[&str]) -> String {
        let output = self.run(what, out, more);
        assert!(output.status.success(), "{}\n{}", stdout(&output), stderr(&output));
        stdout(&output)
    }

    fn table(&self, out: &str) -> String {
        self.succeeds("table", out, &["--format=json"])
    }

    fn sweep(&self, out: &str) -> Sweep {
        Sweep::open(&self.file, Some(&self.tiny.path(out))).unwrap()
    }

    /// All predictions of a sweep, by folder and set.
    fn predictions(&self, out: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let of_run = |hash: &str| {
            ["dev", "seen"].map(|set| {
                let file = Path::new(hash).join("eval").join(set).join("predictions.jsonl");
                (file.clone(), fs::read(self.tiny.path(out).join(file)).unwrap())
            })
        };
        self.sweep(out).runs.iter().flat_map(|run| of_run(&run.hash)).collect()
    }
}

/// A finished sweep, which the tests only read.
fn shared() -> &'static Rig {
    static SHARED: OnceLock<Rig> = OnceLock::new();
    SHARED.get_or_init(|| {
        let rig = Rig::new("");
        let said = rig.succeeds("run", "done", &[]);
        assert!(said.contains("tiny: 4 runs done now, 0 done before"), "{said}");
        rig
    })
}

/// Runs the sweep until a file operation, and kills it there.
fn killed(rig: &Rig, out: &str, operation: u64) {
    let mut command = rig.command("run", out, &[]);
    command.env("TIERED_FAIL_POINT", format!("pause:{operation}")).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "paused"), "it has more than {operation} file operations to do");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// After which step each process that trained a run began.
fn starts(sweep: &Sweep) -> Vec<u64> {
    let of_run = |run| {
        let events = fs::read_to_string(sweep.run_folder(run).join("events.jsonl")).unwrap();
        let events: Vec<serde_json::Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        events.into_iter().filter(|event| event["event"] == "started").map(|event| event["step"].as_u64().unwrap())
    };
    sweep.runs.iter().flat_map(of_run).collect()
}

#[test]
fn a_sweep_killed_twice_ends_with_the_same_table() {
    let rig = shared();
    let failure = rig.tiny.path("killed/failed").join(format!("{}.json", rig.sweep("killed").runs[0].hash));
    fs::create_dir_all(failure.parent().unwrap()).unwrap();
    fs::write(&failure, r#"{"schema_version":1,"code":66,"message":"of an earlier attempt"}"#).unwrap();
    assert!(rig.succeeds("status", "killed", &[]).contains("of an earlier attempt"));
    killed(rig, "killed", 60);
    let status = rig.succeeds("status", "killed", &[]);
    assert!(status.contains("of 2 epochs") && !status.contains("of an earlier attempt"), "{status}");
    let missing = rig.succeeds("table", "killed", &[]);
    assert!(missing.contains("missing") && !missing.contains("0.0 ["), "{missing}");
    killed(rig, "killed", 160);
    let status = rig.succeeds("status", "killed", &[]);
    assert!(status.contains("done") && status.contains("waiting"), "{status}");
    let said = rig.succeeds("run", "killed", &[]);
    assert!(said.contains("was already done"), "{said}");
    let starts = starts(&rig.sweep("killed"));
    assert!(starts.len() > 4 && starts.iter().any(|&step| step > 0), "{starts:?}: none went on from a checkpoint");
    assert_eq!(rig.table("killed"), rig.table("done"));
    assert!(rig.predictions("killed") == rig.predictions("done"), "not one probability differs");
}

#[test]
fn a_full_disk_stops_the_sweep_and_it_goes_on_when_there_is_room() {
    let rig = shared();
    let mut command = rig.command("run", "full", &[]);
    let output = command.env("TIERED_FAIL_POINT", "errors:60").env("TIERED_RETRY_MS", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(75), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("task 1 (1 of 4)") && !said.contains("task 2 (2 of 4)"), "{said}");
    assert!(stderr(&output).contains("make room"), "{}", stderr(&output));
    let mut command = rig.command("run", "full", &["--jobs", "2"]);
    let output = command.env("TIERED_FAIL_POINT", "errors:60").env("TIERED_RETRY_MS", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(75), "{}", stderr(&output));
    let said = stderr(&output);
    let cause = said.lines().find(|line| line.contains("make room")).unwrap_or_default();
    assert!(cause.starts_with("  task ") && cause.matches("task").count() == 1, "{said}");
    rig.succeeds("run", "full", &[]);
    assert_eq!(rig.table("full"), rig.table("done"));
}

#[test]
fn what_is_done_is_not_done_again() {
    let rig = shared();
    let files = || {
        let sweep = rig.sweep("done");
        let weights =
            |run| sweep.run_folder(run).join("best/model.safetensors").metadata().unwrap().modified().unwrap();
        sweep.runs.iter().map(weights).collect::<Vec<_>>()
    };
    let before = files();
    let said = rig.succeeds("run", "done", &[]);
    assert!(said.contains("0 runs done now, 4 done before"), "{said}");
    assert_eq!(files(), before);
    let sweep = rig.sweep("done");
    let is_kept = |run| sweep.run_folder(run).join("checkpoints").exists();
    assert!(!sweep.runs.iter().any(is_kept), "nothing goes on from a run that is done");
    let status = rig.succeeds("status", "done", &[]);
    assert!(status.contains("4 of 4 runs are done"), "{status}");
    let index = fs::read_to_string(rig.tiny.path("done/index.md")).unwrap();
    let last = rig.sweep("done").runs.pop().unwrap();
    assert!(index.contains(&format!("| 4 | joint | 1 | [{0}]({0}) |", last.hash)), "{index}");
}

#[test]
fn scores_are_not_shown_beside_those_of_other_pairs() {
    let other = Tiny::new();
    let set = "[[evaluate]]\nname = 'beside'\nsplit = 'dev'\npublished = 'trip-dev'\n";
    let rig = Rig::new(&format!("{set}file = '{}'\n", other.stories().display()));
    let output = rig.command("run", "out", &["--task", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("--published trip-dev: scores are published for 322 or 173 pairs"),
        "{}",
        stderr(&output)
    );
    assert!(!stdout(&output).contains("epoch 1"), "refused before training: {}", stdout(&output));
}

#[test]
fn the_table_has_intervals_tests_and_published_rows() {
    let rig = shared();
    let comparison: Comparison = serde_json::from_str(&rig.table("done")).unwrap();
    let sets: Vec<&str> = comparison.sections.iter().map(|section| section.set.as_str()).collect();
    assert_eq!(sets, ["dev", "dev", "seen", "seen"], "by both decodings");
    let dev = &comparison.sections[0];
    assert_eq!(dev.size.map(|size| (size.pairs, size.groups)), Some((4, 2)));
    assert_eq!(dev.rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["paper", "joint"]);
    assert_eq!(dev.rows[0].seeds, [0, 1]);
    assert!(dev.rows[0].scores.is_some_and(|scores| scores.accuracy.sd.is_some()));
    assert!(dev.rows[0].published.as_ref().is_some_and(|row| row.consistency == 0.224));
    assert_eq!((dev.differences.len(), dev.differences[0].rows), (1, [1, 0]));
    assert!(comparison.tests <= 10, "of each set accuracy counts once: {}", comparison.tests);
    let one = rig.succeeds(
        "table",
        "done",
        &["--evaluation", "seen", "--decode", "pair", "--compare", "paper,2", "--format=markdown"],
    );
    assert!(one.contains("## seen: 4 pairs in 4 groups, decoded by pair, states argmax") && one.contains("| 1 - 2 |"));
    assert_eq!(one.matches("\n## ").count(), 0, "{one}");
    for (format, word) in [("--format=latex", "\\toprule"), ("--format=csv", "what,set,decoding")] {
        assert!(rig.succeeds("table", "done", &[format]).contains(word));
    }
    let twice =
        ["--evaluation", "seen", "--evaluation", "seen", "--compare", "1,2", "--compare", "2,1", "--format=json"];
    let twice: Comparison = serde_json::from_str(&rig.succeeds("table", "done", &twice)).unwrap();
    assert!(
        twice.sections.len() == 2 && twice.tests <= 5,
        "each decoding tested once, accuracy for both: {}",
        twice.tests
    );
    let said = stderr(&rig.run("table", "done", &[]));
    assert!(said.contains("warning: seen, the run was trained on this set: 4 runs"), "{said}");
    for wrong in [["--compare", "1,3"], ["--evaluation", "nowhere"]] {
        assert_eq!(rig.run("table", "done", &wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn shards_and_jobs_come_to_the_same() {
    let rig = shared();
    assert!(rig.succeeds("run", "shared", &["--shard", "2/2"]).contains("2 runs done now"));
    let said = rig.succeeds("run", "shared", &["--jobs", "2"]);
    assert!(said.contains("2 runs done now, 2 done before") && said.contains("2 at a time"), "{said}");
    assert_eq!(rig.table("shared"), rig.table("done"));
    let log = fs::read_to_string(rig.tiny.path("shared/logs/task-1.log")).unwrap();
    assert!(log.contains("evaluated on seen: 4 pairs"), "{log}");
}

/// What one config sets of this process must not be there for the next one.
#[test]
fn a_run_does_not_depend_on_those_before_it() {
    let rig = Rig::new("");
    let (base, stories) = (rig.tiny.path("tiny.toml"), rig.tiny.stories());
    let without_threads = fs::read_to_string(&base).unwrap().replace("threads = 1\n", "");
    fs::write(&base, without_threads).unwrap();
    let sweep = format!(
        "name = 'threads'\nbase = '{}'\nseeds = [0]\n[[axes]]\nname = 'threads'\n\
         values = [{{ name = 'one', set = {{ threads = 1, deterministic = true }} }}, {{ name = 'as it is' }}]\n\
         [[evaluate]]\nname = 'dev'\nfile = '{}'\nsplit = 'dev'\n",
        base.display(),
        stories.display()
    );
    fs::write(&rig.file, sweep).unwrap();
    let of_second = |out: &str, more: &[&str]| {
        let output = rig.command("run", out, more).env("OMP_NUM_THREADS", "2").output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let sweep = rig.sweep(out);
        fs::read(sweep.run_folder(&sweep.runs[1]).join("best/model.safetensors")).unwrap()
    };
    assert!(of_second("in-turn", &[]) == of_second("alone", &["--task", "2"]), "the first has left its threads");
}

#[test]
fn a_damaged_run_is_told_and_keeps_no_other_from_running() {
    let rig = Rig::new("");
    rig.succeeds("run", "damaged", &["--task", "1"]);
    let sweep = rig.sweep("damaged");
    let folder = sweep.run_folder(&sweep.runs[0]);
    fs::write(folder.join("sweep-run.json"), "{").unwrap();
    let output = rig.run("run", "damaged", &["--shard", "1/2", "--jobs", "2"]);
    assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
    assert!(stdout(&output).contains("1 run done now"), "{}", stdout(&output));
    let remedy = format!("remove the folder {} to train the run again", folder.display());
    assert!(stderr(&output).contains(&remedy), "{}", stderr(&output));
    let status = rig.succeeds("status", "damaged", &[]);
    assert!(status.contains("damaged, failed") && status.contains("1 of 4 runs are done"), "{status}");
    // A run without its model is not done either.
    let third = sweep.run_folder(&sweep.runs[2]).join("model.json");
    fs::remove_file(&third).unwrap();
    assert!(rig.succeeds("status", "damaged", &[]).contains("0 of 4 runs are done"));
    let output = rig.run("table", "damaged", &["--evaluation", "seen"]);
    assert!(stderr(&output).contains("to train the run again"), "{}", stderr(&output));
    fs::remove_dir_all(third.parent().unwrap()).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert!(
        rig.succeeds("run", "damaged", &["--shard", "1/2", "--jobs", "2"]).contains("2 runs done now, 0 done before")
    );
}

#[test]
fn what_an_interruption_left_of_checkpoints_is_removed() {
    let rig = Rig::new("");
    rig.succeeds("run", "left", &["--task", "1"]);
    let sweep = rig.sweep("left");
    let checkpoints = sweep.run_folder(&sweep.runs[0]).join("checkpoints");
    for jobs in ["1", "2"] {
        fs::create_dir_all(checkpoints.join("step-00000004")).unwrap();
        fs::write(checkpoints.join("stray"), "").unwrap();
        assert!(rig.succeeds("run", "left", &["--shard", "1/4", "--jobs", jobs]).contains("1 done before"));
        assert!(!checkpoints.exists(), "--jobs {jobs}");
    }
    // An empty folder is none: `tiered train --output` takes it too.
    fs::create_dir_all(sweep.run_folder(&sweep.runs[1])).unwrap();
    assert!(rig.succeeds("run", "left", &["--task", "2"]).contains("1 run done now"));
    let twice = rig.succeeds("table", "left", &["--decode", "pair", "--decode", "pair", "--format=json"]);
    assert_eq!(twice, rig.succeeds("table", "left", &["--decode", "pair", "--format=json"]));
}

#[test]
fn a_signal_saves_and_asks_to_be_run_again() {
    let rig = Rig::new("");
    for (out, jobs) in [("one", "1"), ("two", "2")] {
        let mut command = rig.command("run", out, &["--jobs", jobs]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        has_begun(&rig.sweep(out));
        send("TERM", &child);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(75), "{}\n{}", stdout(&output), stderr(&output));
        assert!(stderr(&output).contains("tiered sweep run"), "{}", stderr(&output));
    }
    rig.succeeds("run", "one", &["--task", "1"]);
    let again = rig.run("run", "one", &["--task", "1"]);
    assert!(again.status.success() && stdout(&again).contains("was already done"));
    assert_eq!(rig.run("run", "one", &["--task", "5"]).status.code(), Some(2));
}

/// Waits until the first run is being trained.
fn has_begun(sweep: &Sweep) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let begun = sweep.run_folder(&sweep.runs[0]).join("config.toml");
    while !begun.exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Who builds the program anew during a sweep replaces it.
#[cfg(target_os = "linux")]
#[test]
fn a_sweep_goes_on_when_its_program_is_gone() {
    let (rig, built) = (shared(), Path::new(env!("CARGO_BIN_EXE_tiered")).parent().unwrap());
    let folder = tempfile::TempDir::new_in(built).unwrap();
    for program in ["tiered", "tiered-torch"] {
        fs::hard_link(built.join(program), folder.path().join(program)).unwrap();
    }
    let usual = rig.command("run", "rebuilt", &["--jobs", "2"]);
    let mut command = Command::new(folder.path().join("tiered"));
    command.args(usual.get_args()).env("OMP_NUM_THREADS", "1").stdout(Stdio::piped()).stderr(Stdio::piped());
    let sweep = command.spawn().unwrap();
    has_begun(&rig.sweep("rebuilt"));
    folder.close().unwrap();
    let output = sweep.wait_with_output().unwrap();
    assert!(output.status.success(), "{}\n{}", stdout(&output), stderr(&output));
    assert_eq!(rig.table("rebuilt"), rig.table("done"));
}

/// A parent that is killed can tell its children nothing; the system does.
#[cfg(target_os = "linux")]
#[test]
fn the_runs_of_a_killed_parent_save_and_end() {
    let rig = shared();
    let mut command = rig.command("run", "orphaned", &["--jobs", "2"]);
    let mut parent = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    has_begun(&rig.sweep("orphaned"));
    parent.kill().unwrap();
    parent.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while rig.succeeds("status", "orphaned", &[]).contains("running") {
        assert!(Instant::now() < deadline, "a run works on without its parent");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!rig.succeeds("status", "orphaned", &[]).contains("4 of 4"), "the runs were too fast for this test");
    let sweep = rig.sweep("orphaned");
    let events = |run| fs::read_to_string(sweep.run_folder(run).join("events.jsonl")).unwrap_or_default();
    assert!(sweep.runs.iter().any(|run| events(run).contains("the run is saved")), "no run was saved");
    rig.succeeds("run", "orphaned", &["--jobs", "2"]);
    assert_eq!(rig.table("orphaned"), rig.table("done"));
}

/// Kills the process of a run in its training; false if that had ended already.
fn kills_run(rig: &Rig, out: &str, number: usize) -> bool {
    let mut command = rig.command("run", out, &["--jobs", "2"]);
    let parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let sweep = rig.sweep(out);
    let begun = sweep.run_folder(&sweep.runs[number - 1]).join("config.toml");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !begun.exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    let task = format!("--task {number} ");
    Command::new("pkill").args(["-KILL", "-P", &parent.id().to_string(), "-f", "--", &task]).status().unwrap();
    let output = parent.wait_with_output().unwrap();
    let said = stderr(&output);
    if output.status.success() {
        return false;
    }
    assert_eq!(output.status.code(), Some(69), "{said}");
    assert!(said.contains("1 of 4 runs failed") && said.contains("ended by signal 9"), "{said}");
    true
}

#[test]
fn a_run_that_is_killed_does_not_stop_the_others() {
    let rig = shared();
    for number in 1..=4 {
        let killed = (0..20).map(|trial| format!("killed-{number}-{trial}")).find(|out| kills_run(rig, out, number));
        let out = killed.expect("the runs are too fast for this test");
        assert!(rig.succeeds("status", &out, &[]).contains("3 of 4 runs are done"));
        rig.succeeds("run", &out, &["--jobs", "2"]);
        assert_eq!(rig.table(&out), rig.table("done"));
    }
}

#[test]
fn a_run_that_is_held_is_left() {
    let rig = Rig::new("");
    let run = rig.sweep("held").runs.remove(0);
    fs::create_dir_all(rig.tiny.path("held/locks")).unwrap();
    let lock = Lock::take(&rig.tiny.path("held/locks").join(&run.hash)).unwrap();
    let output = rig.run("run", "held", &["--task", "1"]);
    assert!(
        output.status.success() && stdout(&output).contains("another process is running it"),
        "{}",
        stderr(&output)
    );
    assert!(rig.succeeds("status", "held", &[]).contains("running"));
    drop(lock);
    assert!(rig.succeeds("status", "held", &[]).contains("waiting"));
}

#[test]
fn a_run_that_fails_does_not_stop_the_others() {
    let wrong = "[[axes]]\nname = 'encoder'\nvalues = [{ name = 'gone', set.encoder.path = 'no/such/encoder' }, { name = 'there' }]\n";
    let rig = Rig::new(wrong);
    for (jobs, flags) in [("1", " --shard 1/2\n"), ("2", " --shard 1/2 --jobs 2\n")] {
        let output = rig.run("run", "failing", &["--jobs", jobs, "--shard", "1/2"]);
        assert_eq!(output.status.code(), Some(66), "{}\n{}", stdout(&output), stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("2 of 4 runs failed") && said.contains("no/such/encoder"), "{said}");
        assert!(said.contains("to resume: tiered sweep run") && said.contains(flags), "{said}");
    }
    let said = stderr(&rig.run("run", "failing", &["--task", "1"]));
    assert!(said.contains("1 of 1 runs failed") && said.contains(" --task 1\n"), "{said}");
    if let Ok(full) = fs::File::options().write(true).open("/dev/full") {
        let output = rig.command("run", "failing", &["--task", "1"]).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(66), "what became of the run is told: {}", stderr(&output));
    }
    let status = rig.succeeds("status", "failing", &[]);
    assert!(status.contains("waiting, failed") && status.contains("2 of 8 runs are done"), "{status}");
    let table = rig.succeeds("table", "failing", &["--evaluation", "dev"]);
    assert!(table.contains("0 of 2") && table.contains("1 of 2"), "{table}");
}

#[test]
fn a_task_is_refused_if_its_number_may_be_that_of_another_run() {
    let rig = shared();
    let digest = rig.sweep("done").runs_digest().unwrap();
    let again = rig.run("run", "done", &["--task", "1", "--expect", &digest]);
    assert!(again.status.success() && stdout(&again).contains("was already done"), "{}", stderr(&again));
    let refused = rig.run("run", "done", &["--task", "1", "--expect", "0123456789ab"]);
    assert_eq!(refused.status.code(), Some(78), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("has changed since this task was submitted"), "{}", stderr(&refused));
    for target in ["slurm", "k8s", "shell"] {
        assert!(
            rig.succeeds("submit", "done", &["--scheduler", target]).contains(&format!("--expect {digest} --task"))
        );
    }
}

#[test]
fn job_arrays_run_every_run() {
    let rig = shared();
    let script = |target: &str, out: &str| {
        let file = rig.tiny.path(&format!("{target}.sh"));
        fs::write(&file, rig.succeeds("submit", out, &["--scheduler", target])).unwrap();
        file
    };
    for target in ["slurm", "shell"] {
        let script = script(target, "done");
        assert!(Command::new("sh").arg("-n").arg(&script).status().unwrap().success(), "{target}");
    }
    let loop_of_all = script("shell", "done");
    let output = Command::new("sh").arg(loop_of_all).env("TIERED", env!("CARGO_BIN_EXE_tiered")).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output).matches("was already done").count(), 4);
    let slurm = rig.succeeds("submit", "done", &["--scheduler", "slurm"]);
    assert!(slurm.contains("#SBATCH --array=1-4\n") && slurm.contains("scontrol requeue"));
    let k8s = rig.succeeds("submit", "done", &["--scheduler", "k8s"]);
    assert!(
        k8s.contains("completions: 4\n") && k8s.contains("values: [75]") && k8s.contains("JOB_COMPLETION_INDEX + 1")
    );
}

#[test]
fn a_script_names_no_path_that_is_not_utf_8() {
    let rig = shared();
    let beside = |name: &[u8]| rig.file.with_file_name(OsStr::from_bytes(name));
    let (file, out) = (beside(b"sweep-\xff.toml"), beside(b"out-\xff"));
    fs::copy(&rig.file, &file).unwrap();
    for (file, out) in [(&file, &beside(b"out")), (&rig.file, &out)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
        command.args(["sweep", "submit", "--scheduler", "shell"]).arg(file).arg("--output").arg(out);
        let output = command.output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(output.stdout.is_empty(), "{}", stdout(&output));
        assert!(said.contains("-\u{fffd}") && said.contains("is not UTF-8; rename it"), "{said}");
    }
}

#[test]
fn another_evaluation_set_is_evaluated_and_nothing_trained() {
    let rig = Rig::new("");
    rig.succeeds("run", "changed", &["--task", "1"]);
    let sweep = fs::read_to_string(&rig.file).unwrap();
    fs::write(&rig.file, sweep.replace("kind = 'cloze'", "kind = 'order'")).unwrap();
    assert!(rig.succeeds("status", "changed", &[]).contains("1 of 2 sets evaluated"));
    let said = rig.succeeds("run", "changed", &["--task", "1"]);
    assert!(said.contains("evaluated on seen") && !said.contains("epoch") && !said.contains("on dev"), "{said}");
    let sweep = rig.sweep("changed");
    let folder = RunFolder::open(&sweep.run_folder(&sweep.runs[0])).unwrap();
    let is_present = |set: &str| folder.predictions(set, CheckpointKind::Best).unwrap().is_some();
    assert!(["dev", "seen"].into_iter().all(is_present), "`compare` and pages take them");
}

#[test]
fn a_set_whose_file_has_changed_is_evaluated_anew() {
    let rig = Rig::new("");
    let set = rig.add_set();
    rig.succeeds("run", "anew", &["--shard", "1/4"]);
    for (change, jobs) in [(" ", "1"), ("  ", "2")] {
        fs::write(&set, fs::read_to_string(rig.tiny.stories()).unwrap() + change).unwrap();
        let status = rig.succeeds("status", "anew", &[]);
        assert!(status.contains("2 of 3 sets evaluated") && status.contains("0 of 4 runs are done"), "{status}");
        let said = rig.succeeds("run", "anew", &["--shard", "1/4", "--jobs", jobs]);
        assert!(said.contains("1 run done now"), "{said}");
    }
    let said = rig.succeeds("run", "anew", &["--shard", "1/4", "--jobs", "2"]);
    assert!(said.contains("1 done before"), "{said}");
}

#[test]
fn a_set_with_stories_that_cannot_be_used_is_told_once() {
    let rig = Rig::new("");
    let set = rig.add_set();
    let mut stories: Value = serde_json::from_str(&fs::read_to_string(&set).unwrap()).unwrap();
    let warning =
        format!("warning: {}: some stories can't be used and are left out; `tiered data check", set.display());
    // The second time it is trained already, and evaluated anew.
    for broken in [json!({}), json!([])] {
        stories["train"]["broken"] = broken;
        fs::write(&set, stories.to_string()).unwrap();
        let output = rig.run("run", "broken", &["--task", "1"]);
        assert!(output.status.success() && stdout(&output).contains("evaluated on own"), "{}", stderr(&output));
        assert_eq!(stderr(&output).matches(&warning).count(), 1, "{}", stderr(&output));
    }
}

#[test]
fn runs_that_were_evaluated_on_other_versions_of_a_set_have_no_table() {
    let rig = Rig::new("");
    let set = rig.add_set();
    rig.succeeds("run", "versions", &["--task", "1"]);
    fs::write(&set, fs::read_to_string(rig.tiny.stories()).unwrap() + " ").unwrap();
    rig.succeeds("run", "versions", &["--task", "2"]);
    let table = rig.run("table", "versions", &[]);
    assert_eq!(table.status.code(), Some(65), "{}", stderr(&table));
    let said = stderr(&table);
    let first = rig.sweep("versions").runs.remove(0).hash;
    assert!(
        said.contains(&first)
            && said.contains("than is there now")
            && said.contains("tiered sweep run")
            && said.contains("--output"),
        "{said}"
    );
    rig.succeeds("table", "versions", &["--evaluation", "dev"]);
    rig.succeeds("run", "versions", &["--task", "1"]);
    rig.table("versions");
    let now = fs::read(&set).unwrap();
    fs::write(&set, [&now[..], b" "].concat()).unwrap();
    let table = rig.run("table", "versions", &[]);
    assert_eq!(table.status.code(), Some(65), "the file is another one now: {}", stderr(&table));
    fs::write(&set, now).unwrap();
    // Where the file is not there, the table is, and the status says what it does not know.
    fs::remove_file(&set).unwrap();
    rig.table("versions");
    let status = rig.run("status", "versions", &[]);
    assert!(stdout(&status).contains("2 of 4 runs are done"), "{}", stdout(&status));
    assert!(stderr(&status).contains("as it is now is not known"), "{}", stderr(&status));
}

#[test]
fn published_scores_that_no_row_can_show_are_refused() {
    let of_dev =
        |row: &str, scores: &str| format!("[[published]]\nsystem = 'P'\nset = 'dev'\nrow = {row}\nscores = {scores}\n");
    let equal = of_dev("{}", "[1, 2, 3]").replace("'dev'", "'seen'").repeat(2);
    let axis = "[[axes]]\nname = 'rate'\nvalues = [{ name = 'low', set.train.learning_rate = 1e-4 }]\n";
    for (more, said) in [
        (of_dev("{}", "[1, 2, 101]"), "must be percentages, from 0 to 100"),
        (of_dev("{}", "[nan, 2, 3]"), "must be percentages, from 0 to 100"),
        (equal, "a row shows one only"),
        (
            axis.to_owned() + &of_dev("{ rate = 'low' }", "[1, 2, 3]"),
            "fit the row \"paper / low\" of set \"dev\" equally well",
        ),
    ] {
        let output = Rig::new(&more).run("status", "out", &[]);
        assert_eq!(output.status.code(), Some(78), "{more}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{more}: {}", stderr(&output));
    }
}

#[test]
fn damaged_predictions_are_told_with_the_folder_to_remove() {
    let rig = Rig::new("");
    rig.succeeds("run", "torn", &["--shard", "1/2"]);
    let sweep = rig.sweep("torn");
    let [first, other] = [0, 2].map(|run: usize| sweep.run_folder(&sweep.runs[run]).join("eval/dev"));
    let predictions = first.join("predictions.jsonl");
    let whole = fs::read_to_string(&predictions).unwrap();
    let refused = |code: i32, remedy: &str| {
        let table = rig.run("table", "torn", &[]);
        assert_eq!(table.status.code(), Some(code), "{}", stderr(&table));
        assert!(stderr(&table).contains(remedy), "{}", stderr(&table));
    };
    let remedy = format!("; remove {} and run the sweep again", first.display());
    fs::write(&predictions, &whole[..whole.len() - 9]).unwrap();
    refused(65, &remedy);
    fs::remove_file(&predictions).unwrap();
    refused(66, &remedy);
    let (fewer, _) = whole.trim_end().rsplit_once('\n').unwrap();
    fs::write(&predictions, fewer).unwrap();
    refused(65, &format!("{} and {} were evaluated on different pairs; remove", first.display(), other.display()));
    // The remedy is one.
    fs::remove_dir_all(&first).unwrap();
    let said = rig.succeeds("run", "torn", &["--task", "1"]);
    assert!(said.contains("evaluated on dev") && !said.contains("epoch"), "{said}");
    assert_eq!(fs::read_to_string(&predictions).unwrap(), whole);
    rig.table("torn");
}

#[test]
fn a_finished_run_that_was_trained_on_other_data_is_refused() {
    let rig = Rig::new("");
    // The sets are in a file of their own, which stays as it is.
    let (stories, sets) = (rig.tiny.stories(), rig.tiny.path("sets.json"));
    fs::copy(&stories, &sets).unwrap();
    let sweep = fs::read_to_string(&rig.file).unwrap();
    fs::write(&rig.file, sweep.replace(text(&stories), text(&sets))).unwrap();
    rig.succeeds("run", "data", &["--task", "1"]);
    let weights = rig.sweep("data").run_folder(&rig.sweep("data").runs[0]).join("best/model.safetensors");
    let trained = fs::read(&weights).unwrap();

    let before = fs::read_to_string(&stories).unwrap();
    fs::write(&stories, before.clone() + " ").unwrap();
    for jobs in ["1", "2"] {
        let refused = rig.run("run", "data", &["--shard", "1/4", "--jobs", jobs]);
        assert_eq!(refused.status.code(), Some(65), "{}", stderr(&refused));
        let said = stderr(&refused);
        assert!(said.contains("the file of data.train has changed") && said.contains(text(&stories)), "{said}");
        assert!(said.contains("restore it") && said.contains("--output"), "{said}");
    }
    assert!(rig.succeeds("status", "data", &[]).contains("trained on other files, failed"));
    assert_eq!(fs::read(&weights).unwrap(), trained);
    // A table of runs that were trained on different stories would mislead.
    rig.table("data");
    rig.succeeds("run", "data", &["--task", "2"]);
    let table = rig.run("table", "data", &[]);
    assert_eq!(table.status.code(), Some(65), "{}", stderr(&table));
    let said = stderr(&table);
    let second = rig.sweep("data").runs.remove(1).hash;
    assert!(said.contains(&second) && said.contains("another version") && said.contains(text(&stories)), "{said}");
    // Restored, or gone: the evaluation does not need it.
    fs::write(&stories, &before).unwrap();
    assert!(rig.succeeds("run", "data", &["--task", "1"]).contains("was already done"));
    fs::remove_file(&stories).unwrap();
    assert!(rig.succeeds("run", "data", &["--task", "1"]).contains("was already done"));
    fs::write(&stories, &before).unwrap();

    // Another file as dev, on which another epoch may be the best.
    fs::create_dir(rig.tiny.path("elsewhere")).unwrap();
    let other = rig.tiny.path("elsewhere/stories.json");
    fs::write(&other, before + " ").unwrap();
    let base = fs::read_to_string(rig.tiny.path("tiny.toml")).unwrap();
    let dev = |file: &Path| format!("dev = {{ file = '{}'", file.display());
    fs::write(rig.tiny.path("tiny.toml"), base.replace(&dev(&stories), &dev(&other))).unwrap();
    let refused = rig.run("run", "data", &["--task", "1"]);
    assert!(stderr(&refused).contains("the file of data.dev has changed"), "{}", stderr(&refused));
    fs::write(rig.tiny.path("tiny.toml"), base).unwrap();

    // Another config or tokenizer of the encoder.
    for (name, what) in [("config.json", "the config.json"), ("tokenizer.json", "the tokenizer")] {
        let file = rig.tiny.encoder().join(name);
        let before = fs::read_to_string(&file).unwrap();
        fs::write(&file, before.clone() + " ").unwrap();
        let refused = rig.run("run", "data", &["--task", "1"]);
        assert_eq!(refused.status.code(), Some(65), "{}", stderr(&refused));
        let problem = format!("{what} of encoder.path has changed");
        assert!(stderr(&refused).contains(&problem), "{}", stderr(&refused));
        fs::write(&file, before).unwrap();
    }

    // Other weights to begin with.
    let pretrained = rig.tiny.encoder().join("model.safetensors");
    let mut bytes = fs::read(&pretrained).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&pretrained, bytes).unwrap();
    let refused = rig.run("run", "data", &["--task", "1"]);
    assert_eq!(refused.status.code(), Some(65), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("the file of weights of encoder.path has changed"), "{}", stderr(&refused));
}

#[test]
fn a_dry_run_lists_the_runs_and_writes_nothing() {
    let rig = shared();
    let said = rig.succeeds("run", "nothing", &["--dry-run"]);
    assert!(said.contains("paper / seed 0") && said.contains("dry run: 4 runs"), "{said}");
    assert!(!rig.tiny.path("nothing").exists());
}

#[test]
fn a_dry_run_reads_the_sets() {
    let rig = Rig::new("");
    let sweep = fs::read_to_string(&rig.file).unwrap();
    for (from, to, code, said) in [
        ("split = 'dev'", "split = 'devel'", 65, "devel"),
        (text(&rig.tiny.stories()), "no/such/stories.json", 66, "no/such/stories.json"),
        ("model.dropout = 0.1", "model.dropout = 0.1, model.max_sentences = 2", 65, "the model reads at most 2"),
    ] {
        fs::write(&rig.file, sweep.replace(from, to)).unwrap();
        let output = rig.run("run", "nothing", &["--dry-run"]);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
        assert!(!rig.tiny.path("nothing").exists());
    }
}

#[test]
fn stories_that_are_longer_than_those_of_the_training_are_told_before_it() {
    let rig = Rig::new(&format!(
        "[[evaluate]]\nname = 'longer'\nfile = '{}/data/sample/en.json'\nsplit = 'train'\n",
        env!("CARGO_MANIFEST_DIR")
    ));
    let output = rig.run("run", "longer", &["--task", "1"]);
    assert!(!output.status.success());
    let said = stderr(&output);
    assert!(said.contains("en.json: story") && said.contains("sentences, but the model reads at most 5"), "{said}");
    let sweep = rig.sweep("longer");
    assert!(!rig.tiny.path("longer").join(&sweep.runs[0].hash).join("metrics.csv").exists());
}

#[test]
fn cross_validation_scores_every_pair_once_by_a_run_that_has_not_seen_it() {
    let tiny = Tiny::new();
    let mut stories: Value = serde_json::from_str(&fs::read_to_string(tiny.stories()).unwrap()).unwrap();
    // Ids that train does not have: group 0 becomes 70.
    let dev = stories["dev"].as_object_mut().unwrap();
    let renamed = std::mem::take(dev).into_iter().map(|(id, mut story)| {
        story["story_id"] = json!(70 + story["story_id"].as_i64().unwrap());
        story["example_id"] = json!(format!("7{id}"));
        (format!("7{id}"), story)
    });
    *dev = renamed.collect();
    fs::write(tiny.stories(), stories.to_string()).unwrap();
    let (base, data) = (tiny.config(), tiny.stories());
    let sweep = format!(
        "name = 'folds'\nbase = '{}'\nseeds = [0, 1]\nfolds = 2\nset = {{ train.epochs = 1 }}\n\
         [[evaluate]]\nname = 'all'\nfile = '{}'\nsplit = ['train', 'dev']\n",
        base.display(),
        data.display()
    );
    let file = tiny.path("folds.toml");
    fs::write(&file, sweep).unwrap();
    let rig = Rig { tiny, file };
    let said = rig.succeeds("run", "out", &[]);
    assert!(said.contains("folds: 4 runs done now"), "{said}");
    let output = rig.run("table", "out", &["--states", "calibrated"]);
    assert!(output.status.code() == Some(65) && stderr(&output).contains("--states argmax"), "{}", stderr(&output));

    let sweep = rig.sweep("out");
    let pairs = |run: &SweepRun| {
        let file = sweep.run_folder(run).join("eval/all/predictions.jsonl");
        tiered::prediction::read_predictions(&file).unwrap().pairs
    };
    for seed in sweep.runs.chunks(2) {
        let mut ids: Vec<String> = Vec::new();
        for run in seed {
            let fold = run.fold.unwrap();
            let pairs = pairs(run);
            assert!(!pairs.is_empty() && pairs.iter().all(|pair| fold.contains(pair.group)), "{}", run.name());
            let report: Value =
                serde_json::from_slice(&fs::read(sweep.run_folder(run).join("eval/all/report.json")).unwrap()).unwrap();
            assert_eq!((&report["data"]["seen"], &report["data"]["split"]), (&json!("held_out"), &json!("train+dev")));
            assert!(!sweep.run_folder(run).join("scorings.jsonl").exists(), "this is no scoring of a test set");
            let trained = Trial::prepare(run.config.clone(), None).unwrap().train;
            let trained: Vec<&String> = trained.corpus.pairs.iter().map(|pair| &pair.id).collect();
            assert_eq!(trained.len() + pairs.len(), 12, "the other pairs of both splits");
            assert!(pairs.iter().all(|pair| !trained.contains(&&pair.id)));
            ids.extend(pairs.into_iter().map(|pair| pair.id));
        }
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 12);
    }
    let table: Comparison = serde_json::from_str(&rig.table("out")).unwrap();
    let [section] = table.sections.as_slice() else { panic!("{} sections", table.sections.len()) };
    assert_eq!(section.size.as_ref().unwrap().pairs, 12);
    // A first stage that was trained on the pairs would make them anything but held out.
    let first = rig.tiny.trained("first", &["--set", "train.epochs=1"]);
    let folds = fs::read_to_string(&rig.file).unwrap();
    let second = folds.replace("train.epochs = 1", &format!("train.epochs = 1, init_from = '{}'", first.display()));
    fs::write(&rig.file, second).unwrap();
    let refused = rig.run("run", "second", &["--task", "1"]);
    assert_eq!(refused.status.code(), Some(78), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("has been trained or chosen on pairs of"), "{}", stderr(&refused));
    // Nor may it have made the encoder.
    let export = rig.tiny.path("exported");
    let exported = tiered(["model", "export", text(&first), "--output", text(&export)]);
    assert!(exported.status.success(), "{}", stderr(&exported));
    let third = folds.replace("train.epochs = 1", &format!("train.epochs = 1, encoder.path = '{}'", export.display()));
    fs::write(&rig.file, third).unwrap();
    let refused = rig.run("run", "third", &["--task", "1"]);
    assert_eq!(refused.status.code(), Some(78), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("encoder.path = ") && stderr(&refused).contains("would not be held out"));
    fs::write(&rig.file, folds).unwrap();
    // A seed without one of its folds has no result.
    fs::remove_dir_all(sweep.run_folder(&sweep.runs[3])).unwrap();
    assert!(rig.succeeds("table", "out", &[]).contains("1 of 2"));
}
