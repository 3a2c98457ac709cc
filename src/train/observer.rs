//! What can be seen of a training step from outside: `bench` times its phases, and tests put numbers into it that are not
//! finite.

use super::parameter::Parameter;
use crate::batch::Batch;
use crate::loss::Losses;
use tch::Tensor;

/// The phases of a step, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Building the batch.
    Data,
    /// The encoder's output; of a frozen encoder, looking up its vectors.
    EncoderForward,
    /// The 40 state heads.
    Heads,
    /// The conflict detector and the story choice.
    Detector,
    /// Each loss, and whether all are finite.
    Losses,
    /// The weighted loss, and the backward pass through losses, detector and heads.
    HeadsBackward,
    /// The backward pass through the encoder, from the gradient of its output.
    EncoderBackward,
    /// The optimiser, with the clipping of gradients.
    Optimiser,
}

/// Watches a training step. Each method does nothing unless it is implemented.
pub trait StepObserver {
    /// The phase has just ended.
    fn ended(&mut self, _phase: Phase) {}

    /// The batch is about to be read. `step` counts from 1.
    fn batch(&mut self, _step: u64, _batch: &Batch, _parameters: &[Parameter]) {}

    /// The losses, before they are checked and weighted.
    fn losses(&mut self, _losses: &mut Losses) {}

    /// The gradient of each parameter, before the optimiser reads them.
    fn gradients(&mut self, _parameters: &[Parameter], _gradients: &[Tensor]) {}
}

/// Nobody watches.
pub struct Unobserved;

impl StepObserver for Unobserved {}
