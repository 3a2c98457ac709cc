//! Disentangled self-attention (He et al., 2021, section 3.1).

use super::config::{DebertaConfig, PositionTerms};
use super::position::Distances;
use crate::model::encoder::blocks::{AttentionBlock, AttentionBlocks};
use crate::model::encoder::config::{EncoderConfig, Family};
use crate::model::layers::{Mode, affine, dropout, linear, new_linear};
use tch::{Kind, Tensor, nn};

/// Attention whose scores are the sum of content to content, content to position, and position to content.
pub struct DisentangledAttention {
    content: ContentProjections,
    positions: PositionProjections,
    terms: PositionTerms,
    pub heads: i64,
    pub attention_dropout: f64,
    position_dropout: f64,
}

/// The projections from hidden states to queries, keys and values.
enum ContentProjections {
    /// Version 1: one matrix, in which each head has its queries, keys and values side by side. Keys have no bias.
    Fused { in_proj: nn::Linear, query_bias: Tensor, value_bias: Tensor },
    /// Versions 2 and 3.
    Apart { query: nn::Linear, key: nn::Linear, value: nn::Linear },
}

/// The projections from relative positions to keys (content to position) and queries (position to content).
enum PositionProjections {
    /// Separate ones, for the terms that exist.
    Own { key: Option<nn::Linear>, query: Option<nn::Linear> },
    /// Those of the content.
    Shared,
}

/// Each `[heads, count, length, depth]`.
struct QueriesKeysValues {
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
}

/// Keys and queries of each distance in the batch, each `[heads, 2·length - 1, depth]`, in the order in which [`skewed`]
/// reads them.
struct RelativeKeysQueries {
    /// From distance length - 1 down to -(length - 1).
    keys: Option<Tensor>,
    /// From distance -(length - 1) up to length - 1.
    queries: Option<Tensor>,
}

impl DisentangledAttention {
    /// `p` is a layer's `attention.self` in the checkpoint.
    pub fn new(p: &nn::Path, config: &EncoderConfig, deberta: &DebertaConfig) -> Self {
        DisentangledAttention {
            content: ContentProjections::new(p, config),
            positions: PositionProjections::new(p, config, deberta),
            terms: deberta.pos_att_type,
            heads: config.num_attention_heads,
            attention_dropout: config.attention_probs_dropout_prob,
            position_dropout: config.hidden_dropout_prob,
        }
    }

    /// The projections to queries, keys and values, if relative positions share them and both terms are used.
    pub fn shared_projections(&self) -> Option<[&nn::Linear; 3]> {
        match (&self.content, &self.positions) {
            (ContentProjections::Apart { query, key, value }, PositionProjections::Shared)
                if self.terms.count() == 3 =>
            {
                Some([query, key, value])
            }
            _ => None,
        }
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
        let projected = self.content.forward(hidden, self.heads, mode); // [T, 3H]
        let relative = distances.map(|distances| (distances, self.relative(distances, mode)));
        let split = blocks.split(&projected);
        let contexts = split.iter().zip(&blocks.blocks).map(|(projected, block)| {
            let content = self.content.split(projected, self.heads);
            let relative = relative
                .as_ref()
                .map(|(distances, of_batch)| of_batch.narrow(distances.longest - block.length, 2 * block.length - 1));
            let context = self.attend(&content, relative, block, mode); // [heads, count, length, depth]
            context.permute([1, 2, 0, 3]).reshape([block.count, block.length, -1])
        });
        blocks.join(&contexts.collect::<Vec<_>>()) // [T, H]
    }

    /// Equation 4, with the scale of section 3.1: softmax(A / √(terms · depth)) · V.
    fn attend(
        &self,
        content: &QueriesKeysValues,
        relative: Option<RelativeKeysQueries>,
        block: &AttentionBlock,
        mode: Mode,
    ) -> Tensor {
        let QueriesKeysValues { queries, keys, values } = content;
        let scale = 1. / ((self.terms.count() * queries.size()[3]) as f64).sqrt();
        let queries = queries * scale;
        let mut scores = queries.matmul(&keys.transpose(2, 3)).to_kind(Kind::Float); // [heads, count, length, length]
        if let Some(relative) = relative {
            if let Some(relative_keys) = &relative.keys {
                scores += skewed(&queries, relative_keys);
            }
            if let Some(relative_queries) = &relative.queries {
                // The key's side: row j, column i. The published code uses δ(i, j) here, as for content to position.
                scores += skewed(keys, &(relative_queries * scale)).transpose(2, 3);
            }
        }
        if let Some(bias) = &block.bias {
            scores += bias.transpose(0, 1); // [1, count, 1, length]
        }
        let weights = dropout(&scores.softmax(-1, Kind::Float), self.attention_dropout, mode);
        weights.to_kind(values.kind()).matmul(values)
    }

    fn relative(&self, distances: &Distances, mode: Mode) -> RelativeKeysQueries {
        let vectors = dropout(&distances.vectors, self.position_dropout, mode); // [used, H]
        let project = |layer: &nn::Linear, vector_of: &Tensor| {
            let projected = linear(&vectors, layer, mode).index_select(0, vector_of); // [2·length - 1, H]
            projected.view([projected.size()[0], self.heads, -1]).transpose(0, 1) // [heads, 2·length - 1, depth]
        };
        let (key, query) = match (&self.positions, &self.content) {
            (PositionProjections::Own { key, query }, _) => (key.as_ref(), query.as_ref()),
            (PositionProjections::Shared, ContentProjections::Apart { key, query, .. }) => {
                (self.terms.content_to_position.then_some(key), self.terms.position_to_content.then_some(query))
            }
            (PositionProjections::Shared, ContentProjections::Fused { .. }) => {
                unreachable!("version 1 shares no projections; a config that sets this is refused")
            }
        };
        RelativeKeysQueries {
            keys: key.map(|key| project(key, &distances.vector_of.flip([0]))),
            queries: query.map(|query| project(query, &distances.vector_of)),
        }
    }
}

