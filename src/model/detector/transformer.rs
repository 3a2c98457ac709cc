//! Transformer layers over the sentences of a story, for both detectors.

use super::config::{DetectorConfig, Norm};
use crate::model::layers::{Mode, affine, attention, dropout, layer_norm, linear, new_layer_norm, new_linear};
use tch::{Tensor, nn};

/// PyTorch's `nn.TransformerEncoderLayer` (ReLU), with the same names.
pub(super) struct TransformerLayer {
    in_proj_weight: Tensor,
    in_proj_bias: Tensor,
    out_proj: nn::Linear,
    linear1: nn::Linear,
    linear2: nn::Linear,
    norm1: nn::LayerNorm,
    norm2: nn::LayerNorm,
    norm: Norm,
    heads: i64,
    dropout_prob: f64,
}

/// `nn.TransformerEncoderLayer`'s default.
pub(super) const LAYER_NORM_EPS: f64 = 1e-5;

impl TransformerLayer {
    /// `count` layers of this width, with the config's heads and feed-forward width.
    pub fn stack(
        p: &nn::Path,
        count: i64,
        d: i64,
        norm: Norm,
        config: &DetectorConfig,
        dropout_prob: f64,
    ) -> Vec<Self> {
        (0..count).map(|i| Self::new(&(p / i), d, norm, config, dropout_prob)).collect()
    }

    fn new(p: &nn::Path, d: i64, norm: Norm, config: &DetectorConfig, dropout_prob: f64) -> Self {
        let ff = config.feed_forward;
        let self_attn = p / "self_attn";
        let xavier = (6.0 / (4 * d) as f64).sqrt(); // of a [3·width, width] matrix
        let layer = TransformerLayer {
            in_proj_weight: self_attn.uniform("in_proj_weight", &[3 * d, d], -xavier, xavier),
            in_proj_bias: self_attn.zeros("in_proj_bias", &[3 * d]),
            out_proj: new_linear(&self_attn / "out_proj", d, d),
            linear1: new_linear(p / "linear1", d, ff),
            linear2: new_linear(p / "linear2", ff, d),
            norm1: new_layer_norm(p / "norm1", d, LAYER_NORM_EPS),
            norm2: new_layer_norm(p / "norm2", d, LAYER_NORM_EPS),
            norm,
            heads: config.heads,
            dropout_prob,
        };
        for residual in [&layer.out_proj, &layer.linear2] {
            let _ = tch::no_grad(|| residual.ws.shallow_clone().g_mul_scalar_(config.residual_scale));
        }
        layer
    }

    /// `[R, N, width]`, `bias` of the attention from [`only`] -> `[R, N, width]`
    pub fn forward(&self, x: &Tensor, bias: &Tensor, mode: Mode) -> Tensor {
        match self.norm {
            Norm::After => {
                let x = layer_norm(&(x + self.attended(x, bias, mode)), &self.norm1);
                layer_norm(&(&x + self.fed_forward(&x, mode)), &self.norm2)
            }
            Norm::Before => {
                let x = x + self.attended(&layer_norm(x, &self.norm1), bias, mode);
                &x + self.fed_forward(&layer_norm(&x, &self.norm2), mode)
            }
        }
    }

    fn attended(&self, x: &Tensor, bias: &Tensor, mode: Mode) -> Tensor {
        let qkv = affine(x, &mode.weight(&self.in_proj_weight), &mode.weight(&self.in_proj_bias), mode.precision);
        let context = attention(&qkv, self.heads, Some(bias), self.dropout_prob, mode);
        dropout(&linear(&context, &self.out_proj, mode), self.dropout_prob, mode)
    }

    fn fed_forward(&self, x: &Tensor, mode: Mode) -> Tensor {
        let inner = dropout(&linear(x, &self.linear1, mode).relu(), self.dropout_prob, mode);
        dropout(&linear(&inner, &self.linear2, mode), self.dropout_prob, mode)
    }
}

/// The attention bias that hides padding. It is finite, so that a row of padding only does not become NaN. `mask [R,
/// N]`, 1.0 or 0.0 -> `[R, 1, 1, N]`
pub(super) fn only(mask: &Tensor) -> Tensor {
    ((mask - 1.0) * 1e9).unsqueeze(1).unsqueeze(1)
}
