//! How the layers of BERT read packed tokens in attention, where libtorch's operations compute.

use super::relative_bias::RelativeBias;
use crate::batch::{Bins, Tokens};
use crate::model::layers::{Mode, Precision, join_heads, seeded_dropout, split_heads};
use crate::torch::{flash_attention, has_flash_attention};
use tch::{Kind, Tensor};

/// The tokens of a batch as attention reads them. The layers compute all that it lays out.
pub enum TokenLayout<'a> {
    /// Sequences end to end, by flash attention. It computes tiles of about 128 tokens, which long sequences fill.
    EndToEnd(&'a Tokens),
    /// Several sequences in each bin.
    Bins {
        bins: &'a Bins,
        /// `[O]` the places of the tokens that are read.
        read: Tensor,
        /// `[bins, 1 or heads, length, length]` added to the scores, in the precision of matmuls: nothing attends to other
        /// sequences.
        bias: Tensor,
    },
}

/// Flash attention reads batches with longer sequences than this.
const LONGEST_IN_BINS: i64 = 128;

impl<'a> TokenLayout<'a> {
    /// `depth` is that of a head, if there is a layer. Flash attention knows no bias.
    pub fn of(tokens: &'a Tokens, depth: Option<i64>, relative: Option<&RelativeBias>, mode: Mode) -> Self {
        let is_long = tokens.longest() > LONGEST_IN_BINS && mode.precision == Precision::Bf16;
        if is_long && relative.is_none() && depth.is_some_and(|depth| has_flash_attention(tokens.ids.device(), depth)) {
            return TokenLayout::EndToEnd(tokens);
        }
        let bins = &tokens.bins;
        let sequence = bins.sequence.view([-1, 1, 1, bins.length]); // [bins, 1, 1, length]
        let others = sequence.transpose(2, 3).not_equal_tensor(&sequence); // [bins, 1, length, length]
        let kind = mode.precision.kind();
        let bias = match relative {
            // Tokens of a sequence lie side by side, so that places are as far apart as positions.
            Some(relative) => relative.of(bins.length).to_kind(kind),
            None => Tensor::zeros(others.size(), (kind, others.device())),
        };
        let bias = bias.masked_fill(&others, f64::NEG_INFINITY);
        TokenLayout::Bins { bins, read: bins.place.index_select(0, &tokens.read), bias }
    }

    /// The input of the first layer. `embedded [T, H]` -> `[P, H]`
    pub fn lay_out(&self, embedded: Tensor) -> Tensor {
        match self {
            TokenLayout::EndToEnd(_) => embedded,
            TokenLayout::Bins { bins, .. } => embedded.index_select(0, &bins.token),
        }
    }

    /// The output for the tokens that are read. `hidden [P, H]` -> `[O, H]`
    pub fn read(&self, hidden: &Tensor) -> Tensor {
        match self {
            TokenLayout::EndToEnd(tokens) => hidden.index_select(0, &tokens.read),
            TokenLayout::Bins { read, .. } => hidden.index_select(0, read),
        }
    }

    /// `qkv [P, 3H]` (queries, keys, values side by side) -> `[P, H]`
    pub fn attend(&self, qkv: &Tensor, heads: i64, dropout: f64, mode: Mode) -> Tensor {
        let (p, width) = qkv.size2().expect("qkv is [P, 3H]");
        let dropout = seeded_dropout(dropout, qkv.device(), mode);
        match self {
            TokenLayout::EndToEnd(tokens) => {
                let parts = qkv.view([p, 3, heads, width / 3 / heads]).unbind(1);
                let parts: [Tensor; 3] = parts.try_into().expect("three parts");
                flash_attention(parts.each_ref(), &tokens.starts, tokens.longest(), dropout).view([p, width / 3])
            }
            TokenLayout::Bins { bins, bias, .. } => {
                let parts = split_heads(&qkv.view([-1, bins.length, width]), heads);
                join_heads(&biased_attention(parts.each_ref(), bias, dropout)).view([p, width / 3])
            }
        }
    }
}

/// libtorch's memory-efficient attention where there is a GPU and it reads heads of this depth: libtorch may choose a slower
/// one. `parts [bins, heads, length, depth]`, `bias [bins, 1 or heads, length, length]` -> `[bins, heads, length, depth]`
fn biased_attention([queries, keys, values]: [&Tensor; 3], bias: &Tensor, dropout: f64) -> Tensor {
    let (_, heads, _, depth) = queries.size4().expect("queries are [bins, heads, length, depth]");
    let is_readable = match queries.kind() {
        Kind::BFloat16 => has_flash_attention(bias.device(), depth), // both need the same GPUs
        _ => bias.device().is_cuda() && depth % 8 == 0,
    };
    if !is_readable {
        return Tensor::scaled_dot_product_attention(queries, keys, values, Some(bias), dropout, false, None, false);
    }
    let bias = bias.expand([-1, heads, -1, -1], false);
    let attention = Tensor::internal_scaled_dot_product_efficient_attention;
    let has_backward = queries.requires_grad() || bias.requires_grad();
    attention(queries, keys, values, Some(bias), has_backward, dropout, false, None::<f64>).0
}
