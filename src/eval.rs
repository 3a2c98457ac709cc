//! Evaluates a model on a corpus: predictions and losses.

use crate::attribute::{ATTRIBUTES, Attribute, SIDE_CLASSES};
use crate::batch::{Batch, Corpus, Layout, SentBatch};
use crate::data::{Pair, Story};
use crate::loss::{LossMean, LossValues, Losses};
use crate::model::heads::attribute_log_probs;
use crate::model::{Conflicts, Output, Precision, TieredModel};
use crate::prediction::{
    CANDIDATE_FLOOR, EntityPrediction, LabelledPair, PairPrediction, PredictedStates, StateCandidate, StoryPrediction,
};
use crate::torch::read;
use tch::{Device, Tensor};

/// How a model is evaluated. It changes the results by rounding only.
#[derive(Debug, Clone, Copy)]
pub struct EvalConfig {
    /// Where batches are moved to; the model must be there.
    pub device: Device,
    /// The precision of matmuls.
    pub precision: Precision,
    /// The N of the model. Padding entities count in the losses, and nowhere else.
    pub layout: Layout,
    /// The largest B of a batch; 0 counts as 1.
    pub pairs_per_batch: usize,
}

/// Predictions (no conflict is decoded yet) and the losses, averaged over the corpus.
pub struct Evaluation {
    /// One for each pair, in the order of the corpus.
    pub predictions: Vec<LabelledPair>,
    /// Without the weights of the config; each is a mean over its own items, however they were batched.
    pub losses: LossValues,
}

/// Predicts every pair of a corpus. `progress` is called with the number of pairs of each batch.
pub fn evaluate(model: &TieredModel, corpus: &Corpus, config: EvalConfig, progress: impl FnMut(usize)) -> Evaluation {
    let mode = model.eval_mode(config.precision);
    evaluate_by(
        corpus,
        config,
        |batch| {
            let output = model.forward(&batch, mode);
            (output, batch)
        },
        progress,
    )
}

/// Like [`evaluate`], with a forward pass that the caller gives.
pub fn evaluate_by(
    corpus: &Corpus,
    config: EvalConfig,
    forward: impl Fn(Batch) -> (Output, Batch),
    progress: impl FnMut(usize),
) -> Evaluation {
    merge(evaluate_batches(corpus, config, |_| true, forward, progress))
}

/// The evaluation of one batch.
pub struct BatchEvaluation {
    /// One for each pair of the batch.
    pub predictions: Vec<LabelledPair>,
    /// The losses of the batch.
    pub losses: LossValues,
    /// The number of items in each average.
    pub counts: LossValues,
}

/// Evaluates those batches of a corpus whose numbers `takes` accepts, counted from 0.
pub fn evaluate_batches(
    corpus: &Corpus,
    config: EvalConfig,
    takes: impl Fn(usize) -> bool,
    forward: impl Fn(Batch) -> (Output, Batch),
    mut progress: impl FnMut(usize),
) -> Vec<BatchEvaluation> {
    let _guard = tch::no_grad_guard();
    let indices = corpus.every_pair();
    let batches = indices.chunks(config.pairs_per_batch.max(1)).enumerate().filter(|(number, _)| takes(*number));
    let evaluate = |(_, pairs): (usize, &[usize])| {
        let collated = corpus.batch(pairs, config.layout);
        let cells = read::integers(&collated.0.cells);
        let (batch, targets) = SentBatch::new(collated, config.device).arrive();
        let (output, batch) = forward(batch);
        let losses = Losses::new(&output, &targets, None);
        let (mut reader, values) = OutputReader::new(&output, &losses, &batch, cells, config.layout);
        let predictions = pairs.iter().map(|&p| {
            let pair = &corpus.pairs[p];
            LabelledPair::new(pair, reader.pair(pair))
        });
        let predictions = predictions.collect();
        progress(pairs.len());
        BatchEvaluation { predictions, losses: values, counts: losses.counts }
    };
    batches.map(evaluate).collect()
}

