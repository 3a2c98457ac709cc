//! AdamW (Loshchilov and Hutter, 2019) with gradients clipped by their global norm.

use super::config::AdamWConfig;
use crate::error::{Error, Result};
use crate::model::kernels::{AdamWUpdate, Bf16};
use crate::model::weights::NamedTensors;
use std::path::Path;
use tch::{Device, Kind, Tensor};

/// A trained tensor, with factors for its learning rate and its decay.
pub struct Parameter {
    /// The variable's name in the model.
    pub name: String,
    /// The model's own variable: a step changes it in place.
    pub tensor: Tensor,
    /// Its learning rate, as a multiple of the step's rate.
    pub rate_scale: f64,
    /// Whether weight decay applies to it.
    pub decays: bool,
    first_moment: Tensor,
    second_moment: Tensor,
}

impl Parameter {
    /// Both moments start at 0.
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

/// The optimiser: parameters, their moments, and the number of its steps.
pub struct AdamW {
    /// Gradients come in the same order.
    pub parameters: Vec<Parameter>,
    config: AdamWConfig,
    step: i32,
}

impl AdamW {
    /// No step has been taken.
    pub fn new(parameters: Vec<Parameter>, config: AdamWConfig) -> Self {
        AdamW { parameters, config, step: 0 }
    }

    /// The number of steps, and both moments of every parameter under PyTorch's names, `NAME.exp_avg` and
    /// `NAME.exp_avg_sq`.
    pub fn state(&self) -> (i32, NamedTensors) {
        let moments = self.parameters.iter().flat_map(|parameter| {
            let [first, second] = parameter.moment_names();
            [(first, parameter.first_moment.shallow_clone()), (second, parameter.second_moment.shallow_clone())]
        });
        (self.step, moments.collect())
    }

    /// Restores an [`AdamW::state`] that was read from `path`.
    ///
    /// # Errors
    /// `Config` if these are not exactly the moments of the parameters; then nothing has changed.
    pub fn restore(&mut self, step: i32, moments: &NamedTensors, path: &Path) -> Result<()> {
        let expected = 2 * self.parameters.len();
        for parameter in &self.parameters {
            for name in parameter.moment_names() {
                if moments.get(&name).is_none_or(|moment| moment.size() != parameter.tensor.size()) {
                    let size = parameter.tensor.size();
                    return Err(Error::config(format!("{}: has no tensor {name} of shape {size:?}", path.display())));
                }
            }
        }
        if moments.len() != expected {
            let found = moments.len();
            return Err(Error::config(format!("{}: has {found} tensors instead of {expected}", path.display())));
        }
        for parameter in &mut self.parameters {
            let [first, second] = parameter.moment_names();
            parameter.first_moment.copy_(&moments[&first]);
            parameter.second_moment.copy_(&moments[&second]);
        }
        self.step = step;
        Ok(())
    }

    /// The name of a parameter or moment with a number that is not finite.
    pub fn not_finite(&self) -> Option<String> {
        let finite = |tensor: &Tensor| tensor.isfinite().all().int64_value(&[]) == 1;
        self.parameters.iter().find_map(|parameter| {
            let [first, second] = parameter.moment_names();
            let named = [
                (parameter.name.clone(), &parameter.tensor),
                (first, &parameter.first_moment),
                (second, &parameter.second_moment),
            ];
            named.into_iter().find(|(_, tensor)| !finite(tensor)).map(|(name, _)| name)
        })
    }

    /// The name of the first parameter whose gradient is not finite.
    pub fn gradient_not_finite(&self, gradients: &[Tensor]) -> Option<&str> {
        let finite = |gradient: &Tensor| gradient.isfinite().all().int64_value(&[]) == 1;
        let mut named = self.parameters.iter().zip(gradients).filter(|(_, gradient)| gradient.defined());
        named.find(|(_, gradient)| !finite(gradient)).map(|(parameter, _)| parameter.name.as_str())
    }

    /// The trained tensors.
    pub fn variables(&self) -> Vec<&Tensor> {
        self.parameters.iter().map(|p| &p.tensor).collect()
    }

    /// Takes one step, unless the norm of the gradients is not finite; returns that norm (before clipping). A parameter
    /// without a gradient does not change, as in PyTorch.
    pub fn step(&mut self, gradients: &[Tensor], rate: f64) -> f64 {
        let norm = global_norm(gradients);
        if norm.is_finite() {
            let clip = (self.config.clip_norm / (norm + 1e-6)).min(1.);
            self.step += 1;
            let _guard = tch::no_grad_guard();
            for (parameter, gradient) in self.parameters.iter_mut().zip(gradients).filter(|(_, g)| g.defined()) {
                let update = update(&self.config, self.step, rate * parameter.rate_scale, clip, parameter.decays);
                parameter.apply(gradient, update);
            }
        }
        norm
    }
}

impl Parameter {
    fn moment_names(&self) -> [String; 2] {
        ["exp_avg", "exp_avg_sq"].map(|moment| format!("{}.{moment}", self.name))
    }
}

fn global_norm(gradients: &[Tensor]) -> f64 {
    let norm = |gradient: &Tensor| gradient.norm_scalaropt_dtype(2, Kind::Float);
    let norms: Vec<Tensor> = gradients.iter().filter(|gradient| gradient.defined()).map(norm).collect();
    Tensor::stack(&norms, 0).norm().double_value(&[])
}

/// The constants of one step for one parameter.
fn update(config: &AdamWConfig, step: i32, rate: f64, clip: f64, decays: bool) -> AdamWUpdate {
    let decay = if decays { config.weight_decay } else { 0. };
    AdamWUpdate {
        gradient_scale: clip as f32,
        beta1: config.beta1 as f32,
        beta2: config.beta2 as f32,
        keep: (1. - rate * decay) as f32,
        step_size: (rate / (1. - config.beta1.powi(step))) as f32,
        denominator_scale: (1. / (1. - config.beta2.powi(step)).sqrt()) as f32,
        epsilon: config.epsilon as f32,
    }
}

impl Parameter {
    fn apply(&mut self, gradient: &Tensor, update: AdamWUpdate) {
        let on_cpu = self.tensor.device() == Device::Cpu && self.tensor.is_contiguous();
        let Parameter { tensor, first_moment, second_moment, .. } = &mut *self;
        let same = gradient.contiguous();
        match gradient.kind() {
            Kind::Float if on_cpu => update.apply::<f32>(tensor, first_moment, second_moment, &same),
            Kind::BFloat16 if on_cpu => update.apply::<Bf16>(tensor, first_moment, second_moment, &same),
            _ => self.apply_by_tensor(&gradient.to_kind(Kind::Float), update),
        }
    }

    /// The same with libtorch's operations, for other devices.
    fn apply_by_tensor(&mut self, gradient: &Tensor, update: AdamWUpdate) {
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
