//! The joint detector: one distribution over the sentence pairs of both stories.

use super::config::{Context, DetectorConfig, DetectorInputs, Norm};
use super::conflicts::SentencePairs;
use super::input::DetectorInput;
use super::transformer::{TransformerLayer, only};
use crate::attribute::SIDE_CLASSES;
use crate::batch::{Batch, StoryTokens};
use crate::model::heads::attribute_log_probs;
use crate::model::layers::{Mode, dropout, linear, new_linear, sentence_means};
use tch::{Kind, Tensor, nn};

/// z(i, j) = w·gelu(A hᵢ + B hⱼ + C(hᵢ∘hⱼ)) for every two sentences i < j of a story, and one softmax over the sentence
/// pairs of both stories, because exactly one of them is the conflict. The same distribution says which story is
/// implausible, so the two answers can't disagree.
pub struct JointDetector {
    config: DetectorConfig,
    states: nn::Linear,
    layers: Vec<TransformerLayer>,
    entity: Option<nn::Linear>,
    first: nn::Linear,
    second: nn::Linear,
    product: nn::Linear,
    out: nn::Linear,
    no_conflict: Option<nn::Linear>,
    dropout_prob: f64,
}

/// Added to the score of an invalid sentence pair. It is finite, so that no row becomes NaN.
const NO_PAIR: f64 = -1e9;

/// Keeps the logarithm finite where a story has no rows.
const TINY: f64 = 1e-37;

/// Scores of sentence pairs.
struct Scores {
    /// `[2B, n, n]`
    of_stories: Tensor,
    /// `[R, n, n]`, if the detector distinguishes entities. The scores of a story are the logsumexp of its rows.
    of_entities: Option<Tensor>,
}

/// The n columns of a batch in which some story has a sentence. The others, up to N, would only cost time: a score is
/// computed for every two.
struct Columns {
    /// `[R, n]`
    cells: Tensor,
    /// `[R, n]` 1.0 where the row's story has that sentence.
    mask: Tensor,
    /// `[2B, n]` 1.0 where the story has that sentence.
    present: Tensor,
}

impl Columns {
    fn of(batch: &Batch) -> Self {
        let longest = batch.distinct.cells.size()[1];
        let [mask, present] = [batch.mask_f32(), batch.sentences_present()].map(|of_all| of_all.narrow(1, 0, longest));
        Columns { cells: batch.cells.narrow(1, 0, longest), mask, present }
    }
}

impl JointDetector {
    /// `no_conflict`: adds an output for "no conflict" in a single story.
    pub fn new(p: &nn::Path, config: &DetectorConfig, hidden: i64, no_conflict: bool, dropout_prob: f64) -> Self {
        let width = config.pair_width;
        JointDetector {
            config: config.clone(),
            states: new_linear(p / "states", 2 * SIDE_CLASSES as i64, hidden),
            layers: TransformerLayer::stack(
                &(p / "layers"),
                config.sentence_layers,
                hidden,
                Norm::After,
                config,
                dropout_prob,
            ),
            entity: config.entities.then(|| new_linear(p / "entity", hidden, hidden)),
            first: new_linear(p / "first", hidden, width),
            second: new_linear(p / "second", hidden, width),
            product: new_linear(p / "product", hidden, width),
            out: new_linear(p / "out", width, 1),
            no_conflict: no_conflict.then(|| new_linear(p / "no_conflict", hidden, 1)),
            dropout_prob,
        }
    }

    /// The distributions over the sentence pairs of a batch; their shapes are in [`SentencePairs`].
    ///
    /// Only as many sentences are computed as the batch's longest story has.
    pub fn forward(&self, input: DetectorInput, batch: &Batch, mode: Mode) -> SentencePairs {
        let columns = Columns::of(batch);
        let sentences = self.sentences(&input, &columns, batch, mode);
        let Scores { of_stories, of_entities } = self.scores(&sentences, &input, &columns, batch, mode);
        let n = batch.cells.size()[1];
        let (of_stories, of_entities) = (padded(&of_stories, n), of_entities.map(|scores| padded(&scores, n)));
        let of_pairs = of_stories.view([batch.pairs, -1]); // [B, 2·N·N]
        let of_entities = of_entities.map(|scores| {
            let totals = of_pairs.logsumexp(1, false).repeat_interleave_self_int(2, 0, None); // [2B]
            scores - totals.index_select(0, &batch.row_story).view([-1, 1, 1])
        });
        SentencePairs {
            log_probs: of_pairs.log_softmax(1, Kind::Float).view([batch.pairs, 2, n, n]),
            of_entities,
            single_story: self.no_conflict.as_ref().map(|layer| {
                let nowhere = linear(&mean_sentence(&sentences, &columns), layer, mode).to_kind(Kind::Float); // [2B, 1]
                Tensor::cat(&[of_stories.flatten(1, 2), nowhere], 1).log_softmax(1, Kind::Float)
            }),
        }
    }

