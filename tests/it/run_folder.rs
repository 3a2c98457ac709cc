//! A run folder holds all that a run leaves, and what comes out of it depends on nothing else.

use crate::support::{copy_folder, files_below, stderr, stdout, text, tiered};
use crate::tiny::Tiny;
use safetensors::SafeTensors;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tch::{Device, Kind, Tensor, nn};
use tiered::batch::{Corpus, Layout};
use tiered::data::{Pair, pairs, read_file};
use tiered::decode::Decode;
use tiered::eval::{EvalConfig, evaluate};
use tiered::experiment::{CheckpointKind, RunFolder};
use tiered::loss::{LossConfig, Losses};
use tiered::model::{DetectorKind, Mode, ModelConfig, Precision, TieredModel, weights};
use tiered::prediction::LabelledPair;
use tiered::tokenizer::InputTokenizer;

/// A run of two epochs that the tests only read; some evaluate it under names of their own.
fn shared() -> &'static (Tiny, PathBuf) {
    static SHARED: OnceLock<(Tiny, PathBuf)> = OnceLock::new();
    SHARED.get_or_init(|| {
        let tiny = Tiny::new();
        let run = tiny.trained("run", &[]);
        (tiny, run)
    })
}

/// The same with the joint detector, reading whole stories, with everything that can be added to it.
fn shared_joint() -> &'static PathBuf {
    static SHARED: OnceLock<PathBuf> = OnceLock::new();
    SHARED.get_or_init(|| {
        let all = ["kind=joint", "context=story", "entities=true", "sentence_layers=1"];
        let mut settings: Vec<String> = all.iter().map(|setting| format!("model.detector.{setting}")).collect();
        settings.push("loss.single_story=0.1".to_owned());
        let settings: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        shared().0.trained("joint", &settings)
    })
}

/// Files below a folder.
fn files(folder: &Path) -> BTreeSet<String> {
    files_below(folder).iter().map(|path| text(path.strip_prefix(folder).unwrap()).to_owned()).collect()
}

/// A copy of the shared run in a folder of its own.
fn copied(tiny: &Tiny, name: &str) -> PathBuf {
    let folder = tiny.path(name);
    copy_folder(&shared().1, &folder);
    folder
}

/// Evaluates a run on the training pairs; the bytes of its predictions and of its report.
fn evaluated(run: &Path, stories: &Path, more: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let arguments = ["eval", text(run), "--data", text(stories), "--split", "train"];
    let output = tiered(arguments.into_iter().chain(more.iter().copied()));
    assert!(output.status.success(), "{}", stderr(&output));
    let of_last = if more.contains(&"last") { "-last" } else { "" };
    let folder = run.join(format!("eval/stories-train-all{of_last}"));
    (fs::read(folder.join("predictions.jsonl")).unwrap(), fs::read(folder.join("report.json")).unwrap())
}

fn weights_of(run: &Path, which: &str) -> Vec<u8> {
    fs::read(run.join(which).join("model.safetensors")).unwrap()
}

#[test]
fn training_leaves_these_files_and_no_others() {
    let run = &shared().1;
    let expected = [
        "README.md",
        "best/decode.json",
        "best/model.safetensors",
        "config.toml",
        "encoder/config.json",
        "encoder/tokenizer.json",
        "eval/stories-dev-all/lock",
        "eval/stories-dev-all/predictions.jsonl",
        "eval/stories-dev-all/report.json",
        "eval/stories-dev-all/weights.json",
        "events.jsonl",
        "events.out.tfevents.0.tiered",
        "last/model.safetensors",
        "lock",
        "metrics.csv",
        "metrics.jsonl",
        "model.json",
        "origin.json",
        "run.json",
    ];
    let in_checkpoint = |file: &String| file.starts_with("checkpoints/step-");
    let (checkpoints, others): (BTreeSet<String>, BTreeSet<String>) = files(run).into_iter().partition(in_checkpoint);
    assert_eq!(others, expected.map(str::to_owned).into());
    let kept = ["config.toml", "manifest.json", "model.safetensors", "optimizer.safetensors", "state.json"];
    let kept = ["04", "08"].map(|step| kept.map(|file| format!("checkpoints/step-000000{step}/{file}")));
    assert_eq!(checkpoints, kept.into_iter().flatten().collect());
    let records = RunFolder::open(run).unwrap().epochs().unwrap();
    assert_eq!(records.iter().map(|record| (record.epoch, record.step)).collect::<Vec<_>>(), [(1, 4), (2, 8)]);
    assert!(records.iter().all(|record| record.dev.as_ref().is_some_and(|dev| dev.threshold.pairs == 4)));
}

