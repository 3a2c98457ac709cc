//! Encoders of every family through the program, what their configs may say, and the forms their weights come in.

use crate::support::{stderr, stdout, text, tiered};
use crate::tiny::Tiny;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;
use tch::{Kind, Tensor};
use tiered::config::Config;
use tiered::error::ErrorKind;
use tiered::experiment::Trial;
use tiered::model::encoder::Family;
use tiered::model::weights::{self, NamedTensors};
use tiered::model::{EncoderConfig, PretrainedWeights};
use tiered::train::Parameter;

#[test]
fn every_family_trains_is_evaluated_and_is_saved_under_its_own_names() {
    for (family, prefix, by) in [
        ("bert", "bert.", "kernels"),
        ("roberta", "roberta.", "kernels"),
        ("xlm-roberta", "roberta.", "kernels"),
        ("mpnet", "mpnet.", "libtorch's operations"),
        ("deberta", "deberta.", "libtorch's operations"),
        ("deberta-v2", "deberta.", "kernels"),
    ] {
        let tiny = Tiny::of(family);
        let output = tiny.train("run", &[&["--set", "train.epochs=1"][..], &JOINT].concat());
        assert!(output.status.success(), "{family}: {}", stderr(&output));
        let line = format!("encoder: {family}, 2 layers, hidden size 32, computed by {by}");
        assert!(stdout(&output).contains(&line), "{family}: {}", stdout(&output));
        let run = tiny.path("run");
        let saved = weights::read(&run.join("last/model.safetensors")).unwrap();
        let of_encoder: NamedTensors = saved.into_iter().filter(|(name, _)| name.starts_with(prefix)).collect();
        let before = weights::read(&tiny.encoder().join("model.safetensors")).unwrap();
        assert_eq!(of_encoder.len(), before.len(), "{family}");
        assert!(before.keys().all(|name| of_encoder.contains_key(&format!("{prefix}{name}"))), "{family}");
        let output = tiered(["eval", text(&run), "--data", text(&tiny.stories()), "--split", "dev"]);
        assert!(output.status.success(), "{family}: {}", stderr(&output));
    }
}

#[test]
fn what_is_frozen_stays_and_the_rest_moves() {
    let layer = ["encoder.layer.0.", "relative_attention_bias", "rel_embeddings", "encoder.LayerNorm"];
    let embeddings = "embeddings.";
    for family in ["bert", "roberta", "xlm-roberta", "mpnet", "deberta", "deberta-v2"] {
        let tiny = Tiny::of(family);
        let before = weights::read(&tiny.encoder().join("model.safetensors")).unwrap();
        for (freeze, frozen) in [("'layers:1'", &layer[..]), ("'embeddings'", &[embeddings])] {
            let settings = ["--set", "train.epochs=1", "--set", &format!("encoder.freeze=[{freeze}]")];
            let run = tiny.trained(freeze, &[&settings[..], &JOINT].concat());
            let after = weights::read(&run.join("last/model.safetensors")).unwrap();
            for (name, before) in &before {
                let (_, after) = after.iter().find(|(of_run, _)| of_run.ends_with(&format!(".{name}"))).unwrap();
                let moved = (before - after).abs().max().double_value(&[]) > 0.;
                let is_part = |part: &&str| name.starts_with(*part) || (*part != embeddings && name.contains(*part));
                let is_frozen = frozen.iter().any(is_part);
                // Softmax takes no notice of a bias of keys.
                let may_stay = ["key.bias", "attn.k.bias"].iter().any(|bias| name.contains(bias));
                assert!(
                    if is_frozen { !moved } else { moved || may_stay },
                    "{family}, {freeze}: {name} moved: {moved}"
                );
            }
        }
    }
}

/// By the names of PyTorch's modules: matrices decay, embeddings, tables of distances, norms and biases don't.
#[test]
fn matrices_decay_and_nothing_else() {
    for family in ["bert", "roberta", "xlm-roberta", "mpnet", "deberta", "deberta-v2"] {
        for detector in ["kind='paper', norm='before'", "kind='joint', context='story', sentence_layers=1"] {
            let tiny = Tiny::of(family);
            let set = format!("model.detector={{ {detector} }}");
            let trial = Trial::prepare(Config::open(&tiny.config(), &[set]).unwrap(), None).unwrap();
            let parameters = trial.parameters();
            for Parameter { name, decays, .. } in &parameters {
                let none = ["LayerNorm", "norm", "embeddings", "relative_attention_bias"];
                let is_matrix = name.ends_with("weight") && !none.iter().any(|part| name.contains(part));
                assert_eq!(*decays, is_matrix, "{family}, {detector}: {name}");
            }
            let decaying = parameters.iter().filter(|parameter| parameter.decays).count();
            assert!(decaying > 12 && decaying + 12 < parameters.len(), "{decaying} of {}", parameters.len());
        }
    }
}

