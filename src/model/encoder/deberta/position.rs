//! Relative positions: the vector of each distance between two tokens.

use super::config::{DebertaConfig, PositionNorm};
use crate::model::encoder::config::EncoderConfig;
use crate::model::layers::{layer_norm, new_layer_norm};
use crate::torch::read;
use std::cell::RefCell;
use tch::{Device, Kind, Tensor, nn};

/// The vectors of relative positions (P in the paper).
pub struct RelativePositions {
    /// `[2·span, H]`
    table: Tensor,
    norm: Option<nn::LayerNorm>,
    span: i64,
    /// (buckets, largest distance), if distances share buckets.
    buckets: Option<(i64, i64)>,
    /// The rows of the distances that have occurred; they are computed and copied once, not for each batch.
    known: RefCell<Option<DistanceRows>>,
}

/// The row of the table for each distance from -(longest - 1) to longest - 1, ascending.
struct DistanceRows {
    longest: i64,
    here: Vec<i64>,
    on_device: Tensor,
}

/// The relative positions of a batch; `length` is that of its longest sequence.
pub struct Distances {
    /// `[used, H]` the vectors that occur.
    pub vectors: Tensor,
    /// `[2·length - 1]` which of them belongs to each distance from -(length - 1) to length - 1.
    pub vector_of: Tensor,
    /// The same on the CPU.
    pub row_of: Vec<usize>,
    pub longest: i64,
}

impl RelativePositions {
    pub fn new(p: &nn::Path, config: &EncoderConfig, deberta: &DebertaConfig) -> Self {
        let hidden = config.hidden_size;
        let span = deberta.span(config.max_position_embeddings);
        let buckets = deberta.position_buckets;
        let normal = nn::Init::Randn { mean: 0., stdev: 0.02 };
        RelativePositions {
            table: (p / "rel_embeddings").var("weight", &[2 * span, hidden], normal),
            norm: (deberta.norm_rel_ebd == PositionNorm::LayerNorm)
                .then(|| new_layer_norm(p / "LayerNorm", hidden, config.layer_norm_eps)),
            span,
            buckets: (buckets > 0).then(|| (buckets, deberta.max_distance(config.max_position_embeddings))),
            known: RefCell::new(None),
        }
    }

    /// The relative positions of sequences of up to `longest` tokens.
    pub fn of(&self, longest: i64) -> Distances {
        let longest = longest.max(1);
        let device = self.table.device();
        let mut known = self.known.borrow_mut();
        let known = match known.take() {
            Some(rows) if rows.longest >= longest && rows.on_device.device() == device => known.insert(rows),
            _ => known.insert(self.distance_rows(longest)),
        };
        let start = known.longest - longest;
        let here = &known.here[start as usize..][..(2 * longest - 1) as usize];
        let (lowest, highest) = (here[0], here[here.len() - 1]);
        let vectors = self.table.narrow(0, lowest, highest - lowest + 1);
        Distances {
            vectors: self.norm.as_ref().map_or(vectors.shallow_clone(), |norm| layer_norm(&vectors, norm)),
            vector_of: known.on_device.narrow(0, start, 2 * longest - 1) - lowest,
            row_of: here.iter().map(|row| (row - lowest) as usize).collect(),
            longest,
        }
    }

    fn distance_rows(&self, longest: i64) -> DistanceRows {
        let rows = self.rows(&Tensor::arange_start(1 - longest, longest, (Kind::Int64, Device::Cpu)));
        DistanceRows { longest, here: read::integers(&rows), on_device: rows.to_device(self.table.device()) }
    }

    /// δ in the paper: the row of each distance. Distances beyond the span have the row at its end.
    fn rows(&self, distances: &Tensor) -> Tensor {
        let near = match self.buckets {
            Some((buckets, max_distance)) => log_buckets(distances, buckets, max_distance),
            None => distances.shallow_clone(),
        };
        (near + self.span).clamp(0, 2 * self.span - 1)
    }
}

/// Distances up to half the number of buckets have a bucket each. Beyond that, buckets grow by a factor, so that the
/// last one ends at the largest distance. Computed in float32 like Hugging Face's, so that the bounds of buckets round
/// alike.
///
/// # Shapes
/// `distances [..]` int64, on the CPU -> `[..]` int64
pub fn log_buckets(distances: &Tensor, buckets: i64, max_distance: i64) -> Tensor {
    let middle = buckets / 2;
    let size = distances.abs();
    let factor = Tensor::from(((max_distance - 1) as f64 / middle as f64) as f32).log();
    let share = (size.clamp_min(middle).to_kind(Kind::Float) / middle as f64).log() / factor;
    let far = ((share * (middle - 1) as f64).ceil() + middle as f64).to_kind(Kind::Int64) * distances.sign();
    distances.where_self(&size.le(middle), &far)
}
