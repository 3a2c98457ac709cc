//! Training on pairs that are not in memory: synthetic stories, and story files that are read piece by piece.

use crate::support::{assert_streams_alike, stderr, stdout, text, tiered};
use crate::test_device::devices;
use crate::tiny::Tiny;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tiered::checkpoint::{MANIFEST, Manifest};
use tiered::config::Config;
use tiered::data::{Pair, StoryIndex, pairs, read_bytes, read_file};
use tiered::error::ErrorKind;
use tiered::experiment::Trial;
use tiered::language::Language;
use tiered::synthetic::{Kinds, Order, Style, World, make_stories};
use tiered::train::{Halt, PairStream, Training};

/// Six synthetic pairs in each epoch.
const MADE: &str = "data.train={synthetic={lang='en',pairs_per_epoch=6,seed=4}}";

/// Two kinds of streams and a file in memory.
fn mixed(tiny: &Tiny) -> String {
    let file = tiny.stories().display().to_string();
    format!(
        "data.train=[{{synthetic={{lang='it',pairs_per_epoch=3}},first_epoch=2}},{{file='{file}',split='train',streaming=true,\
         weight=0.5}},{{file='{file}',split='dev',kind='cloze'}}]"
    )
}

fn stream(config: &Path, set: &[&str]) -> (Trial, std::sync::Arc<dyn PairStream>) {
    let sets: Vec<String> = set.iter().map(|set| set.to_string()).collect();
    let trial = Trial::prepare(Config::open(config, &sets).unwrap(), None).unwrap();
    let pairs = trial.train.stream.as_ref().unwrap().pairs.clone();
    (trial, pairs)
}

/// The pairs of the file that `tiered data synthesize` writes.
fn synthesized(language: Language, style: Style, kinds: Kinds, count: usize, seed: u64) -> Vec<Pair> {
    let order = Order { language, style, pairs: count, seed, kinds, split: "train".to_owned() };
    let mut bytes = Vec::new();
    make_stories(&World::load().unwrap(), &order, &mut bytes).unwrap();
    pairs(read_bytes("made.json".as_ref(), &bytes).unwrap().split("train").unwrap(), 1)
}

#[test]
fn stories_are_those_that_the_generator_writes_and_each_epoch_has_the_next_ones() {
    let tiny = Tiny::new();
    for (source, written) in [
        ("lang='en',seed=4", synthesized(Language::English, Style::Trip, Kinds::Both, 24, 4)),
        ("lang='en',style='gita'", synthesized(Language::English, Style::Gita, Kinds::Both, 24, 0)),
        ("lang='it',seed=9", synthesized(Language::Italian, Style::Gita, Kinds::Both, 24, 9)),
    ] {
        let (_, stream) =
            stream(&tiny.config(), &[&format!("data.train={{synthetic={{{source},pairs_per_epoch=8}}}}")]);
        for epoch in [3, 1, 2] {
            let made = stream.corpus(epoch, &[0, 1, 2, 3, 4, 5, 6, 7]).unwrap().pairs;
            assert!(made == written[(epoch as usize - 1) * 8..][..8], "{source}, epoch {epoch}");
        }
        assert!(stream.corpus(2, &[5]).unwrap().pairs == written[13..14], "{source}: one alone");
        assert!(stream.corpus(1, &[7, 0, 7]).unwrap().pairs.iter().eq([&written[7], &written[0], &written[7]]));
        let groups = (0..8).map(|pair| stream.group(2, pair));
        assert!(groups.eq(written[8..16].iter().map(|pair| pair.group)), "{source}");
    }
}

#[test]
fn a_kind_makes_only_stories_of_this_kind() {
    let tiny = Tiny::new();
    let set = "data.train={synthetic={lang='en',pairs_per_epoch=5},kind='order'}";
    let (trial, stream) = stream(&tiny.config(), &[set]);
    let written = synthesized(Language::English, Style::Trip, Kinds::Order, 10, 0);
    assert!(stream.corpus(2, &[0, 1, 2, 3, 4]).unwrap().pairs == written[5..]);
    assert!(trial.train.corpus.pairs == written[..5], "the first pairs stand for all");
    assert_eq!(trial.model_config.max_sentences, World::load().unwrap().longest_story().max(5));
}

