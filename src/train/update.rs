//! The update of AdamW: by our own kernels parameter by parameter, or on a GPU for all parameters at once.

use super::config::AdamWConfig;
use super::parameter::Parameter;
use crate::model::kernels::{AdamWUpdate, Bf16, sum_of_squares};
use crate::torch::{AdamWConstants, Updated, fused_adamw};
use std::collections::BTreeMap;
use tch::{Kind, Tensor};

/// One step for all parameters.
pub struct UpdateOfAll {
    pub config: AdamWConfig,
    /// Counted from 1.
    pub step: i32,
    /// The learning rate, before the parameters' own factors.
    pub rate: f64,
}

/// Added to the norm, as in PyTorch's `clip_grad_norm_`.
const TINY: f64 = 1e-6;

impl UpdateOfAll {
    fn decay(&self, parameter: &Parameter) -> f64 {
        if parameter.decays { self.config.weight_decay } else { 0. }
    }

    /// Queues the step by PyTorch's fused AdamW. The device clips by the norm, the last of `numbers`, and changes nothing
    /// unless all of them are finite.
    pub fn on_device(&self, parameters: &[(&Parameter, &Tensor)], numbers: &Tensor) {
        let float = (Kind::Float, numbers.device());
        let norm = numbers.narrow(0, numbers.size()[0] - 1, 1).squeeze();
        let scale = ((norm + TINY) / self.config.clip_norm).clamp_min(1.); // gradients are divided by it
        let skip = numbers.isfinite().all().logical_not().to_kind(Kind::Float);
        let step = Tensor::full([0i64; 0], f64::from(self.step), float);
        let gradients: Vec<Tensor> =
            parameters.iter().map(|(_, gradient)| gradient.to_kind(Kind::Float).contiguous()).collect();
        let mut groups: BTreeMap<(u64, bool), Vec<Updated>> = BTreeMap::new();
        for ((parameter, _), gradient) in parameters.iter().zip(&gradients) {
            let group = groups.entry((parameter.rate_scale.to_bits(), parameter.decays)).or_default();
            group.push([&parameter.tensor, gradient, &parameter.first_moment, &parameter.second_moment]);
        }
        for ((rate_scale, decays), group) in groups {
            let AdamWConfig { beta1, beta2, epsilon, weight_decay, .. } = self.config;
            let (rate, decay) = (self.rate * f64::from_bits(rate_scale), if decays { weight_decay } else { 0. });
            fused_adamw(&group, AdamWConstants { rate, beta1, beta2, decay, epsilon }, &step, &scale, &skip);
        }
    }
}

/// The sum of the squares of a gradient on the CPU.
pub fn squares_by_kernels(gradient: &Tensor) -> f64 {
    let same = gradient.contiguous();
    match gradient.kind() {
        Kind::BFloat16 => sum_of_squares::<Bf16>(&same),
        _ => sum_of_squares::<f32>(&same),
    }
}

/// Updates one parameter on the CPU.
pub fn update_by_kernels(parameter: &mut Parameter, gradient: &Tensor, update: &UpdateOfAll, norm: f64) {
    let constants = constants(update, parameter, norm);
    let Parameter { tensor, first_moment, second_moment, .. } = parameter;
    let same = gradient.contiguous();
    match gradient.kind() {
        Kind::BFloat16 => constants.apply::<Bf16>(tensor, first_moment, second_moment, &same),
        _ => constants.apply::<f32>(tensor, first_moment, second_moment, &same),
    }
}

/// The constants of a step for one parameter. `norm` is that of all gradients.
fn constants(update: &UpdateOfAll, parameter: &Parameter, norm: f64) -> AdamWUpdate {
    let UpdateOfAll { config, step, .. } = update;
    let rate = update.rate * parameter.rate_scale;
    AdamWUpdate {
        gradient_scale: (config.clip_norm / (norm + TINY)).min(1.) as f32,
        beta1: config.beta1 as f32,
        beta2: config.beta2 as f32,
        keep: (1. - rate * update.decay(parameter)) as f32,
        step_size: (rate / (1. - config.beta1.powi(*step))) as f32,
        denominator_scale: (1. / (1. - config.beta2.powi(*step)).sqrt()) as f32,
        epsilon: config.epsilon as f32,
    }
}
