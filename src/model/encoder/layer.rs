//! One transformer layer of BERT, RoBERTa and XLM-R, with norms after the residual sums (Devlin et al., 2019).

use super::blocks::AttentionBlocks;
use super::config::EncoderConfig;
use crate::batch::Tokens;
use crate::model::layers::{
    Mode, affine, attention, dropout, layer_norm, linear, new_layer_norm, new_linear, seeded_dropout,
};
use crate::torch::flash_attention;
use tch::{Tensor, nn};

pub struct Layer {
    pub(super) query: nn::Linear,
    pub(super) key: nn::Linear,
    pub(super) value: nn::Linear,
    pub(super) attention_output: nn::Linear,
    pub(super) attention_norm: nn::LayerNorm,
    pub(super) intermediate: nn::Linear,
    pub(super) output: nn::Linear,
    pub(super) output_norm: nn::LayerNorm,
    pub(super) heads: i64,
    pub(super) hidden_dropout: f64,
    pub(super) attention_dropout: f64,
    pub(super) norm_eps: f64,
}

impl Layer {
    pub fn new(p: &nn::Path, config: &EncoderConfig) -> Self {
        let (h, ff, eps) = (config.hidden_size, config.intermediate_size, config.layer_norm_eps);
        let attention = p / "attention";
        Layer {
            query: new_linear(&attention / "self" / "query", h, h),
            key: new_linear(&attention / "self" / "key", h, h),
            value: new_linear(&attention / "self" / "value", h, h),
            attention_output: new_linear(&attention / "output" / "dense", h, h),
            attention_norm: new_layer_norm(&attention / "output" / "LayerNorm", h, eps),
            intermediate: new_linear(p / "intermediate" / "dense", h, ff),
            output: new_linear(p / "output" / "dense", ff, h),
            output_norm: new_layer_norm(p / "output" / "LayerNorm", h, eps),
            heads: config.num_attention_heads,
            hidden_dropout: config.hidden_dropout_prob,
            attention_dropout: config.attention_probs_dropout_prob,
            norm_eps: eps,
        }
    }

    /// With libtorch's operations, differentiable. `fused` computes the same with our kernels.
    ///
    /// # Shapes
    /// `hidden [T, H]` -> `[T, H]`
    pub fn forward(&self, hidden: &Tensor, blocks: &AttentionBlocks, mode: Mode) -> Tensor {
        let context = self.self_attention(hidden, blocks, mode);
        let attended = dropout(&linear(&context, &self.attention_output, mode), self.hidden_dropout, mode);
        let hidden = layer_norm(&(hidden + attended), &self.attention_norm);
        let inner = linear(&hidden, &self.intermediate, mode).gelu("none");
        let outer = dropout(&linear(&inner, &self.output, mode), self.hidden_dropout, mode);
        layer_norm(&(hidden + outer), &self.output_norm)
    }

    fn self_attention(&self, hidden: &Tensor, blocks: &AttentionBlocks, mode: Mode) -> Tensor {
        let qkv = self.queries_keys_values(hidden, mode); // [T, 3H]
        if let Some(tokens) = blocks.packed {
            return packed_attention(&qkv, self.heads, tokens, self.attention_dropout, mode);
        }
        let split = blocks.split(&qkv);
        let contexts = split.iter().zip(&blocks.blocks).map(|(qkv, block)| {
            attention(qkv, self.heads, block.bias.as_ref(), self.attention_dropout, mode) // [count, length, H]
        });
        blocks.join(&contexts.collect::<Vec<_>>()) // [T, H]
    }

    /// The width of a head.
    pub fn depth(&self) -> i64 {
        self.query.ws.size()[0] / self.heads
    }

    /// One matmul for all three. `[T, H]` -> `[T, 3H]`
    fn queries_keys_values(&self, hidden: &Tensor, mode: Mode) -> Tensor {
        let parts = [&self.query, &self.key, &self.value];
        let weight = Tensor::cat(&parts.map(|part| mode.weight(&part.ws)), 0);
        let bias = Tensor::cat(&parts.map(|part| mode.weight(part.bs.as_ref().expect("made with a bias"))), 0);
        affine(hidden, &weight, &bias, mode.precision)
    }
}

/// Attention without padding, by flash attention. `qkv [T, 3H]` -> `[T, H]`
fn packed_attention(qkv: &Tensor, heads: i64, tokens: &Tokens, dropout: f64, mode: Mode) -> Tensor {
    let (t, width) = qkv.size2().expect("qkv is [T, 3H]");
    let parts: [Tensor; 3] = qkv.view([t, 3, heads, width / 3 / heads]).unbind(1).try_into().expect("three parts");
    let dropout = seeded_dropout(dropout, qkv.device(), mode);
    flash_attention(parts.each_ref(), &tokens.starts, tokens.longest(), dropout).view([t, width / 3])
}
