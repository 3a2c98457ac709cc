//! The configs that ship.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tiered::config::Config;
use tiered::loss::LossConfig;
use tiered::study::Study;

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
    let cells = &studies()["paper-losses"].cells;
    let main = &configs()["paper-e5-small"];
    for (name, [preconditions, effects, conflicts, story]) in [
        ("all losses", [0.4, 0.4, 0.1, 0.1]),
        ("without story choice", [0.4, 0.4, 0.2, 0.]),
        ("without conflicts", [0.4, 0.4, 0., 0.2]),
        ("without states", [0., 0., 0.5, 0.5]),
    ] {
        let loss = LossConfig { preconditions, effects, conflicts, story, alone: 0., ..main.loss };
        let cell = cells.iter().find(|cell| cell.has("losses", name) && cell.config.seed == main.seed).unwrap();
        assert_eq!(cell.config, Config { loss, ..main.clone() }, "{name}");
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

/// Every study that ships, with all its cells.
fn studies() -> BTreeMap<String, Study> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Paths in a study are relative to where the command is run, which is here for tests.
    assert_eq!(std::env::current_dir().unwrap(), root);
    let files = std::fs::read_dir(root.join("configs/studies")).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), Study::open(&path, None).unwrap()))
        .collect()
}

#[test]
fn every_study_resolves_all_its_cells() {
    let studies = studies();
    let cells: BTreeMap<&str, usize> = studies.iter().map(|(name, study)| (name.as_str(), study.cells.len())).collect();
    let expected = [
        ("gita-table4", 5),
        ("losses-e5-small", 24),
        ("made-stories", 24),
        ("paper-against-joint", 9),
        ("paper-inputs", 9),
        ("paper-losses", 12),
        ("paper-rates", 6),
        ("trip-table2", 12),
        ("trip-table6", 60),
        ("trip-tables7-8", 9),
    ];
    assert_eq!(cells, expected.into());
    for (name, study) in &studies {
        assert_eq!(study.file.name, *name);
        let text = std::fs::read_to_string(&study.path).unwrap();
        assert!(text.contains(&format!("# Cells:    {} ", study.cells.len())), "{name}: its head");
    }
}

#[test]
fn studies_vary_what_they_say() {
    let studies = studies();
    let rates = |cell: &tiered::study::Cell| cell.config.train.learning_rate;
    for (losses, encoder, rate) in [
        ("all losses", "roberta-large", 1e-5),
        ("without conflicts", "bert-large", 1e-6),
        ("without states", "deberta-base", 5e-6),
    ] {
        let of = |cell: &&tiered::study::Cell| cell.has("losses", losses) && cell.has("encoder", encoder);
        let found: Vec<f64> = studies["trip-table2"].cells.iter().filter(of).map(rates).collect();
        assert_eq!(found, [rate], "{losses}, {encoder}: as table 6 selected");
    }
    let losses = &studies["losses-e5-small"];
    assert!(losses.cells.iter().all(|cell| cell.config.train.epochs == losses.cells[0].config.train.epochs));
    let states_are_off =
        |cell: &tiered::study::Cell| cell.config.loss.preconditions == 0. && cell.config.loss.effects == 0.;
    assert!(losses.cells.iter().all(|cell| states_are_off(cell) == cell.has("losses", "without states")));
    // Every published row of a study is that of some cell.
    for study in studies.values() {
        for published in &study.file.published {
            let is_of = |cell: &tiered::study::Cell| published.row.iter().all(|(axis, value)| cell.has(axis, value));
            assert!(study.cells.iter().any(is_of), "{published:?}");
        }
    }
}

#[test]
fn the_study_of_the_docs_resolves() {
    let docs = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/studies.md")).unwrap();
    let example = docs.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("rates.toml");
    std::fs::write(&path, example).unwrap();
    let study = Study::open(&path, None).unwrap();
    let rows: Vec<String> = study.rows().into_iter().map(|(name, _)| name).collect();
    assert_eq!(rows, ["joint / sentence", "joint / story", "paper / sentence"]);
    assert_eq!((study.cells.len(), study.file.published.len()), (9, 1));
}
