//! `tiered model export`: that `transformers` computes of the folder what we compute of the run, and the reader answers alike.

use crate::arrays::reading_every;
use crate::support::{copy_folder, stderr, stdout, text, tiered, venv};
use crate::tiny::Tiny;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tch::{Device, Kind, Tensor, nn};
use tiered::batch::Tokens;
use tiered::experiment::{CheckpointKind, RunFolder};
use tiered::model::heads::StateHeads;
use tiered::model::heads::attribute_log_probs;
use tiered::model::{Encoder, Mode, Precision, weights};
use tiered::tokenizer::InputTokenizer;

const TOLERANCE: f64 = 1e-4;

/// A run, and what it was exported to.
fn shared() -> &'static (Tiny, PathBuf, PathBuf) {
    static SHARED: OnceLock<(Tiny, PathBuf, PathBuf)> = OnceLock::new();
    SHARED.get_or_init(|| {
        let tiny = Tiny::new();
        let run = tiny.trained("run", &[]);
        let out = tiny.path("exported");
        let output = export(&run, &out);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stdout(&output).contains("read_export.py"));
        (tiny, run, out)
    })
}

fn export(run: &Path, out: &Path) -> Output {
    tiered(["model", "export", text(run), "--output", text(out)])
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_folder_is_hugging_faces() {
    let (tiny, run, out) = shared();
    let expected = [
        "README.md",
        "config.json",
        "model.safetensors",
        "read_export.py",
        "special_tokens_map.json",
        "tiered.json",
        "tiered_heads.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ];
    assert_eq!(names(out), expected);
    let config = read(&out.join("config.json"));
    assert_eq!((&config["model_type"], &config["torch_dtype"]), (&json!("xlm-roberta"), &json!("float32")));
    // As the encoder it came from names them, and all weights of the run are in one of the two.
    let tensors = |path: &Path| weights::read(path).unwrap();
    let encoder = tensors(&out.join("model.safetensors"));
    let source: Vec<_> = tensors(&tiny.encoder().join("model.safetensors")).into_keys().collect();
    assert_eq!(encoder.keys().cloned().collect::<Vec<_>>(), source);
    let mut all = tensors(&out.join("tiered_heads.safetensors"));
    all.extend(encoder.into_iter().map(|(name, tensor)| (format!("roberta.{name}"), tensor)));
    let trained = tensors(&run.join("best/model.safetensors"));
    assert_eq!(all.keys().collect::<Vec<_>>(), trained.keys().collect::<Vec<_>>());
    assert!(trained.iter().all(|(name, tensor)| *tensor == all[name]));
    let described = read(&out.join("tiered.json"));
    assert_eq!(described["attributes"][12]["effects"], json!([null, "is closed", "is open"]));
    assert_eq!(described["decode"]["states"], read(&run.join("best/decode.json"))["states"]);
}

/// Some encoders say in their tokenizer alone which token pads.
#[test]
fn the_token_that_pads_is_found_without_its_number() {
    let tiny = Tiny::of("deberta-v2");
    let path = tiny.encoder().join("config.json");
    let mut config = read(&path);
    config.as_object_mut().unwrap().remove("pad_token_id");
    fs::write(&path, config.to_string()).unwrap();
    let (run, out) = (tiny.trained("run", &["--set", "train.epochs=1"]), tiny.path("exported"));
    assert!(export(&run, &out).status.success());
    assert_eq!(read(&out.join("tokenizer_config.json"))["pad_token"], "[PAD]");
}

#[test]
fn an_export_is_an_encoder_to_train_on_and_says_what_it_has_seen() {
    let (tiny, run, out) = shared();
    let seen = read(&out.join("tiered.json"))["seen"].clone();
    let splits: Vec<_> =
        seen.as_array().unwrap().iter().map(|source| (&source["split"], &source["trained_on"])).collect();
    assert_eq!(splits, [(&json!("train"), &json!(true)), (&json!("dev"), &json!(false))]);
    assert_eq!(seen[0]["sha256"], read(&run.join("run.json"))["train"], "one source");
    let path = format!("encoder.path={}", out.display());
    let further = tiny.trained("further", &["--set", &path, "--set", "train.epochs=1"]);
    assert_eq!(read(&further.join("run.json"))["earlier"], seen);
}

#[test]
fn nothing_is_overwritten_and_nothing_is_left() {
    let (tiny, run, out) = shared();
    let said = |output: &Output, code: i32, words: &str| {
        assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
        assert!(stderr(output).contains(words), "{}", stderr(output));
    };
    said(&export(run, out), 73, "already exists");
    said(&export(&tiny.encoder(), &tiny.path("other")), 66, "not a run folder");
    let stopped = Command::new(env!("CARGO_BIN_EXE_tiered"))
        .args(["model", "export", text(run), "--output", text(&tiny.path("stopped"))])
        .env("TIERED_FAIL_POINT", "error:5")
        .output()
        .unwrap();
    said(&stopped, 74, "no space left");
    assert!(!tiny.path("stopped").exists());
    assert!(export(run, &tiny.path("stopped")).status.success());
    assert_eq!(names(&tiny.path("stopped")), names(out));
    let both = tiny.path("both");
    let two: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| export(run, &both))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap().status.code()).collect()
    });
    assert!(two.contains(&Some(0)) && two.iter().all(|code| [Some(0), Some(73)].contains(code)), "{two:?}");
    assert_eq!(names(&both), names(out));
    let hidden = std::fs::read_dir(tiny.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(hidden.filter(|name| name.to_string_lossy().ends_with(".part")).count(), 0, "nothing is left");
}

