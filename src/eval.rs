//! A model on a corpus -> predictions and losses.

use crate::attribute::{ATTRIBUTES, Attribute, SIDE_CLASSES};
use crate::batch::{Corpus, Layout};
use crate::data::{Classes, Pair, Story};
use crate::loss::{LossValues, Losses, attribute_log_probs};
use crate::model::{Mode, Output, Precision, TieredModel};
use crate::prediction::{EntityPrediction, PairPrediction, StateLabels, StoryPrediction};
use tch::{Device, Tensor};

/// How a model is evaluated. None of it changes what comes out, but for rounding.
#[derive(Debug, Clone, Copy)]
pub struct EvalConfig {
    pub device: Device,
    pub precision: Precision,
    /// N of the model.
    pub sentences: usize,
    pub pairs_per_batch: usize,
}

/// Predictions (with no conflict decoded yet) and the losses averaged over the corpus.
pub struct Evaluation {
    pub predictions: Vec<PairPrediction>,
    pub losses: LossValues,
}

/// Predicts every pair of a corpus; `progress` is told how many pairs each batch held.
pub fn evaluate(
    model: &TieredModel,
    corpus: &Corpus,
    config: EvalConfig,
    mut progress: impl FnMut(usize),
) -> Evaluation {
    let _guard = tch::no_grad_guard();
    let layout = Layout { sentences: config.sentences, pad_to_entities: None };
    let mut predictions = Vec::with_capacity(corpus.len());
    let mut losses = LossMean::default();
    let indices: Vec<usize> = (0..corpus.len()).collect();
    for pairs in indices.chunks(config.pairs_per_batch.max(1)) {
        let (batch, targets) = corpus.batch(pairs, layout);
        let (batch, targets) = (batch.to_device(config.device), targets.to_device(config.device));
        let output = model.forward(&batch, Mode::eval(config.precision));
        losses.add(Losses::new(&output, &targets).values(), targets.slot_input.size()[0] as f64, pairs.len() as f64);
        let mut reader = OutputReader::new(&output, &batch.slots);
        predictions.extend(pairs.iter().map(|&p| reader.pair(&corpus.pairs[p])));
        progress(pairs.len());
    }
    Evaluation { predictions, losses: losses.mean() }
}

/// Averages over slots and pairs, whatever the batches were.
#[derive(Default)]
pub struct LossMean {
    sums: LossValues,
    slots: f64,
    pairs: f64,
}

impl LossMean {
    pub fn add(&mut self, values: LossValues, slots: f64, pairs: f64) {
        self.sums.preconditions += values.preconditions * slots;
        self.sums.effects += values.effects * slots;
        self.sums.conflicts += values.conflicts * slots;
        self.sums.story += values.story * pairs;
        self.slots += slots;
        self.pairs += pairs;
    }

    pub fn mean(&self) -> LossValues {
        LossValues {
            preconditions: self.sums.preconditions / self.slots,
            effects: self.sums.effects / self.slots,
            conflicts: self.sums.conflicts / self.slots,
            story: self.sums.story / self.pairs,
        }
    }
}

/// Reads a batch's output pair by pair, in the order the rows were laid out.
struct OutputReader {
    beliefs: Table,
    story_probs: Table,
    preconditions: Table,
    effects: Table,
    slots: Vec<i64>,
    row: usize,
    story: usize,
}

/// A matrix on the CPU.
struct Table {
    values: Vec<f32>,
    width: usize,
}

impl Table {
    fn new(tensor: &Tensor) -> Self {
        let (rows, width) = tensor.size2().expect("a matrix");
        let mut values = vec![0.; (rows * width) as usize];
        let count = values.len();
        tensor.to_kind(tch::Kind::Float).contiguous().copy_data(&mut values, count);
        Table { values, width: width as usize }
    }

    fn row(&self, r: usize) -> &[f32] {
        &self.values[r * self.width..][..self.width]
    }
}

impl OutputReader {
    fn new(output: &Output, slots: &Tensor) -> Self {
        OutputReader {
            beliefs: Table::new(&output.belief_logits.sigmoid()),
            story_probs: Table::new(&output.story_scores.softmax(1, tch::Kind::Float)),
            preconditions: Table::new(&attribute_log_probs(&output.precondition_logits)),
            effects: Table::new(&attribute_log_probs(&output.effect_logits)),
            slots: Vec::<i64>::try_from(slots.contiguous().view([-1])).expect("slots are integers"),
            row: 0,
            story: 0,
        }
    }

    fn pair(&mut self, pair: &Pair) -> PairPrediction {
        let probs = self.story_probs.row(self.story / 2);
        let story_probs = [probs[0], probs[1]];
        let stories = pair.stories.each_ref().map(|story| self.story(story));
        PairPrediction {
            id: pair.id.clone(),
            group: pair.group,
            kind: pair.kind.name().to_owned(),
            gold_plausible: pair.plausible,
            gold_conflict: [pair.conflict.evidence, pair.conflict.breakpoint],
            plausible: usize::from(story_probs[1] > story_probs[0]),
            story_probs,
            conflict: Vec::new(),
            stories,
        }
    }

    fn story(&mut self, story: &Story) -> StoryPrediction {
        self.story += 1;
        let n = story.sentences.len();
        let mut entities = Vec::with_capacity(story.entities.len());
        for entity in &story.entities {
            let gold = story.conflict_target(entity);
            let inputs = self.slots[self.row * self.beliefs.width..][..n].to_vec();
            let classes = |table: &Table| inputs.iter().map(|&input| most_likely(table.row(input as usize))).collect();
            entities.push(EntityPrediction {
                name: entity.name.clone(),
                beliefs: self.beliefs.row(self.row)[..n].to_vec(),
                gold_beliefs: (0..n)
                    .map(|i| gold.is_some_and(|c| c.evidence == i || c.breakpoint == i).into())
                    .collect(),
                preconditions: StateLabels {
                    gold: entity.preconditions.clone(),
                    predicted: classes(&self.preconditions),
                },
                effects: StateLabels { gold: entity.effects.clone(), predicted: classes(&self.effects) },
            });
            self.row += 1;
        }
        StoryPrediction { id: story.id.clone(), sentences: story.sentences.clone(), entities }
    }
}

/// The most likely class of each attribute, from the 66 columns of a side.
fn most_likely(columns: &[f32]) -> Classes {
    debug_assert_eq!(columns.len(), SIDE_CLASSES);
    let mut classes = [0; ATTRIBUTES];
    for attribute in Attribute::ALL {
        let scores = &columns[attribute.offset()..][..attribute.classes()];
        let best = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a)));
        classes[attribute.index()] = best.unwrap_or(0) as u8;
    }
    classes
}
