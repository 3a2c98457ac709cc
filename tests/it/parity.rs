//! The model against PyTorch and Hugging Face: arrays made by `tests/fixtures/generate.py`, in float32 on the CPU.

use crate::arrays::{
    Arrays, ENCODER, EVAL, LAYER, accumulated, assert_close, check_bfloat16, check_encoder, check_every_token,
    check_slope, distance, encode, encoder_config,
};
use crate::support::{real_data, skipped};
use std::path::Path;
use tch::{Device, Kind, Tensor, nn};
use tiered::attribute::Attribute;
use tiered::batch::{Batch, DistinctRows, InputTokens, Targets, Tokens};
use tiered::loss::{LossConfig, Losses, single_story_loss};
use tiered::model::detector::story_scores;
use tiered::model::detector::{DetectorInput, JointDetector, PaperDetector};
use tiered::model::encoder::Family;
use tiered::model::heads::StateHeads;
use tiered::model::{
    Conflicts, DetectorConfig, DetectorInputs, DropoutRng, Encoder, EncoderConfig, Mode, Norm, Output, Precision,
    PretrainedWeights, SentencePairs,
};
use tiered::tokenizer::InputTokenizer;
use tiered::train::{AdamW, AdamWConfig, Parameter};

#[test]
fn encoder_equals_hugging_face_in_outputs_and_gradients() {
    check_encoder("encoder.safetensors");
}

#[test]
fn with_dropout_the_kernels_gradient_is_the_slope_of_the_same_loss() {
    check_slope("encoder.safetensors");
}

#[test]
fn kernels_in_bfloat16_are_near_float32() {
    check_bfloat16(&Arrays::open("encoder.safetensors"), 0.03, "kernels");
}

#[test]
fn every_token_equals_hugging_face() {
    check_every_token("encoder.safetensors");
}

#[test]
fn a_wrong_epsilon_and_a_wrong_position_offset_show() {
    let arrays = Arrays::open("encoder.safetensors");
    let right = encoder_config(&arrays);
    for wrong in [
        EncoderConfig { layer_norm_eps: 1e-5, ..right.clone() },
        EncoderConfig { family: Family::XlmRoberta { pad_token_id: 0 }, ..right.clone() },
        EncoderConfig { family: Family::XlmRoberta { pad_token_id: -1 }, ..right.clone() },
    ] {
        let (_, _, output) = encode(&arrays, &wrong, EVAL);
        assert!(distance(&output, arrays.get("cls")) > 10. * ENCODER, "{wrong:?} went unnoticed");
    }
}

#[test]
fn heads_equal_twenty_separate_pytorch_modules() {
    Arrays::on_devices("heads.safetensors").for_each(|arrays| check_heads(&arrays));
}

fn check_heads(arrays: &Arrays) {
    let store = nn::VarStore::new(arrays.on.device);
    let heads = StateHeads::new(&store.root(), arrays.int("hidden_size"), 0.);
    arrays.fill(&store);
    let input = arrays.get("input").copy().set_requires_grad(true);
    let logits = heads.forward(&input, arrays.on.mode(EVAL));
    assert_close(&logits, arrays.get("logits"), LAYER, "logits");
    (logits * arrays.get("cotangent")).sum(Kind::Float).backward();
    arrays.check_gradients(&accumulated(&store), LAYER);
    assert_close(&input.grad(), arrays.get("grads.input"), LAYER, "input");
}

/// A batch of R rows of N sentences in which every cell holds an input of its own.
fn dense_batch(mask: &Tensor) -> Batch {
    let (r, n) = mask.size2().unwrap();
    let cells = Tensor::arange(r * n, (Kind::Int64, mask.device())).view([r, n]);
    let longest = mask.any_dim(0, false).sum(Kind::Int64).int64_value(&[]);
    Batch {
        tokens: Tokens::pack(std::iter::empty()),
        read: InputTokens { token: Tensor::new(), input: None, count: 0 },
        inputs: Tensor::new(),
        stories: None,
        distinct: DistinctRows {
            cells: cells.narrow(1, 0, longest).contiguous(),
            mask: mask.narrow(1, 0, longest),
            of_row: Tensor::arange(r, (Kind::Int64, mask.device())),
        },
        cells,
        mask: mask.shallow_clone(),
        row_story: Tensor::zeros([r], (Kind::Int64, mask.device())),
        row_weight: Tensor::ones([r], (Kind::Float, mask.device())),
        pairs: 1,
    }
}