#[test]
fn a_file_gives_the_same_pairs_whether_it_is_in_memory_or_not() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample");
    for name in ["en.json", "en-dev.json", "it.json"] {
        let path = root.join(name);
        assert_streams_alike(&path, &read_file(&path));
        // With other white space, a byte order mark and lines of Windows, stories are at other places.
        let folder = tempfile::TempDir::new().unwrap();
        let value: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let text = format!("\u{feff}  {}\n", serde_json::to_string_pretty(&value).unwrap().replace('\n', "\r\n"));
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let read = read_file(&path);
        assert!(!StoryIndex::open(&path, &read.as_ref().unwrap().splits[0].0).unwrap().is_empty());
        assert_streams_alike(&path, &read);
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_an_error() {
    let tiny = Tiny::new();
    let index = StoryIndex::open(&tiny.stories(), "train").unwrap();
    let before = index.pair(3, 0).unwrap();
    assert_eq!(index.pair(3, 0).unwrap(), before);
    let text = fs::read_to_string(tiny.stories()).unwrap();
    fs::write(tiny.stories(), text.replacen("states", "statue", 1) + " ").unwrap();
    let error = index.pair(3, 0).unwrap_err();
    assert!(error.kind == ErrorKind::Data && error.message.contains("has changed while it was read"), "{error}");
}

fn last(run: &Path) -> Vec<u8> {
    fs::read(run.join("last/model.safetensors")).unwrap()
}

/// A run that is stopped anywhere, and resumed with other numbers of threads, ends with the same bits. Where a GPU computes,
/// or as on one, these threads make the batches too, of the entities that their steps draw.
#[test]
fn a_run_that_is_stopped_anywhere_goes_on_with_the_same_stories() {
    let tiny = Tiny::new();
    for (case, sources) in [MADE.to_owned(), mixed(&tiny)].iter().enumerate() {
        let on = devices()[case % devices().len()];
        let sets = ["--set", sources, "--set", "train.entities=2"];
        let whole = [&sets[..], &["--set", "data.workers=1"]].concat();
        let expected = last(&tiny.trained_on(on, &format!("whole-{case}"), &whole));
        let mut stopped_at = Vec::new();
        for operation in [75, 100, 131, 160] {
            let run = tiny.path(&format!("stopped-{case}-{operation}"));
            let train = |arguments: &[&str], fail_point: Option<String>| {
                let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
                command.arg("train").args(arguments).envs(on.environment());
                command.envs(fail_point.map(|point| ("TIERED_FAIL_POINT", point))).output().unwrap()
            };
            let config = tiny.config();
            let start = ["--config", text(&config), "--output", text(&run), "--set", "checkpoint.every=1 steps"];
            let more = [&start, &sets[..], &["--set", "data.workers=3"]].concat();
            let stopped = train(&more, Some(format!("abort:{operation}")));
            assert!(stopped.status.signal().is_some(), "operation {operation}: {}", stderr(&stopped));
            let resumed = train(&["--resume", text(&run), "--set", "data.workers=2"], None);
            assert!(resumed.status.success(), "{}", stderr(&resumed));
            let beginning = stdout(&resumed).lines().find(|line| line.contains("resumes from")).map(str::to_owned);
            stopped_at.extend(beginning);
            assert!(last(&run) == expected, "{on:?}, {sources}: stopped at operation {operation}");
        }
        stopped_at.dedup();
        assert!(stopped_at.len() >= 3, "stopped after different steps: {stopped_at:?}");
    }
}

#[test]
fn a_file_that_changes_while_training_ends_it_with_an_error() {
    let tiny = Tiny::new();
    let (trial, _) = stream(&tiny.config(), &["data.train.streaming=true", "data.workers=1"]);
    let mut training = Training::new(trial.fit(), trial.parameters());
    training.advance().unwrap();
    fs::write(tiny.stories(), "{}").unwrap();
    let error = std::iter::repeat_with(|| training.advance()).take(8).find_map(|outcome| outcome.err()).unwrap();
    let Halt::Pairs(error) = error else { panic!("{error}") };
    assert!(error.kind == ErrorKind::Data && error.message.contains("has changed while it was read"), "{error}");
    let step = training.progress.step;
    assert!(training.advance().is_err() && training.progress.step == step && step < 8, "{step}");
}

/// A step on a CPU takes a tenth of a second for each pair, one on a GPU some milliseconds.
#[test]
fn one_thread_makes_more_pairs_than_a_trainer_reads() {
    let tiny = Tiny::new();
    let (_, stream) = stream(&tiny.config(), &["data.train={synthetic={lang='en',pairs_per_epoch=1000}}"]);
    let started = Instant::now();
    for first in 0..50 {
        stream.corpus(1, &[2 * first, 2 * first + 1, 999 - first, 500 + first]).unwrap();
    }
    let rate = 200. / started.elapsed().as_secs_f64();
    println!("{rate:.0} pairs per second");
    assert!(rate > 40., "{rate} pairs per second");
}

/// The losses of each step of a run.
fn losses(run: &Path) -> Vec<Vec<f64>> {
    let table = fs::read_to_string(run.join("metrics.csv")).unwrap();
    let row = |row: &str| row.split(',').skip(3).take(5).map(|cell| cell.parse().unwrap_or(0.)).collect();
    table.lines().skip(1).map(row).collect()
}

/// Pairs, order and samples are the same; only the order of sums may differ. As a GPU computes, the batches of both are made
/// ahead of their steps.
#[test]
fn a_streamed_file_is_trained_on_as_one_in_memory() {
    let own = ["encoder.freeze=['embeddings']", "train.entities=2", "model.output_bias=frequency"];
    let own: Vec<&str> = own.iter().flat_map(|set| ["--set", set]).collect();
    let streaming = [&own[..], &["--set", "data.train.streaming=true"]].concat();
    for &on in devices() {
        let tiny = Tiny::new();
        let [held, streamed] =
            [("held", &own), ("streamed", &streaming)].map(|(run, sets)| losses(&tiny.trained_on(on, run, sets)));
        assert_eq!(held.len(), streamed.len());
        for (step, (held, streamed)) in held.iter().zip(&streamed).enumerate() {
            let distance = held.iter().zip(streamed).map(|(a, b)| (a - b).abs()).fold(0., f64::max);
            assert!(distance < 2e-3, "{on:?}, step {step}: {held:?}, streamed {streamed:?}");
        }
        assert!(held[0] != held[1], "steps differ");
    }
}

#[test]
fn a_resumed_run_refuses_other_stories() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", MADE, "--set", "train.epochs=1"]);
    for (set, said) in [
        ("data.train.synthetic.seed=5", "data.train.synthetic.seed: 4 then, 5 now"),
        ("data.train.synthetic.pairs_per_epoch=8", "data.train.synthetic.pairs_per_epoch"),
        ("data.train.synthetic.style=gita", "data.train.synthetic.style"),
    ] {
        let refused = tiered(["train", "--resume", text(&run), "--set", set]);
        assert_eq!(refused.status.code(), Some(78));
        assert!(stderr(&refused).contains(said), "{}", stderr(&refused));
    }
    // As if another version made other stories.
    for folder in fs::read_dir(run.join("checkpoints")).unwrap().map(|entry| entry.unwrap().path()) {
        let Manifest { step, best, mut inputs, made_with, files, .. } = Manifest::verify(&folder).unwrap();
        assert_eq!(std::mem::replace(&mut inputs.train, "0".repeat(64)).len(), 64, "a SHA-256");
        let forged = Manifest::new(step, best, inputs, made_with, files).unwrap();
        fs::write(folder.join(MANIFEST), forged.to_json().unwrap()).unwrap();
    }
    let refused = tiered(["train", "--resume", text(&run), "--set", "train.epochs=2"]);
    assert_eq!(refused.status.code(), Some(65), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("(synthetic stories (en, trip, seed 4)) has changed since"),
        "{}",
        stderr(&refused)
    );
}