/// Its weights, and what is chosen on dev, are not what they will be. What is printed can be typed.
#[test]
fn an_export_of_a_run_that_has_not_ended_warns() {
    let (tiny, run, _) = shared();
    let folder = tiny.path("a folder");
    fs::create_dir(&folder).unwrap();
    let (stopped, out) = (folder.join("run"), folder.join("exported"));
    copy_folder(run, &stopped);
    let events = stopped.join("events.jsonl");
    fs::write(&events, fs::read_to_string(&events).unwrap().replace("finished", "stopped")).unwrap();
    let warning = "its training has not come to its end";
    let output = export(&stopped, &out);
    assert!(output.status.success() && stderr(&output).contains(warning), "{}", stderr(&output));
    let command = format!("predict with: python '{0}/read_export.py' '{0}' STORIES.txt\n", out.display());
    assert!(stdout(&output).ends_with(&command), "{}", stdout(&output));
    let calibrated = tiered(["model", "calibrate", text(&stopped)]);
    assert!(calibrated.status.success() && stderr(&calibrated).contains(warning), "{}", stderr(&calibrated));
}

/// Gives the variables below `prefix` their weights.
fn fill(store: &nn::VarStore, weights: &BTreeMap<String, Tensor>, prefix: &str) {
    tch::no_grad(|| {
        for (name, variable) in store.variables() {
            variable.shallow_clone().copy_(&weights[&format!("{prefix}{name}")]);
        }
    });
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    Vec::try_from(tensor.to_kind(Kind::Double).contiguous().view([-1])).unwrap()
}

/// Ids, hidden states and state probabilities of some inputs, by our own code from the run.
fn computed(run: &Path) -> Value {
    let _guard = tch::no_grad_guard();
    let folder = RunFolder::open(run).unwrap();
    let config = folder.model_config().unwrap();
    let weights = weights::read(&folder.weights_file(CheckpointKind::Best)).unwrap();
    let store = nn::VarStore::new(Device::Cpu);
    let encoder = Encoder::new(&store.root(), &config.encoder);
    fill(&store, &weights, "roberta.");
    let heads = ["preconditions", "effects"].map(|side| {
        let store = nn::VarStore::new(Device::Cpu);
        let heads = StateHeads::new(&store.root(), config.encoder.hidden_size, config.dropout);
        fill(&store, &weights, &format!("{side}."));
        (side, heads)
    });
    let tokenizer = InputTokenizer::open(&folder.tokenizer_file()).unwrap();
    let mode = Mode::eval(Precision::Fp32);
    let inputs = [
        ("kettle", "Rosa filled the kettle."),
        ("Rosa", "Rosa switched the kettle on."),
        ("tazza", "Uno strano caso!"),
    ];
    let one = |(entity, sentence): (&str, &str)| {
        let ids = tokenizer.encode(vec![(entity.to_owned(), sentence.to_owned())]).unwrap().remove(0);
        let tokens = reading_every(1, Tokens::pack(std::iter::once(&ids)));
        let hidden = encoder.forward(&tokens, mode);
        let mut computed = json!({"entity": entity, "sentence": sentence, "ids": ids.ids, "hidden": numbers(&hidden)});
        for (side, heads) in &heads {
            let probs = attribute_log_probs(&heads.forward(&hidden.narrow(0, 0, 1), mode)).exp();
            computed[*side] = numbers(&probs).into();
        }
        computed
    };
    inputs.map(one).into_iter().collect()
}

