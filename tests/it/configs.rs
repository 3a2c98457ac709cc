//! The configs that ship.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tiered::config::Config;
use tiered::loss::LossConfig;

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
    let configs = configs();
    let main = &configs["trip-e5-small"];
    for (name, [preconditions, effects, conflicts, story]) in [
        ("trip-e5-small-all-losses", [0.4, 0.4, 0.1, 0.1]),
        ("trip-e5-small-without-story", [0.4, 0.4, 0.2, 0.]),
        ("trip-e5-small-without-conflicts", [0.4, 0.4, 0., 0.2]),
        ("trip-e5-small-without-states", [0., 0., 0.5, 0.5]),
    ] {
        let loss = LossConfig { preconditions, effects, conflicts, story, alone: 0., ..main.loss };
        assert_eq!(configs[name], Config { loss, ..main.clone() }, "{name}");
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
