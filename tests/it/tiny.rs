//! Random encoders of every family, so small that training, evaluation and prediction through the program take a second.

use crate::support::{rng, stderr, temporary, text, tiered};
use crate::test_device::{TestDevice, devices};
use rand::RngExt;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tch::{Device, Tensor, nn};
use tempfile::TempDir;
use tiered::model::weights::{self, NamedTensors};
use tiered::model::{Encoder, EncoderConfig};

/// Where a tiny encoder, stories and runs are, until it is dropped.
pub struct Tiny {
    directory: TempDir,
}

impl Tiny {
    /// An XLM-R, and `stories.json`: 8 pairs of the sample stories (half cloze, half order) as "train", 4 as "dev".
    pub fn new() -> Self {
        Self::of("xlm-roberta")
    }

    /// The same with an encoder of another family.
    pub fn of(family: &str) -> Self {
        let tiny = Tiny { directory: temporary() };
        make_encoder(&tiny.encoder(), family);
        let groups = |file: &str, groups: usize| sample(file).into_iter().take(3 * groups).collect::<Map<_, _>>();
        std::fs::write(tiny.stories(), json!({"train": groups("en", 4), "dev": groups("en-dev", 2)}).to_string())
            .unwrap();
        tiny
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn encoder(&self) -> PathBuf {
        self.path("encoder")
    }

    pub fn stories(&self) -> PathBuf {
        self.path("stories.json")
    }

    /// Gives the encoder dropout, also in its attention.
    pub fn add_dropout_to_encoder(&self) {
        let path = self.encoder().join("config.json");
        let mut config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        config["hidden_dropout_prob"] = json!(0.1);
        config["attention_probs_dropout_prob"] = json!(0.1);
        std::fs::write(path, config.to_string()).unwrap();
    }

    /// A config on the 8 pairs, with a detector of one layer and without dropout.
    pub fn config(&self) -> PathBuf {
        let config = format!(
            "seed = 1\ndevice = '{device}'\nprecision = 'fp32'\nthreads = 1\n{deterministic}\
             [encoder]\npath = '{}'\n\
             [data]\ntrain = {{ file = '{stories}', split = 'train' }}\ndev = {{ file = '{stories}', split = 'dev' }}\n\
             [model]\ndropout = 0.0\n\
             [model.detector]\nlayers = 1\nwidth = 64\nheads = 2\nfeed_forward = 64\n\
             [train]\nepochs = 2\npairs_per_step = 2\nlearning_rate = 1e-3\n",
            self.encoder().display(),
            stories = self.stories().display(),
            device = devices()[0].name(),
            // Some sums on GPUs have no fixed order (docs/gpu.md).
            deterministic = if devices()[0].device.is_cuda() { "deterministic = true\n" } else { "" },
        );
        let path = self.path("tiny.toml");
        std::fs::write(&path, config).unwrap();
        path
    }

    /// `tiered train` with that config and more arguments, into the run folder of that name.
    pub fn train(&self, run: &str, more: &[&str]) -> Output {
        let (config, run) = (self.config(), self.path(run));
        tiered(["train", "--config", text(&config), "--output", text(&run)].into_iter().chain(more.iter().copied()))
    }

    /// The same, computed so; it must succeed.
    pub fn trained_on(&self, on: TestDevice, run: &str, more: &[&str]) -> PathBuf {
        let (config, folder) = (self.config(), self.path(run));
        let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
        command.args(["train", "--config", text(&config), "--output", text(&folder)]).args(more).envs(on.environment());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{on:?}: {}", stderr(&output));
        folder
    }

    /// `tiered train` with that config, which must succeed.
    pub fn trained(&self, run: &str, more: &[&str]) -> PathBuf {
        let output = self.train(run, more);
        assert!(output.status.success(), "{}", stderr(&output));
        self.path(run)
    }
}

/// The stories of a sample file, which has one split.
pub fn sample(name: &str) -> Map<String, Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/sample/{name}.json"));
    let splits: Map<String, Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let (_, stories) = splits.into_iter().next().unwrap();
    stories.as_object().unwrap().clone()
}