#[test]
fn transformers_computes_the_same() {
    let Some(python) = python() else { return };
    let (tiny, run, out) = shared();
    let expected = tiny.path("expected.json");
    fs::write(&expected, computed(run).to_string()).unwrap();
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/check_export.py");
    let found = said(&python(&[text(&check), text(out), text(&expected)]));
    println!("{found}");
    let found: Value = serde_json::from_str(found.lines().last().unwrap()).unwrap();
    assert_eq!(found["inputs"], 3);
    assert_eq!((&found["encoder"], &found["dtype"]), (&json!("XLMRobertaModel"), &json!("torch.float32")));
    assert_eq!((&found["ids"], &found["pad"], &found["cls"]), (&json!(true), &json!(1), &json!("<s>")));
    for what in ["hidden", "states"] {
        assert!(found[what].as_f64().unwrap() < TOLERANCE, "{what}: {found}");
    }
}

/// Two stories of different lengths and entities, with letters of several bytes, as for `predict`.
const STORIES: &str = "\
entities: Rosa, kettle , cup, Rosa
Rosa unplugged the kettle.
Rosa switched the kettle on.
 Rosa poured the caffè — hot — into the cup.


Entities: Rosa, the spoon
Rosa opened the drawer.
Rosa took the spoon.
Rosa dropped the spoon.
Rosa put the spoon away.
";

/// The family of an encoder, what is set of its system below `model`, and which states are said to be chosen on dev.
const SYSTEMS: [(&str, &[&str], &str); 7] = [
    ("xlm-roberta", &[], "0.95+top1"),
    ("roberta", &["detector.standardize=true", "detector.norm=before", "detector.inputs=states"], "argmax"),
    ("mpnet", &["detector.kind=joint", "detector.context=story"], "0.95+top1"),
    ("deberta-v2", &["state_context=story", "detector.inputs=embeddings"], "0.3"),
    ("deberta", &["detector.kind=joint", "detector.context=story"], "0.02+top1"),
    (
        "xlm-roberta",
        &["input_text=story", "detector.kind=joint", "detector.context=story", "detector.entities=true"],
        "0.1+top1",
    ),
    (
        "bert",
        &["detector.kind=joint", "detector.entities=true", "detector.sentence_layers=2", "detector.inputs=states"],
        "0.3+top1",
    ),
];

#[test]
fn the_reader_answers_as_predict() {
    let Some(python) = python() else { return };
    for (family, set, states) in SYSTEMS {
        let tiny = Tiny::of(family);
        let file = tiny.path("stories.txt");
        fs::write(&file, STORIES).unwrap();
        let set: Vec<String> = set.iter().map(|set| format!("model.{set}")).collect();
        let arguments: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
        let (run, out) = (tiny.trained("run", &arguments), tiny.path("exported"));
        let calibrated = run.join("best/decode.json");
        let mut chosen = read(&calibrated);
        (chosen["states"], chosen["temperature"]) = (json!(states), json!(0.7));
        fs::write(&calibrated, chosen.to_string()).unwrap();
        assert!(export(&run, &out).status.success());
        let reader = out.join("read_export.py");
        let ask = |more: &[&str]| said(&python(&[&[text(&reader), text(&out), text(&file)], more].concat()));
        let predict = |more: &[&str]| said(&tiered([&["predict", text(&run), text(&file)], more].concat()));
        let json = |answer: &str| serde_json::from_str::<Value>(answer).unwrap();
        for decode in [&[][..], &["--decode", "threshold"], &["--decode", "pair"]] {
            let as_json = [decode, &["--format=json"]].concat();
            let (asked, predicted) = (json(&ask(&as_json)), json(&predict(&as_json)));
            let difference = farthest(&asked, &predicted);
            println!(
                "{family} {}: {} in conflict, {difference:.1e}",
                predicted["decode"],
                predicted["conflict"].as_array().unwrap().len()
            );
            assert!(difference < TOLERANCE, "{family}");
            assert_eq!(ask(decode), predict(decode));
        }
    }
}

