//! MPNet's bias of attention by distance (Song et al., 2020), in the buckets of T5 (Raffel et al., 2020, section 2.1).

use tch::{Kind, Tensor, nn};

/// Rows of the table.
pub const RELATIVE_BUCKETS: i64 = 32;

/// The name of the table among the encoder's weights.
pub const RELATIVE_BIAS: &str = "relative_attention_bias";

/// Distances from here on share the last bucket of their direction.
const MAX_DISTANCE: f64 = 128.;

/// A number for each head and bucket of distances, which all layers add to their scores.
pub struct RelativeBias {
    /// `[RELATIVE_BUCKETS, heads]`
    table: Tensor,
}

impl RelativeBias {
    /// `p` is the `encoder` of the checkpoint.
    pub fn new(p: &nn::Path, heads: i64) -> Self {
        let init = nn::Init::Randn { mean: 0., stdev: 0.02 };
        RelativeBias { table: (p / RELATIVE_BIAS).var("weight", &[RELATIVE_BUCKETS, heads], init) }
    }

    /// What is added to the score of a query (rows) and a key (columns), both among `length` places.
    ///
    /// # Shapes
    /// `[1, heads, length, length]`, differentiable
    pub fn of(&self, length: i64) -> Tensor {
        let place = Tensor::arange(length, (Kind::Int64, self.table.device()));
        let buckets = t5_buckets(&(place.unsqueeze(0) - place.unsqueeze(1)));
        let rows = self.table.index_select(0, &buckets.flatten(0, -1));
        rows.view([1, length, length, -1]).permute([0, 3, 1, 2])
    }
}

/// The bucket of each distance from a query to its key. Keys that follow have the upper half of the buckets. Of each half, the
/// first 8 are single distances, the others grow by a factor.
pub fn t5_buckets(distance: &Tensor) -> Tensor {
    let half = RELATIVE_BUCKETS / 2;
    let single = half / 2;
    let away = distance.abs();
    let (first, grown) = (single as f64, (half - single) as f64);
    let logarithm = (away.clamp_min(1).to_kind(Kind::Float) / first).log() / (MAX_DISTANCE / first).ln();
    let grown = (logarithm * grown).to_kind(Kind::Int64) + single;
    let bucket = away.where_self(&away.lt(single), &grown.clamp_max(half - 1));
    bucket + distance.gt(0).to_kind(Kind::Int64) * half
}