fn detector(arrays: &Arrays, config: DetectorConfig) -> (nn::VarStore, PaperDetector) {
    let store = nn::VarStore::new(arrays.on.device);
    let int = |name| arrays.int(name);
    let config = DetectorConfig {
        layers: int("layers"),
        width: int("width"),
        heads: int("heads"),
        feed_forward: int("feed_forward"),
        ..config
    };
    let detector = PaperDetector::new(&store.root(), &config, int("hidden"), int("sentences"), 0.);
    arrays.fill(&store);
    (store, detector)
}

#[test]
fn detector_equals_pytorch_with_its_ablations() {
    Arrays::on_devices("detector.safetensors").for_each(|arrays| check_detector(&arrays));
}

fn check_detector(arrays: &Arrays) {
    let batch = dense_batch(arrays.get("mask"));
    let states = arrays.get("state_logits").view([-1, 132]);
    for (inputs, name) in [
        (DetectorInputs::Both, "conflict_logits"),
        (DetectorInputs::Embeddings, "conflict_logits.embeddings_only"),
        (DetectorInputs::States, "conflict_logits.states_only"),
    ] {
        let (store, detector) = detector(arrays, DetectorConfig { inputs, ..DetectorConfig::default() });
        let embeddings = arrays.get("embeddings").view([-1, arrays.int("hidden")]).copy().set_requires_grad(true);
        let logits = detector.forward(&embeddings, &states, &batch, arrays.on.mode(EVAL));
        assert_close(&logits, arrays.get(name), LAYER, name);
        if inputs == DetectorInputs::Both {
            (logits * arrays.get("cotangent")).sum(Kind::Float).backward();
            arrays.check_gradients(&accumulated(&store), ENCODER);
            let expected = arrays.get("grads.embeddings").view([-1, arrays.int("hidden")]);
            assert_close(&embeddings.grad(), &expected, ENCODER, "embeddings");
        }
    }
}

#[test]
fn the_detector_with_standardised_inputs_and_the_norm_before_equals_pytorch() {
    Arrays::on_devices("detector_standard.safetensors").for_each(|arrays| check_standard(&arrays));
}

fn check_standard(arrays: &Arrays) {
    let batch = dense_batch(arrays.get("mask"));
    let config = DetectorConfig { norm: Norm::Before, standardize: true, ..DetectorConfig::default() };
    let (store, detector) = detector(arrays, config);
    let embeddings = arrays.get("embeddings").view([-1, arrays.int("hidden")]).copy().set_requires_grad(true);
    let mode = arrays.on.mode(EVAL);
    let logits = detector.forward(&embeddings, &arrays.get("state_logits").view([-1, 132]), &batch, mode);
    assert_close(&logits, arrays.get("conflict_logits"), LAYER, "conflict_logits");
    (logits * arrays.get("cotangent")).sum(Kind::Float).backward();
    arrays.check_gradients(&accumulated(&store), ENCODER);
    let expected = arrays.get("grads.embeddings").view([-1, arrays.int("hidden")]);
    assert_close(&embeddings.grad(), &expected, ENCODER, "embeddings");

    let running = || store.variables().into_iter().filter(|(name, _)| name.contains("running_"));
    tch::no_grad(|| running().for_each(|(_, mut value)| drop(value.zero_())));
    let noise = DropoutRng::new(0);
    for step in 0..2 {
        let seen = |what| arrays.get(&format!("seen.{step}.{what}"));
        let mode = arrays.on.mode(Mode::train(&noise, Precision::Fp32));
        let _ = detector.forward(seen("embeddings"), seen("states"), &batch, mode);
    }
    assert_eq!(running().count(), 4);
    running().for_each(|(name, value)| assert_close(&value, arrays.get(&format!("weights.{name}")), LAYER, &name));
}