/// The evaluation of a corpus from that of all its batches, in their order.
pub fn merge(batches: Vec<BatchEvaluation>) -> Evaluation {
    let mut predictions = Vec::with_capacity(batches.iter().map(|batch| batch.predictions.len()).sum());
    let mut means = LossMean::default();
    for BatchEvaluation { predictions: of_batch, losses, counts } in batches {
        predictions.extend(of_batch);
        means.add(losses, counts);
    }
    Evaluation { predictions, losses: means.mean() }
}

/// Reads the outputs of a batch pair by pair, in the order of the rows.
struct OutputReader {
    conflict_probs: Table,
    /// `[2B, N·N]`, if the model has a distribution over sentence pairs.
    sentence_pairs: Option<Table>,
    /// `[R, N·N]`, if that distribution distinguishes entities.
    entity_pairs: Option<Table>,
    /// `[2B, 1]`, if the model judges single stories.
    no_conflict: Option<Table>,
    story_probs: Table,
    preconditions: Table,
    effects: Table,
    cells: Vec<i64>,
    /// The least number of rows of a story.
    entities: usize,
    row: usize,
    story: usize,
}

/// A matrix on the CPU.
struct Table {
    values: Vec<f32>,
    width: usize,
}

/// The tables of a batch and its losses, copied from the device together.
struct Copied {
    tables: std::vec::IntoIter<Table>,
}

impl Copied {
    fn new(matrices: &[Tensor]) -> Self {
        let widths = matrices.iter().map(|matrix| matrix.size2().expect("a matrix").1 as usize);
        let tables = read::together(matrices).into_iter().zip(widths);
        Copied { tables: tables.map(|(values, width)| Table { values, width }).collect::<Vec<_>>().into_iter() }
    }

    fn table(&mut self) -> Table {
        self.tables.next().expect("as many as were copied")
    }
}

impl Table {
    fn row(&self, r: usize) -> &[f32] {
        &self.values[r * self.width..][..self.width]
    }
}

impl OutputReader {
    /// Copies everything from the device at once; returns the losses too.
    fn new(output: &Output, losses: &Losses, batch: &Batch, cells: Vec<i64>, layout: Layout) -> (Self, LossValues) {
        let sentence_pairs = match &output.conflicts {
            Conflicts::Sentences { .. } => None,
            Conflicts::SentencePairs(sentence_pairs) => Some(sentence_pairs),
        };
        let of_stories = sentence_pairs.map(|all| all.log_probs.exp().flatten(0, 1).flatten(1, 2));
        let of_entities = sentence_pairs.and_then(|all| all.of_entities.as_ref());
        let of_entities = of_entities.map(|log_probs| log_probs.flatten(1, 2));
        let no_conflict = sentence_pairs.and_then(|all| all.single_story.as_ref());
        let no_conflict = no_conflict.map(|log_probs| log_probs.narrow(1, log_probs.size()[1] - 1, 1).exp());
        let has = [of_stories.is_some(), of_entities.is_some(), no_conflict.is_some()];
        let always = [
            output.conflicts.conflict_probs(batch),
            output.story_scores.softmax(1, tch::Kind::Float),
            attribute_log_probs(&output.precondition_logits),
            attribute_log_probs(&output.effect_logits),
            losses.stacked().unsqueeze(0),
        ];
        let optional = [of_stories, of_entities, no_conflict].into_iter().flatten();
        let mut copied = Copied::new(&always.into_iter().chain(optional).collect::<Vec<_>>());
        let [conflict_probs, story_probs, preconditions, effects, losses] = [(); 5].map(|()| copied.table());
        let [sentence_pairs, entity_pairs, no_conflict] = has.map(|has| has.then(|| copied.table()));
        let losses: Vec<f64> = losses.row(0).iter().copied().map(f64::from).collect();
        let entities = layout.pad_to_entities.unwrap_or(0);
        let reader = OutputReader {
            conflict_probs,
            sentence_pairs,
            entity_pairs,
            no_conflict,
            story_probs,
            preconditions,
            effects,
            cells,
            entities,
            row: 0,
            story: 0,
        };
        (reader, LossValues::from_stacked(&losses))
    }

