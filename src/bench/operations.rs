//! The floating-point operations of the encoder's matmuls.

use crate::batch::LengthGroup;
use crate::model::EncoderConfig;
use crate::train::Parameter;

/// The parts of the encoder that are trained. They decide what the backward pass must compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainedLayers {
    /// Whether any parameter of the embeddings is trained.
    pub embeddings: bool,
    /// From the lowest layer.
    pub layers: Vec<bool>,
}

impl TrainedLayers {
    /// Tells from the names of the trained parameters which parts they belong to.
    pub fn of(parameters: &[Parameter], config: &EncoderConfig) -> Self {
        let any = |prefix: String| parameters.iter().any(|parameter| parameter.name.starts_with(&prefix));
        let encoder = config.prefix();
        let layer = |i| any(format!("{encoder}.encoder.layer.{i}."));
        TrainedLayers {
            embeddings: any(format!("{encoder}.embeddings.")),
            layers: (0..config.num_hidden_layers).map(layer).collect(),
        }
    }
}

/// What the encoder encodes.
#[derive(Debug, Clone, Default)]
pub struct EncodedTokens {
    /// The sequences; none if the encoder is frozen.
    pub groups: Vec<LengthGroup>,
    /// O, the number of tokens whose output is read.
    pub read: i64,
}

impl EncodedTokens {
    /// T.
    pub fn tokens(&self) -> i64 {
        self.groups.iter().map(|group| group.count * group.length).sum()
    }
}

/// The operations of all matmuls of the encoder on some sequences. A multiplication and an addition are two operations.
/// Other operations and padding are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Operations {
    /// Those of the forward pass.
    pub forward: f64,
    /// Those of the backward pass; 0 if no part of the encoder is trained.
    pub backward: f64,
}

impl Operations {
    /// Forward, a layer needs 4H² + 2·H·F multiplications per token (four projections, two feed-forward matmuls) and,
    /// in a sequence of length L, 2·H·L per token for attention. Backward, each matmul needs as many for the gradient of
    /// its weights and as many for that of its input, if they are needed. Attention has two inputs, both needed.
    /// DeBERTa's terms of relative positions count as attention, with H·L multiplications per token each: no token needs
    /// more distances. What follows attention in the last layer is needed for the tokens only that are read.
    pub fn of(config: &EncoderConfig, encoded: &EncodedTokens, trained: &TrainedLayers) -> Self {
        let (h, f) = (config.hidden_size as f64, config.intermediate_size as f64);
        let tokens = encoded.tokens() as f64;
        let squares: f64 = encoded.groups.iter().map(|group| (group.count * group.length * group.length) as f64).sum();
        let qkv = 2. * 3. * h * h * tokens;
        let others_of_token = 2. * (h * h + 2. * h * f);
        let terms = config.family.deberta().filter(|deberta| deberta.relative_attention);
        let terms = terms.map_or(0., |deberta| (deberta.pos_att_type.count() - 1) as f64);
        let attention = (2. + terms) * 2. * h * squares;
        let mut operations = Operations::default();
        let mut trained_below = trained.embeddings;
        for (layer, &trained_here) in trained.layers.iter().enumerate() {
            let is_last = layer + 1 == trained.layers.len();
            let others = others_of_token * if is_last { encoded.read as f64 } else { tokens };
            operations.forward += qkv + others + attention;
            if trained_here {
                operations.backward += qkv + others;
            }
            if trained_here || trained_below {
                operations.backward += others + 2. * attention;
            }
            if trained_below {
                operations.backward += qkv;
            }
            trained_below |= trained_here;
        }
        operations
    }

    /// Forward and backward together.
    pub fn total(&self) -> f64 {
        self.forward + self.backward
    }
}

impl std::iter::Sum for Operations {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Operations::default(), |a, b| Operations {
            forward: a.forward + b.forward,
            backward: a.backward + b.backward,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::EncoderSize;

    const GROUPS: [LengthGroup; 2] = [LengthGroup { count: 2, length: 3 }, LengthGroup { count: 1, length: 5 }];

    fn operations(embeddings: bool, frozen: usize) -> Operations {
        reading(11, embeddings, frozen)
    }

    fn reading(read: i64, embeddings: bool, frozen: usize) -> Operations {
        let config =
            EncoderConfig { hidden_size: 2, intermediate_size: 8, num_hidden_layers: 3, ..EncoderSize::Base.config() };
        let encoded = EncodedTokens { groups: GROUPS.to_vec(), read };
        Operations::of(&config, &encoded, &TrainedLayers { embeddings, layers: (0..3).map(|i| i >= frozen).collect() })
    }

    #[test]
    fn forward_is_what_the_products_of_a_layer_add_up_to() {
        // [11, 2]·[2, 6], [11, 2]·[2, 2], [11, 2]·[2, 8], [11, 8]·[8, 2]; scores and contexts of lengths 3, 3 and 5.
        let products = 2 * (11 * 2 * 6 + 11 * 2 * 2 + 11 * 2 * 8 + 11 * 8 * 2);
        let attention = 2 * 2 * (2 * 3 * 3 * 2 + 5 * 5 * 2);
        assert_eq!(operations(true, 0).forward, 3. * f64::from(products + attention));
    }

    #[test]
    fn the_last_layer_needs_less_for_tokens_that_are_not_read() {
        // Without [8, 2]·[2, 2], [8, 2]·[2, 8] and [8, 8]·[8, 2] in one layer of three.
        let less = f64::from(2 * (8 * 2 * 2 + 8 * 2 * 8 + 8 * 8 * 2));
        assert_eq!(reading(3, true, 0).forward, operations(true, 0).forward - less);
        assert_eq!(reading(3, true, 0).backward, operations(true, 0).backward - 2. * less);
    }

    #[test]
    fn backward_is_twice_the_forward_less_what_is_frozen() {
        let whole = operations(true, 0);
        assert_eq!(whole.backward, 2. * whole.forward);
        let first_qkv = f64::from(2 * 11 * 2 * 6);
        assert_eq!(operations(false, 0).backward, 2. * whole.forward - first_qkv);
        assert_eq!(operations(false, 2).backward, 2. * whole.forward / 3. - first_qkv);
        assert_eq!(operations(false, 3).backward, 0.);
        let weights_of_one_layer = f64::from(2 * 11 * (4 * 2 * 2 + 2 * 2 * 8));
        assert_eq!(operations(true, 1).backward, 2. * whole.forward - weights_of_one_layer);
    }

    #[test]
    fn frozen_parts_are_told_by_their_names() {
        let tensor = tch::Tensor::zeros([1], (tch::Kind::Float, tch::Device::Cpu));
        let named = |name: &str| Parameter::new(name, &tensor, 1., false);
        let parameters = [named("roberta.encoder.layer.1.output.dense.weight"), named("preconditions.out.bias")];
        let config = EncoderConfig { num_hidden_layers: 3, ..EncoderSize::Base.config() };
        let trained = TrainedLayers::of(&parameters, &config);
        assert_eq!(trained, TrainedLayers { embeddings: false, layers: vec![false, true, false] });
    }
}
