//! Parity fixtures: named tensors with a config, and the encoders among them.

use crate::support::{fixture, rng};
use crate::test_device::{CPU, TestDevice, devices};
use rand::RngExt;
use safetensors::SafeTensors;
use safetensors::tensor::Dtype;
use std::collections::BTreeMap;
use tch::{Kind, Tensor, nn};
use tiered::batch::{LengthGroup, Tokens};
use tiered::model::encoder::ForwardPass;
use tiered::model::{DropoutRng, Encoder, EncoderConfig, Mode, Precision};
use tiered::tokenizer::TokenSequence;

/// What a whole encoder may differ by.
pub const ENCODER: f64 = 1e-4;
/// What a part of the model may differ by.
pub const LAYER: f64 = 1e-5;
pub const EVAL: Mode = Mode::eval(Precision::Fp32);

/// Tensors and config of a fixture.
pub struct Arrays {
    tensors: BTreeMap<String, Tensor>,
    pub config: serde_json::Value,
    /// Where they are.
    pub on: TestDevice,
}

impl Arrays {
    /// On the CPU, where our kernels compute.
    pub fn open(name: &str) -> Self {
        Self::open_on(name, CPU)
    }

    /// On each of the devices that are tested.
    pub fn on_devices(name: &str) -> impl Iterator<Item = Self> {
        devices().iter().map(move |&on| Self::open_on(name, on))
    }

    fn open_on(name: &str, on: TestDevice) -> Self {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let tensors = file.iter().map(|(name, view)| {
            let shape: Vec<i64> = view.shape().iter().map(|&d| d as i64).collect();
            let kind = match view.dtype() {
                Dtype::F32 => Kind::Float,
                Dtype::I64 => Kind::Int64,
                Dtype::BOOL => Kind::Bool,
                other => panic!("{other:?} in a fixture"),
            };
            (name.to_owned(), Tensor::from_data_size(view.data(), &shape, kind).to_device(on.device))
        });
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let config = &header.metadata().as_ref().unwrap()["config"];
        Arrays { tensors: tensors.collect(), config: serde_json::from_str(config).unwrap(), on }
    }

    pub fn get(&self, name: &str) -> &Tensor {
        self.tensors.get(name).unwrap_or_else(|| panic!("the fixture has no {name}"))
    }

    pub fn int(&self, name: &str) -> i64 {
        self.config[name].as_i64().unwrap()
    }

    pub fn below(&self, prefix: &str) -> BTreeMap<String, Tensor> {
        let stripped =
            self.tensors.iter().filter_map(|(n, t)| Some((n.strip_prefix(prefix)?.to_owned(), t.shallow_clone())));
        stripped.collect()
    }

    /// Gives every variable its weight; both sides must have the same names.
    pub fn fill(&self, store: &nn::VarStore) {
        let weights = self.below("weights.");
        let variables: BTreeMap<_, _> = store.variables().into_iter().collect();
        assert_eq!(weights.keys().collect::<Vec<_>>(), variables.keys().collect::<Vec<_>>());
        tch::no_grad(|| variables.iter().for_each(|(name, v)| v.shallow_clone().copy_(&weights[name])));
    }

    /// Every variable's gradient must be the fixture's, relative to its size. The caller compares those of inputs, and
    /// that of the table of words, of which only a part is trained.
    pub fn check_gradients(&self, gradients: &BTreeMap<String, Tensor>, tolerance: f64) {
        for (name, expected) in self.below("grads.") {
            let Some(gradient) = gradients.get(&name) else {
                let is_compared = ["embeddings", "input", "embeddings.word_embeddings.weight"].contains(&name.as_str());
                assert!(is_compared, "{name} has no gradient");
                continue;
            };
            assert_close(gradient, &expected, tolerance, &name);
        }
    }
}

pub fn distance(a: &Tensor, b: &Tensor) -> f64 {
    assert_eq!(a.size(), b.size());
    (a - b).abs().max().double_value(&[])
}

/// Absolute for values up to 1, relative above.
pub fn assert_close(found: &Tensor, expected: &Tensor, tolerance: f64, what: &str) {
    let scale = expected.abs().max().double_value(&[]).max(1.);
    let distance = distance(found, expected);
    assert!(distance <= tolerance * scale, "{what}: {distance:e} apart, of {scale}");
}

/// What `backward` has left at the variables.
pub fn accumulated(store: &nn::VarStore) -> BTreeMap<String, Tensor> {
    store.variables().into_iter().filter(|(_, v)| v.requires_grad()).map(|(name, v)| (name, v.grad())).collect()
}

/// The fixture's encoder on its inputs: `[U, H]` in the fixture's order.
pub fn encode(arrays: &Arrays, config: &EncoderConfig, mode: Mode) -> (nn::VarStore, Encoder, Tensor) {
    let (store, encoder) = encoder(arrays, config);
    let (tokens, order) = packed_inputs(arrays);
    let output = in_order(&encoder.forward(&tokens, arrays.on.mode(mode)), &order);
    (store, encoder, output)
}

