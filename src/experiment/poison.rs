//! Puts a value requested by [`crate::fault`] into a loss, a gradient or a weight, to test that training detects it.

use crate::batch::Batch;
use crate::fault::Poison;
use crate::loss::Losses;
use crate::say::aside;
use crate::train::{Parameter, Phase, StepObserver};
use std::time::Duration;
use tch::Tensor;

/// Injects a value at its step; does nothing at the others.
pub struct Poisoned {
    poison: Poison,
    /// Whether the present step is the one.
    is_due: bool,
}

impl Poisoned {
    pub fn new(poison: Poison) -> Self {
        Poisoned { poison, is_due: false }
    }

    /// The name after `kind` in the target, if this step is poisoned there.
    fn name(&self, kind: &str) -> Option<&str> {
        self.poison.target.strip_prefix(kind).filter(|_| self.is_due)
    }

    /// Waits, if this is where the step is to pause.
    fn pause(&self, place: &str) {
        if self.name("pause") == Some(place) {
            aside!("paused");
            std::thread::sleep(Duration::from_secs_f64(self.poison.value));
        }
    }
}

impl StepObserver for Poisoned {
    fn batch(&mut self, step: u64, _: &Batch, parameters: &[Parameter]) {
        self.is_due = self.poison.step == step;
        if let Some(name) = self.name("weight:") {
            let parameter = parameters.iter().find(|parameter| parameter.name == name);
            put(&parameter.expect("a parameter of that name").tensor, self.poison.value);
        }
    }

    fn losses(&mut self, losses: &mut Losses) {
        let term = match self.poison.target.as_str() {
            _ if !self.is_due => return,
            "preconditions" => &mut losses.preconditions,
            "effects" => &mut losses.effects,
            "conflicts" => &mut losses.conflicts,
            "story" => &mut losses.story,
            _ => return,
        };
        *term = &*term * self.poison.value;
    }

    fn gradients(&mut self, parameters: &[Parameter], gradients: &[Tensor]) {
        if let Some(name) = self.name("gradient:") {
            let gradient = parameters.iter().zip(gradients).find(|(parameter, _)| parameter.name == name);
            put(gradient.expect("a parameter of that name").1, self.poison.value);
        }
        self.pause("");
    }

    fn ended(&mut self, phase: Phase) {
        if phase == Phase::Optimiser {
            self.pause("-after");
        }
    }
}

/// Sets the value in the middle of the tensor.
fn put(tensor: &Tensor, value: f64) {
    let _ = tch::no_grad(|| tensor.view([-1]).get(tensor.numel() as i64 / 2).fill_(value));
}
