//! Predicted states that contradict each other, as a score of their sentences.

use crate::attribute::{Attribute, SIDE_CLASSES};
use crate::batch::Batch;
use tch::{Tensor, nn};

const FALSE: usize = 1;
const TRUE: usize = 2;

/// The initial weight of a contradiction.
const INITIAL: f32 = 2.;

/// f(i)ᵀ · K · p(j) for an entity's class probabilities f(i) after sentence i and p(j) before sentence j. Its gradient
/// flows into the states, unlike that of the detector's other inputs: a conflict teaches the states that explain it.
pub struct Contradictions {
    /// K `[1, 66, 66]`, as PyTorch's `Bilinear`: of each class after the first sentence with each class before the second.
    weight: Tensor,
}

impl Contradictions {
    /// K says at first that false contradicts true, in each attribute that can be either.
    pub fn new(p: &nn::Path) -> Self {
        let mut weight = vec![0f32; SIDE_CLASSES * SIDE_CLASSES];
        for attribute in Attribute::ALL {
            if !matches!(attribute, Attribute::HLocation | Attribute::Location) {
                let class = |class| attribute.offset() + class;
                weight[class(FALSE) * SIDE_CLASSES + class(TRUE)] = INITIAL;
                weight[class(TRUE) * SIDE_CLASSES + class(FALSE)] = INITIAL;
            }
        }
        let weight = Tensor::from_slice(&weight).view([1, SIDE_CLASSES as i64, SIDE_CLASSES as i64]);
        Contradictions { weight: p.var_copy("weight", &weight) }
    }

    /// Of every two sentences of each row. `state_probs [U, 132]` -> `[R, N, N]`
    pub fn forward(&self, state_probs: &Tensor, batch: &Batch) -> Tensor {
        let (r, n) = batch.cells.size2().expect("cells are [R, N]");
        let cells = batch.cells.view([-1]);
        let of_cells = |side: &Tensor| side.index_select(0, &cells).view([r, n, -1]); // [R, N, 66]
        let sides = state_probs.split(SIDE_CLASSES as i64, 1); // before and after
        of_cells(&sides[1].matmul(&self.weight.get(0))).matmul(&of_cells(&sides[0]).transpose(1, 2))
    }
}