/// A Hugging Face folder: config.json, tokenizer.json and model.safetensors.
fn make_encoder(folder: &Path, family: &str) {
    std::fs::create_dir_all(folder).unwrap();
    let vocabulary = vocabulary(family);
    let mut config = json!({
        "model_type": family, "hidden_act": "gelu", "vocab_size": vocabulary.len(), "hidden_size": 32,
        "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 66,
        "type_vocab_size": 1, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "layer_norm_eps": 1e-5,
        "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
    });
    let own = match family {
        "bert" => json!({"type_vocab_size": 2}),
        "mpnet" => json!({"relative_attention_num_buckets": 32}),
        "deberta" => json!({"type_vocab_size": 0, "relative_attention": true, "pos_att_type": "c2p|p2c",
                            "max_relative_positions": -1, "position_biased_input": false}),
        "deberta-v2" => json!({"type_vocab_size": 0, "relative_attention": true, "pos_att_type": "p2c|c2p",
                               "position_buckets": 8, "share_att_key": true, "norm_rel_ebd": "layer_norm",
                               "max_relative_positions": -1, "position_biased_input": false}),
        _ => json!({}),
    };
    config.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
    std::fs::write(folder.join("tokenizer.json"), tokenizer(&vocabulary).to_string()).unwrap();
    let config = EncoderConfig::open(&folder.join("config.json")).unwrap();
    weights::write(&folder.join("model.safetensors"), &random_weights(&config)).unwrap();
}

/// The special tokens, then the words of all sample stories.
fn vocabulary(family: &str) -> Vec<String> {
    let mut words = BTreeSet::new();
    for story in ["en", "en-dev", "it"].map(sample).iter().flat_map(|stories| stories.values()) {
        let names = story["states"].as_array().unwrap().iter().flat_map(entities);
        let sentences = story["sentences"].as_array().unwrap().iter().map(|sentence| sentence.as_str().unwrap());
        words.extend(sentences.chain(names).flat_map(tokens));
    }
    let specials = match family.ends_with("roberta") || family == "mpnet" {
        true => ["<s>", "<pad>", "</s>", "<unk>"],
        false => ["[CLS]", "[PAD]", "[SEP]", "[UNK]"],
    };
    specials.map(str::to_owned).into_iter().chain(words).collect()
}

/// The names in a row of states.
fn entities(row: &Value) -> impl Iterator<Item = &str> {
    let labels = row.as_object().unwrap().values().flat_map(|labels| labels.as_array().unwrap());
    labels.map(|label| label[0].as_str().unwrap())
}

/// As the tokenizer's pre-tokenizer splits them: words, and runs of other signs.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut last = None;
    for c in text.to_lowercase().chars() {
        let kind = (!c.is_whitespace()).then(|| c.is_alphanumeric());
        match (kind, tokens.last_mut()) {
            (None, _) => {}
            (Some(_), Some(token)) if kind == last => token.push(c),
            _ => tokens.push(c.into()),
        }
        last = kind;
    }
    tokens
}

fn tokenizer(vocabulary: &[String]) -> Value {
    let special = |id: usize| {
        json!({"id": id, "content": vocabulary[id], "single_word": false, "lstrip": false, "rstrip": false,
               "normalized": false, "special": true})
    };
    let numbers: serde_json::Map<_, _> =
        vocabulary.iter().enumerate().map(|(id, word)| (word.clone(), json!(id))).collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [special(0), special(1), special(2), special(3)],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": template(vocabulary),
        "decoder": null, "model": {"type": "WordLevel", "vocab": numbers, "unk_token": vocabulary[3]},
    })
}

/// `<s> a </s></s> b </s>`, or `[CLS] a [SEP] b [SEP]` with types.
fn template(vocabulary: &[String]) -> Value {
    let [cls, sep] = [0, 2].map(|id| &vocabulary[id]);
    if cls == "<s>" {
        return json!({"type": "RobertaProcessing", "sep": [sep, 2], "cls": [cls, 0], "trim_offsets": true,
                      "add_prefix_space": false});
    }
    let special = |name: &str, kind: u8| json!({"SpecialToken": {"id": name, "type_id": kind}});
    let part = |name: &str, kind: u8| json!({"Sequence": {"id": name, "type_id": kind}});
    let single = vec![special(cls, 0), part("A", 0), special(sep, 0)];
    let pair = [single.clone(), vec![part("B", 1), special(sep, 1)]].concat();
    json!({"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": {
        cls: {"id": cls, "ids": [0], "tokens": [cls]}, sep: {"id": sep, "ids": [2], "tokens": [sep]}}})
}

/// Every weight of the encoder under Hugging Face's name, small and random; norms as they are.
fn random_weights(config: &EncoderConfig) -> NamedTensors {
    let store = nn::VarStore::new(Device::Cpu);
    let _encoder = Encoder::new(&store.root(), config);
    let mut rng = rng(11);
    let mut random = |size: Vec<i64>| {
        let values: Vec<f32> = (0..size.iter().product()).map(|_| rng.random_range(-0.2..0.2)).collect();
        Tensor::from_slice(&values).view(size.as_slice())
    };
    let named = weights::named(&store).into_iter();
    named.map(|(name, old)| if name.contains("LayerNorm") { (name, old) } else { (name, random(old.size())) }).collect()
}