    fn scores(
        &self,
        sentences: &Tensor,
        input: &DetectorInput,
        columns: &Columns,
        batch: &Batch,
        mode: Mode,
    ) -> Scores {
        let outside = (sentence_pairs(&columns.present) - 1.) * -NO_PAIR;
        let Some(layer) = &self.entity else {
            return Scores { of_stories: self.pair_scores(sentences, mode) + outside, of_entities: None };
        };
        let (r, n) = columns.cells.size2().expect("cells are [R, n]");
        let embeddings = dropout(input.embeddings, self.dropout_prob, mode); // [U, H]
        let of_cells =
            linear(&embeddings, layer, mode).to_kind(Kind::Float).index_select(0, &columns.cells.reshape([-1]));
        let rows = sentences.index_select(0, &batch.row_story) + of_cells.view([r, n, -1]); // [R, n, H]
        // A row that stands for several entities counts as that many.
        let weights = batch.row_weight.log().view([-1, 1, 1]);
        let scores = self.pair_scores(&rows, mode) + weights + (sentence_pairs(&columns.mask) - 1.) * -NO_PAIR;
        Scores { of_stories: logsumexp_over_rows(&scores, batch) + outside, of_entities: Some(scores) }
    }

    /// z of every two vectors, for each story or each row. `[S, N, H]` -> `[S, N, N]`
    fn pair_scores(&self, sentences: &Tensor, mode: Mode) -> Tensor {
        let (first, second) = (sentences.unsqueeze(2), sentences.unsqueeze(1)); // [S, N, 1, H], [S, 1, N, H]
        let hidden = linear(&first, &self.first, mode)
            + linear(&second, &self.second, mode)
            + linear(&(&first * &second), &self.product, mode); // [S, N, N, width]
        let hidden = dropout(&hidden.to_kind(Kind::Float).gelu("none"), self.dropout_prob, mode);
        linear(&hidden, &self.out, mode).to_kind(Kind::Float).squeeze_dim(-1)
    }

    /// The vectors of all sentences. -> `[2B, n, H]`
    fn sentences(&self, input: &DetectorInput, columns: &Columns, batch: &Batch, mode: Mode) -> Tensor {
        let embeddings = || match (self.config.context, &batch.stories) {
            (Context::Story, Some(stories)) => {
                mean_of_tokens(input.tokens, stories, batch.cells.size()[1]).narrow(1, 0, columns.cells.size()[1])
            }
            _ => mean_over_rows(input.embeddings, columns, batch),
        };
        let states = || {
            let mean = mean_over_rows(&state_probs(input.state_logits), columns, batch);
            linear(&dropout(&mean, self.dropout_prob, mode), &self.states, mode).to_kind(Kind::Float)
        };
        let sentences = match self.config.inputs {
            DetectorInputs::Embeddings => embeddings(),
            DetectorInputs::States => states(),
            DetectorInputs::Both => embeddings() + states(),
        };
        let present = only(&columns.present);
        let sentences = dropout(&sentences, self.dropout_prob, mode);
        self.layers.iter().fold(sentences, |sentences, layer| layer.forward(&sentences, &present, mode))
    }
}

/// Scores of all N sentences. `[S, n, n]` -> `[S, N, N]`
fn padded(scores: &Tensor, n: i64) -> Tensor {
    let missing = n - scores.size()[1];
    scores.pad([0, missing, 0, missing], "constant", NO_PAIR)
}

/// The logsumexp over the rows of each story. It is exact for every sentence pair, however far apart the scores of
/// different sentence pairs, stories and pairs are. `[R, N, N]` -> `[2B, N, N]`
fn logsumexp_over_rows(scores: &Tensor, batch: &Batch) -> Tensor {
    let (_, n, _) = scores.size3().expect("scores are [R, N, N]");
    let none = Tensor::full([2 * batch.pairs, n, n], NO_PAIR, (scores.kind(), scores.device()));
    let story = batch.row_story.view([-1, 1, 1]).expand_as(scores);
    let largest = none.internal_scatter_reduce(0, &story, &scores.detach(), "amax", true);
    let sums = batch.sum_over_rows(&(scores - largest.index_select(0, &batch.row_story)).exp());
    sums.clamp_min(TINY).log() + largest
}

/// The probabilities of the classes, without gradient. Logits of rare classes are so far from 0 that products with them
/// would drown everything else. `[U, 132]` -> `[U, 132]`
fn state_probs(state_logits: &Tensor) -> Tensor {
    let sides = state_logits.detach().split(SIDE_CLASSES as i64, 1);
    let probs: Vec<Tensor> = sides.iter().map(|side| attribute_log_probs(side).exp()).collect();
    Tensor::cat(&probs, 1)
}

/// 1.0 where both sentences exist and i < j. `present [S, N]` -> `[S, N, N]`
fn sentence_pairs(present: &Tensor) -> Tensor {
    (present.unsqueeze(2) * present.unsqueeze(1)).triu(1)
}

/// The mean over the sentences of each story. `[2B, n, H]` -> `[2B, H]`
fn mean_sentence(sentences: &Tensor, columns: &Columns) -> Tensor {
    let present = columns.present.unsqueeze(-1); // [2B, n, 1]
    let sums = (sentences * &present).sum_dim_intlist(1, false, Kind::Float);
    sums / present.sum_dim_intlist(1, false, Kind::Float)
}

