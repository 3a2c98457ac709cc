//! AdamW (Loshchilov and Hutter, 2019) with gradients clipped by their global norm.

use super::config::AdamWConfig;
use super::parameter::Parameter;
use super::update::{UpdateOfAll, squares_by_kernels, update_by_kernels};
use crate::error::{Error, Result};
use crate::model::weights::NamedTensors;
use crate::torch::{self, has_kernels, read};
use std::path::Path;
use tch::Tensor;

/// What a step read from the device.
#[derive(Debug, Clone, PartialEq)]
pub struct StepNumbers {
    /// Those that were to be checked.
    pub checked: Vec<f64>,
    /// The norm of the gradients before clipping.
    pub gradient_norm: f64,
}

impl StepNumbers {
    /// Whether all numbers are finite. Otherwise the step changed nothing.
    pub fn are_finite(&self) -> bool {
        self.checked.iter().chain([&self.gradient_norm]).all(|number| number.is_finite())
    }
}

/// The optimiser: parameters, their moments, and the number of its steps.
pub struct AdamW {
    /// Gradients come in the same order.
    pub parameters: Vec<Parameter>,
    config: AdamWConfig,
    step: i32,
    /// Whether our own kernels update the parameters.
    by_kernels: bool,
}

impl AdamW {
    /// No step has been taken. Our own kernels compute its steps where possible (on the CPU).
    pub fn new(parameters: Vec<Parameter>, config: AdamWConfig) -> Self {
        let by_kernels = parameters.iter().all(|parameter| has_kernels(parameter.tensor.device()));
        AdamW { parameters, config, step: 0, by_kernels }
    }

    /// With libtorch's operations only.
    pub fn unfused(self) -> Self {
        AdamW { by_kernels: false, ..self }
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
        self.parameters.iter().find_map(|parameter| {
            let [first, second] = parameter.moment_names();
            let named = [
                (parameter.name.clone(), &parameter.tensor),
                (first, &parameter.first_moment),
                (second, &parameter.second_moment),
            ];
            named.into_iter().find(|(_, tensor)| !read::are_finite(tensor)).map(|(name, _)| name)
        })
    }

    /// The name of the first parameter whose gradient is not finite.
    pub fn gradient_not_finite(&self, gradients: &[Tensor]) -> Option<&str> {
        let mut named = self.parameters.iter().zip(gradients).filter(|(_, gradient)| gradient.defined());
        named.find(|(_, gradient)| !read::are_finite(gradient)).map(|(parameter, _)| parameter.name.as_str())
    }

    /// The trained tensors.
    pub fn variables(&self) -> Vec<&Tensor> {
        self.parameters.iter().map(|p| &p.tensor).collect()
    }

    /// Takes one step, unless one of the numbers in `checked` or the norm of the gradients is not finite. A parameter
    /// without a gradient does not change, as in PyTorch.
    ///
    /// This is the one place of a training step that waits for the device. On a GPU the step is queued before: there the
    /// device itself decides whether it changes anything. The gradients are then clipped in place.
    ///
    /// # Shapes
    /// `checked [numbers]` float32, on the device of the parameters
    pub fn step(&mut self, gradients: &[Tensor], checked: &Tensor, rate: f64) -> StepNumbers {
        let _guard = tch::no_grad_guard();
        let numbers = Tensor::cat(&[checked, &self.global_norm(gradients).view([1])], 0);
        let update = UpdateOfAll { config: self.config, step: self.step + 1, rate };
        let updated = || self.parameters.iter().zip(gradients).filter(|(_, gradient)| gradient.defined());
        if !self.by_kernels {
            update.on_device(&updated().collect::<Vec<_>>(), &numbers);
        }
        let mut read: Vec<f64> = read::floats(&numbers).into_iter().map(f64::from).collect();
        let gradient_norm = read.pop().expect("the norm is the last number");
        let numbers = StepNumbers { checked: read, gradient_norm };
        if numbers.are_finite() {
            self.step += 1;
            if self.by_kernels {
                let parameters = self.parameters.iter_mut().zip(gradients).filter(|(_, gradient)| gradient.defined());
                parameters
                    .for_each(|(parameter, gradient)| update_by_kernels(parameter, gradient, &update, gradient_norm));
            }
        }
        numbers
    }

    /// The norm of all gradients together, on their device.
    fn global_norm(&self, gradients: &[Tensor]) -> Tensor {
        let defined = gradients.iter().filter(|gradient| gradient.defined());
        if !self.by_kernels {
            return torch::global_norm(defined);
        }
        let squares: f64 = defined.map(squares_by_kernels).sum();
        Tensor::from(squares.sqrt() as f32)
    }
}