#[test]
fn a_moved_run_predicts_the_same_and_twice_the_same() {
    let (tiny, elsewhere) = (&shared().0, Tiny::new());
    let run = copied(&elsewhere, "before");
    let before = evaluated(&run, &tiny.stories(), &[]);
    assert_eq!(before, evaluated(&run, &tiny.stories(), &[]));
    let config = fs::read_to_string(run.join("config.toml")).unwrap();
    fs::write(run.join("config.toml"), config.replace(text(&tiny.encoder()), "no/such/encoder")).unwrap();
    let moved = elsewhere.path("moved");
    fs::rename(&run, &moved).unwrap();
    assert_eq!(before.0, evaluated(&moved, &tiny.stories(), &[]).0);
}

#[test]
fn best_and_last_weights_can_both_be_used() {
    let tiny = Tiny::new();
    let mut runs = (0..9).map(|seed| tiny.trained(&format!("run-{seed}"), &["--set", &format!("seed={seed}")]));
    let differ = |run: &PathBuf| weights_of(run, "best") != weights_of(run, "last");
    let run = runs.find(differ).expect("the best epoch of some run is not its last");
    let stories = tiny.stories();
    let with = |which: &str| {
        let pair = ["predict", text(&run), "--data", text(&stories), "--split", "dev", "--pair"];
        let id = sample_pair(&stories);
        let predicted = tiered(pair.into_iter().chain([id.as_str(), "--format=json", "--weights", which]));
        assert!(predicted.status.success(), "{}", stderr(&predicted));
        let export = tiny.path(which);
        let exported = tiered(["model", "export", text(&run), "--output", text(&export), "--weights", which]);
        assert!(exported.status.success(), "{}", stderr(&exported));
        let exported = fs::read(export.join("model.safetensors")).unwrap();
        [evaluated(&run, &stories, &["--weights", which]).0, predicted.stdout, exported]
    };
    let (best, last) = (with("best"), with("last"));
    assert_eq!(best.iter().zip(&last).map(|(best, last)| best != last).collect::<Vec<_>>(), [true; 3]);
}

/// The id of an implausible story of the split dev.
fn sample_pair(stories: &Path) -> String {
    let stories: Value = serde_json::from_slice(&fs::read(stories).unwrap()).unwrap();
    let dev = stories["dev"].as_object().unwrap();
    dev.iter().find(|(_, story)| story["plausible"] == false).expect("a pair").0.clone()
}