#[test]
fn the_reader_says_what_it_cant_answer() {
    let Some(python) = python() else { return };
    let (tiny, _, out) = shared();
    let refused = |stories: &str, words: &str| {
        let file = tiny.path("refused.txt");
        fs::write(&file, stories).unwrap();
        let output = python(&[text(&out.join("read_export.py")), text(out), text(&file)]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).starts_with("error: ") && stderr(&output).contains(words), "{}", stderr(&output));
    };
    refused("entities: cup\nA.\nB.\n", "the input must be two stories");
    refused("entities: cup\nA.\nB.\n\nentities: cup\nA.\nB.\n", "the two stories are the same");
    refused("entities: cup\nA.\nB.\nentities: cup\nA.\nB.\n", "the two stories are the same");
    refused("A.\nB.\n\nentities: cup\nA.\nC.\n", "must begin with a line `entities: a, b`");
}

#[test]
fn the_reader_reads_text_as_predict() {
    let Some(python) = python() else { return };
    let (tiny, run, out) = shared();
    let listed = "# One\nentities: Rosa; kettle\n1. Rosa filled the kettle.\n2. Rosa left.\n---\n# Two\nentities: Rosa, cup\n- Rosa \
                  left.\n- Rosa took the cup.\nRosa slept.\n";
    let file = tiny.path("listed.txt");
    let of_first = "Entities: Rosa, caff\u{e8}, caffe\u{300}\n\nRosa verso\u{300} il caffe\u{300}.\nRosa usci\u{300}.\n\nRosa usc\u{ec}.\nRosa dormi\u{300}.\n";
    let without = listed.replace("Rosa slept.\n", "");
    let twice = listed.replace("entities: Rosa; kettle\n", "entities: Rosa\n\nEntities: kettle\nentities: Rosa\n");
    let headed = listed.replace("entities: Rosa; kettle", "- Entities : Rosa; kettle");
    for text_of in [&twice, listed, &without, &listed.replace("---\n", ""), &headed, of_first] {
        fs::write(&file, text_of).unwrap();
        let asked = said(&python(&[text(&out.join("read_export.py")), text(out), text(&file), "--format=json"]));
        let answered = said(&tiered(["predict", text(run), text(&file), "--format=json"]));
        let [asked, answered] = [asked, answered].map(|answer| serde_json::from_str::<Value>(&answer).unwrap());
        assert!(farthest(&asked, &answered) < TOLERANCE);
    }
}

#[test]
fn a_package_that_the_reader_lacks_is_named_in_a_line() {
    let Some(python) = python() else { return };
    let (_, _, out) = shared();
    let output = python(&["-S", text(&out.join("read_export.py")), text(out), "stories.txt"]); // -S: no packages
    let said = "error: torch is missing; install everything: pip install torch transformers safetensors\n";
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(1), said));
}

/// Runs the virtual environment's Python, if there is one.
fn python() -> Option<impl Fn(&[&str]) -> Output> {
    let python = venv()?;
    Some(move |arguments: &[&str]| Command::new(&python).args(arguments).env("HF_HUB_OFFLINE", "1").output().unwrap())
}

/// What a program that succeeded printed.
fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output)
}

/// The largest difference of two numbers in the same place; all else must be equal.
fn farthest(a: &Value, b: &Value) -> f64 {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{a:?} {b:?}");
            a.values().zip(b.values()).map(|(a, b)| farthest(a, b)).fold(0., f64::max)
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{a:?} {b:?}");
            a.iter().zip(b).map(|(a, b)| farthest(a, b)).fold(0., f64::max)
        }
        (Value::Number(a), Value::Number(b)) => (a.as_f64().unwrap() - b.as_f64().unwrap()).abs(),
        _ => {
            assert_eq!(a, b);
            0.
        }
    }
}
