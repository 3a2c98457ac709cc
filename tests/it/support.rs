//! What the tests share: the real data, small stories, random predictions, and the program itself.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::Mutex;
use tempfile::TempDir;
use tiered::attribute::{ATTRIBUTES, Attribute};
use tiered::data::{StoryFile, StoryIndex, pairs, read_file};
use tiered::prediction::{
    EntityGold, EntityPrediction, LabelledPair, PairGold, PairPrediction, PredictedStates, StateCandidate, StoryGold,
    StoryPrediction,
};

/// Beginnings of the SHA-256 of the files whose exact counts are tested.
const KNOWN: [(&str, &str); 13] = [
    ("data/trip/www.json", "1b0a6865d566f75a"),
    ("data/gita/GITA_test.json", "00b7659cfb25cd69"),
    ("data/gita/published/cloze.json", "de4af7bcac4bb6ab"),
    ("data/gita/published/order.json", "4e5aa8b018128eb4"),
    ("data/gita4calamita/GITA4CALAMITA.jsonl", "3aafc2af31c4e419"),
    ("data/gita4calamita/gemma-2-27b/metrics.txt", "02b6fcbded79565f"),
    ("data/gita4calamita/gemma-2-27b/results_2024-09-11T10-07-25.913273.json", "7544d87d3422633b"),
    ("data/gita4calamita/gemma-2-27b/results_2024-09-11T10-07-26.073185.json", "19b00cab646b0dae"),
    ("data/gita4calamita/gemma-2-27b/results_2024-09-11T10-07-26.108823.json", "16f4186b14b52671"),
    ("data/gita4calamita/gemma-2-27b/samples_conflict_detec_2024-09-11T10-07-26.073185.jsonl", "df10f9ba231d082f"),
    ("data/gita4calamita/gemma-2-27b/samples_physical_state_2024-09-11T10-07-26.108823.jsonl", "5e65c1cf31bf0c70"),
    ("data/gita4calamita/gemma-2-27b/samples_story_class_2024-09-11T10-07-25.913273.jsonl", "d08208b01b76a6fd"),
    ("fixtures/e5-small-reference.jsonl", "68364226bab0eab5"),
];

/// Notes that this test, or a part of it, is skipped. `make test` lists these notes when all tests have run; in CI it
/// fails if a reason isn't in tests/allowed-skips.txt.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let line = format!("{}: {why}\n", thread.name().unwrap_or("a thread"));
    print!("skipped: {line}");
    if let Some(file) = std::env::var_os("TIERED_SKIPS") {
        let file = OpenOptions::new().create(true).append(true).open(file);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the file of TIERED_SKIPS can be written");
    }
}

