//! AdamW (Loshchilov and Hutter, 2019) with gradients clipped by their global norm.

use serde::{Deserialize, Serialize};
use tch::{Device, Kind, Tensor};

/// Constants of AdamW; the defaults are the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdamWConfig {
    pub beta1: f64,
    pub beta2: f64,
    pub epsilon: f64,
    /// Decoupled; not applied to embeddings, biases and norms.
    pub weight_decay: f64,
    /// Largest norm of all gradients together.
    pub clip_norm: f64,
}

impl Default for AdamWConfig {
    fn default() -> Self {
        AdamWConfig { beta1: 0.9, beta2: 0.999, epsilon: 1e-6, weight_decay: 0., clip_norm: 1. }
    }
}

/// A trained tensor with its own share of the rate and of the decay.
pub struct Parameter {
    pub name: String,
    pub tensor: Tensor,
    /// Its rate, as a multiple of the rate of the step.
    pub rate_scale: f64,
    pub decays: bool,
    first_moment: Tensor,
    second_moment: Tensor,
}

impl Parameter {
    pub fn new(name: impl Into<String>, tensor: &Tensor, rate_scale: f64, decays: bool) -> Self {
        Parameter {
            name: name.into(),
            tensor: tensor.shallow_clone(),
            rate_scale,
            decays,
            first_moment: tensor.zeros_like(),
            second_moment: tensor.zeros_like(),
        }
    }
}

/// The optimiser: parameters, their moments, and the number of steps taken.
pub struct AdamW {
    pub parameters: Vec<Parameter>,
    config: AdamWConfig,
    step: i32,
}

/// What one step comes down to for one parameter.
#[derive(Clone, Copy)]
struct Update {
    gradient_scale: f32,
    beta1: f32,
    beta2: f32,
    /// Multiplies the parameter: 1 − rate · decay.
    keep: f32,
    /// rate / (1 − β1ᵗ)
    step_size: f32,
    /// 1 / √(1 − β2ᵗ)
    denominator_scale: f32,
    epsilon: f32,
}

impl AdamW {
    pub fn new(parameters: Vec<Parameter>, config: AdamWConfig) -> Self {
        AdamW { parameters, config, step: 0 }
    }

    /// What is trained.
    pub fn variables(&self) -> Vec<&Tensor> {
        self.parameters.iter().map(|p| &p.tensor).collect()
    }

    /// Takes one step unless the norm of the gradients is not finite, and returns that norm (before clipping).
    /// A parameter without gradient stays as it is, as in PyTorch.
    pub fn step(&mut self, gradients: &[Tensor], rate: f64) -> f64 {
        let norm = global_norm(gradients);
        if norm.is_finite() {
            let clip = (self.config.clip_norm / (norm + 1e-6)).min(1.);
            self.step += 1;
            let _guard = tch::no_grad_guard();
            for (parameter, gradient) in self.parameters.iter_mut().zip(gradients).filter(|(_, g)| g.defined()) {
                let update = Update::new(&self.config, self.step, rate * parameter.rate_scale, clip, parameter.decays);
                parameter.apply(gradient, update);
            }
        }
        norm
    }
}

fn global_norm(gradients: &[Tensor]) -> f64 {
    let norms: Vec<Tensor> = gradients.iter().filter(|gradient| gradient.defined()).map(Tensor::norm).collect();
    Tensor::stack(&norms, 0).norm().double_value(&[])
}

impl Update {
    fn new(config: &AdamWConfig, step: i32, rate: f64, clip: f64, decays: bool) -> Self {
        let decay = if decays { config.weight_decay } else { 0. };
        Update {
            gradient_scale: clip as f32,
            beta1: config.beta1 as f32,
            beta2: config.beta2 as f32,
            keep: (1. - rate * decay) as f32,
            step_size: (rate / (1. - config.beta1.powi(step))) as f32,
            denominator_scale: (1. / (1. - config.beta2.powi(step)).sqrt()) as f32,
            epsilon: config.epsilon as f32,
        }
    }

    /// One value: (parameter, first moment, second moment) after the step.
    #[inline(always)]
    fn value(self, p: f32, g: f32, m: f32, v: f32) -> (f32, f32, f32) {
        let g = g * self.gradient_scale;
        let m = self.beta1 * m + (1. - self.beta1) * g;
        let v = self.beta2 * v + (1. - self.beta2) * g * g;
        let p = p * self.keep - self.step_size * m / (v.sqrt() * self.denominator_scale + self.epsilon);
        (p, m, v)
    }
}

impl Parameter {
    fn apply(&mut self, gradient: &Tensor, update: Update) {
        let gradient = gradient.to_kind(Kind::Float).contiguous();
        if self.tensor.device() == Device::Cpu && self.tensor.is_contiguous() {
            self.apply_fused(&gradient, update);
        } else {
            self.apply_by_tensor(&gradient, update);
        }
    }

    /// All of it in one pass over memory, on as many threads as libtorch uses.
    fn apply_fused(&mut self, gradient: &Tensor, update: Update) {
        let (p, m, v) =
            (floats_mut(&mut self.tensor), floats_mut(&mut self.first_moment), floats_mut(&mut self.second_moment));
        let g = floats(gradient);
        let threads = if p.len() < 1 << 16 { 1 } else { tch::get_num_threads().max(1) as usize };
        let chunk = p.len().div_ceil(threads).max(1);
        let parts = p.chunks_mut(chunk).zip(m.chunks_mut(chunk)).zip(v.chunks_mut(chunk)).zip(g.chunks(chunk));
        std::thread::scope(|scope| {
            for (((p, m), v), g) in parts {
                let run = move || {
                    for (((p, m), v), g) in p.iter_mut().zip(m).zip(v).zip(g) {
                        (*p, *m, *v) = update.value(*p, *g, *m, *v);
                    }
                };
                if threads == 1 { run() } else { drop(scope.spawn(run)) }
            }
        });
    }

    /// The same with libtorch's operations, for other devices.
    fn apply_by_tensor(&mut self, gradient: &Tensor, update: Update) {
        let g = gradient * f64::from(update.gradient_scale);
        let (beta1, beta2) = (f64::from(update.beta1), f64::from(update.beta2));
        self.first_moment.copy_(&(&self.first_moment * beta1 + &g * (1. - beta1)));
        self.second_moment.copy_(&(&self.second_moment * beta2 + &g * &g * (1. - beta2)));
        let denominator = self.second_moment.sqrt() * f64::from(update.denominator_scale) + f64::from(update.epsilon);
        let step = &self.first_moment / denominator * f64::from(update.step_size);
        let next = &self.tensor * f64::from(update.keep) - step;
        self.tensor.copy_(&next);
    }
}

fn check_floats(tensor: &Tensor) {
    assert!(tensor.device() == Device::Cpu && tensor.kind() == Kind::Float && tensor.is_contiguous());
}

fn floats(tensor: &Tensor) -> &[f32] {
    check_floats(tensor);
    // SAFETY: a contiguous float32 tensor on the CPU is `numel` floats from `data_ptr`, alive as long as the tensor.
    unsafe { std::slice::from_raw_parts(tensor.data_ptr().cast(), tensor.numel()) }
}

fn floats_mut(tensor: &mut Tensor) -> &mut [f32] {
    check_floats(tensor);
    // SAFETY: as above; nothing else reads or writes parameters and moments while a step is taken.
    unsafe { std::slice::from_raw_parts_mut(tensor.data_ptr().cast(), tensor.numel()) }
}