/// The steps before a read error are not lost, and the run goes on when the file is as it was.
#[test]
fn a_run_whose_stories_change_while_it_trains_is_saved() {
    let tiny = Tiny::new();
    let (config, run) = (tiny.config(), tiny.path("run"));
    let sets = ["data.train.streaming=true", "train.epochs=100000", "checkpoint.every=999 minutes"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
    command.args(["train", "--config", text(&config), "--output", text(&run)]);
    command.args(sets.iter().flat_map(|set| ["--set", set])).stderr(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    while !run.join("metrics.jsonl").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before its first epoch");
        std::thread::sleep(Duration::from_millis(20));
    }
    let stories = fs::read(tiny.stories()).unwrap();
    fs::OpenOptions::new().append(true).open(tiny.stories()).unwrap().write_all(b" ").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
    assert!(stderr(&output).contains("the run is saved; resume with"), "{}", stderr(&output));
    assert!(fs::read_to_string(run.join("events.jsonl")).unwrap().contains("stopped"));
    fs::write(tiny.stories(), stories).unwrap();
    let resumed = tiered(["train", "--resume", text(&run), "--dry-run"]);
    assert!(resumed.status.success() && stdout(&resumed).contains("resumes from"), "{}", stderr(&resumed));
}

#[test]
fn an_epoch_without_pairs_is_refused() {
    let tiny = Tiny::new();
    for sets in [&["data.train.weight=0.05"][..], &["data.train.weight=0.05", "data.train.streaming=true"]] {
        let output = dry(&tiny, sets);
        assert_eq!(output.status.code(), Some(78), "{}", stderr(&output));
        assert!(stderr(&output).contains("epoch 1 has no pairs"), "{}", stderr(&output));
    }
}

fn dry(tiny: &Tiny, sets: &[&str]) -> Output {
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).chain(["--dry-run"]).collect();
    tiny.train("dry", &sets)
}