/// What a key changes shows in the run. Most other tests compare runs of the same settings.
#[test]
fn settings_of_training_have_an_effect() {
    let tiny = Tiny::new();
    let trained = |name: &str, setting: &str| tiny.trained(name, &["--set", setting]);
    let rates = |run: &Path| -> Vec<f64> {
        let table = fs::read_to_string(run.join("metrics.csv")).unwrap();
        let steps = table.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        // The lines of evaluations have no gradient.
        steps.filter(|cells| !cells[3].is_empty()).map(|cells| cells[2].parse().unwrap()).collect()
    };
    let close = |found: &[f64], expected: [f64; 8]| {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b * 1e-3).abs() < 1e-9), "{found:?}, {expected:?}");
    };
    let plain = trained("plain", "train.schedule='constant'");
    assert!(weights_of(&trained("again", "train.schedule='constant'"), "last") == weights_of(&plain, "last"));
    close(&rates(&plain), [1.; 8]);
    let falling = trained(
        "falling",
        "train={ epochs = 2, pairs_per_step = 2, learning_rate = 1e-3, schedule = 'linear', warmup = 0.5 }",
    );
    close(&rates(&falling), [0.25, 0.5, 0.75, 1., 1., 0.75, 0.5, 0.25]);
    for (i, setting) in [
        "model.dropout=0.1",
        "model.detector.residual_scale=0.1",
        "train.adamw.beta1=0.5",
        "train.adamw.beta2=0.9",
        "train.adamw.epsilon=1e-3",
        "train.adamw.weight_decay=0.5",
        "train.adamw.clip_norm=0.01",
        "train.head_learning_rate=1e-2",
        "loss.preconditions=1.0",
        "loss.effects=1.0",
        "loss.conflicts=1.0",
        "loss.story=1.0",
    ]
    .into_iter()
    .enumerate()
    {
        let run = tiny.trained(&format!("other-{i}"), &["--set", "train.schedule='constant'", "--set", setting]);
        assert!(weights_of(&run, "last") != weights_of(&plain, "last"), "{setting} changes nothing");
    }
    let by_consistency = trained("by-consistency", "train.metric_for_best_model='consistency'");
    for (run, metric) in [(plain, "verifiability"), (by_consistency, "consistency")] {
        let epochs = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
        assert!(epochs.contains(&format!("\"metric\":\"{metric}\"")), "{epochs}");
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let tiny = Tiny::new();
    tiny.config();
    let before = files(&tiny.path(""));
    let output = tiny.train("run", &["--dry-run"]);
    assert!(output.status.success() && stdout(&output).contains("8 steps in 2 epochs"), "{}", stdout(&output));
    assert_eq!(files(&tiny.path("")), before);
}

#[test]
fn a_first_stage_that_has_not_ended_is_warned_of() {
    let elsewhere = Tiny::new();
    let first = copied(&elsewhere, "first");
    let from = format!("init_from={}", text(&first));
    let warned = || {
        let output = elsewhere.train("third", &["--set", &from, "--dry-run"]);
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output).contains(&format!("init_from: {}: its training has not come to its end", text(&first)))
    };
    assert!(!warned());
    let other = elsewhere.train("third", &["--set", &from, "--set", "model.input_text=story", "--dry-run"]);
    let why = format!("init_from: {}: model.input_text is \"sentence\" there and \"story\" here", text(&first));
    assert!(other.status.code() == Some(78) && stderr(&other).contains(&why), "{}", stderr(&other));
    let other = elsewhere.train("third", &["--set", &from, "--set", "model.max_sentences=9", "--dry-run"]);
    let why = format!("init_from: {}: model.max_sentences is 5 there and 9 here", text(&first));
    assert!(other.status.code() == Some(78) && stderr(&other).contains(&why), "{}", stderr(&other));
    let changed = elsewhere.path("changed");
    copy_folder(&elsewhere.encoder(), &changed);
    let path = format!("encoder.path={}", text(&changed));
    let config = fs::read_to_string(changed.join("config.json")).unwrap();
    let mut of_encoder: Value = serde_json::from_str(&config).unwrap();
    of_encoder["layer_norm_eps"] = json!(0.5);
    fs::write(changed.join("config.json"), of_encoder.to_string()).unwrap();
    let other = elsewhere.train("third", &["--set", &from, "--set", &path, "--dry-run"]);
    let why = format!("init_from: {}: config.json's layer_norm_eps is", text(&first));
    assert!(other.status.code() == Some(78) && stderr(&other).contains(&why), "{}", stderr(&other));
    fs::write(changed.join("config.json"), config).unwrap();
    let mut tokenizer = fs::read(changed.join("tokenizer.json")).unwrap();
    tokenizer.push(b'\n');
    fs::write(changed.join("tokenizer.json"), tokenizer).unwrap();
    let other = elsewhere.train("third", &["--set", &from, "--set", &path, "--dry-run"]);
    let why = format!("init_from: {}: has another tokenizer.json than {}", text(&first), text(&changed));
    assert!(other.status.code() == Some(78) && stderr(&other).contains(&why), "{}", stderr(&other));
    let parts = ["--set", "data.train.kind=cloze", "--set", "data.leave_out={ fold = 1, of = 2 }"];
    let second = elsewhere.trained("second", &[&["--set", &from, "--set", "train.epochs=1"][..], &parts].concat());
    let card = fs::read_to_string(second.join("README.md")).unwrap();
    for words in
        ["| began with | the weights of the run first,", ", only its cloze pairs", "; fold 1 of 2 was left out |"]
    {
        assert!(card.contains(words), "{words}: {card}");
    }
    let export = elsewhere.path("export");
    let output = tiered(["model", "export", text(&second), "--output", text(&export)]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(fs::read_to_string(export.join("README.md")).unwrap().contains("from the weights of the run `"));
    let events = first.join("events.jsonl");
    fs::write(&events, fs::read_to_string(&events).unwrap().replace("finished", "stopped")).unwrap();
    assert!(warned());
}

