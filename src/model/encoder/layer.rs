//! One transformer layer of BERT, RoBERTa, XLM-R and MPNet, with norms after the residual sums (Devlin et al., 2019).

use super::config::{EncoderConfig, Family};
use super::fused::FusedLayer;
use super::layout::TokenLayout;
use crate::model::layers::{Mode, affine, dropout, layer_norm, linear, new_layer_norm, new_linear};
use tch::{Tensor, nn};

pub struct Layer {
    query: nn::Linear,
    key: nn::Linear,
    value: nn::Linear,
    attention_output: nn::Linear,
    attention_norm: nn::LayerNorm,
    intermediate: nn::Linear,
    output: nn::Linear,
    output_norm: nn::LayerNorm,
    heads: i64,
    hidden_dropout: f64,
    attention_dropout: f64,
    norm_eps: f64,
}

impl Layer {
    pub fn new(p: &nn::Path, config: &EncoderConfig) -> Self {
        let (h, ff, eps) = (config.hidden_size, config.intermediate_size, config.layer_norm_eps);
        let [query, key, value, output, norm] = match config.family {
            Family::Mpnet { .. } => ["attn.q", "attn.k", "attn.v", "attn.o", "LayerNorm"],
            _ => ["self.query", "self.key", "self.value", "output.dense", "output.LayerNorm"],
        };
        let attention = |name: &str| name.split('.').fold(p / "attention", |path, part| path / part);
        Layer {
            query: new_linear(attention(query), h, h),
            key: new_linear(attention(key), h, h),
            value: new_linear(attention(value), h, h),
            attention_output: new_linear(attention(output), h, h),
            attention_norm: new_layer_norm(attention(norm), h, eps),
            intermediate: new_linear(p / "intermediate" / "dense", h, ff),
            output: new_linear(p / "output" / "dense", ff, h),
            output_norm: new_layer_norm(p / "output" / "LayerNorm", h, eps),
            heads: config.num_attention_heads,
            hidden_dropout: config.hidden_dropout_prob,
            attention_dropout: config.attention_probs_dropout_prob,
            norm_eps: eps,
        }
    }

    /// The same for our kernels.
    pub fn fused(&self) -> FusedLayer<'_> {
        FusedLayer {
            queries_keys_values: [&self.query, &self.key, &self.value],
            attention_output: &self.attention_output,
            attention_norm: &self.attention_norm,
            intermediate: &self.intermediate,
            output: &self.output,
            output_norm: &self.output_norm,
            heads: self.heads,
            hidden_dropout: self.hidden_dropout,
            attention_dropout: self.attention_dropout,
            norm_eps: self.norm_eps,
        }
    }

    /// With libtorch's operations, differentiable. `fused` computes the same with our kernels.
    ///
    /// # Shapes
    /// `hidden [P, H]` -> `[P, H]`
    pub fn forward(&self, hidden: &Tensor, layout: &TokenLayout, mode: Mode) -> Tensor {
        let context = self.attend(hidden, layout, mode);
        self.feed_forward(hidden, &context, mode)
    }

    /// The last layer, of which only some tokens are read: of the others nothing is computed after attention.
    ///
    /// # Shapes
    /// `hidden [P, H]` -> `[O, H]`
    pub fn forward_read(&self, hidden: &Tensor, layout: &TokenLayout, mode: Mode) -> Tensor {
        let context = self.attend(hidden, layout, mode);
        self.feed_forward(&layout.read(hidden), &layout.read(&context), mode)
    }

    fn attend(&self, hidden: &Tensor, layout: &TokenLayout, mode: Mode) -> Tensor {
        let qkv = self.queries_keys_values(hidden, mode);
        layout.attend(&qkv, self.heads, self.attention_dropout, mode)
    }

    /// `hidden`, `context` and the output are `[rows, H]`.
    fn feed_forward(&self, hidden: &Tensor, context: &Tensor, mode: Mode) -> Tensor {
        let attended = dropout(&linear(context, &self.attention_output, mode), self.hidden_dropout, mode);
        let hidden = layer_norm(&(hidden + attended), &self.attention_norm);
        let inner = linear(&hidden, &self.intermediate, mode).gelu("none");
        let outer = dropout(&linear(&inner, &self.output, mode), self.hidden_dropout, mode);
        layer_norm(&(hidden + outer), &self.output_norm)
    }

    /// The width of a head.
    pub fn depth(&self) -> i64 {
        self.query.ws.size()[0] / self.heads
    }

    /// One matmul for all three. `[P, H]` -> `[P, 3H]`
    fn queries_keys_values(&self, hidden: &Tensor, mode: Mode) -> Tensor {
        let parts = [&self.query, &self.key, &self.value];
        let weight = mode.stacked(&parts.map(|part| &part.ws));
        let bias = mode.stacked(&parts.map(|part| part.bs.as_ref().expect("made with a bias")));
        affine(hidden, &weight, &bias, mode.precision)
    }
}
