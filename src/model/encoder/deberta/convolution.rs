//! The convolution over neighbouring tokens that version 2 can have beside its first layer.

use super::config::{ConvolutionActivation, DebertaConfig};
use crate::model::encoder::blocks::AttentionBlocks;
use crate::model::encoder::config::EncoderConfig;
use crate::model::layers::{Mode, dropout, layer_norm, new_layer_norm};
use tch::{Tensor, nn};

pub struct Convolution {
    /// `[H, H / groups, kernel]`
    weight: Tensor,
    bias: Tensor,
    groups: i64,
    activation: ConvolutionActivation,
    norm: nn::LayerNorm,
    dropout: f64,
}

impl Convolution {
    /// `None` if the config has no convolution.
    pub fn new(p: &nn::Path, config: &EncoderConfig, deberta: &DebertaConfig) -> Option<Self> {
        let (hidden, kernel) = (config.hidden_size, deberta.conv_kernel_size);
        let activation = deberta.conv_act.filter(|_| kernel > 0)?;
        let (conv, groups) = (p / "conv", deberta.conv_groups);
        Some(Convolution {
            weight: conv.var("weight", &[hidden, hidden / groups, kernel], nn::init::DEFAULT_KAIMING_UNIFORM),
            bias: conv.zeros("bias", &[hidden]),
            groups,
            activation,
            norm: new_layer_norm(p / "LayerNorm", hidden, config.layer_norm_eps),
            dropout: config.hidden_dropout_prob,
        })
    }

    /// # Shapes
    /// `input [T, H]` of the first layer, its `output [T, H]` -> `[T, H]`
    pub fn forward(&self, input: &Tensor, output: &Tensor, blocks: &AttentionBlocks, mode: Mode) -> Tensor {
        let split = blocks.without_padding(blocks.split(input)); // [count, length, H] each
        let convolved = split.iter().map(|block| self.convolve(&block.transpose(1, 2), mode).transpose(1, 2));
        let convolved = dropout(&blocks.join(&convolved.collect::<Vec<_>>()), self.dropout, mode); // [T, H]
        let activated = match self.activation {
            ConvolutionActivation::Gelu => convolved.gelu("none"),
            ConvolutionActivation::Tanh => convolved.tanh(),
        };
        layer_norm(&(output + activated), &self.norm)
    }

    /// Sequences are padded with zeros. `[count, H, length]` -> `[count, H, length]`
    fn convolve(&self, block: &Tensor, mode: Mode) -> Tensor {
        let [block, weight, bias] = [block, &self.weight, &self.bias].map(|tensor| mode.precision.cast(tensor));
        block.conv1d(&weight, Some(&bias), 1, (self.weight.size()[2] - 1) / 2, 1, self.groups)
    }
}
