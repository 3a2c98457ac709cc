//! The basic operations of the model, in the chosen precision.

use super::dropout_rng::DropoutRng;
use super::weight_copies::WeightCopies;
use crate::batch::{InputTokens, StoryTokens};
use crate::torch::has_kernels;
use serde::{Deserialize, Serialize};
use tch::{Device, Kind, Tensor, nn};

/// The precision of matmuls. Weights, losses, softmax and norms are float32 in both cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// float32.
    Fp32,
    /// bfloat16, to which inputs and weights of matmuls are rounded.
    Bf16,
}

/// How a forward pass is run.
#[derive(Clone, Copy)]
pub struct Mode<'a> {
    /// The source of training's dropout; `None` in evaluation.
    pub noise: Option<&'a DropoutRng>,
    /// Of all matmuls.
    pub precision: Precision,
    /// Whether the encoder uses our own kernels where possible (on the CPU).
    pub fused: bool,
    /// Rounded weights, where matmuls are in bfloat16.
    pub copies: Option<&'a WeightCopies>,
}

impl<'a> Mode<'a> {
    /// With dropout, and our own kernels where possible.
    pub fn train(noise: &'a DropoutRng, precision: Precision) -> Self {
        Mode { noise: Some(noise), precision, fused: true, copies: None }
    }

    /// Without dropout, and with our own kernels where possible.
    pub const fn eval(precision: Precision) -> Self {
        Mode { noise: None, precision, fused: true, copies: None }
    }

    /// With libtorch's operations only.
    pub const fn unfused(self) -> Self {
        Mode { fused: false, ..self }
    }

    /// With these copies of the weights, if it rounds weights.
    pub fn with_copies(self, copies: &'a WeightCopies) -> Self {
        Mode { copies: (self.precision == Precision::Bf16).then_some(copies), ..self }
    }

    /// A weight in the precision of matmuls.
    pub fn weight(self, weight: &Tensor) -> Tensor {
        self.copies.map_or_else(|| self.precision.cast(weight), |copies| copies.of(weight))
    }

    /// Several weights in the precision of matmuls, one below the other. `[rows, ..]` each -> `[sum of rows, ..]`
    pub fn stacked(self, weights: &[&Tensor]) -> Tensor {
        match self.copies {
            Some(copies) => copies.stacked(weights),
            None => self.precision.cast(&Tensor::cat(weights, 0)),
        }
    }

    /// Whether our own kernels may be used on this device.
    pub fn fuses_on(self, device: Device) -> bool {
        self.fused && has_kernels(device)
    }
}

impl Precision {
    /// As a config names it.
    pub const fn name(self) -> &'static str {
        match self {
            Precision::Fp32 => "fp32",
            Precision::Bf16 => "bf16",
        }
    }

    /// Of the inputs of matmuls.
    pub fn kind(self) -> Kind {
        match self {
            Precision::Fp32 => Kind::Float,
            Precision::Bf16 => Kind::BFloat16,
        }
    }

    /// `x` in this precision, as matmuls need it.
    pub fn cast(self, x: &Tensor) -> Tensor {
        x.to_kind(self.kind())
    }
}

/// x·Wᵀ + b.
///
/// # Shapes
/// `x [.., inputs]`, `weight [outputs, inputs]`, `bias [outputs]` -> `[.., outputs]`, in the precision of matmuls.
pub fn affine(x: &Tensor, weight: &Tensor, bias: &Tensor, precision: Precision) -> Tensor {
    precision.cast(x).linear(&precision.cast(weight), Some(&precision.cast(bias)))
}

/// [`affine`] with the weights of a layer; its bias is optional.
pub fn linear(x: &Tensor, layer: &nn::Linear, mode: Mode) -> Tensor {
    let bias = layer.bs.as_ref().map(|bias| mode.weight(bias));
    mode.precision.cast(x).linear(&mode.weight(&layer.ws), bias)
}

/// Normalises `x` over its last dimension, in float32.
pub fn layer_norm(x: &Tensor, layer: &nn::LayerNorm) -> Tensor {
    use tch::nn::Module;
    layer.forward(&x.to_kind(Kind::Float))
}

/// In training, sets each value to 0 with probability `p` and scales the others up.
pub fn dropout(x: &Tensor, p: f64, mode: Mode) -> Tensor {
    match mode.noise {
        Some(noise) if p > 0. && mode.fuses_on(x.device()) => x * noise.dropout_mask(&x.size(), p),
        Some(_) if p > 0. => x.dropout(seeded_dropout(p, x.device(), mode), true),
        _ => x.shallow_clone(),
    }
}

/// Scaled dot-product attention. Off the CPU it is libtorch's, which chooses a fused kernel. On the CPU it is plain
/// matmuls: fused kernels are slower there for sequences of a few tokens.
///
/// # Shapes
/// `qkv [count, length, 3·width]` (queries, keys, values side by side), `bias` (added to the scores) broadcastable to
/// `[count, heads, length, length]` -> `[count, length, width]`
pub fn attention(qkv: &Tensor, heads: i64, bias: Option<&Tensor>, dropout_prob: f64, mode: Mode) -> Tensor {
    let [queries, keys, values] = split_heads(qkv, heads);
    let context = match mode.fuses_on(qkv.device()) {
        true => plain_attention(&queries, &keys, &values, bias, dropout_prob, mode),
        false => libtorch_attention(&queries, &keys, &values, bias, dropout_prob, mode),
    };
    join_heads(&context)
}

