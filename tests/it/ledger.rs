//! The ledger of scorings.

use crate::support::{stderr, stdout, text};
use crate::tiny::Tiny;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A trained run, and the stories of its dev in a file that it has not seen.
struct Rig {
    tiny: Tiny,
    run: PathBuf,
    unseen: PathBuf,
    ledger: PathBuf,
}

impl Rig {
    fn new() -> Self {
        let tiny = Tiny::new();
        let run = tiny.trained("run", &["--set", "train.epochs=1"]);
        let unseen = tiny.path("unseen.json");
        std::fs::write(&unseen, std::fs::read_to_string(tiny.stories()).unwrap() + "\n").unwrap();
        let ledger = tiny.path("ledger.jsonl");
        Rig { tiny, run, unseen, ledger }
    }

    fn tiered(&self, ledger: &Path, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_tiered")).args(arguments).env("TIERED_LEDGER", ledger).output().unwrap()
    }

    fn eval(&self, data: &Path, more: &[&str]) {
        let arguments = ["eval", text(&self.run), "--data", text(data), "--split", "dev", "--format", "json"];
        let output = self.tiered(&self.ledger, &[&arguments, more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    }

    fn scorings(&self) -> Vec<Value> {
        lines(&self.run.join("scorings.jsonl"))
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn sha256(path: &Path) -> String {
    tiered::durable::FileDigest::of_file(path).unwrap().sha256
}

#[test]
fn every_scoring_of_unseen_pairs_is_noted_in_the_run_and_in_the_ledger() {
    let rig = Rig::new();
    rig.eval(&rig.tiny.stories(), &[]);
    assert_eq!(rig.scorings(), [] as [Value; 0], "the epoch was chosen on these pairs");
    rig.eval(&rig.unseen, &[]);
    rig.eval(&rig.unseen, &["--decode", "pair", "--output", text(&rig.tiny.path("elsewhere"))]);
    let scorings = rig.scorings();
    assert_eq!(lines(&rig.ledger), scorings);
    let [first, second] = scorings.as_slice() else { panic!("{scorings:?}") };
    assert_eq!(first["run"], json!(rig.run));
    assert_eq!(first["data"]["sha256"], json!(sha256(&rig.unseen)));
    assert_eq!((&first["data"]["split"], &first["data"]["pairs"]), (&json!("dev"), &json!(4)));
    assert_eq!(first["weights"], json!(sha256(&rig.run.join("best/model.safetensors"))));
    assert_eq!(first["config"], json!(sha256(&rig.run.join("config.toml"))));
    assert_eq!(first["epoch"], json!(1));
    let report: Value =
        serde_json::from_slice(&std::fs::read(rig.tiny.path("elsewhere/report.json")).unwrap()).unwrap();
    let scored = |rows: &Value| {
        let tiers = ["decoding", "states", "accuracy", "consistency", "verifiability"];
        rows.as_array().unwrap().iter().map(|row| tiers.map(|tier| row[tier].clone())).collect::<Vec<_>>()
    };
    assert_eq!(scored(&second["rows"]), scored(&report["rows"]));
    let time = first["time"].as_str().unwrap();
    assert!(time.len() >= 20 && time.starts_with("20") && time.ends_with('Z'), "{time}");
}

#[test]
fn a_scoring_of_pairs_beyond_the_kind_or_the_first_of_dev_is_noted() {
    let rig = Rig::new();
    let dev =
        format!("data.dev={{ file = '{}', split = 'dev', kind = 'cloze', pairs = 1 }}", rig.tiny.stories().display());
    let run = rig.tiny.trained("first", &["--set", "train.epochs=1", "--set", &dev]);
    let rig = Rig { run, ..rig };
    let eval = |kind: &str| rig.eval(&rig.tiny.stories(), &["--kind", kind, "--force"]);
    eval("order");
    let [order] = rig.scorings().try_into().unwrap();
    assert!(order["data"].get("seen").is_none() && order["data"].get("seen_in_part").is_none(), "{order}");
    eval("cloze");
    eval("all");
    for scoring in &rig.scorings()[1..] {
        let seen = (&scoring["data"]["seen"], &scoring["data"]["seen_in_part"]);
        assert_eq!(seen, (&json!("chosen_on"), &json!(true)), "the first of two pairs of its kind");
    }
    assert_eq!(lines(&rig.ledger), rig.scorings());
    let stories = rig.tiny.stories();
    let arguments = ["eval", text(&rig.run), "--data", text(&stories), "--split", "dev"];
    let said = stdout(&rig.tiered(&rig.ledger, &arguments));
    assert!(said.contains(", the epoch was chosen on this set in part"), "{said}");
    // A run that starts from it has seen as much.
    let from = format!("init_from={}", text(&rig.run));
    let other = format!("data.dev={{ file = '{}', split = 'dev' }}", rig.unseen.display());
    let run = rig.tiny.trained("second", &["--set", "train.epochs=1", "--set", &other, "--set", &from]);
    let rig = Rig { run, ..rig };
    rig.eval(&rig.tiny.stories(), &["--kind", "cloze"]);
    let [scoring] = rig.scorings().try_into().unwrap();
    assert_eq!(scoring["data"]["seen_in_part"], json!(true));
}

#[test]
fn a_sweep_notes_a_set_of_which_dev_is_a_part() {
    let rig = Rig::new();
    let (sweep, stories) = (rig.tiny.path("sweep.toml"), rig.tiny.stories());
    let toml = format!(
        "name = 's'\nbase = '{}'\nset = {{ train.epochs = 1, data.dev = {{ kind = 'cloze' }} }}\n\
         [[evaluate]]\nname = 'cloze'\nfile = '{stories}'\nsplit = 'dev'\nkind = 'cloze'\n\
         [[evaluate]]\nname = 'all'\nfile = '{stories}'\nsplit = 'dev'\n",
        rig.tiny.config().display(),
        stories = stories.display()
    );
    std::fs::write(&sweep, toml).unwrap();
    let output = rig.tiered(&rig.ledger, &["sweep", "run", text(&sweep), "--output", text(&rig.tiny.path("s"))]);
    assert!(output.status.success(), "{}", stderr(&output));
    let [all] = lines(&rig.ledger).try_into().unwrap();
    assert_eq!((&all["data"]["kind"], &all["data"]["seen_in_part"]), (&json!("all"), &json!(true)));
}

/// A report of pairs that were not evaluated yet is a scoring, and a report of saved predictions is none.
#[test]
fn a_report_that_evaluates_is_noted() {
    let rig = Rig::new();
    let report = ["report", "text", text(&rig.run), "--data", text(&rig.unseen), "--split", "dev", "--format=json"];
    let reported = |ledger: &Path| rig.tiered(ledger, &report);
    let output = reported(&rig.tiny.path("no-such-folder/ledger.jsonl"));
    assert!(output.status.code() == Some(73) && stdout(&output).is_empty(), "{}", stderr(&output));
    assert_eq!(rig.scorings(), [] as [Value; 0]);
    let output = reported(&rig.ledger);
    assert!(output.status.success(), "{}", stderr(&output));
    let [scoring] = &rig.scorings()[..] else { panic!("{:?}", rig.scorings()) };
    assert_eq!(lines(&rig.ledger), std::slice::from_ref(scoring));
    assert_eq!(scoring["data"]["sha256"], json!(sha256(&rig.unseen)));
    rig.eval(&rig.unseen, &[]);
    assert!(reported(&rig.ledger).status.success());
    assert_eq!(rig.scorings().len(), 2, "those of the first report and of eval");
    let stories = rig.tiny.stories();
    let seen = ["report", "text", text(&rig.run), "--data", text(&stories), "--split", "dev", "--format=json"];
    let seen: Value = serde_json::from_slice(&rig.tiered(&rig.ledger, &seen).stdout).unwrap();
    assert_eq!(seen["data"]["seen"], json!("chosen_on"));
}

#[test]
fn a_ledger_that_can_t_be_written_stops_the_evaluation_before_a_score_is_seen() {
    let rig = Rig::new();
    let nowhere = rig.tiny.path("no-such-folder/ledger.jsonl");
    let output = rig.tiered(&nowhere, &["eval", text(&rig.run), "--data", text(&rig.unseen), "--split", "dev"]);
    assert_eq!(output.status.code(), Some(73), "{}", stderr(&output));
    assert!(stderr(&output).contains("TIERED_LEDGER=") && stdout(&output).is_empty(), "{}", stderr(&output));
    assert_eq!(rig.scorings(), [] as [Value; 0]);
}

#[test]
fn a_sweep_notes_its_test_sets_too() {
    let rig = Rig::new();
    let sweep = rig.tiny.path("sweep.toml");
    let set = |name: &str, file: &Path| {
        format!("[[evaluate]]\nname = '{name}'\nfile = '{}'\nsplit = 'dev'\n", file.display())
    };
    let [dev, test] = [("dev", rig.tiny.stories()), ("test", rig.unseen.clone())].map(|(name, file)| set(name, &file));
    let base = rig.tiny.config();
    let toml =
        format!("name = 's'\nbase = '{}'\nseeds = [0, 1]\nset = {{ train.epochs = 1 }}\n{dev}{test}", base.display());
    std::fs::write(&sweep, toml).unwrap();
    let run = || rig.tiered(&rig.ledger, &["sweep", "run", text(&sweep), "--output", text(&rig.tiny.path("s"))]);
    assert!(run().status.success() && run().status.success(), "{}", stderr(&run()));
    let ledger = lines(&rig.ledger);
    assert_eq!(ledger.len(), 2, "one for each seed, none for dev, none for a second run that does nothing: {ledger:?}");
    assert!(ledger.iter().all(|line| line["data"]["sha256"] == json!(sha256(&rig.unseen))));
}
