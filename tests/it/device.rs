//! What a GPU computes with, on the CPU: that it trains to the same weights as our kernels, how often it waits for the
//! device, and how much it asks of it.

use crate::support::{skipped, source_files, stderr, text, tiered_with};
use crate::test_device::{CPU, CPU_AS_GPU, devices};
use crate::tiny::Tiny;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tch::{Kind, Tensor};
use tiered::model::weights;
use tiered::torch::{flash_attention, has_flash_attention};

const JOINT: [&str; 3] =
    ["model.detector.kind=joint", "model.detector.context=story", "model.detector.sentence_layers=1"];
const STANDARD: [&str; 2] = ["model.detector.standardize=true", "model.detector.norm=before"];

fn sets<'a>(sets: &[&'a str]) -> Vec<&'a str> {
    sets.iter().flat_map(|set| ["--set", set]).collect()
}

/// Eight steps without dropout, of every family and detector. AdamW magnifies differences where gradients are near 0, so
/// the tolerance is a fiftieth of the way that a weight can go in these steps.
#[test]
fn both_paths_train_to_the_same_weights() {
    if devices() != [CPU, CPU_AS_GPU] {
        return skipped("both paths are compared on the CPU (make test)");
    }
    let rate = 1e-4;
    let cases: [(&str, &[&str]); 9] = [
        ("xlm-roberta", &[]),
        ("xlm-roberta", &JOINT),
        ("bert", &STANDARD),
        ("xlm-roberta", &["model.input_text=story", "train.entities=2", "loss.state_margin=1.0"]),
        ("deberta", &[]),
        ("deberta-v2", &JOINT),
        ("deberta-v2", &["encoder.freeze=['embeddings']"]),
        ("deberta-v2", &["encoder.freeze=['embeddings', 'layers:1']"]),
        ("xlm-roberta", &["encoder.freeze=['encoder']", "train.entities=2"]),
    ];
    for (family, settings) in cases {
        let tiny = Tiny::of(family);
        let rates = format!("train.learning_rate={rate}");
        let settings = sets(&[settings, &[&rates, "train.adamw.weight_decay=0.01"]].concat());
        let [kernels, libtorch] = [CPU, CPU_AS_GPU].map(|on| {
            let run = tiny.trained_on(on, if on.by_kernels { "kernels" } else { "libtorch" }, &settings);
            weights::read(&run.join("last/model.safetensors")).unwrap()
        });
        assert!(kernels.keys().eq(libtorch.keys()));
        let far = kernels.iter().map(|(name, tensor)| ((tensor - &libtorch[name]).abs().max().double_value(&[]), name));
        let (far, name) = far.max_by(|(a, _), (b, _)| a.total_cmp(b)).unwrap();
        assert!(far < 8. * rate / 50., "{family} {settings:?}: {name} is {far:e} apart");
    }
}

/// Sequences of 3, 17 and 5 tokens end to end: each attends to itself alone. The reference is softmax(qkᵀ/√d)v of each in
/// float32, of the same bfloat16 inputs.
#[test]
fn flash_attention_is_attention_within_each_sequence() {
    let device = devices()[0].device;
    assert_eq!(has_flash_attention(device, 16), device.is_cuda(), "GPUs since 2020 have it, CPUs don't");
    if !device.is_cuda() {
        return skipped("a GPU is needed (make test-gpu)");
    }
    let (lengths, heads, depth) = ([3i64, 17, 5], 2, 16);
    let random = || Tensor::randn([25, heads, depth], (Kind::BFloat16, device)).set_requires_grad(true);
    let (parts, cotangent) = ([random(), random(), random()], random().detach());
    let starts = Tensor::from_slice(&[0i32, 3, 20, 25]).to_device(device);
    let [queries, keys, values] = &parts;
    let found = flash_attention([queries, keys, values], &starts, 17, 0.);
    let wide = parts.each_ref().map(|part| part.detach().to_kind(Kind::Float).set_requires_grad(true));
    let mut start = 0;
    let expected: Vec<Tensor> = lengths
        .iter()
        .map(|&length| {
            let [q, k, v] = wide.each_ref().map(|part| part.narrow(0, start, length).transpose(0, 1)); // [heads, l, d]
            start += length;
            let scores = q.matmul(&k.transpose(1, 2)) / (depth as f64).sqrt();
            scores.softmax(-1, Kind::Float).matmul(&v).transpose(0, 1)
        })
        .collect();
    let expected = Tensor::cat(&expected, 0);
    let gradients = |output: &Tensor, of: &[Tensor; 3]| {
        let loss = (output.to_kind(Kind::Float) * &cotangent).sum(Kind::Float);
        Tensor::run_backward(&[loss], &of.each_ref(), false, false)
    };
    let error = |found: &Tensor, expected: &Tensor| {
        let found = found.to_kind(Kind::Float);
        ((found - expected).norm() / expected.norm()).double_value(&[])
    };
    let pairs = gradients(&found, &parts).into_iter().zip(gradients(&expected, &wide));
    for (found, expected) in pairs.chain([(found, expected)]) {
        let error = error(&found, &expected);
        assert!(error < 1e-2, "relative error {error}");
    }
}