/// Scores of vectors against the vectors of distances, for each pair of tokens: row i of all scores, moved to the left by
/// length - 1 - i. That is a view with rows one number shorter, so nothing is gathered (Huang et al., 2019, "Music
/// Transformer", section 3.4).
///
/// # Shapes
/// `vectors [heads, count, length, depth]`, `relative [heads, 2·length - 1, depth]` ->
/// `[heads, count, length, length]`: at (i, j) vector i against the (length - 1 - i + j)-th of `relative`
fn skewed(vectors: &Tensor, relative: &Tensor) -> Tensor {
    let [heads, count, length, depth] = vectors.size()[..] else { panic!("vectors are [heads, count, length, depth]") };
    let width = 2 * length - 1;
    let all = vectors.reshape([heads, count * length, depth]).bmm(&relative.transpose(1, 2)); // [heads, count·length, width]
    let of_sequence = length * width;
    all.as_strided([heads, count, length, length], [count * of_sequence, of_sequence, width - 1, 1], length - 1)
}

impl RelativeKeysQueries {
    /// A range of the distances.
    fn narrow(&self, start: i64, length: i64) -> Self {
        let part = |tensor: &Option<Tensor>| tensor.as_ref().map(|tensor| tensor.narrow(1, start, length));
        RelativeKeysQueries { keys: part(&self.keys), queries: part(&self.queries) }
    }
}

impl ContentProjections {
    fn new(p: &nn::Path, config: &EncoderConfig) -> Self {
        let hidden = config.hidden_size;
        match config.family {
            Family::Deberta(_) => ContentProjections::Fused {
                in_proj: without_bias(p / "in_proj", hidden, 3 * hidden),
                query_bias: p.zeros("q_bias", &[hidden]),
                value_bias: p.zeros("v_bias", &[hidden]),
            },
            _ => ContentProjections::Apart {
                query: new_linear(p / "query_proj", hidden, hidden),
                key: new_linear(p / "key_proj", hidden, hidden),
                value: new_linear(p / "value_proj", hidden, hidden),
            },
        }
    }

    /// One matmul for all three. `[T, H]` -> `[T, 3H]`, in the layout that [`ContentProjections::split`] reads
    fn forward(&self, hidden: &Tensor, heads: i64, mode: Mode) -> Tensor {
        match self {
            ContentProjections::Fused { in_proj, query_bias, value_bias } => {
                let of_heads = |bias: &Tensor| bias.view([heads, -1]);
                let parts = [of_heads(query_bias), of_heads(&query_bias.zeros_like()), of_heads(value_bias)];
                let bias = Tensor::stack(&parts, 1).flatten(0, -1); // [3H]
                affine(hidden, &mode.weight(&in_proj.ws), &bias, mode.precision)
            }
            ContentProjections::Apart { query, key, value } => {
                let parts = [query, key, value];
                let weight = Tensor::cat(&parts.map(|part| mode.weight(&part.ws)), 0);
                let bias = Tensor::cat(&parts.map(|part| mode.weight(part.bs.as_ref().expect("made with a bias"))), 0);
                affine(hidden, &weight, &bias, mode.precision)
            }
        }
    }

    /// `projected [count, length, 3H]`
    fn split(&self, projected: &Tensor, heads: i64) -> QueriesKeysValues {
        let (count, length, _) = projected.size3().expect("blocks are [count, length, 3H]");
        let parts = match self {
            ContentProjections::Fused { .. } => projected.view([count, length, heads, 3, -1]).permute([3, 2, 0, 1, 4]),
            ContentProjections::Apart { .. } => projected.view([count, length, 3, heads, -1]).permute([2, 3, 0, 1, 4]),
        }; // [3, heads, count, length, depth]
        QueriesKeysValues { queries: parts.get(0), keys: parts.get(1), values: parts.get(2) }
    }
}

impl PositionProjections {
    fn new(p: &nn::Path, config: &EncoderConfig, deberta: &DebertaConfig) -> Self {
        if deberta.share_att_key {
            return PositionProjections::Shared;
        }
        let hidden = config.hidden_size;
        let has = |term: bool| term && deberta.relative_attention;
        let (keys, queries) =
            (has(deberta.pos_att_type.content_to_position), has(deberta.pos_att_type.position_to_content));
        match config.family {
            Family::Deberta(_) => PositionProjections::Own {
                key: keys.then(|| without_bias(p / "pos_proj", hidden, hidden)),
                query: queries.then(|| new_linear(p / "pos_q_proj", hidden, hidden)),
            },
            _ => PositionProjections::Own {
                key: keys.then(|| new_linear(p / "pos_key_proj", hidden, hidden)),
                query: queries.then(|| new_linear(p / "pos_query_proj", hidden, hidden)),
            },
        }
    }
}

fn without_bias(p: nn::Path, inputs: i64, outputs: i64) -> nn::Linear {
    nn::linear(p, inputs, outputs, nn::LinearConfig { bias: false, ..Default::default() })
}