#[test]
fn no_gradient_flows_from_the_detector_into_the_states() {
    let arrays = Arrays::open("detector.safetensors");
    let (_store, detector) = detector(&arrays, DetectorConfig::default());
    let embeddings = arrays.get("embeddings").view([-1, arrays.int("hidden")]);
    let states = arrays.get("state_logits").view([-1, 132]).copy().set_requires_grad(true);
    detector.forward(&embeddings, &states, &dense_batch(arrays.get("mask")), EVAL).sum(Kind::Float).backward();
    assert!(!states.grad().defined());
}

/// The detector, batch and leaves of a joint fixture.
struct JointCase {
    store: nn::VarStore,
    detector: JointDetector,
    batch: Batch,
    embeddings: Tensor,
    states: Tensor,
    mode: Mode<'static>,
}

impl JointCase {
    fn new(arrays: &Arrays, config: &DetectorConfig, no_conflict: bool) -> Self {
        let mut batch = dense_batch(arrays.get("mask"));
        batch.row_story = arrays.get("row_story").shallow_clone();
        batch.pairs = arrays.int("pairs");
        let store = nn::VarStore::new(arrays.on.device);
        let config = DetectorConfig { pair_width: arrays.int("pair_width"), ..config.clone() };
        let detector = JointDetector::new(&store.root(), &config, arrays.int("hidden"), no_conflict, 0.);
        arrays.fill(&store);
        let embeddings = arrays.get("embeddings").view([-1, arrays.int("hidden")]).copy().set_requires_grad(true);
        let (states, mode) = (arrays.get("state_logits").view([-1, 132]), arrays.on.mode(EVAL));
        JointCase { store, detector, batch, embeddings, states, mode }
    }

    fn forward(&self) -> SentencePairs {
        let nothing = Tensor::new();
        let input = DetectorInput { embeddings: &self.embeddings, state_logits: &self.states, tokens: &nothing };
        self.detector.forward(input, &self.batch, self.mode)
    }

    fn check_gradients(&self, arrays: &Arrays) {
        arrays.check_gradients(&accumulated(&self.store), LAYER);
        let expected = arrays.get("grads.embeddings").view([-1, arrays.int("hidden")]);
        assert_close(&self.embeddings.grad(), &expected, LAYER, "embeddings");
    }
}

#[test]
fn joint_detector_equals_loops_over_sentence_pairs_with_its_ablations() {
    Arrays::on_devices("joint.safetensors").for_each(|arrays| check_joint(&arrays));
}

fn check_joint(arrays: &Arrays) {
    for (inputs, name) in [
        (DetectorInputs::Both, "probs"),
        (DetectorInputs::Embeddings, "probs.embeddings_only"),
        (DetectorInputs::States, "probs.states_only"),
    ] {
        let case = JointCase::new(arrays, &DetectorConfig { inputs, ..DetectorConfig::default() }, true);
        let SentencePairs { log_probs, single_story, of_entities } = case.forward();
        let probs = log_probs.exp();
        assert_close(&probs, arrays.get(name), LAYER, name);
        assert!(of_entities.is_none());
        if inputs == DetectorInputs::Both {
            let single_story = single_story.unwrap();
            assert_close(&single_story.exp(), arrays.get("single_story"), LAYER, "single_story");
            let targets = Targets {
                cell_input: Tensor::new(),
                cell_weight: Tensor::new(),
                weight: 0.,
                precondition_columns: Tensor::new(),
                effect_columns: Tensor::new(),
                cell_index: Tensor::new(),
                conflicts: Tensor::new(),
                plausible: arrays.get("plausible").shallow_clone(),
                gold_pair: arrays.get("gold_pair").shallow_clone(),
                soft: None,
            };
            let loss = single_story_loss(&single_story, &targets);
            assert_close(&loss, arrays.get("loss.single_story"), LAYER, "the loss of stories alone");
            ((probs * arrays.get("cotangent")).sum(Kind::Float) + loss).backward();
            case.check_gradients(arrays);
        }
    }
}