/// The largest step of a bench on the device path.
fn work(settings: &[&str], family: &str) -> Value {
    let tiny = Tiny::of(family);
    tiny.add_dropout_to_encoder();
    let (config, report) = (tiny.config(), tiny.path("bench.json"));
    let fixed = ["bench", "--config", text(&config), "--steps", "1", "--seconds", "0", "--pairs-per-step", "2"];
    let arguments = [&fixed[..], &["--output", text(&report)], &sets(settings)].concat();
    let output = tiered_with("TIERED_KERNELS", "off", arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(report["encoder_path"], "libtorch");
    report["sizes"][0]["work"].clone()
}

#[test]
fn a_step_waits_for_the_device_once() {
    let standard = [&STANDARD[..], &["model.dropout=0.1", "train.adamw.weight_decay=0.01"]].concat();
    let stories =
        [&JOINT[..], &["model.state_context=story", "loss.single_story=0.1", "model.detector.entities=true"]].concat();
    let in_stories = [&JOINT[..], &["model.input_text=story", "model.detector.entities=true"]].concat();
    for (family, settings) in [
        ("xlm-roberta", &["model.dropout=0.1"][..]),
        ("xlm-roberta", &in_stories),
        ("bert", &standard),
        ("mpnet", &in_stories),
        ("mpnet", &["encoder.freeze=['embeddings', 'layers:1']"]),
        ("deberta", &[]),
        ("deberta-v2", &stories),
    ] {
        let work = work(settings, family);
        assert_eq!((work["reads"].as_u64(), work["waits"].as_u64()), (Some(1), Some(0)), "{family}: {work}");
    }
}

/// A layer asks for a number of operations that does not grow with the lengths of the sequences. The optimiser asks for one
/// for each group of parameters that share rate and decay, and about a dozen for the norm, the clipping and the check.
#[test]
fn a_step_asks_for_few_operations() {
    let few = work(&["train.head_learning_rate=1e-4", "train.adamw.weight_decay=0.01"], "xlm-roberta");
    let [forward, backward, optimiser] = [1, 6, 7].map(|phase| few["operations"][phase].as_u64().unwrap());
    assert!((20..=2 * 60 + 40).contains(&forward) && (20..=2 * 110 + 40).contains(&backward), "two layers: {few}");
    assert!((5..=32).contains(&optimiser), "{few}");
}

/// Every file of `src/`, without what tests add to it.
fn sources() -> Vec<(PathBuf, String)> {
    let with_code = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("\n#[cfg(test)]").next().unwrap().to_owned();
        (path, code)
    };
    source_files().into_iter().map(with_code).collect()
}

/// What a step needs goes to the device in the parcel of its batch: any other copy would wait. These files send what is
/// needed once, or seldom (DeBERTa's distances, when a longer sequence comes), or on a CPU (the gradients of shards).
/// `read.rs` copies back.
#[test]
fn few_files_send_to_the_device() {
    let sending =
        ["batch/sent.rs", "encoder/deberta/position.rs", "encoder/embeddings.rs", "src/loss.rs", "torch/flash.rs"];
    let allowed = [&sending[..], &["torch/read.rs", "train/fit.rs", "train/frozen.rs"]].concat();
    let found: Vec<_> = sources().into_iter().filter(|(_, code)| code.contains("to_device(")).collect();
    let is_allowed = |path: &Path| allowed.iter().any(|allowed| path.ends_with(allowed));
    let (known, others): (Vec<_>, Vec<_>) = found.iter().map(|(path, _)| path).partition(|path| is_allowed(path));
    assert!(others.is_empty(), "{others:?}");
    assert_eq!(known.len(), allowed.len(), "a file of the list sends nothing: {known:?}");
}

/// Only `src/torch/read.rs` copies numbers from a device, and it counts. What processes exchange is on the CPU.
#[test]
fn nothing_else_reads_from_the_device() {
    let found = sources();
    let reading = [
        ".double_value(",
        ".int64_value(",
        ".copy_data(",
        "to_device(Device::Cpu)",
        "to_device(tch::Device::Cpu)",
        ".nonzero(",
        ".masked_select(",
        "Vec::<f32>::try_from(",
        "Vec::<f64>::try_from(",
        "Vec::<i64>::try_from(",
        "Vec::<bool>::try_from(",
        "f64::try_from(",
        "f32::try_from(",
        "bool::try_from(",
        "Scalar::try_from(",
    ];
    let named: BTreeSet<String> = found
        .iter()
        .filter(|(path, code)| {
            code.contains("tch::") && !path.ends_with("torch/read.rs") && !path.ends_with("distributed/ranks.rs")
        })
        .flat_map(|(path, code)| {
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let of = |line: &str| reading.iter().find(|call| line.contains(**call)).copied();
            lines.filter_map(of).map(|call| format!("{}: {call}", path.display())).collect::<Vec<_>>()
        })
        .collect();
    assert!(named.is_empty(), "use crate::torch::read:\n{}", named.into_iter().collect::<Vec<_>>().join("\n"));
    assert!(found.iter().any(|(path, code)| path.ends_with("torch/read.rs") && code.contains(".copy_data(")));
}