/// The fixture's encoder, all its words trained.
pub fn encoder(arrays: &Arrays, config: &EncoderConfig) -> (nn::VarStore, Encoder) {
    let store = nn::VarStore::new(arrays.on.device);
    let encoder = Encoder::new(&store.root(), config);
    let words = arrays.get("weights.embeddings.word_embeddings.weight");
    arrays.fill(&store);
    let all: Vec<i64> = (0..words.size()[0]).collect();
    encoder.embeddings.train_rows(&(store.root() / "embeddings"), &all);
    (store, encoder)
}

/// Packed first tokens -> those of the fixture's inputs.
pub fn in_order(first: &Tensor, order: &[usize]) -> Tensor {
    let rank: Vec<i64> = (0..order.len()).map(|i| order.iter().position(|&o| o == i).unwrap() as i64).collect();
    first.index_select(0, &Tensor::from_slice(&rank).to_device(first.device()))
}

/// The fixture's inputs packed by length, and which of them each packed one is.
pub fn packed_inputs(arrays: &Arrays) -> (Tokens, Vec<usize>) {
    let lengths = Vec::<i64>::try_from(arrays.get("lengths")).unwrap();
    let ids = arrays.get("input_ids");
    let types = arrays.tensors.get("types").map_or_else(|| ids.zeros_like(), Tensor::shallow_clone);
    let row = |of: &Tensor, i: usize| Vec::try_from(of.get(i as i64).narrow(0, 0, lengths[i])).unwrap();
    let inputs: Vec<TokenSequence> =
        (0..lengths.len()).map(|i| TokenSequence { ids: row(ids, i), types: row(&types, i) }).collect();
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    order.sort_by_key(|&i| lengths[i]);
    (Tokens::pack(order.iter().map(|&i| &inputs[i])).to_device(arrays.on.device), order)
}

/// The same tokens, of which not the first of each sequence but every `step`-th is read.
pub fn reading_every(step: i64, tokens: Tokens) -> Tokens {
    let read = Tensor::arange_start_step(0, tokens.len(), step, (Kind::Int64, tokens.ids.device()));
    Tokens { read, ..tokens }
}

pub fn encoder_config(arrays: &Arrays) -> EncoderConfig {
    serde_json::from_value(arrays.config.clone()).unwrap()
}

/// First tokens and all gradients of a fixture's encoder, on every device.
pub fn check_encoder(name: &str) {
    let noise = DropoutRng::new(0); // the fixtures' dropout probabilities are 0: this trains the compact word table
    for arrays in &mut Arrays::on_devices(name) {
        let (mode, how) = (arrays.on.mode(Mode::train(&noise, Precision::Fp32)), arrays.on);
        let (store, encoder) = encoder(&arrays, &encoder_config(&arrays));
        let (tokens, order) = packed_inputs(&arrays);
        let trace = encoder.trace(&tokens, mode);
        let output = in_order(&trace.hidden, &order);
        assert_close(&output, arrays.get("cls"), ENCODER, &format!("first tokens, {how:?}"));
        let variables: BTreeMap<_, _> = store.variables().into_iter().filter(|(_, v)| v.requires_grad()).collect();
        let loss = (output * arrays.get("cotangent")).sum(Kind::Float);
        let gradients = trace.gradients(&loss, &variables.values().collect::<Vec<_>>());
        let mut gradients: BTreeMap<_, _> = variables.keys().cloned().zip(gradients).collect();
        assert!(gradients.values().all(Tensor::defined), "{how:?}");
        arrays.check_gradients(&gradients, ENCODER);
        let rows = gradients.remove("embeddings.word_embeddings.trained_rows").unwrap();
        assert_close(&rows, arrays.get("grads.embeddings.word_embeddings.weight"), ENCODER, "word embeddings");
        assert_eq!(gradients.len() + 1, arrays.below("grads.").len(), "every other variable's gradient was compared");
    }
}

/// In bfloat16 only operands of products are rounded: outputs and gradients stay near those in float32.
pub fn check_bfloat16(arrays: &Arrays, tolerance: f64, what: &str) {
    let (store, encoder) = encoder(arrays, &encoder_config(arrays));
    let (tokens, order) = packed_inputs(arrays);
    let variables: Vec<Tensor> = store.variables().into_values().filter(|v| v.requires_grad()).collect();
    let variables: Vec<&Tensor> = variables.iter().collect();
    let noise = DropoutRng::new(0);
    let run = |precision| {
        let trace = encoder.trace(&tokens, arrays.on.mode(Mode::train(&noise, precision)));
        let output = in_order(&trace.hidden, &order);
        let gradients = trace.gradients(&(&output * arrays.get("cotangent")).sum(Kind::Float), &variables);
        let flat: Vec<Tensor> = gradients.iter().map(|g| g.to_kind(Kind::Float).flatten(0, -1)).collect();
        [output.detach().flatten(0, -1), Tensor::cat(&flat, 0)]
    };
    for (exact, rounded) in run(Precision::Fp32).iter().zip(run(Precision::Bf16)) {
        let away = ((exact - rounded).norm() / exact.norm()).double_value(&[]);
        assert!(away > 1e-6 && away < tolerance, "{what}, {:?}: {away}", arrays.on);
    }
}

