//! What an optimiser knows of a trained tensor.

use tch::Tensor;

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
    pub(super) first_moment: Tensor,
    pub(super) second_moment: Tensor,
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

    /// The names of its moments in a checkpoint.
    pub(super) fn moment_names(&self) -> [String; 2] {
        ["exp_avg", "exp_avg_sq"].map(|moment| format!("{}.{moment}", self.name))
    }
}
