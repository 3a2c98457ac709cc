//! One distribution over the places of both stories where the conflict can be.

use super::{Context, DetectorConfig, DetectorInput, DetectorInputs};
use crate::attribute::SIDE_CLASSES;
use crate::batch::{Batch, StoryTokens};
use crate::model::layers::{Mode, dropout, linear, new_linear};
use tch::{Kind, Tensor, nn};

/// z(i, j) = w·gelu(A hᵢ + B hⱼ + C(hᵢ∘hⱼ)) for every two sentences i < j of a story, and one softmax over the places
/// of both stories, since exactly one of them is the conflict. Which story is implausible is read off the same
/// distribution, so that the two answers can't disagree.
pub struct JointDetector {
    config: DetectorConfig,
    states: nn::Linear,
    first: nn::Linear,
    second: nn::Linear,
    product: nn::Linear,
    out: nn::Linear,
    dropout_prob: f64,
}

/// Added to the score of a place that is none; finite, so that no row becomes NaN.
const NO_PLACE: f64 = -1e9;

impl JointDetector {
    pub fn new(p: &nn::Path, config: &DetectorConfig, hidden: i64, dropout_prob: f64) -> Self {
        let width = config.pair_width;
        JointDetector {
            config: config.clone(),
            states: new_linear(p / "states", 2 * SIDE_CLASSES as i64, hidden),
            first: new_linear(p / "first", hidden, width),
            second: new_linear(p / "second", hidden, width),
            product: new_linear(p / "product", hidden, width),
            out: new_linear(p / "out", width, 1),
            dropout_prob,
        }
    }

    /// # Shapes
    /// -> `[B, 2, N, N]` log-probabilities
    pub fn forward(&self, input: DetectorInput, batch: &Batch, mode: Mode) -> Tensor {
        let sentences = dropout(&self.sentences(input, batch, mode), self.dropout_prob, mode); // [2B, N, H]
        let n = sentences.size()[1];
        let (first, second) = (sentences.unsqueeze(2), sentences.unsqueeze(1)); // [2B, N, 1, H], [2B, 1, N, H]
        let hidden = linear(&first, &self.first, mode)
            + linear(&second, &self.second, mode)
            + linear(&(&first * &second), &self.product, mode); // [2B, N, N, W]
        let hidden = dropout(&hidden.to_kind(Kind::Float).gelu("none"), self.dropout_prob, mode);
        let scores = linear(&hidden, &self.out, mode).to_kind(Kind::Float).squeeze_dim(-1); // [2B, N, N]
        let scores = scores + (places(batch) - 1.) * -NO_PLACE;
        scores.view([batch.pairs, -1]).log_softmax(1, Kind::Float).view([batch.pairs, 2, n, n])
    }

    /// The vector of every sentence of every story. -> `[2B, N, H]`
    fn sentences(&self, input: DetectorInput, batch: &Batch, mode: Mode) -> Tensor {
        let embeddings = || match (self.config.context, &batch.stories) {
            (Context::Story, Some(stories)) => mean_of_tokens(input.tokens, stories, batch.slots.size()[1]),
            _ => mean_over_entities(input.embeddings, batch),
        };
        let states = || {
            let mean = mean_over_entities(&input.state_logits.detach(), batch);
            linear(&dropout(&mean, self.dropout_prob, mode), &self.states, mode).to_kind(Kind::Float)
        };
        match self.config.inputs {
            DetectorInputs::Embeddings => embeddings(),
            DetectorInputs::States => states(),
            DetectorInputs::Both => embeddings() + states(),
        }
    }
}

/// 1 where i < j are sentences of the story. -> `[2B, N, N]`
fn places(batch: &Batch) -> Tensor {
    let present = batch.sentences_present(); // [2B, N]
    (present.unsqueeze(2) * present.unsqueeze(1)).triu(1)
}

/// `[U, K]` -> `[2B, N, K]`
fn mean_over_entities(inputs: &Tensor, batch: &Batch) -> Tensor {
    let (r, n) = batch.slots.size2().expect("slots are [R, N]");
    let mask = batch.mask_f32();
    let rows = inputs.index_select(0, &batch.slots.view([-1])).view([r, n, -1]) * mask.unsqueeze(-1); // [R, N, K]
    let sums = batch.sum_over_rows(&rows);
    sums / batch.sum_over_rows(&mask).clamp_min(1.).unsqueeze(-1)
}

/// `[T, H]` -> `[2B, N, H]`
fn mean_of_tokens(tokens: &Tensor, stories: &StoryTokens, n: i64) -> Tensor {
    let h = tokens.size()[1];
    let zeros = |shape: &[i64]| Tensor::zeros(shape, (Kind::Float, tokens.device()));
    let places = stories.distinct * n;
    let sums = zeros(&[places, h]).index_add(0, &stories.sentence, &tokens.index_select(0, &stories.token));
    let ones = stories.sentence.ones_like().to_kind(Kind::Float);
    let counts = zeros(&[places]).index_add(0, &stories.sentence, &ones).clamp_min(1.);
    let means = (sums / counts.unsqueeze(-1)).view([stories.distinct, n, h]);
    means.index_select(0, &stories.of_story)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_means_of_their_tokens() {
        let tokens = Tensor::from_slice(&[1f32, 3., 5., 7.]).view([4, 1]);
        let stories = StoryTokens {
            distinct: 2,
            token: Tensor::from_slice(&[0i64, 1, 3]),
            sentence: Tensor::from_slice(&[0i64, 0, 3]),
            of_story: Tensor::from_slice(&[1i64, 0]),
        };
        let means = Vec::<f32>::try_from(mean_of_tokens(&tokens, &stories, 2).view([-1])).unwrap();
        assert_eq!(means, [0., 7., 2., 0.]);
    }
}
