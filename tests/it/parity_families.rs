//! Encoders of every family against Hugging Face's code: tiny random ones, and three English ones with real weights where they
//! are at hand.

use crate::arrays::{
    Arrays, ENCODER, EVAL, assert_close, check_bfloat16, check_encoder, check_every_token, check_slope, distance,
    encode, encoder, encoder_config, packed_inputs,
};
use crate::support::{fixture, skipped};
use crate::test_device::devices;
use crate::tiny::sample;
use serde_json::Value;
use std::path::{Path, PathBuf};
use tch::{Device, Kind, Tensor, nn};
use tiered::batch::Tokens;
use tiered::model::encoder::deberta::{DebertaConfig, PositionTerms, log_buckets};
use tiered::model::encoder::relative_bias::t5_buckets;
use tiered::model::encoder::{Family, Path as ComputedBy};
use tiered::model::{Encoder, EncoderConfig, PretrainedWeights};
use tiered::tokenizer::{InputTokenizer, TokenSequence, tokenizer_json};

const FAMILIES: [&str; 6] = ["bert", "roberta", "mpnet", "deberta", "deberta_v2", "deberta_v3"];

fn file(family: &str) -> String {
    format!("encoder_{family}.safetensors")
}

fn arrays(family: &str) -> Arrays {
    Arrays::open(&file(family))
}

#[test]
fn bert_equals_hugging_face() {
    check_encoder(&file("bert"));
    check_every_token(&file("bert"));
}

#[test]
fn roberta_equals_hugging_face() {
    check_encoder(&file("roberta"));
    check_every_token(&file("roberta"));
}

#[test]
fn mpnet_equals_hugging_face() {
    check_encoder(&file("mpnet"));
    check_every_token(&file("mpnet"));
}

#[test]
fn deberta_equals_hugging_face() {
    check_encoder(&file("deberta"));
    check_every_token(&file("deberta"));
}

#[test]
fn deberta_v2_with_convolution_equals_hugging_face() {
    check_encoder(&file("deberta_v2"));
    check_every_token(&file("deberta_v2"));
}

#[test]
fn deberta_v3_with_shared_keys_and_buckets_equals_hugging_face() {
    check_encoder(&file("deberta_v3"));
    check_every_token(&file("deberta_v3"));
}

#[test]
fn with_dropout_every_familys_gradient_is_the_slope_of_the_same_loss() {
    FAMILIES.iter().for_each(|family| check_slope(&file(family)));
}

#[test]
fn kernels_compute_bert_roberta_and_deberta_v3() {
    for family in FAMILIES {
        let arrays = arrays(family);
        let (_store, encoder) = encoder(&arrays, &encoder_config(&arrays));
        let by = if ["bert", "roberta", "deberta_v3"].contains(&family) {
            ComputedBy::Kernels
        } else {
            ComputedBy::Libtorch
        };
        assert_eq!(encoder.path(EVAL, Device::Cpu), by, "{family}");
        assert_eq!(encoder.path(EVAL.unfused(), Device::Cpu), ComputedBy::Libtorch, "{family}");
    }
}

/// The settings of a DeBERTa's fixture, changed.
fn changed(arrays: &Arrays, change: impl FnOnce(&mut DebertaConfig)) -> EncoderConfig {
    let mut config = encoder_config(arrays);
    match &mut config.family {
        Family::Deberta(deberta) | Family::DebertaV2(deberta) => change(deberta),
        other => panic!("{other:?}"),
    }
    config
}

#[test]
fn a_wrong_setting_of_any_family_shows() {
    let with = |family: &str, change: fn(&mut EncoderConfig)| {
        let mut config = encoder_config(&arrays(family));
        change(&mut config);
        (family.to_owned(), config)
    };
    let mut wrong: Vec<(String, EncoderConfig)> =
        FAMILIES.iter().map(|family| with(family, |config| config.layer_norm_eps = 1e-5)).collect();
    wrong.push(with("bert", |config| config.family = Family::Roberta { pad_token_id: 0 }));
    wrong.push(with("roberta", |config| config.family = Family::Roberta { pad_token_id: 0 }));
    wrong.push(with("roberta", |config| config.family = Family::Bert));
    // One term fewer leaves weights over; they are taken from `share_att_key`'s fixture, which has none of their own.
    let only = PositionTerms { content_to_position: true, position_to_content: false };
    wrong.push(("deberta_v3".into(), changed(&arrays("deberta_v3"), |deberta| deberta.pos_att_type = only)));
    wrong.push(("deberta_v3".into(), changed(&arrays("deberta_v3"), |deberta| deberta.max_relative_positions = 18)));
    for (family, config) in wrong {
        let arrays = arrays(&family);
        let (_, _, output) = encode(&arrays, &config, EVAL);
        assert!(distance(&output, arrays.get("cls")) > 10. * ENCODER, "{config:?} went unnoticed");
    }
}

#[test]
fn types_of_tokens_are_read_by_the_families_that_have_them() {
    for (family, reads) in
        [("bert", true), ("roberta", false), ("mpnet", false), ("deberta_v2", true), ("deberta_v3", false)]
    {
        let arrays = arrays(family);
        let (_store, encoder, right) = encode(&arrays, &encoder_config(&arrays), EVAL);
        let (mut tokens, order) = packed_inputs(&arrays);
        tokens.types = tokens.types.zeros_like();
        let untyped = crate::arrays::in_order(&encoder.forward(&tokens, EVAL), &order);
        assert_eq!(distance(&untyped, &right) > 10. * ENCODER, reads, "{family}");
    }
}

