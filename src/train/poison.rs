//! Puts a value requested by [`crate::fault`] into a loss, a gradient or a weight, to test that it is detected.

use super::optim::Parameter;
use crate::fault::Poison;
use crate::loss::Losses;
use tch::Tensor;

/// The value that is still to be injected in this step.
pub struct Poisoned(Option<&'static Poison>);

impl Poisoned {
    /// `step` counts from 1.
    pub fn at(step: u64) -> Self {
        Poisoned(Poison::at(step))
    }

    pub fn weights(&self, parameters: &[Parameter]) {
        if let Some((poison, name)) = self.named("weight:") {
            let parameter = parameters.iter().find(|parameter| parameter.name == name);
            put(&parameter.expect("a parameter of that name").tensor, poison.value);
        }
    }

    pub fn losses(&self, losses: &mut Losses) {
        let Some(poison) = self.0 else { return };
        let term = match poison.target.as_str() {
            "preconditions" => &mut losses.preconditions,
            "effects" => &mut losses.effects,
            "conflicts" => &mut losses.conflicts,
            "story" => &mut losses.story,
            _ => return,
        };
        *term = &*term * poison.value;
    }

    pub fn gradients(&self, parameters: &[Parameter], gradients: &[Tensor]) {
        if let Some((poison, name)) = self.named("gradient:") {
            let gradient = parameters.iter().zip(gradients).find(|(parameter, _)| parameter.name == name);
            put(gradient.expect("a parameter of that name").1, poison.value);
        }
    }

    fn named(&self, kind: &str) -> Option<(&'static Poison, &'static str)> {
        self.0.and_then(|poison| Some((poison, poison.target.strip_prefix(kind)?)))
    }
}

/// Sets the value in the middle of the tensor.
fn put(tensor: &Tensor, value: f64) {
    let _ = tch::no_grad(|| tensor.view([-1]).get(tensor.numel() as i64 / 2).fill_(value));
}
