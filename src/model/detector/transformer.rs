//! Transformer layers over the sentences of a story, of either detector.

use super::DetectorConfig;
use crate::model::layers::{Mode, attention, dropout, layer_norm, linear, new_layer_norm, new_linear, product};
use tch::{Tensor, nn};

/// PyTorch's `nn.TransformerEncoderLayer` (ReLU, norm after), with its names.
pub(super) struct TransformerLayer {
    in_proj_weight: Tensor,
    in_proj_bias: Tensor,
    out_proj: nn::Linear,
    linear1: nn::Linear,
    linear2: nn::Linear,
    norm1: nn::LayerNorm,
    norm2: nn::LayerNorm,
    heads: i64,
    dropout_prob: f64,
}

/// `nn.TransformerEncoderLayer`'s default.
const LAYER_NORM_EPS: f64 = 1e-5;

impl TransformerLayer {
    /// `count` layers of width D, with the heads and the feed-forward width of the config.
    pub fn stack(p: &nn::Path, count: i64, d: i64, config: &DetectorConfig, dropout_prob: f64) -> Vec<Self> {
        (0..count).map(|i| Self::new(&(p / i), d, config, dropout_prob)).collect()
    }

    fn new(p: &nn::Path, d: i64, config: &DetectorConfig, dropout_prob: f64) -> Self {
        let ff = config.feed_forward;
        let self_attn = p / "self_attn";
        let xavier = (6.0 / (4 * d) as f64).sqrt(); // of a [3D, D] matrix
        TransformerLayer {
            in_proj_weight: self_attn.uniform("in_proj_weight", &[3 * d, d], -xavier, xavier),
            in_proj_bias: self_attn.zeros("in_proj_bias", &[3 * d]),
            out_proj: new_linear(&self_attn / "out_proj", d, d),
            linear1: new_linear(p / "linear1", d, ff),
            linear2: new_linear(p / "linear2", ff, d),
            norm1: new_layer_norm(p / "norm1", d, LAYER_NORM_EPS),
            norm2: new_layer_norm(p / "norm2", d, LAYER_NORM_EPS),
            heads: config.heads,
            dropout_prob,
        }
    }

    /// `[R, N, D]`, `bias` of the attention as from [`only`] -> `[R, N, D]`
    pub fn forward(&self, x: &Tensor, bias: &Tensor, mode: Mode) -> Tensor {
        let p = self.dropout_prob;
        let qkv = product(x, &self.in_proj_weight, &self.in_proj_bias, mode.precision);
        let attended = linear(&attention(&qkv, self.heads, Some(bias), p, mode), &self.out_proj, mode);
        let x = layer_norm(&(x + dropout(&attended, p, mode)), &self.norm1);
        let inner = dropout(&linear(&x, &self.linear1, mode).relu(), p, mode);
        let outer = dropout(&linear(&inner, &self.linear2, mode), p, mode);
        layer_norm(&(x + outer), &self.norm2)
    }
}

/// The bias with which attention sees only the sentences there are; finite, for a row of padding only must not become
/// NaN. `mask [R, N]`, 1.0 or 0.0 -> `[R, 1, 1, N]`
pub(super) fn only(mask: &Tensor) -> Tensor {
    ((mask - 1.0) * 1e9).unsqueeze(1).unsqueeze(1)
}