/// All hidden states of a fixture's encoder, on every device.
pub fn check_every_token(name: &str) {
    Arrays::on_devices(name).for_each(|arrays| check_tokens(&arrays));
}

fn check_tokens(arrays: &Arrays) {
    let (_store, encoder, _) = encode(arrays, &encoder_config(arrays), EVAL);
    let (tokens, order) = packed_inputs(arrays);
    let tokens = reading_every(1, tokens);
    let hidden = encoder.forward(&tokens, arrays.on.mode(EVAL));
    let mut start = 0;
    let lengths =
        tokens.groups.iter().flat_map(|&LengthGroup { count, length }| std::iter::repeat_n(length, count as usize));
    for (&input, length) in order.iter().zip(lengths) {
        let expected = arrays.get("hidden").get(input as i64).narrow(0, 0, length);
        assert_close(&hidden.narrow(0, start, length), &expected, ENCODER, &format!("input {input}"));
        start += length;
    }
}

/// With dropout, a pass backward must drop what the pass forward dropped: along a random direction, the gradient is the slope of the
/// loss between two nearby points.
pub fn check_slope(name: &str) {
    for arrays in Arrays::on_devices(name) {
        let (slope, expected) = slopes(&arrays);
        assert!((slope - expected).abs() < 0.02 * expected.abs(), "{:?}: {slope}, not {expected}", arrays.on);
    }
}

/// The result of a pass that was not disturbed: of the second of two with the same loss. Other tests of this process may
/// draw from libtorch's generator, which draws the masks of a GPU, between its seeding and the drawing of a mask.
fn undisturbed<T>(pass: impl Fn() -> T, loss: impl Fn(&T) -> f64) -> T {
    let mut before = f64::NAN;
    for _ in 0..200 {
        let passed = pass();
        let now = loss(&passed);
        if (now - before).abs() <= 1e-6 * now.abs() {
            return passed;
        }
        before = now;
    }
    panic!("other tests disturbed every pass");
}

/// The slope between two nearby points, and what the gradient says that it is. The direction is the same each time, whatever
/// else the process draws: along an unlucky one the slope is so small that rounding decides.
fn slopes(arrays: &Arrays) -> (f64, f64) {
    let config =
        EncoderConfig { hidden_dropout_prob: 0.2, attention_probs_dropout_prob: 0.2, ..encoder_config(arrays) };
    let (store, encoder) = encoder(arrays, &config);
    let (tokens, _) = packed_inputs(arrays);
    let tokens = reading_every(2, tokens);
    let rng = &mut rng(3);
    let mut drawn = |shape: &[i64]| {
        let numbers: Vec<f32> = (0..shape.iter().product()).map(|_: i64| rng.random_range(-1.7..1.7)).collect();
        Tensor::from_slice(&numbers).view(shape).to_device(arrays.on.device)
    };
    let cotangent = drawn(&[tokens.read.size()[0], config.hidden_size]);
    fn traced<'a>(encoder: &'a Encoder, tokens: &Tokens, on: TestDevice, noise: &'a DropoutRng) -> ForwardPass<'a> {
        encoder.trace(tokens, on.mode(Mode::train(noise, Precision::Fp32)))
    }
    let loss_of = |trace: &ForwardPass| (&trace.hidden * &cotangent).sum(Kind::Double);
    let number = |trace: &ForwardPass| loss_of(trace).double_value(&[]);
    let loss_at =
        |key: u64| undisturbed(|| number(&traced(&encoder, &tokens, arrays.on, &DropoutRng::new(key))), |&loss| loss);
    let by_name: BTreeMap<String, Tensor> = store.variables().into_iter().collect();
    let variables: Vec<Tensor> = by_name.into_values().filter(|v| v.requires_grad()).collect();
    let directions: Vec<Tensor> = variables.iter().map(|v| drawn(&v.size())).collect();
    let move_by = |step: f64| {
        tch::no_grad(|| {
            variables.iter().zip(&directions).for_each(|(v, d)| drop(v.shallow_clone().g_add_(&(d * step))))
        });
    };
    let dot = |(g, d): (&Tensor, &Tensor)| (g * d).sum(Kind::Double).double_value(&[]);
    let slope_by_gradients = || {
        let noise = DropoutRng::new(7);
        let trace = traced(&encoder, &tokens, arrays.on, &noise);
        let loss = loss_of(&trace);
        let gradients = trace.gradients(&loss, &variables.iter().collect::<Vec<_>>());
        let slope: f64 = gradients.iter().zip(&directions).map(dot).sum();
        (loss.double_value(&[]), slope)
    };
    let (loss, expected) = undisturbed(slope_by_gradients, |&(loss, _)| loss);
    const STEP: f64 = 1e-3;
    move_by(STEP);
    let above = loss_at(7);
    move_by(-2. * STEP);
    let below = loss_at(7);
    let slope = (above - below) / (2. * STEP);
    move_by(STEP);
    assert!((loss_at(8) - loss).abs() > 1e-3, "another key drops nothing else");
    (slope, expected)
}