#[test]
fn joint_detector_equals_loops_over_entities_and_pytorch_layers() {
    Arrays::on_devices("joint_entities.safetensors").for_each(|arrays| check_joint_of_entities(&arrays));
}

fn check_joint_of_entities(arrays: &Arrays) {
    let int = |name| arrays.int(name);
    let config = DetectorConfig {
        entities: true,
        sentence_layers: int("layers"),
        heads: int("heads"),
        feed_forward: int("feed_forward"),
        ..DetectorConfig::default()
    };
    let case = JointCase::new(arrays, &config, false);
    let SentencePairs { log_probs, of_entities, single_story } = case.forward();
    assert!(single_story.is_none());
    assert_close(&log_probs.exp(), arrays.get("probs"), LAYER, "sentence_pairs");
    let of_entities = of_entities.unwrap().exp();
    assert_close(&of_entities, arrays.get("probs.entities"), LAYER, "places of entities");
    (of_entities * arrays.get("cotangent")).sum(Kind::Float).backward();
    case.check_gradients(arrays);
}

/// The loss fixture as the model's output and targets.
struct LossCase {
    output: Output,
    targets: Targets,
    /// What gradients are taken of, by the fixture's names.
    leaves: Vec<(&'static str, Tensor)>,
}

impl LossCase {
    fn new(arrays: &Arrays, padded: bool) -> Self {
        let leaf = |name: &'static str| (name, arrays.get(name).copy().set_requires_grad(true));
        let mut leaves = vec![leaf("precondition_logits"), leaf("effect_logits"), leaf("conflict_logits")];
        let mask = arrays.get("mask");
        let (rows, n) = mask.size2().unwrap();
        let real: Vec<i64> = Vec::try_from(mask.view([-1]).nonzero().view([-1])).unwrap();
        let story: Vec<i64> = Vec::try_from(arrays.get("row_story")).unwrap();
        let flat = |name: &str| arrays.get(name).view([rows * n, -1]);
        let mut cell_input = real.clone();
        let mut cell_index = real.clone();
        let (mut pre, mut eff) = (flat("precondition_labels"), flat("effect_labels"));
        let mut conflicts = flat("conflict_targets").view([-1]);
        let index = Tensor::from_slice(&real);
        let mut parts = [pre.index_select(0, &index), eff.index_select(0, &index)];
        conflicts = conflicts.index_select(0, &index);
        let [mut pre_logits, mut eff_logits] = [0, 1].map(|i| leaves[i].1.view([rows * n, 66]));
        let mut conflict_logits = leaves[2].1.shallow_clone();
        let mut all_mask = mask.shallow_clone();
        let mut row_story = arrays.get("row_story").shallow_clone();
        if padded {
            // Padding cells hold one input of their own, the last; padding rows come after the real ones.
            leaves.extend([leaf("pad.precondition_logits"), leaf("pad.effect_logits"), leaf("pad.conflict_logits")]);
            pre_logits = Tensor::cat(&[pre_logits, leaves[3].1.view([1, 66])], 0);
            eff_logits = Tensor::cat(&[eff_logits, leaves[4].1.view([1, 66])], 0);
            let max_entities = arrays.int("max_entities");
            let stories = 2 * arrays.get("plausible").size()[0];
            let missing = stories * max_entities - rows;
            conflict_logits = Tensor::cat(&[conflict_logits, leaves[5].1.view([1, n]).expand([missing, n], false)], 0);
            let padding: Vec<i64> = (0..(rows + missing) * n).filter(|place| !real.contains(place)).collect();
            cell_index.extend(&padding);
            cell_input.extend(padding.iter().map(|_| rows * n));
            let nothing = Tensor::zeros([padding.len() as i64, 20], (Kind::Int64, Device::Cpu));
            parts = parts.map(|part| Tensor::cat(&[&part, &nothing], 0));
            conflicts = Tensor::cat(&[conflicts, Tensor::zeros([padding.len() as i64], (Kind::Float, Device::Cpu))], 0);
            all_mask = Tensor::cat(&[all_mask, Tensor::zeros([missing, n], (Kind::Bool, Device::Cpu))], 0);
            let owners: Vec<i64> = (0..stories)
                .flat_map(|s| {
                    let present = story.iter().filter(|&&of| of == s).count() as i64;
                    std::iter::repeat_n(s, (max_entities - present) as usize)
                })
                .collect();
            row_story = Tensor::cat(&[row_story, Tensor::from_slice(&owners)], 0);
        }
        let offsets = Tensor::from_slice(&Attribute::ALL.map(|a| a.offset() as i64));
        [pre, eff] = parts.map(|part| part + &offsets);
        let batch = Batch { row_story, pairs: arrays.get("plausible").size()[0], ..dense_batch(&all_mask) };
        let story_scores = story_scores(&conflict_logits, &batch);
        LossCase {
            output: Output {
                precondition_logits: pre_logits,
                effect_logits: eff_logits,
                conflicts: Conflicts::Sentences { logits: conflict_logits },
                story_scores,
            },
            targets: Targets {
                cell_input: Tensor::from_slice(&cell_input),
                cell_weight: Tensor::ones([cell_input.len() as i64], (Kind::Float, Device::Cpu)),
                weight: cell_input.len() as f64,
                precondition_columns: pre,
                effect_columns: eff,
                cell_index: Tensor::from_slice(&cell_index),
                conflicts,
                plausible: arrays.get("plausible").shallow_clone(),
                gold_pair: Tensor::new(),
                soft: None,
            },
            leaves,
        }
    }
}

#[test]
fn the_four_losses_equal_pytorch_in_both_normalisations() {
    let arrays = Arrays::open("loss.safetensors");
    for (padded, name) in [(false, "real"), (true, "padded")] {
        let case = LossCase::new(&arrays, padded);
        let losses = Losses::new(&case.output, &case.targets, None);
        assert_close(&losses.stacked(), arrays.get(&format!("loss.{name}")), LAYER, name);
        let weight = |key: &str| arrays.config["weights"][key].as_f64().unwrap();
        let config = LossConfig {
            preconditions: weight("preconditions"),
            effects: weight("effects"),
            conflicts: weight("conflicts"),
            story: weight("story"),
            ..LossConfig::default()
        };
        losses.total(&config).backward();
        for (leaf, tensor) in &case.leaves {
            let expected = arrays.get(&format!("grads.{name}.{leaf}"));
            assert_close(&tensor.grad(), expected, LAYER, &format!("{name}: {leaf}"));
        }
    }
}

#[test]
fn twenty_steps_of_adamw_equal_pytorch() {
    for arrays in Arrays::on_devices("adamw.safetensors") {
        ["0", "0.01"].iter().for_each(|decay| check_adamw(&arrays, decay));
    }
}

fn adamw(arrays: &Arrays, tensors: &[Tensor], config: AdamWConfig) -> AdamW {
    let optimiser = AdamW::new(tensors.iter().map(|tensor| Parameter::new("", tensor, 1., true)).collect(), config);
    if arrays.on.by_kernels { optimiser } else { optimiser.unfused() }
}

fn check_adamw(arrays: &Arrays, decay: &str) {
    let tensors = ["0", "1"].map(|i| arrays.get(&format!("initial.{i}")).copy());
    let config = AdamWConfig { weight_decay: decay.parse().unwrap(), ..AdamWConfig::default() };
    let mut optimiser = adamw(arrays, &tensors, config);
    let nothing = Tensor::zeros([0], (Kind::Float, arrays.on.device));
    for step in 1..=arrays.int("steps") {
        let gradients = ["0", "1"].map(|i| arrays.get(&format!("grads.step{step}.{i}")).copy());
        let norm = optimiser.step(&gradients, &nothing, arrays.config["lr"].as_f64().unwrap()).gradient_norm;
        let expected = arrays.get("norms").double_value(&[step - 1]);
        assert!((norm - expected).abs() < LAYER * expected.max(1.));
        for (i, tensor) in tensors.iter().enumerate() {
            assert_close(tensor, arrays.get(&format!("params.wd{decay}.step{step}.{i}")), LAYER, "parameter");
        }
    }
}

/// A number that is not finite among those that are checked, or in a gradient, leaves everything as it was; the next step is
/// then the same as without it. A parameter without a gradient does not change.
#[test]
fn a_step_that_is_not_finite_changes_nothing() {
    for arrays in Arrays::on_devices("adamw.safetensors") {
        let tensors = ["0", "1"].map(|i| arrays.get(&format!("initial.{i}")).copy());
        let mut optimiser = adamw(&arrays, &tensors, AdamWConfig::default());
        let copies = || tensors.each_ref().map(Tensor::copy);
        let checked = |numbers: &[f32]| Tensor::from_slice(numbers).to_device(arrays.on.device);
        let gradients = ["0", "1"].map(|i| arrays.get(&format!("grads.step1.{i}")).copy());
        let before = copies();
        assert!(!optimiser.step(&gradients, &checked(&[1., f32::NAN]), 0.1).are_finite());
        let infinite = [&gradients[0] * f64::INFINITY, gradients[1].shallow_clone()];
        let numbers = optimiser.step(&infinite, &checked(&[2.]), 0.1);
        assert!(numbers.checked == [2.] && !numbers.gradient_norm.is_finite());
        assert_eq!((optimiser.state().0, copies()), (0, before));
        let one = [gradients[0].shallow_clone(), Tensor::new()];
        assert!(optimiser.step(&one, &checked(&[]), 0.1).are_finite());
        let now = copies();
        assert!(now[0] != before_of(&arrays, "0") && now[1] == before_of(&arrays, "1"));
        assert_eq!(optimiser.state().0, 1);
    }
}

fn before_of(arrays: &Arrays, i: &str) -> Tensor {
    arrays.get(&format!("initial.{i}")).copy()
}

#[test]
fn real_encoder_gives_hugging_faces_ids_and_vectors() {
    let Some(reference) = real_data("fixtures/e5-small-reference.jsonl") else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("checkpoints/encoders/e5-small");
    if !folder.exists() {
        skipped("checkpoints/encoders/e5-small is needed (make demo)");
        return;
    }
    let text = std::fs::read_to_string(reference).unwrap();
    let rows: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 440);
    let text_of = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap().to_owned();
    let tokenizer = InputTokenizer::open(&folder.join("tokenizer.json")).unwrap();
    let ids = tokenizer.encode(rows.iter().map(|r| (text_of(r, "entity"), text_of(r, "sentence"))).collect()).unwrap();
    for (row, ids) in rows.iter().zip(&ids) {
        assert_eq!(serde_json::from_value::<Vec<i64>>(row["ids"].clone()).unwrap(), ids.ids, "{row}");
    }
    let store = nn::VarStore::new(Device::Cpu);
    let config = EncoderConfig::open(&folder.join("config.json")).unwrap();
    let encoder = Encoder::new(&(store.root() / config.prefix()), &config);
    assert!(PretrainedWeights::open(&folder).unwrap().load(&store, &config).unwrap().is_empty());
    let mut with_vector: Vec<usize> = (0..rows.len()).filter(|&i| rows[i]["cls"].is_array()).collect();
    assert_eq!(with_vector.len(), 40);
    with_vector.sort_by_key(|&i| ids[i].len());
    let tokens = Tokens::pack(with_vector.iter().map(|&i| &ids[i]));
    let vectors = tch::no_grad(|| encoder.forward(&tokens, EVAL));
    for (rank, &i) in with_vector.iter().enumerate() {
        let expected: Vec<f32> = serde_json::from_value(rows[i]["cls"].clone()).unwrap();
        assert_close(&vectors.get(rank as i64), &Tensor::from_slice(&expected), ENCODER, &format!("row {i}"));
    }
}