#[test]
fn a_run_on_a_few_pairs_says_so_and_reads_the_stories_of_all() {
    let tiny = Tiny::new();
    let mut stories: Value = serde_json::from_str(&fs::read_to_string(tiny.stories()).unwrap()).unwrap();
    for story in ["3", "3-C0", "3-O0"].map(|id| format!("/train/{id}")) {
        let story = stories.pointer_mut(&story).unwrap();
        let first = story["sentences"][0].clone();
        story["sentences"].as_array_mut().unwrap().push(first);
        story["states"].as_array_mut().unwrap().push(json!({}));
        story["length"] = json!(6);
    }
    fs::write(tiny.stories(), stories.to_string()).unwrap();
    let run = tiny.trained("run", &["--limit", "2", "--set", "train.epochs=1"]);
    let card = fs::read_to_string(run.join("README.md")).unwrap();
    assert!(card.contains("split train, at most its first 2 pairs,"), "{card}");
    assert!(card.contains("dev: 2 pairs (all), only the first of its pairs were scored"), "{card}");
    evaluated(&run, &tiny.stories(), &[]);
    let card = fs::read_to_string(run.join("README.md")).unwrap();
    assert!(card.contains("train: 8 pairs (all), the run was trained on this set"), "{card}");
}

#[test]
fn the_seed_decides_every_byte() {
    let tiny = Tiny::new();
    let [a, b, c] = [("a", "seed=7"), ("b", "seed=7"), ("c", "seed=8")]
        .map(|(run, seed)| tiny.trained(run, &["--set", seed, "--set", "model.dropout=0.1"]));
    assert!(weights_of(&a, "last") == weights_of(&b, "last"), "one seed");
    assert!(weights_of(&a, "best") == weights_of(&b, "best"), "one seed");
    assert!(weights_of(&a, "last") != weights_of(&c, "last"), "two seeds");
}

#[test]
fn encoder_weights_keep_hugging_faces_names() {
    let (tiny, run) = shared();
    let names = |bytes: &[u8]| -> BTreeSet<String> {
        SafeTensors::deserialize(bytes).unwrap().names().into_iter().map(str::to_owned).collect()
    };
    let pretrained = names(&fs::read(tiny.encoder().join("model.safetensors")).unwrap());
    assert!(pretrained.contains("encoder.layer.1.attention.self.query.weight"));
    let trained = names(&weights_of(run, "best"));
    let of_encoder: BTreeSet<_> =
        trained.iter().filter_map(|name| name.strip_prefix("roberta.")).map(str::to_owned).collect();
    assert_eq!(of_encoder, pretrained);
}

