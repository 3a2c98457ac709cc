//! DeBERTa's relative positions: each layer projects them to queries and keys like its tokens.

use crate::model::encoder::deberta::Distances;
use crate::model::encoder::read_rows::padded;
use crate::model::kernels::{DistanceVectors, Dropout, Element};
use std::rc::Rc;
use tch::{Kind, Tensor};

/// The vectors of relative positions of a batch.
pub struct Positions {
    /// `[U, H]` float32, with rows of zeros up to one of a few sizes.
    vectors: Tensor,
    /// The vector of each distance, from the lowest.
    row_of: Rc<[usize]>,
}

impl Positions {
    pub fn new(distances: &Distances) -> Self {
        let row_of = Rc::from(distances.row_of.as_slice());
        Positions { vectors: padded(&distances.vectors.detach()), row_of }
    }
}

/// What a layer reads of the U relative positions.
pub struct LayerPositions {
    /// `[U, H]` rounded, after dropout
    vectors: Tensor,
    /// `[U, 2H]` rounded: queries and keys, without the bias
    projected: Tensor,
    row_of: Rc<[usize]>,
    dropout: Dropout,
}

impl LayerPositions {
    /// `weights [2H, H]` rounded: of queries and keys
    pub fn new<S: Element>(positions: &Positions, weights: &Tensor, dropout: Dropout) -> Self {
        let vectors = drop_out(&positions.vectors, dropout).to_kind(S::KIND);
        let projected = vectors.mm(&weights.tr());
        LayerPositions { vectors, projected, row_of: Rc::clone(&positions.row_of), dropout }
    }

    pub fn distances<S: Element>(&self) -> DistanceVectors<'_, S> {
        DistanceVectors::new(&self.projected, &self.row_of)
    }

    /// Adds to the gradients of the weights and biases of queries, keys and values. `weights` as before
    ///
    /// # Shapes
    /// `gradient [U, 2H]` of the projected vectors -> of the vectors `[U, H]`
    pub fn backward<S: Element>(
        &self,
        gradient: &Tensor,
        weights: &Tensor,
        [of_weights, of_biases]: [&mut Tensor; 2],
    ) -> Tensor {
        let width = gradient.size()[1];
        let rounded = gradient.to_kind(S::KIND);
        let _ = of_weights.narrow(0, 0, width).g_add_(&rounded.tr().mm(&self.vectors));
        let _ = of_biases.narrow(0, 0, width).g_add_(&gradient.sum_dim_intlist(0, false, Kind::Float));
        let of_vectors = rounded.mm(weights).to_kind(Kind::Float);
        drop_out(&of_vectors, self.dropout)
    }
}

/// `values` float32
fn drop_out(values: &Tensor, dropout: Dropout) -> Tensor {
    if dropout.drops() { values * dropout.mask(&values.size()) } else { values.shallow_clone() }
}