/// A file of the real data, by its path below `TIERED_DATA`; `None`, with a line saying so, where it is not at hand
/// or is another version.
pub fn real_data(file: &str) -> Option<PathBuf> {
    let skipped = |why: &str| skipped(&format!("{file} is needed, and {why}"));
    let Some(directory) = std::env::var_os("TIERED_DATA") else {
        skipped("TIERED_DATA is not set");
        return None;
    };
    let path = PathBuf::from(directory).join(file);
    let Ok(bytes) = std::fs::read(&path) else {
        skipped(&format!("{} can't be read", path.display()));
        return None;
    };
    let (_, expected) = KNOWN.iter().find(|(name, _)| *name == file).expect("a file with a known hash");
    let found: String = Sha256::digest(&bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    if found != *expected {
        skipped(&format!("{} is another version", path.display()));
        return None;
    }
    Some(path)
}

/// A fixture of the repository.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A clean file: plausible story "1" with its cloze story "1-C0" and its order story "1-O0".
pub fn clean_file() -> Value {
    let row = |open: u8| json!({"h_location": [["Ada", 0]], "open": [["chest", open]], "exist": [["chest", 2]]});
    let story = |id: &str, kind: Value, sentences: [&str; 3], opens: [u8; 3], breakpoint: i64| {
        json!({
            "story_id": 1, "example_id": id, "type": kind, "actor": "Ada", "location": "attic",
            "sentences": sentences, "length": 3, "plausible": breakpoint < 0, "breakpoint": breakpoint,
            "confl_sents": if breakpoint < 0 { json!([]) } else { json!([0]) },
            "confl_pairs": if breakpoint < 0 { json!([]) } else { json!([[0, breakpoint]]) },
            "states": opens.map(row),
        })
    };
    let [opens, looks, shuts] = ["Ada opened the chest.", "Ada looked into the chest.", "Ada shut the chest."];
    json!({"test": {
        "1": story("1", Value::Null, [opens, looks, shuts], [4, 2, 3], -1),
        "1-C0": story("1-C0", json!("cloze"), ["Ada locked the chest.", looks, shuts], [1, 2, 3], 1),
        "1-O0": story("1-O0", json!("order"), [shuts, looks, opens], [3, 2, 4], 1),
    }})
}

/// Writes `text` to a file and reads it as stories; piece by piece, it must be the same.
pub fn read_text(text: &str) -> tiered::error::Result<StoryFile> {
    let directory = TempDir::new().unwrap();
    let path = write(&directory, "stories.json", text);
    let read = read_file(&path);
    assert_streams_alike(&path, &read);
    read
}

/// Each split has the same pairs whether the file is read into memory or piece by piece, or the same error.
pub fn assert_streams_alike(path: &Path, read: &tiered::error::Result<StoryFile>) {
    let splits = read.as_ref().map_or(Vec::new(), |file| file.splits.iter().map(|(name, _)| name.as_str()).collect());
    for split in splits.into_iter().chain(["no such split"]) {
        let whole = || {
            let file = read_file(path)?;
            file.require_clean()?;
            Ok(pairs(file.split(split)?, 3))
        };
        match (whole(), StoryIndex::open(path, split)) {
            (Ok(whole), Ok(index)) => {
                assert_eq!(index.len(), whole.len(), "{split}");
                for (number, pair) in whole.iter().enumerate().rev() {
                    assert_eq!(index.pair(number, 3).unwrap(), *pair);
                    assert_eq!(index.group(number), pair.group);
                }
                let stories = whole.iter().flat_map(|pair| &pair.stories).map(|story| story.sentences.len());
                assert_eq!(index.longest(), stories.max().unwrap_or(0));
                let without = whole.iter().find(|pair| !pair.has_states()).map(|pair| pair.id.as_str());
                assert_eq!(index.without_states(), without);
            }
            (whole, index) => {
                let (whole, index): (tiered::error::Result<()>, _) = (whole.map(drop), index.map(drop));
                assert_eq!(format!("{whole:?}"), format!("{index:?}"), "{split}");
            }
        }
    }
}

/// A folder that is removed when the tests end, at the latest: what a static has is never dropped.
pub fn temporary() -> TempDir {
    static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    extern "C" fn remove() {
        for folder in FOLDERS.lock().unwrap().drain(..) {
            let _ = std::fs::remove_dir_all(folder); // those of finished tests are gone
        }
    }
    let directory = TempDir::new().unwrap();
    let mut folders = FOLDERS.lock().unwrap();
    if folders.is_empty() {
        // SAFETY: the function takes nothing and returns.
        assert_eq!(unsafe { libc::atexit(remove) }, 0);
    }
    folders.push(directory.path().to_owned());
    directory
}

/// A file of that name in the directory.
pub fn write(directory: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = directory.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// All files below a folder. Symbolic links are left out.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => files.extend(files_below(&entry.path())),
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    files
}

/// The Rust files of `src/`.
pub fn source_files() -> Vec<PathBuf> {
    let mut files = files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    files.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files
}

/// Copies a folder with all that is in it, to where nothing is.
pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &to);
        } else {
            std::fs::copy(path, to).unwrap();
        }
    }
}

/// Runs the program.
pub fn tiered<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tiered")).args(arguments).output().unwrap()
}

/// The program with a variable set.
pub fn tiered_with<'a>(variable: &str, value: &str, arguments: impl IntoIterator<Item = &'a str>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tiered")).args(arguments).env(variable, value).output().unwrap()
}

/// What a program in Python prints as JSON; `None`, with a line saying so, where .venv or a package is not there.
pub fn python(program: &str, arguments: &[&Path]) -> Option<Value> {
    let interpreter = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/bin/python");
    let mut command = Command::new(&interpreter);
    let output = command.args(["-c", program]).args(arguments).output();
    match output {
        Ok(output) if output.status.success() => Some(serde_json::from_slice(&output.stdout).unwrap()),
        Ok(output) if stderr(&output).contains("ModuleNotFoundError") => {
            println!("{}", stderr(&output).lines().last().unwrap_or_default());
            skipped("a package of make readers is needed");
            None
        }
        Ok(output) => panic!("{}", stderr(&output)),
        Err(_) => {
            skipped(".venv is needed (make readers)");
            None
        }
    }
}