/// The mean over the rows of each story: over all its entities, or in training over those that were drawn, not weighted
/// by what they stand for (docs/notebook.md says what weights cost). `[U, width]` -> `[2B, n, width]`
fn mean_over_rows(inputs: &Tensor, Columns { cells, mask, .. }: &Columns, batch: &Batch) -> Tensor {
    let (r, n) = cells.size2().expect("cells are [R, n]");
    let rows = inputs.index_select(0, &cells.reshape([-1])).view([r, n, -1]) * mask.unsqueeze(-1); // [R, n, width]
    batch.sum_over_rows(&rows) / batch.sum_over_rows(mask).clamp_min(1.).unsqueeze(-1)
}

/// The mean of the tokens of each sentence. `[O, H]` -> `[2B, N, H]`
fn mean_of_tokens(tokens: &Tensor, stories: &StoryTokens, n: i64) -> Tensor {
    let means = sentence_means(tokens, stories, n).view([stories.distinct, n, -1]);
    means.index_select(0, &stories.of_story)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{DistinctRows, InputTokens, Tokens};
    use tch::Device;

    /// Two pairs with one entity in each story. The scores of the second pair are 200 below those of the first.
    #[test]
    fn scores_far_below_another_pairs_are_as_exact() {
        let none = || Tensor::zeros([0], (Kind::Int64, Device::Cpu));
        let rows = |of_rows: &[i64]| Batch {
            tokens: Tokens::pack([].iter()),
            read: InputTokens::one_each(0, Device::Cpu),
            inputs: none(),
            cells: Tensor::zeros([of_rows.len() as i64, 2], (Kind::Int64, Device::Cpu)),
            mask: Tensor::ones([of_rows.len() as i64, 2], (Kind::Bool, Device::Cpu)),
            row_story: Tensor::from_slice(of_rows),
            row_weight: Tensor::ones([of_rows.len() as i64], (Kind::Float, Device::Cpu)),
            distinct: DistinctRows { cells: none(), mask: none(), of_row: none() },
            pairs: of_rows.len() as i64 / 2,
            stories: None,
        };
        let of_pair = Tensor::rand([2, 2, 2], (Kind::Float, Device::Cpu));
        let low = (&of_pair - 200.).set_requires_grad(true);
        let single_story = logsumexp_over_rows(&low, &rows(&[0, 1]));
        let both = logsumexp_over_rows(&Tensor::cat(&[&of_pair, &low], 0), &rows(&[0, 1, 2, 3]));
        assert_eq!(both.narrow(0, 2, 2), single_story);
        assert_eq!(single_story, low);
        both.sum(Kind::Float).backward();
        assert_eq!(low.grad(), Tensor::ones([2, 2, 2], (Kind::Float, Device::Cpu)));
    }

    /// An entity of the conflict that was drawn alone counts as much as one of the others that was drawn instead of
    /// four.
    #[test]
    fn sentences_are_means_over_the_rows_whatever_they_stand_for() {
        let none = || Tensor::zeros([0], (Kind::Int64, Device::Cpu));
        let batch = Batch {
            tokens: Tokens::pack([].iter()),
            read: InputTokens::one_each(2, Device::Cpu),
            inputs: none(),
            cells: Tensor::from_slice(&[0i64, 1, 0, 1]).view([4, 1]),
            mask: Tensor::ones([4, 1], (Kind::Bool, Device::Cpu)),
            row_story: Tensor::from_slice(&[0i64, 0, 1, 1]),
            row_weight: Tensor::from_slice(&[1f32, 4., 1., 1.]),
            distinct: DistinctRows {
                cells: Tensor::from_slice(&[0i64, 1]).view([2, 1]),
                mask: Tensor::ones([2, 1], (Kind::Bool, Device::Cpu)),
                of_row: Tensor::from_slice(&[0i64, 1, 0, 1]),
            },
            pairs: 1,
            stories: None,
        };
        let inputs = Tensor::from_slice(&[10f32, 20.]).view([2, 1]);
        let means = mean_over_rows(&inputs, &Columns::of(&batch), &batch);
        assert_eq!(Vec::<f32>::try_from(means.view([-1])).unwrap(), [15., 15.]);
    }

    #[test]
    fn sentences_are_means_of_their_tokens() {
        let tokens = Tensor::from_slice(&[1f32, 3., 5., 7.]).view([4, 1]);
        let stories = StoryTokens {
            distinct: 2,
            token: Tensor::from_slice(&[0i64, 1, 3]),
            sentence: Tensor::from_slice(&[0i64, 0, 3]),
            of_story: Tensor::from_slice(&[1i64, 0]),
            of_input: None,
        };
        let means = Vec::<f32>::try_from(mean_of_tokens(&tokens, &stories, 2).view([-1])).unwrap();
        assert_eq!(means, [0., 7., 2., 0.]);
    }
}