#[test]
fn sources_that_contradict_themselves_are_refused() {
    let tiny = Tiny::new();
    let made = "synthetic={lang='en',pairs_per_epoch=6}";
    let both = format!("data.train={{file='f',split='s',{made}}}");
    let weighted = format!("data.train={{{made},weight=2.0}}");
    let few = format!("data.train={{{made},pairs=3}}");
    let dev = format!("data.dev={{{made}}}");
    let split = format!("data.train={{{made},split='train'}}");
    for (sets, said) in [
        (vec![both.as_str()], "a source has both file and synthetic; a list"),
        (vec!["data.train={}"], "either file (with split) or synthetic"),
        (vec!["data.train={file='f'}"], "file and split belong together"),
        (vec![&split], "file and split belong together"),
        (vec![&weighted], "set synthetic.pairs_per_epoch"),
        (vec![&few], "set synthetic.pairs_per_epoch"),
        (vec![&dev], "allowed in data.train only"),
        (vec!["data.dev.streaming=true"], "allowed in data.train only"),
        (vec!["data.train={synthetic={lang='en',pairs_per_epoch=0}}"], "pairs_per_epoch must be from 1 to 10000000"),
        (vec!["data.train={synthetic={lang='en'}}"], "missing field `pairs_per_epoch`"),
        (vec!["data.train={synthetic={pairs_per_epoch=2}}"], "missing field `lang`"),
        (vec!["data.train={synthetic={lang='fr',pairs_per_epoch=2}}"], "unknown variant `fr`, expected `en` or `it`"),
        (vec!["data.train={synthetic={lang='en',pairs_per_epoc=2}}"], "did you mean `pairs_per_epoch`?"),
        (vec![MADE, "loss.normalization=padded"], "need loss.normalization = \"real\""),
        (vec!["data.workers=0"], "data.workers must be from 1 to 256"),
        (vec![MADE, "model.max_sentences=5"], "the longest story has 7 sentences"),
    ] {
        let output = dry(&tiny, &sets);
        assert_eq!(output.status.code(), Some(78), "{sets:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{sets:?}: {}", stderr(&output));
    }
    let ready = dry(&tiny, &[MADE]);
    assert!(ready.status.success(), "{}", stderr(&ready));
    assert!(stdout(&ready).contains("6 pairs, made or read while training by"), "{}", stdout(&ready));
}

#[test]
fn a_streamed_story_that_is_too_long_is_refused_before_the_first_step() {
    let tiny = Tiny::new();
    let text = fs::read_to_string(tiny.stories()).unwrap();
    let mut stories: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (_, story) = stories["train"].as_object_mut().unwrap().iter_mut().last().unwrap();
    story["sentences"][4] = format!("Mia {}.", "opened the box ".repeat(30)).into();
    fs::write(tiny.stories(), stories.to_string()).unwrap();
    for streaming in ["true", "false"] {
        let output = dry(&tiny, &[&format!("data.train.streaming={streaming}")]);
        assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
        assert!(stderr(&output).contains("positions; shorten the sentence"), "{}", stderr(&output));
        let output = dry(&tiny, &[&format!("data.train.streaming={streaming}"), "model.input_text=story"]);
        assert!(stderr(&output).contains("model.input_text = \"sentence\""), "{}", stderr(&output));
        let whole = ["model.state_context=story", "model.detector.kind=joint"];
        let output = dry(&tiny, &[&whole[..], &[&format!("data.train.streaming={streaming}")]].concat());
        assert!(stderr(&output).contains("model.state_context = \"sentence\""), "{}", stderr(&output));
    }
}

/// The largest resident memory of `tiered train --dry-run` on some pairs of a file, in bytes.
#[allow(clippy::zombie_processes)] // wait4 waits for it
fn peak(tiny: &Tiny, file: &Path) -> u64 {
    let sources = format!("data.train={{file='{}',split='train',streaming=true}}", file.display());
    let (config, run) = (tiny.config(), tiny.path("dry"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
    command.args(["train", "--config", text(&config), "--output", text(&run), "--set", &sources, "--dry-run"]);
    let child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut status = 0;
    // SAFETY: the struct holds integers only, and the call writes to it and to the status.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::wait4(child.id() as i32, &mut status, 0, &mut usage), child.id() as i32);
        usage
    };
    assert_eq!(status, 0);
    usage.ru_maxrss as u64 * 1024
}

/// In memory, 6,000 more pairs take about 290 MB.
#[test]
fn the_memory_of_a_streamed_file_hardly_grows_with_it() {
    let tiny = Tiny::new();
    let peaks = [1500, 7500].map(|pairs| {
        let file = tiny.path(&format!("{pairs}.json"));
        let arguments = ["data", "synthesize", "--lang", "en", "--pairs", &pairs.to_string(), "--output", text(&file)]
            .map(str::to_owned);
        assert!(tiered(arguments.iter().map(String::as_str)).status.success());
        peak(&tiny, &file)
    });
    let more = peaks[1].saturating_sub(peaks[0]);
    assert!(more < 30 << 20, "6,000 more pairs take {} MiB of {}", more >> 20, peaks[1] >> 20);
}
