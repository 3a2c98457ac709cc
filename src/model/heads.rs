//! The 20 state heads of one side (preconditions or effects), computed together.

use super::layers::{Mode, dropout, linear, new_linear};
use crate::attribute::{ATTRIBUTES, Attribute, SIDE_CLASSES};
use tch::{Kind, Tensor, nn};

/// Twenty classifiers; each is dropout, Linear(H, H), tanh, dropout, Linear(H, K) (TRIP, appendix B).
///
/// Their first layers are stacked into one matmul. All heads share the dropout before it, and equal inputs of a batch
/// share both dropouts. This changes the noise of training, but not evaluation.
pub struct StateHeads {
    /// `[A·H, H]`: rows a·H to (a + 1)·H - 1 belong to head a.
    dense: nn::Linear,
    /// `[66, H]`: the heads' last layers, one after another.
    out: nn::Linear,
    dropout_prob: f64,
}

impl StateHeads {
    /// Untrained heads; `hidden` is H.
    pub fn new(p: &nn::Path, hidden: i64, dropout_prob: f64) -> Self {
        StateHeads {
            dense: new_linear(p / "dense", hidden, ATTRIBUTES as i64 * hidden),
            out: new_linear(p / "out", hidden, SIDE_CLASSES as i64),
            dropout_prob,
        }
    }

    /// Sets the initial last biases to the log frequency of each class. `frequencies [66]`
    pub fn set_output_bias(&self, frequencies: &[f32]) {
        let bias = Tensor::from_slice(frequencies).log();
        tch::no_grad(|| self.out.bs.as_ref().expect("made with a bias").shallow_clone().copy_(&bias));
    }

    /// # Shapes
    /// `embeddings [U, H]` -> logits `[U, 66]`
    pub fn forward(&self, embeddings: &Tensor, mode: Mode) -> Tensor {
        let (u, h) = embeddings.size2().expect("embeddings are [U, H]");
        let hidden = linear(&dropout(embeddings, self.dropout_prob, mode), &self.dense, mode).tanh();
        let hidden = dropout(&hidden, self.dropout_prob, mode).view([u, ATTRIBUTES as i64, h]).to_kind(Kind::Float);
        let runs = runs();
        let of_heads = hidden.split_with_sizes(runs.map(|run| run.count), 1);
        let weights = self.out.ws.split_with_sizes(runs.map(|run| run.count * run.classes), 0);
        let parts = runs.iter().zip(of_heads.iter().zip(&weights));
        let logits = parts.map(|(&run, (hidden, weight))| run_of_heads(hidden, weight, run));
        Tensor::cat(&logits.collect::<Vec<_>>(), 1) + self.out.bs.as_ref().expect("made with a bias") // [U, 66]
    }
}

/// `hidden [U, count, H]`, `weight [count·K, H]` -> `[U, count·K]`
fn run_of_heads(hidden: &Tensor, weight: &Tensor, Run { count, classes, .. }: Run) -> Tensor {
    let (u, _, h) = hidden.size3().expect("hidden is [U, count, H]");
    let weight = weight.view([count, classes, h]);
    hidden.transpose(0, 1).bmm(&weight.transpose(1, 2)).transpose(0, 1).reshape([u, count * classes])
}

/// `count` neighbouring attributes with the same number of classes, which are computed together.
#[derive(Clone, Copy)]
struct Run {
    count: i64,
    /// Of their columns among the 66.
    offset: i64,
    classes: i64,
}

/// The attributes before the location of objects, which has more classes; it; and those after it.
fn runs() -> [Run; 3] {
    let location = Attribute::Location.index();
    [(0, location), (location, 1), (location + 1, ATTRIBUTES - location - 1)].map(|(head, count)| {
        let first = Attribute::ALL[head];
        let [count, offset, classes] = [count, first.offset(), first.classes()].map(|size| size as i64);
        Run { count, offset, classes }
    })
}

/// Log-softmax within each attribute's columns. `[U, 66]` -> `[U, 66]`
pub fn attribute_log_probs(logits: &Tensor) -> Tensor {
    let parts = runs().map(|Run { count, offset, classes }| {
        let columns = logits.narrow(1, offset, count * classes).unflatten(1, [count, classes]); // [U, count, K]
        columns.log_softmax(2, Kind::Float).flatten(1, 2)
    });
    Tensor::cat(&parts, 1)
}
