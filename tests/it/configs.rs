//! The configs that ship.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tiered::config::Config;
use tiered::loss::LossConfig;
use tiered::sweep::Sweep;

fn configs() -> BTreeMap<String, Config> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let named = files.iter().filter(|path| path.extension().is_some_and(|e| e == "toml"));
    named
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), Config::open(path, &[]).unwrap()))
        .collect()
}

#[test]
fn every_loss_configuration_of_the_paper_is_there_and_differs_in_nothing_else() {
    let runs = &sweeps()["paper-losses"].runs;
    let main = &configs()["paper-e5-small"];
    for (name, [preconditions, effects, conflicts, story]) in [
        ("all losses", [0.4, 0.4, 0.1, 0.1]),
        ("without story choice", [0.4, 0.4, 0.2, 0.]),
        ("without conflicts", [0.4, 0.4, 0., 0.2]),
        ("without states", [0., 0., 0.5, 0.5]),
    ] {
        let loss = LossConfig { preconditions, effects, conflicts, story, single_story: 0., ..main.loss };
        let run = runs.iter().find(|run| run.has("losses", name) && run.config.seed == main.seed).unwrap();
        assert_eq!(run.config, Config { loss, ..main.clone() }, "{name}");
    }
}

#[test]
fn every_config_opens_with_its_command_cost_and_score() {
    for name in configs().keys() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("configs/{name}.toml"));
        let text = std::fs::read_to_string(path).unwrap();
        let head: String = text.lines().take_while(|line| line.starts_with('#')).collect();
        for word in ["Command:", "Cost:", "Score:"] {
            assert!(head.contains(word), "{name} does not say its {word}");
        }
    }
}

/// Every sweep that ships, with all its runs.
fn sweeps() -> BTreeMap<String, Sweep> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Paths in a sweep are relative to where the command is run, which is here for tests.
    assert_eq!(std::env::current_dir().unwrap(), root);
    let files = std::fs::read_dir(root.join("configs/sweeps")).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), Sweep::open(&path, None).unwrap()))
        .collect()
}

fn docs() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/sweeps.md")).unwrap()
}

#[test]
fn every_sweep_resolves_all_the_runs_that_the_docs_list() {
    let (sweeps, docs) = (sweeps(), docs());
    let rows = docs.lines().filter(|line| line.starts_with("| `") && line.contains(".toml` | ")).count();
    assert_eq!(rows, sweeps.len(), "rows of docs/sweeps.md");
    for (name, sweep) in &sweeps {
        assert_eq!(sweep.file.name, *name);
        let runs = sweep.runs.len();
        let row = format!("\n| `{name}.toml` | {runs} | ");
        assert!(docs.contains(&row), "{name} has {runs} runs: its row of docs/sweeps.md");
        let text = std::fs::read_to_string(&sweep.path).unwrap();
        assert!(text.contains(&format!("# Runs:    {runs} ")), "{name}: its head");
    }
}

#[test]
fn sweeps_vary_what_they_say() {
    let sweeps = sweeps();
    let rates = |run: &tiered::sweep::SweepRun| run.config.train.learning_rate;
    for (losses, encoder, rate) in [
        ("all losses", "roberta-large", 1e-5),
        ("without conflicts", "bert-large", 1e-6),
        ("without states", "deberta-base", 5e-6),
    ] {
        let of = |run: &&tiered::sweep::SweepRun| run.has("losses", losses) && run.has("encoder", encoder);
        let found: Vec<f64> = sweeps["trip-table2"].runs.iter().filter(of).map(rates).collect();
        assert_eq!(found, [rate], "{losses}, {encoder}: as table 6 selected");
    }
    let losses = &sweeps["losses-e5-small"];
    assert!(losses.runs.iter().all(|run| run.config.train.epochs == losses.runs[0].config.train.epochs));
    let states_are_off =
        |run: &tiered::sweep::SweepRun| run.config.loss.preconditions == 0. && run.config.loss.effects == 0.;
    assert!(losses.runs.iter().all(|run| states_are_off(run) == run.has("losses", "without states")));
    // Every published row of a sweep is that of some run.
    for sweep in sweeps.values() {
        for published in &sweep.file.published {
            let is_of = |run: &tiered::sweep::SweepRun| published.row.iter().all(|(axis, value)| run.has(axis, value));
            assert!(sweep.runs.iter().any(is_of), "{published:?}");
        }
    }
}

#[test]
fn the_sweep_of_the_docs_resolves() {
    let docs = docs();
    let example = docs.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("rates.toml");
    std::fs::write(&path, example).unwrap();
    let sweep = Sweep::open(&path, None).unwrap();
    let rows: Vec<String> = sweep.rows().into_iter().map(|(name, _)| name).collect();
    assert_eq!(rows, ["joint / sentence", "joint / story", "paper / sentence"]);
    assert_eq!((sweep.runs.len(), sweep.file.published.len()), (9, 1));
}