/// Queries, keys and values.
///
/// # Shapes
/// `qkv [count, length, 3·width]` -> `[count, heads, length, depth]` each
pub fn split_heads(qkv: &Tensor, heads: i64) -> [Tensor; 3] {
    let (count, length, width) = qkv.size3().expect("qkv is [count, length, 3·width]");
    let parts = qkv.view([count, length, 3, heads, width / 3 / heads]).permute([2, 0, 3, 1, 4]);
    parts.unbind(0).try_into().expect("three parts")
}

/// # Shapes
/// `context [count, heads, length, depth]` -> `[count, length, heads·depth]`
pub fn join_heads(context: &Tensor) -> Tensor {
    context.transpose(1, 2).flatten(2, 3)
}

/// `queries`, `keys`, `values` and the result are `[count, heads, length, depth]`.
fn plain_attention(
    queries: &Tensor,
    keys: &Tensor,
    values: &Tensor,
    bias: Option<&Tensor>,
    dropout_prob: f64,
    mode: Mode,
) -> Tensor {
    let depth = queries.size()[3];
    let scaled_queries = queries * (1.0 / (depth as f64).sqrt());
    let scores = scaled_queries.matmul(&keys.transpose(2, 3)).to_kind(Kind::Float); // [count, heads, length, length]
    let scores = match bias {
        Some(bias) => scores + bias,
        None => scores,
    };
    let weights = dropout(&scores.softmax(-1, Kind::Float), dropout_prob, mode);
    weights.to_kind(values.kind()).matmul(values)
}

/// The same by libtorch's fused attention. Its bias is in the precision of matmuls.
fn libtorch_attention(
    queries: &Tensor,
    keys: &Tensor,
    values: &Tensor,
    bias: Option<&Tensor>,
    dropout_prob: f64,
    mode: Mode,
) -> Tensor {
    let dropout_prob = seeded_dropout(dropout_prob, queries.device(), mode);
    let bias = bias.map(|bias| bias.to_kind(queries.kind()));
    Tensor::scaled_dot_product_attention(queries, keys, values, bias, dropout_prob, false, None, false)
}

/// The probability of dropout that libtorch draws inside an operation: 0 in evaluation. In training its generator is seeded
/// for the next mask.
pub fn seeded_dropout(p: f64, device: Device, mode: Mode) -> f64 {
    match mode.noise {
        Some(noise) if p > 0. => {
            noise.seed_libtorch(device);
            p
        }
        _ => 0.,
    }
}

/// A linear layer with tch's initial weights: uniform up to √(6 / inputs), √6 times the bound of PyTorch's `nn.Linear`. The
/// biases are as in PyTorch, uniform up to 1/√inputs.
pub fn new_linear(p: nn::Path, inputs: i64, outputs: i64) -> nn::Linear {
    nn::linear(p, inputs, outputs, nn::LinearConfig::default())
}

/// A norm over the last dimension, `width`, with the initial weights of PyTorch's `nn.LayerNorm`.
pub fn new_layer_norm(p: nn::Path, width: i64, eps: f64) -> nn::LayerNorm {
    nn::layer_norm(p, vec![width], nn::LayerNormConfig { eps, ..Default::default() })
}

/// The vectors of the U inputs: the means of the tokens that they read.
///
/// # Shapes
/// `tokens [O, H]` -> `[U, H]`
pub fn input_vectors(tokens: &Tensor, read: &InputTokens) -> Tensor {
    match &read.input {
        Some(input) => means(tokens, &read.token, input, read.count),
        None => tokens.index_select(0, &read.token),
    }
}

/// The mean of the tokens of every sentence of the S distinct stories; each story has `n` sentences.
///
/// # Shapes
/// `tokens [O, H]` -> `[S·N, H]`
pub fn sentence_means(tokens: &Tensor, stories: &StoryTokens, n: i64) -> Tensor {
    means(tokens, &stories.token, &stories.sentence, stories.distinct * n)
}

/// The means of `count` groups of tokens; 0 for a group without any. `token`: indices of tokens, `group`: of their groups.
///
/// # Shapes
/// `tokens [O, H]`, `token [K]`, `group [K]` -> `[count, H]`
fn means(tokens: &Tensor, token: &Tensor, group: &Tensor, count: i64) -> Tensor {
    let zeros = |shape: &[i64]| Tensor::zeros(shape, (Kind::Float, tokens.device()));
    let sums = zeros(&[count, tokens.size()[1]]).index_add(0, group, &tokens.index_select(0, token));
    let ones = group.ones_like().to_kind(Kind::Float);
    let counts = zeros(&[count]).index_add(0, group, &ones).clamp_min(1.);
    sums / counts.unsqueeze(-1)
}