#[test]
fn buckets_of_distances_equal_hugging_faces() {
    let arrays = arrays("deberta_v3");
    for (buckets, max_distance) in [(256, 512), (32, 128), (8, 24)] {
        let distances = Tensor::arange_start(1 - max_distance, max_distance, (Kind::Int64, Device::Cpu));
        let expected = arrays.get(&format!("buckets.{buckets}.{max_distance}"));
        assert_eq!(&log_buckets(&distances, buckets, max_distance), expected, "{buckets} of {max_distance}");
        assert_ne!(&log_buckets(&distances, buckets - 2, max_distance), expected, "{} pass for {buckets}", buckets - 2);
    }
}

#[test]
fn buckets_of_mpnet_equal_hugging_faces() {
    let distances = Tensor::arange_start(-200, 201, (Kind::Int64, Device::Cpu));
    assert_eq!(&t5_buckets(&distances), arrays("mpnet").get("buckets"));
}

#[test]
fn every_family_in_bfloat16_is_near_float32() {
    for family in FAMILIES {
        for arrays in Arrays::on_devices(&file(family)) {
            check_bfloat16(&arrays, 0.05, family);
        }
    }
}

/// The folder of an English encoder with real weights, or a line saying that it is not there.
fn real(folder: &str, script: &str) -> Option<PathBuf> {
    let folder = format!("checkpoints/encoders/{folder}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&folder);
    if !path.exists() {
        skipped(&format!("{folder} is needed ({script})"));
        return None;
    }
    Some(path)
}

fn minilm() -> Option<PathBuf> {
    real("minilm-l6", "make minilm")
}

fn pair_of(row: &Value) -> (String, String) {
    serde_json::from_value(row["pair"].clone()).unwrap()
}

#[test]
fn a_real_bert_gives_hugging_faces_ids_types_and_vectors() {
    minilm().into_iter().for_each(|folder| check_real(&folder, "minilm.json", &POOLER));
}

#[test]
fn a_real_mpnet_gives_hugging_faces_ids_and_vectors() {
    real("mpnet-base", "make mpnet").into_iter().for_each(|folder| check_real(&folder, "mpnet.json", &POOLER));
}

#[test]
fn a_real_deberta_gives_hugging_faces_ids_types_and_vectors() {
    real("deberta-xsmall", "make deberta").into_iter().for_each(|folder| check_real(&folder, "deberta.json", &[]));
}

const POOLER: [&str; 2] = ["pooler.dense.bias", "pooler.dense.weight"];

/// `unread`: the weights of the folder that our encoder does not read.
fn check_real(folder: &Path, file: &str, unread: &[&str]) {
    let rows: Vec<Value> = serde_json::from_slice(&std::fs::read(fixture(file)).unwrap()).unwrap();
    let tokenizer = InputTokenizer::open(&folder.join("tokenizer.json")).unwrap();
    let inputs = tokenizer.encode(rows.iter().map(pair_of).collect()).unwrap();
    for (row, input) in rows.iter().zip(&inputs) {
        let numbers = |key: &str| serde_json::from_value::<Vec<i64>>(row[key].clone()).unwrap();
        assert_eq!(*input, TokenSequence { ids: numbers("ids"), types: numbers("types") }, "{row}");
    }
    let mut with_vector: Vec<usize> = (0..rows.len()).filter(|&i| rows[i]["cls"].is_array()).collect();
    assert!(with_vector.len() >= 6);
    with_vector.sort_by_key(|&i| inputs[i].len());
    let config = EncoderConfig::open(&folder.join("config.json")).unwrap();
    for on in devices() {
        let store = nn::VarStore::new(on.device);
        let encoder = Encoder::new(&(store.root() / config.prefix()), &config);
        let skipped = PretrainedWeights::open(folder).unwrap().load(&store, &config).unwrap();
        assert_eq!(skipped, unread);
        let tokens = Tokens::pack(with_vector.iter().map(|&i| &inputs[i])).to_device(on.device);
        let vectors = tch::no_grad(|| encoder.forward(&tokens, on.mode(EVAL))).to_device(Device::Cpu);
        for (rank, &i) in with_vector.iter().enumerate() {
            let expected: Vec<f32> = serde_json::from_value(rows[i]["cls"].clone()).unwrap();
            assert_close(
                &vectors.get(rank as i64),
                &Tensor::from_slice(&expected),
                ENCODER,
                &format!("{on:?}, row {i}"),
            );
        }
    }
}

/// On a real vocabulary: what is made of `vocab.txt` splits all sample stories as the `tokenizer.json` beside it.
#[test]
fn a_real_vocabulary_makes_the_tokenizer_that_came_with_it() {
    let Some(folder) = minilm() else { return };
    let bare = tempfile::TempDir::new().unwrap();
    for name in ["vocab.txt", "tokenizer_config.json"] {
        std::fs::copy(folder.join(name), bare.path().join(name)).unwrap();
    }
    let made = InputTokenizer::from_json(&tokenizer_json(bare.path()).unwrap()).unwrap();
    let own = InputTokenizer::open(&folder.join("tokenizer.json")).unwrap();
    let mut pairs = Vec::new();
    for story in ["en", "it"].map(sample).iter().flat_map(|stories| stories.values()) {
        let sentences = story["sentences"].as_array().unwrap().iter();
        pairs.extend(sentences.map(|sentence| ("città 茶".to_owned(), sentence.as_str().unwrap().to_owned())));
    }
    assert!(pairs.len() > 500);
    assert_eq!(made.encode(pairs.clone()).unwrap(), own.encode(pairs).unwrap());
}