    fn pair(&mut self, pair: &Pair) -> PairPrediction {
        let probs = self.story_probs.row(self.story / 2);
        let story_probs = [probs[0], probs[1]];
        let stories = pair.stories.each_ref().map(|story| self.story(story));
        let plausible = usize::from(story_probs[1] > story_probs[0]);
        PairPrediction { plausible, story_probs, conflict: Vec::new(), stories }
    }

    fn story(&mut self, story: &Story) -> StoryPrediction {
        let n = story.sentences.len();
        let sentence_pairs = self.sentence_pairs.as_ref().map_or(Vec::new(), |table| {
            let width = self.conflict_probs.width;
            (0..n).map(|i| table.row(self.story)[i * width..][..n].to_vec()).collect()
        });
        let no_conflict = self.no_conflict.as_ref().map(|table| table.row(self.story)[0].min(1.));
        let subjects = self.subjects(n, story.entities.len());
        self.story += 1;
        let mut entities = Vec::with_capacity(story.entities.len());
        for entity in &story.entities {
            let inputs = &self.cells[self.row * self.conflict_probs.width..][..n];
            let conflict_probs = self.conflict_probs.row(self.row)[..n].to_vec();
            let [preconditions, effects] =
                [&self.preconditions, &self.effects].map(|log_probs| predicted_states(log_probs, inputs));
            entities.push(EntityPrediction { name: entity.name.clone(), conflict_probs, preconditions, effects });
            self.row += 1;
        }
        self.row += self.entities.saturating_sub(entities.len());
        StoryPrediction {
            id: story.id.clone(),
            sentences: story.sentences.clone(),
            sentence_pairs,
            subjects,
            no_conflict,
            entities,
        }
    }

    /// `[n][n]`: for each sentence pair, the most likely one of the story's entities, whose rows come next.
    fn subjects(&self, n: usize, entities: usize) -> Vec<Vec<usize>> {
        let Some(table) = &self.entity_pairs else { return Vec::new() };
        let width = self.conflict_probs.width;
        let at = |entity: usize, i: usize, j: usize| table.row(self.row + entity)[i * width + j];
        let most_likely = |i, j| {
            let best = (0..entities).max_by(|&a, &b| at(a, i, j).total_cmp(&at(b, i, j)).then(b.cmp(&a)));
            best.expect("a story has entities")
        };
        (0..n).map(|i| (0..n).map(|j| most_likely(i, j)).collect()).collect()
    }
}

/// The classes of one side: the most likely class at each sentence, and the candidates for nontrivial states.
fn predicted_states(log_probs: &Table, inputs: &[i64]) -> PredictedStates {
    let mut states = PredictedStates { classes: Vec::with_capacity(inputs.len()), candidates: Vec::new() };
    for (sentence, &input) in inputs.iter().enumerate() {
        let columns = log_probs.row(input as usize);
        debug_assert_eq!(columns.len(), SIDE_CLASSES);
        let mut classes = [0; ATTRIBUTES];
        for attribute in Attribute::ALL {
            let log_probs = &columns[attribute.offset()..][..attribute.classes()];
            classes[attribute.index()] = most_likely(log_probs, |_| true);
            let class = most_likely(log_probs, |class| attribute.is_nontrivial(class));
            let otherwise = most_likely(log_probs, |class| !attribute.is_nontrivial(class));
            let probability = log_probs[usize::from(class)].exp().min(1.);
            if probability >= CANDIDATE_FLOOR {
                states.candidates.push(StateCandidate { sentence, attribute, class, probability, otherwise });
            }
        }
        states.classes.push(classes);
    }
    states
}

/// Of the classes that count, the one with the largest score; if several are equal, the first.
fn most_likely(scores: &[f32], counts: impl Fn(u8) -> bool) -> u8 {
    let classes = (0..scores.len() as u8).filter(|&class| counts(class));
    let score = |class: &u8| scores[usize::from(*class)];
    classes.max_by(|a, b| score(a).total_cmp(&score(b)).then(b.cmp(a))).expect("every attribute has such a class")
}
