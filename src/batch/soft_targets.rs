//! A teacher's answers for a batch: what the loss compares the model's outputs to, in place of the gold answers.

use super::rows::GoldCell;
use crate::attribute::SIDE_CLASSES;
use crate::data::{Pair, SoftCell, SoftLabels, SoftStory};
use tch::Tensor;

/// The answers for a batch of which some pairs have a teacher.
pub struct SoftTargets {
    /// B pairs, 2 answers: which story is the plausible one.
    pub plausible: SoftAnswers,
    /// B pairs, 2·N·N answers: where the conflict is (story, evidence, breakpoint).
    pub sentence_pairs: SoftAnswers,
    /// 2B stories, each by itself, N·N + 1 answers: where its conflict is, and last, that it has none.
    pub single_stories: SoftAnswers,
    /// C cells, the classes of all preconditions.
    pub preconditions: SoftAnswers,
    /// C cells, the classes of all effects.
    pub effects: SoftAnswers,
}

/// What a teacher says of M items, each with K answers.
pub struct SoftAnswers {
    /// `[M]` true where the item has a teacher.
    pub taught: Tensor,
    /// `[M, K]` the probability of each answer; 0 where there is no teacher.
    pub probs: Tensor,
}

impl SoftTargets {
    /// `None` if no pair has a teacher. `n`: N.
    pub(super) fn new(pairs: &[&Pair], cells: &[&GoldCell], n: usize) -> Option<Self> {
        pairs.iter().any(|pair| pair.soft.is_some()).then(|| {
            let of_pairs = |answers: usize, of: &dyn Fn(&SoftLabels) -> Vec<f32>| {
                SoftAnswers::new(pairs.iter().map(|pair| pair.soft.as_deref().map(of)), answers)
            };
            let of_cells = |of: fn(&SoftCell) -> &[f32; SIDE_CLASSES]| {
                SoftAnswers::new(cells.iter().map(|cell| cell.soft.map(|soft| of(soft).to_vec())), SIDE_CLASSES)
            };
            let stories = pairs.iter().flat_map(|pair| [0, 1].map(|s| Some(&pair.soft.as_ref()?.stories[s])));
            SoftTargets {
                plausible: of_pairs(2, &|soft| soft.plausible.to_vec()),
                sentence_pairs: of_pairs(2 * n * n, &|soft| {
                    soft.stories.iter().flat_map(|story| padded(&story.sentence_pairs, n)).collect()
                }),
                single_stories: SoftAnswers::new(stories.map(|story| Some(single_story(story?, n))), n * n + 1),
                preconditions: of_cells(|cell| &cell.preconditions),
                effects: of_cells(|cell| &cell.effects),
            }
        })
    }

    pub(super) fn all_tensors(&mut self) -> impl Iterator<Item = &mut Tensor> {
        let SoftTargets { plausible, sentence_pairs, single_stories, preconditions, effects } = self;
        let all = [plausible, sentence_pairs, single_stories, preconditions, effects];
        all.into_iter().flat_map(|SoftAnswers { taught, probs }| [taught, probs])
    }
}

impl SoftAnswers {
    fn new(items: impl Iterator<Item = Option<Vec<f32>>>, answers: usize) -> Self {
        let (mut taught, mut probs) = (Vec::new(), Vec::new());
        for item in items {
            taught.push(item.is_some());
            probs.extend(item.unwrap_or_else(|| vec![0.; answers]));
        }
        SoftAnswers {
            taught: Tensor::from_slice(&taught),
            probs: Tensor::from_slice::<f32>(&probs).view([-1, answers as i64]),
        }
    }
}

/// By N·N. `[N'][N']` -> `[N·N]`
fn padded(sentence_pairs: &[Vec<f32>], n: usize) -> Vec<f32> {
    let mut all = vec![0.; n * n];
    for (row, probs) in all.chunks_exact_mut(n).zip(sentence_pairs) {
        row[..probs.len()].copy_from_slice(probs);
    }
    all
}

/// All answers about a story by itself; the last one is that it has no conflict. -> `[N·N + 1]`
fn single_story(story: &SoftStory, n: usize) -> Vec<f32> {
    let mut all = padded(story.single_story.as_deref().unwrap_or_default(), n);
    all.push(1. - all.iter().sum::<f32>());
    all
}