const JOINT: [&str; 4] = ["--set", "model.detector.kind=joint", "--set", "model.detector.context=story"];

#[test]
fn the_bench_names_the_path() {
    for (family, path) in [("deberta-v2", "kernels"), ("deberta", "libtorch")] {
        let tiny = Tiny::of(family);
        let (config, report) = (tiny.config(), tiny.path("bench.json"));
        let output = tiered([
            "bench",
            "--config",
            text(&config),
            "--pairs-per-step",
            "1",
            "--steps",
            "1",
            "--seconds",
            "0",
            "--output",
            text(&report),
        ]);
        assert!(output.status.success(), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
        assert_eq!((&report["encoder_path"], &report["encoder"]["model_type"]), (&json!(path), &json!(family)));
        assert!(stdout(&output).contains(&format!("computed by {path}")), "{}", stdout(&output));
    }
}

/// What the hub's `config.json` of well-known encoders say that matters here.
fn published() -> [(&'static str, Value); 7] {
    let common = |more: Value| {
        let mut config = json!({"hidden_act": "gelu", "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1,
            "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
            "max_position_embeddings": 512, "layer_norm_eps": 1e-7, "initializer_range": 0.02, "type_vocab_size": 0});
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        config
    };
    let without = |key: &str, mut config: Value| {
        config.as_object_mut().unwrap().remove(key);
        config
    };
    [
        (
            "bert-large-uncased",
            common(json!({"model_type": "bert", "hidden_size": 1024, "num_hidden_layers": 24,
            "num_attention_heads": 16, "intermediate_size": 4096, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
            "pad_token_id": 0, "position_embedding_type": "absolute", "vocab_size": 30522})),
        ),
        (
            "roberta-large",
            common(json!({"model_type": "roberta", "hidden_size": 1024, "num_hidden_layers": 24,
            "num_attention_heads": 16, "intermediate_size": 4096, "max_position_embeddings": 514,
            "type_vocab_size": 1, "layer_norm_eps": 1e-5, "pad_token_id": 1, "vocab_size": 50265})),
        ),
        (
            "all-mpnet-base-v2",
            without(
                "type_vocab_size",
                common(json!({"model_type": "mpnet", "max_position_embeddings": 514, "layer_norm_eps": 1e-5,
                "pad_token_id": 1, "relative_attention_num_buckets": 32, "vocab_size": 30527})),
            ),
        ),
        (
            "deberta-base",
            common(json!({"model_type": "deberta", "max_relative_positions": -1,
            "relative_attention": true, "pos_att_type": "c2p|p2c", "position_biased_input": false, "padding_idx": 0,
            "pad_token_id": 0, "vocab_size": 50265})),
        ),
        (
            "deberta-v2-xlarge",
            common(json!({"model_type": "deberta-v2", "hidden_size": 1536, "num_hidden_layers": 24,
            "num_attention_heads": 24, "attention_head_size": 64, "intermediate_size": 6144, "position_buckets": 256,
            "relative_attention": true, "norm_rel_ebd": "layer_norm", "share_att_key": true,
            "pos_att_type": "p2c|c2p", "conv_kernel_size": 3, "conv_act": "gelu", "max_relative_positions": -1,
            "position_biased_input": false, "vocab_size": 128100})),
        ),
        (
            "mdeberta-v3-base",
            common(json!({"model_type": "deberta-v2", "relative_attention": true,
            "position_buckets": 256, "norm_rel_ebd": "layer_norm", "share_att_key": true, "pos_att_type": "p2c|c2p",
            "max_relative_positions": -1, "position_biased_input": false, "vocab_size": 251000})),
        ),
        (
            "a list of terms",
            common(json!({"model_type": "deberta-v2", "relative_attention": true,
            "pos_att_type": ["p2c", "c2p"], "vocab_size": 251000})),
        ),
    ]
}

fn open(config: &Value) -> tiered::error::Result<EncoderConfig> {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("config.json");
    std::fs::write(&path, config.to_string()).unwrap();
    EncoderConfig::open(&path)
}

#[test]
fn configs_of_well_known_encoders_are_read() {
    for (name, config) in published() {
        let read = open(&config).unwrap();
        assert_eq!(read.family.name(), config["model_type"], "{name}");
        assert_eq!(read.max_tokens(), 512, "{name}");
        assert_eq!(open(&serde_json::to_value(&read).unwrap()).unwrap(), read, "{name} written and read again");
        if let Family::Deberta(deberta) | Family::DebertaV2(deberta) = &read.family {
            assert!(deberta.pos_att_type.content_to_position && deberta.pos_att_type.position_to_content, "{name}");
            assert_eq!(
                deberta.span(512),
                if name.starts_with(['m', 'd']) && name != "deberta-base" { 256 } else { 512 }
            );
        }
    }
}

#[test]
fn what_can_not_be_computed_is_refused_by_its_key() {
    let [bert, roberta, mpnet, deberta, v2, ..] = published().map(|(_, config)| config);
    for (config, key, value) in [
        (&bert, "position_embedding_type", json!("relative_key")),
        (&bert, "hidden_act", json!("gelu_new")),
        (&bert, "is_decoder", json!(true)),
        (&bert, "type_vocab_size", json!(0)),
        (&bert, "model_type", json!("distilbert")),
        (&roberta, "pad_token_id", json!(null)),
        (&roberta, "pad_token_id", json!(-1)),
        (&mpnet, "pad_token_id", json!(0)),
        (&mpnet, "relative_attention_num_buckets", json!(64)),
        (&mpnet, "relative_attention_num_buckets", json!(null)),
        (&deberta, "talking_head", json!(true)),
        (&deberta, "attention_head_size", json!(32)),
        (&deberta, "pos_att_type", json!("c2p|p2p")),
        (&deberta, "pos_att_type", json!("c2p|c2p")),
        (&deberta, "share_att_key", json!(true)),
        (&deberta, "position_buckets", json!(256)),
        (&deberta, "conv_kernel_size", json!(3)),
        (&deberta, "norm_rel_ebd", json!("layer_norm")),
        (&v2, "norm_rel_ebd", json!("batch_norm")),
        (&v2, "position_buckets", json!(1024)),
        (&v2, "position_buckets", json!(1)),
        (&v2, "conv_kernel_size", json!(4)),
        (&v2, "conv_groups", json!(7)),
        (&v2, "conv_act", json!("relu")),
        (&v2, "conv_act", json!(null)),
        (&v2, "max_relative_positions", json!(1i64 << 40)),
        (&v2, "embedding_size", json!(0)),
    ] {
        let mut config = config.clone();
        config[key] = value;
        let error = open(&config).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Config);
        let named = if config[key] == "distilbert" { "distilbert" } else { key };
        let message = &error.message;
        assert!(message.contains(named) || message.contains("null") && config[key].is_null(), "{key}: {message}");
    }
    for mut config in [bert, roberta, deberta, v2] {
        config.as_object_mut().unwrap().remove("type_vocab_size");
        assert!(open(&config).unwrap_err().message.contains("missing field `type_vocab_size`"), "{config}");
    }
}

/// A tiny BERT whose weights, named as they are or otherwise, are put into files anew.
struct Weights {
    tiny: Tiny,
    tensors: NamedTensors,
}

impl Weights {
    fn new(family: &str) -> Self {
        let tiny = Tiny::of(family);
        let path = tiny.encoder().join("model.safetensors");
        let tensors = weights::read(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        Weights { tiny, tensors }
    }

    /// Under other names.
    fn renamed(&mut self, name: impl Fn(&str) -> String) {
        self.tensors =
            std::mem::take(&mut self.tensors).into_iter().map(|(old, tensor)| (name(&old), tensor)).collect();
    }

    fn write(&self, file: &str) {
        weights::write(&self.tiny.encoder().join(file), &self.tensors).unwrap();
    }

    /// In two files with an index, which is returned to be written.
    fn write_in_parts(&self) -> BTreeMap<String, String> {
        let mut index = BTreeMap::new();
        for (part, file) in ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"].iter().enumerate()
        {
            let of_part = self.tensors.iter().enumerate().filter(|(i, _)| i % 2 == part);
            let of_part: NamedTensors =
                of_part.map(|(_, (name, tensor))| (name.clone(), tensor.shallow_clone())).collect();
            weights::write(&self.tiny.encoder().join(file), &of_part).unwrap();
            index.extend(of_part.into_keys().map(|name| (name, file.to_string())));
        }
        index
    }

    fn write_index(&self, weight_map: &BTreeMap<String, String>) {
        let index = json!({"metadata": {"total_size": 1}, "weight_map": weight_map});
        std::fs::write(self.tiny.encoder().join("model.safetensors.index.json"), index.to_string()).unwrap();
    }

    fn dry_run(&self) -> Output {
        self.tiny.train("run", &["--dry-run"])
    }

    /// What is in the encoder after it was loaded.
    fn loaded(&self) -> (NamedTensors, Vec<String>) {
        let config = EncoderConfig::open(&self.tiny.encoder().join("config.json")).unwrap();
        let store = tch::nn::VarStore::new(tch::Device::Cpu);
        let _encoder = tiered::model::Encoder::new(&(store.root() / config.prefix()), &config);
        let skipped = PretrainedWeights::open(&self.tiny.encoder()).unwrap().load(&store, &config).unwrap();
        let bare = |name: String| name.strip_prefix(&format!("{}.", config.prefix())).unwrap().to_owned();
        (weights::named(&store).into_iter().map(|(name, tensor)| (bare(name), tensor)).collect(), skipped)
    }

    fn assert_loaded(&self, expected: &NamedTensors, tolerance: f64) -> Vec<String> {
        let (loaded, skipped) = self.loaded();
        assert_eq!(loaded.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, tensor) in loaded {
            let away = (tensor - &expected[&name]).abs().max().double_value(&[]);
            assert!(away <= tolerance, "{name}: {away}");
        }
        skipped
    }
}

fn copied(tensors: &NamedTensors) -> NamedTensors {
    tensors.iter().map(|(name, tensor)| (name.clone(), tensor.shallow_clone())).collect()
}

#[test]
fn prefixes_old_names_and_heads_of_bert() {
    let mut weights = Weights::new("bert");
    let expected = copied(&weights.tensors);
    weights.renamed(|name| {
        let old = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta");
        format!("bert.{old}")
    });
    let heads = [
        "bert.pooler.dense.weight",
        "cls.predictions.bias",
        "cls.predictions.transform.LayerNorm.gamma",
        "cls.seq_relationship.weight",
    ];
    weights.tensors.extend(heads.map(|head| (head.to_owned(), Tensor::from(1f32))));
    weights.write("model.safetensors");
    assert_eq!(weights.assert_loaded(&expected, 0.), heads);
    let output = weights.dry_run();
    assert!(stdout(&output).contains(&format!("skipped in the encoder's file: {}", heads.join(", "))));
}

#[test]
fn what_pretraining_deberta_left_is_skipped() {
    let mut weights = Weights::new("deberta-v2");
    let expected = copied(&weights.tensors);
    weights.renamed(|name| format!("deberta.{name}"));
    let left = [
        "deberta.embeddings.position_embeddings.weight",
        "deberta.embeddings.word_embeddings._weight",
        "lm_predictions.lm_head.bias",
        "mask_predictions.dense.weight",
    ];
    weights.tensors.extend(left.map(|name| (name.to_owned(), Tensor::from(1f32))));
    weights.write("model.safetensors");
    assert_eq!(weights.assert_loaded(&expected, 0.), left);
}

#[test]
fn what_is_missing_and_what_is_unexpected_are_errors_with_both_lists() {
    let mut weights = Weights::new("deberta");
    let rel = weights.tensors.remove("encoder.rel_embeddings.weight").unwrap();
    weights.tensors.insert("encoder.relative.weight".into(), rel);
    weights.write("model.safetensors");
    let output = weights.dry_run();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(78), "{message}");
    assert!(message.contains("1 missing: deberta.encoder.rel_embeddings.weight"), "{message}");
    assert!(message.contains("1 unexpected: encoder.relative.weight"), "{message}");
}

#[test]
fn half_precision_is_read() {
    for (kind, dtype) in [(Kind::Half, Dtype::F16), (Kind::BFloat16, Dtype::BF16)] {
        let weights = Weights::new("bert");
        let bytes: Vec<(&String, Vec<usize>, Vec<u8>)> = weights
            .tensors
            .iter()
            .map(|(name, tensor)| {
                let half = tensor.to_kind(kind);
                let mut bytes = vec![0; 2 * half.numel()];
                half.copy_data_u8(&mut bytes, half.numel());
                (name, half.size().iter().map(|&size| size as usize).collect(), bytes)
            })
            .collect();
        let views =
            bytes.iter().map(|(name, shape, bytes)| (name, TensorView::new(dtype, shape.clone(), bytes).unwrap()));
        safetensors::serialize_to_file(views, None, &weights.tiny.encoder().join("model.safetensors")).unwrap();
        weights.assert_loaded(&weights.tensors, 1e-2);
        assert!(weights.dry_run().status.success());
    }
}

#[test]
fn weights_in_parts_are_read_by_their_index() {
    let weights = Weights::new("roberta");
    let index = weights.write_in_parts();
    weights.write_index(&index);
    weights.assert_loaded(&weights.tensors, 0.);
    let output = weights.dry_run();
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn an_index_that_lies_or_leads_out_of_its_folder_is_refused() {
    let weights = Weights::new("roberta");
    let index = weights.write_in_parts();
    let (first, file) = index.first_key_value().map(|(name, file)| (name.clone(), file.clone())).unwrap();
    let other = index.values().find(|other| **other != file).unwrap().clone();
    let outside = weights.tiny.path("outside.safetensors");
    std::fs::copy(weights.tiny.encoder().join(&file), outside).unwrap();
    let changed = |name: &str, file: &str| {
        let mut index = index.clone();
        index.insert(name.to_owned(), file.to_owned());
        index
    };
    let mut without = index.clone();
    without.remove(&first);
    for (case, code, words) in [
        (changed(&first, "../outside.safetensors"), 77, "can't be used as a path"),
        (changed(&first, "/etc/passwd"), 77, "can't be used as a path"),
        (changed(&first, ""), 77, "it is empty"),
        (changed(&first, "nowhere.safetensors"), 66, "nowhere.safetensors"),
        (changed(&first, &other), 78, &*format!("does not say that {file} holds {first}")),
        (changed("encoder.more", &file), 78, "holds encoder.more, but it does not"),
        (without, 78, "but it does"),
        (BTreeMap::new(), 78, "names 0 files"),
        (changed(&first, "config.json"), 77, "not a safetensors file"),
    ] {
        weights.write_index(&case);
        let output = weights.dry_run();
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{words}: {message}");
        assert!(message.contains(words), "{words}: {message}");
    }
    let path = weights.tiny.encoder().join("model.safetensors.index.json");
    for malformed in ["", "[]", "{\"weight_map\": 7}", "{\"weight_map\": {\"a\": [\"b\"]}}"] {
        std::fs::write(&path, malformed).unwrap();
        let output = weights.dry_run();
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(78), "{message}");
        assert!(message.contains("index.json: not an index of weights"), "{message}");
    }
}

/// `tiered train --dry-run` with a config that ships, on a tiny encoder and the tiny stories.
fn dry_run_of(config: &str, tiny: &Tiny) -> Output {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("configs/{config}.toml"));
    let (encoder, out) = (format!("encoder.path={}", text(&tiny.encoder())), tiny.path("run"));
    let [train, dev] = ["train", "dev"].map(|part| format!("data.{part}.file={}", text(&tiny.stories())));
    tiered([
        "train",
        "--dry-run",
        "--config",
        text(&config),
        "--output",
        text(&out),
        "--set",
        &encoder,
        "--set",
        &train,
        "--set",
        &dev,
    ])
}

#[test]
fn configs_of_the_papers_systems_pass_a_dry_run() {
    for (config, family) in [
        ("trip-bert-large", "bert"),
        ("trip-roberta-large", "roberta"),
        ("trip-deberta-base", "deberta"),
        ("trip-xlmr-base", "xlm-roberta"),
        ("joint-minilm", "bert"),
    ] {
        let tiny = Tiny::of(family);
        let output = dry_run_of(config, &tiny);
        assert!(output.status.success(), "{config}: {}", stderr(&output));
        assert!(stdout(&output).contains(&format!("encoder: {family},")), "{config}: {}", stdout(&output));
        assert!(!tiny.path("run").exists());
    }
}