#[test]
fn sizes_that_a_detector_can_t_have_are_refused() {
    let folder = shared().0.path("sizes");
    copy_folder(shared_joint(), &folder);
    let path = folder.join("model.json");
    let model: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for (sizes, said) in [
        (json!({"sentence_layers": 1_000_000}), "numbers"),
        (json!({"sentence_layers": 1_i64 << 40}), "sentence_layers must be"),
        (json!({"heads": 3, "width": 6}), "heads is 3; it must divide the hidden size 32"),
    ] {
        let mut damaged = model.clone();
        damaged["detector"].as_object_mut().unwrap().extend(sizes.as_object().unwrap().clone());
        fs::write(&path, damaged.to_string()).unwrap();
        let output = tiered(["eval", text(&folder), "--data", text(&shared().0.stories()), "--split", "train"]);
        assert_eq!(output.status.code(), Some(78), "{}", stderr(&output));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
}

/// A model that only predicts leaves its word table in the file. Its numbers are the same, and to change them doesn't
/// change the file.
#[test]
fn the_word_table_stays_in_the_file() {
    let run = RunFolder::open(&shared().1).unwrap();
    let (file, config) = (run.weights_file(CheckpointKind::Best), run.model_config().unwrap());
    let bytes = fs::read(&file).unwrap();
    let loaded_by = |load: fn(&nn::VarStore, &Path) -> tiered::error::Result<()>| {
        let store = nn::VarStore::new(Device::Cpu);
        TieredModel::new(&store.root(), &config);
        load(&store, &file).unwrap();
        weights::named(&store)
    };
    let (copied, mut mapped) = (loaded_by(weights::load), loaded_by(weights::load_to_predict));
    assert_eq!(weights::sha256(&copied), weights::sha256(&mapped));
    if cfg!(target_os = "linux") {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        assert!(maps.contains(text(&fs::canonicalize(&file).unwrap())), "{maps}");
    }
    let (_, table) = mapped.iter_mut().find(|(name, _)| name.ends_with("word_embeddings.weight")).unwrap();
    let _ = table.fill_(1.);
    assert!(fs::read(&file).unwrap() == bytes);
}

/// A model with the weights of a shared run, and its training pairs.
struct Loaded {
    store: nn::VarStore,
    model: TieredModel,
    config: ModelConfig,
    pairs: Vec<Pair>,
    tokenizer: InputTokenizer,
}

impl Loaded {
    fn open(run: &Path) -> Self {
        let tiny = &shared().0;
        let folder = RunFolder::open(run).unwrap();
        let config = folder.model_config().unwrap();
        let (store, model) = Self::load(&config, &folder.weights_file(CheckpointKind::Last));
        let pairs = pairs(read_file(&tiny.stories()).unwrap().split("train").unwrap(), 1);
        let tokenizer = InputTokenizer::open(&folder.tokenizer_file()).unwrap();
        Loaded { store, model, config, pairs, tokenizer }
    }

    fn load(config: &ModelConfig, file: &Path) -> (nn::VarStore, TieredModel) {
        let store = nn::VarStore::new(Device::Cpu);
        let model = TieredModel::new(&store.root(), config);
        weights::load(&store, file).unwrap();
        (store, model)
    }

    fn corpus(&self, pairs: Vec<Pair>) -> Corpus {
        Corpus::new(pairs, &self.tokenizer, self.config.encoder.max_tokens(), self.config.reads()).unwrap()
    }

    fn predictions(&self, model: &TieredModel, corpus: &Corpus, pairs_per_batch: usize) -> Vec<LabelledPair> {
        let layout = Layout { sentences: self.config.max_sentences, pad_to_entities: None };
        let config = EvalConfig { device: Device::Cpu, precision: Precision::Fp32, layout, pairs_per_batch };
        evaluate(model, corpus, config, |_| ()).predictions
    }
}

/// Equal answers, and numbers within 1e-5.
fn assert_close(a: &[LabelledPair], b: &[LabelledPair]) {
    assert_eq!(a.len(), b.len());
    let close = |a: &[f32], b: &[f32]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
    for (pair, other) in a.iter().zip(b) {
        let (a, b) = (&pair.prediction, &other.prediction);
        assert!(a.plausible == b.plausible && close(&a.story_probs, &b.story_probs), "{}", pair.id);
        assert_eq!(Decode::ALL.map(|d| d.conflict(a)), Decode::ALL.map(|d| d.conflict(b)), "{}", pair.id);
        for (a, b) in a.stories.iter().flat_map(|s| &s.entities).zip(b.stories.iter().flat_map(|s| &s.entities)) {
            assert!(close(&a.conflict_probs, &b.conflict_probs), "{}", a.name);
            assert_eq!((&a.preconditions, &a.effects), (&b.preconditions, &b.effects));
        }
    }
}

#[test]
fn predictions_do_not_depend_on_the_other_pairs_of_a_batch() {
    for run in [&shared().1, shared_joint()] {
        do_not_depend_on_the_others(&Loaded::open(run));
    }
}

fn do_not_depend_on_the_others(loaded: &Loaded) {
    let corpus = loaded.corpus(loaded.pairs.clone());
    let together = loaded.predictions(&loaded.model, &corpus, 8);
    for pairs_per_batch in [1, 3] {
        assert_close(&together, &loaded.predictions(&loaded.model, &corpus, pairs_per_batch));
    }
    let alone = loaded.corpus(loaded.pairs[5..6].to_vec());
    assert_close(&together[5..6], &loaded.predictions(&loaded.model, &alone, 8));
}

#[test]
fn saved_and_loaded_weights_predict_the_same() {
    let loaded = Loaded::open(&shared().1);
    let corpus = loaded.corpus(loaded.pairs.clone());
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("model.safetensors");
    weights::write(&file, &weights::named(&loaded.store)).unwrap();
    let (_store, again) = Loaded::load(&loaded.config, &file);
    assert_eq!(loaded.predictions(&loaded.model, &corpus, 8), loaded.predictions(&again, &corpus, 8));
}

#[test]
fn gradients_reach_every_trained_parameter() {
    for run in [&shared().1, shared_joint()] {
        gradients_reach(&Loaded::open(run));
    }
}

fn gradients_reach(loaded: &Loaded) {
    let corpus = loaded.corpus(loaded.pairs.clone());
    loaded.model.encoder.embeddings.train_rows(&(loaded.store.root() / "roberta" / "embeddings"), &corpus.token_ids());
    let layout = Layout { sentences: loaded.config.max_sentences, pad_to_entities: None };
    let (batch, targets) = corpus.batch(&(0..corpus.len()).collect::<Vec<_>>(), layout);
    let noise = tiered::model::DropoutRng::new(0);
    let mode = Mode::train(&noise, Precision::Fp32);
    let trace = loaded.model.encoder.trace(&batch.tokens, mode);
    let losses = Losses::new(&loaded.model.read(&trace.hidden, &batch, mode), &targets, None);
    let weights = LossConfig {
        preconditions: 0.4,
        effects: 0.4,
        conflicts: 0.1,
        story: 0.1,
        single_story: 0.1,
        ..LossConfig::default()
    };
    let variables: Vec<(String, Tensor)> =
        loaded.store.variables().into_iter().filter(|(_, variable)| variable.requires_grad()).collect();
    let tensors: Vec<&Tensor> = variables.iter().map(|(_, variable)| variable).collect();
    let gradients = trace.gradients(&losses.total(&weights), &tensors);
    let mut trained = 0;
    for ((name, _), gradient) in variables.iter().zip(&gradients) {
        assert!(gradient.defined(), "{name} has no gradient");
        let largest = gradient.abs().max().to_kind(Kind::Double).double_value(&[]);
        // What is added to all keys, or to the scores of all places, cancels in the softmax: only rounding is left.
        let places = loaded.config.detector.kind == DetectorKind::Joint && *name == "detector.out.bias";
        assert!(largest > 1e-8 || places || name.ends_with("self.key.bias"), "{name}: {largest}");
        trained += 1;
    }
    assert!(trained > 50, "{trained}");
}