/// The interpreter of `scripts/make-venv.sh`; `None`, with a line saying so, where there is none.
pub fn venv() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/bin/python");
    // `make readers` makes a .venv without these.
    let all = "import sys; from importlib.util import find_spec as find; \
               sys.exit(not all(map(find, ['torch', 'transformers', 'safetensors'])))";
    if !Command::new(&python).args(["-c", all]).status().is_ok_and(|status| status.success()) {
        skipped(".venv is needed (make venv)");
        return None;
    }
    Some(python)
}

/// Sends a signal to a process: "TERM".
pub fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
}

/// How a program ended, and what it said of it.
pub fn said(output: &Output) -> String {
    format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr))
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

pub fn rng(seed: u64) -> ChaCha12Rng {
    ChaCha12Rng::seed_from_u64(seed)
}

/// A prediction in which every tier is reached now and then.
pub fn random_prediction(rng: &mut ChaCha12Rng, number: usize) -> LabelledPair {
    let sentences = rng.random_range(2..6);
    let breakpoint = rng.random_range(1..sentences);
    let conflict = [rng.random_range(0..breakpoint), breakpoint];
    let plausible = rng.random_range(0..2);
    let [(gold_a, a), (gold_b, b)] = [0, 1].map(|_| random_story(rng, sentences));
    let chosen = if rng.random_bool(0.7) { plausible } else { 1 - plausible };
    let prediction = PairPrediction {
        plausible: chosen,
        story_probs: [0, 1].map(|story| if story == chosen { 0.75 } else { 0.25 }),
        conflict: if rng.random_bool(0.6) { conflict.to_vec() } else { (0..rng.random_range(0..sentences)).collect() },
        stories: [a, b],
    };
    LabelledPair {
        id: format!("{number}-C0"),
        group: number as i64,
        kind: "cloze".into(),
        gold: PairGold { plausible, conflict, stories: [gold_a, gold_b] },
        prediction,
    }
}

fn random_story(rng: &mut ChaCha12Rng, sentences: usize) -> (StoryGold, StoryPrediction) {
    let entities = rng.random_range(1..4);
    let entity = |i| {
        let conflict_probs = (0..sentences).map(|_| rng.random()).collect();
        let conflicts = (0..sentences).map(|_| rng.random_range(0..2)).collect();
        let (before, preconditions) = random_states(rng, sentences);
        let (after, effects) = random_states(rng, sentences);
        let name = format!("entity {i}");
        let gold = EntityGold { conflicts, preconditions: before, effects: after };
        (gold, EntityPrediction { name, conflict_probs, preconditions, effects })
    };
    let (gold, entities) = (0..entities).map(entity).unzip();
    let sentences = vec!["A sentence.".into(); sentences];
    (StoryGold { entities: gold }, StoryPrediction::without_sentence_pairs("story", sentences, entities))
}

/// Mostly zeros, and predictions that mostly equal the gold.
fn random_states(rng: &mut ChaCha12Rng, sentences: usize) -> (Vec<[u8; ATTRIBUTES]>, PredictedStates) {
    let gold: Vec<[u8; ATTRIBUTES]> = (0..sentences).map(|_| random_classes(rng)).collect();
    let classes: Vec<_> =
        gold.iter().map(|gold| if rng.random_bool(0.8) { *gold } else { random_classes(rng) }).collect();
    let candidates = random_candidates(rng, &classes);
    (gold, PredictedStates { classes, candidates })
}

/// A probability for every nontrivial prediction.
fn random_candidates(rng: &mut ChaCha12Rng, predicted: &[[u8; ATTRIBUTES]]) -> Vec<StateCandidate> {
    let mut candidates = Vec::new();
    for (sentence, classes) in predicted.iter().enumerate() {
        for attribute in Attribute::ALL.into_iter().filter(|a| a.is_nontrivial(classes[a.index()])) {
            let (class, probability) = (classes[attribute.index()], rng.random_range(0.3..1.));
            candidates.push(StateCandidate { sentence, attribute, class, probability, otherwise: 0 });
        }
    }
    candidates
}

fn random_classes(rng: &mut ChaCha12Rng) -> [u8; ATTRIBUTES] {
    Attribute::ALL.map(|a| if rng.random_bool(0.1) { rng.random_range(0..a.classes() as u8) } else { 0 })
}

/// The interpreter of the scripts.
pub fn interpreter() -> String {
    let found = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let found = found.expect("python3 is installed, as the Makefile needs it");
    String::from_utf8(found.stdout).unwrap().trim().to_owned()
}
