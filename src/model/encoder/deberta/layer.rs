//! One layer: disentangled attention and feed-forward, each followed by a norm.

use super::attention::DisentangledAttention;
use super::config::DebertaConfig;
use super::position::Distances;
use crate::model::encoder::blocks::AttentionBlocks;
use crate::model::encoder::config::EncoderConfig;
use crate::model::encoder::fused::FusedLayer;
use crate::model::layers::{Mode, dropout, layer_norm, linear, new_layer_norm, new_linear};
use tch::{Tensor, nn};

pub struct DebertaLayer {
    attention: DisentangledAttention,
    attention_output: nn::Linear,
    /// Version 1 implements its norm itself; it is the usual layer norm.
    attention_norm: nn::LayerNorm,
    intermediate: nn::Linear,
    output: nn::Linear,
    output_norm: nn::LayerNorm,
    hidden_dropout: f64,
    norm_eps: f64,
}

impl DebertaLayer {
    pub fn new(p: &nn::Path, config: &EncoderConfig, deberta: &DebertaConfig) -> Self {
        let (h, ff, eps) = (config.hidden_size, config.intermediate_size, config.layer_norm_eps);
        let attention = p / "attention";
        DebertaLayer {
            attention: DisentangledAttention::new(&(&attention / "self"), config, deberta),
            attention_output: new_linear(&attention / "output" / "dense", h, h),
            attention_norm: new_layer_norm(&attention / "output" / "LayerNorm", h, eps),
            intermediate: new_linear(p / "intermediate" / "dense", h, ff),
            output: new_linear(p / "output" / "dense", ff, h),
            output_norm: new_layer_norm(p / "output" / "LayerNorm", h, eps),
            hidden_dropout: config.hidden_dropout_prob,
            norm_eps: eps,
        }
    }

    /// The same for our kernels, if they can compute its attention.
    pub fn fused(&self) -> Option<FusedLayer<'_>> {
        Some(FusedLayer {
            queries_keys_values: self.attention.shared_projections()?,
            attention_output: &self.attention_output,
            attention_norm: &self.attention_norm,
            intermediate: &self.intermediate,
            output: &self.output,
            output_norm: &self.output_norm,
            heads: self.attention.heads,
            hidden_dropout: self.hidden_dropout,
            attention_dropout: self.attention.attention_dropout,
            norm_eps: self.norm_eps,
        })
    }

    /// # Shapes
    /// `hidden [T, H]` -> `[T, H]`
    pub fn forward(
        &self,
        hidden: &Tensor,
        distances: Option<&Distances>,
        blocks: &AttentionBlocks,
        mode: Mode,
    ) -> Tensor {
        let context = self.attention.forward(hidden, distances, blocks, mode);
        let attended = dropout(&linear(&context, &self.attention_output, mode), self.hidden_dropout, mode);
        let hidden = layer_norm(&(hidden + attended), &self.attention_norm);
        let inner = linear(&hidden, &self.intermediate, mode).gelu("none");
        let outer = dropout(&linear(&inner, &self.output, mode), self.hidden_dropout, mode);
        layer_norm(&(hidden + outer), &self.output_norm)
    }
}
