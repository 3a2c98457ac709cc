//! The few operations every part of the model is made of, in the precision that was asked for.

use super::noise::Noise;
use crate::batch::StoryTokens;
use serde::{Deserialize, Serialize};
use tch::{Device, Kind, Tensor, nn};

/// In what the matrix products are computed. Weights, losses, softmax and norms are float32 in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    Fp32,
    Bf16,
}

/// How a forward pass is run.
#[derive(Clone, Copy)]
pub struct Mode<'a> {
    /// What training drops out with; `None` evaluates.
    pub noise: Option<&'a Noise>,
    pub precision: Precision,
    /// Whether the encoder uses kernels of our own where it can, which is on the CPU.
    pub fused: bool,
}

impl<'a> Mode<'a> {
    pub fn train(noise: &'a Noise, precision: Precision) -> Self {
        Mode { noise: Some(noise), precision, fused: true }
    }

    pub fn eval(precision: Precision) -> Self {
        Mode { noise: None, precision, fused: true }
    }

    /// By libtorch's operations only.
    pub const fn unfused(self) -> Self {
        Mode { fused: false, ..self }
    }

    pub fn fuses_on(self, device: Device) -> bool {
        self.fused && device == Device::Cpu
    }
}

impl Precision {
    /// `x` as the products want it.
    pub fn cast(self, x: &Tensor) -> Tensor {
        match self {
            Precision::Fp32 => x.shallow_clone(),
            Precision::Bf16 => x.to_kind(Kind::BFloat16),
        }
    }
}

/// x·Wᵀ + b.
///
/// # Shapes
/// `x [.., I]`, `weight [O, I]`, `bias [O]` -> `[.., O]`, in the precision of the products.
pub fn product(x: &Tensor, weight: &Tensor, bias: &Tensor, precision: Precision) -> Tensor {
    precision.cast(x).linear(&precision.cast(weight), Some(&precision.cast(bias)))
}

/// [`product`] with the weights of a layer, which need not have a bias.
pub fn linear(x: &Tensor, layer: &nn::Linear, mode: Mode) -> Tensor {
    let cast = |tensor| mode.precision.cast(tensor);
    cast(x).linear(&cast(&layer.ws), layer.bs.as_ref().map(cast))
}

/// Normalises `x` over its last dimension, in float32.
pub fn layer_norm(x: &Tensor, layer: &nn::LayerNorm) -> Tensor {
    use tch::nn::Module;
    layer.forward(&x.to_kind(Kind::Float))
}

/// Zeroes each value with probability `p` and scales the others up, in training only.
pub fn dropout(x: &Tensor, p: f64, mode: Mode) -> Tensor {
    match mode.noise {
        Some(noise) if p > 0. => x * noise.dropout_mask(&x.size(), p, x.device()),
        _ => x.shallow_clone(),
    }
}

/// Scaled dot-product attention. Plain products: fused kernels are slower at a few tokens a sequence.
///
/// # Shapes
/// `qkv [B, L, 3·D]` (queries, keys, values side by side), `bias` (added to the scores) broadcastable to
/// `[B, heads, L, L]` -> `[B, L, D]`
pub fn attention(qkv: &Tensor, heads: i64, bias: Option<&Tensor>, dropout_prob: f64, mode: Mode) -> Tensor {
    let (b, l, width) = qkv.size3().expect("qkv is [B, L, 3D]");
    let depth = width / 3 / heads;
    let parts = qkv.view([b, l, 3, heads, depth]).permute([2, 0, 3, 1, 4]); // [3, B, heads, L, depth]
    let scaled_queries = parts.get(0) * (1.0 / (depth as f64).sqrt());
    let scores = scaled_queries.matmul(&parts.get(1).transpose(2, 3)).to_kind(Kind::Float); // [B, heads, L, L]
    let scores = match bias {
        Some(bias) => scores + bias,
        None => scores,
    };
    let weights = dropout(&scores.softmax(-1, Kind::Float), dropout_prob, mode);
    let context = weights.to_kind(qkv.kind()).matmul(&parts.get(2)); // [B, heads, L, depth]
    context.transpose(1, 2).reshape([b, l, heads * depth])
}

/// A linear layer initialised as PyTorch's `nn.Linear`.
pub fn new_linear(p: nn::Path, inputs: i64, outputs: i64) -> nn::Linear {
    nn::linear(p, inputs, outputs, nn::LinearConfig::default())
}

pub fn new_layer_norm(p: nn::Path, width: i64, eps: f64) -> nn::LayerNorm {
    nn::layer_norm(p, vec![width], nn::LayerNormConfig { eps, ..Default::default() })
}

/// Every sentence of the distinct stories as the mean of its tokens, `n` to a story.
///
/// # Shapes
/// `tokens [T, H]` -> `[V·N, H]`
pub fn sentence_means(tokens: &Tensor, stories: &StoryTokens, n: i64) -> Tensor {
    let zeros = |shape: &[i64]| Tensor::zeros(shape, (Kind::Float, tokens.device()));
    let places = stories.distinct * n;
    let read = tokens.index_select(0, &stories.token);
    let sums = zeros(&[places, tokens.size()[1]]).index_add(0, &stories.sentence, &read);
    let ones = stories.sentence.ones_like().to_kind(Kind::Float);
    let counts = zeros(&[places]).index_add(0, &stories.sentence, &ones).clamp_min(1.);
    sums / counts.unsqueeze(-1)
}
