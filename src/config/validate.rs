//! Values that have the right type but are invalid, or do not go together.

use super::check::{Check, all_hold};
use super::model::OutputBias;
use super::schema::Config;
use crate::loss::{LossConfig, Normalization};
use crate::model::config::MAX_SENTENCES;
use crate::model::{Context, DetectorConfig, DetectorKind, Norm};
use crate::train::TrainConfig;
use crate::untrusted::{MAX_EPOCHS, MAX_STEP_SHARDS};

/// From 0 to below 1.
fn share(x: f64) -> bool {
    (0. ..1.).contains(&x)
}

fn positive(x: f64) -> bool {
    x > 0. && x.is_finite()
}

/// As the optimiser computes with it.
fn in_float32(x: f64) -> f64 {
    f64::from(x as f32)
}

fn not_negative(x: f64) -> bool {
    x >= 0. && x.is_finite()
}

impl Config {
    /// # Errors
    /// The first problem, with its key and what is allowed.
    pub(crate) fn validate(&self) -> Result<(), String> {
        let Config { train, loss, .. } = self;
        all_hold(&of_training(train))?;
        all_hold(&self.of_run())?;
        all_hold(&of_detector(&self.model.detector))?;
        all_hold(&together(train, loss, &self.model.detector))?;
        self.model.detector.validate().map_err(|problem| format!("model.detector: {problem}"))?;
        self.data.validate(train.epochs)?;
        all_hold(&self.of_soft_labels())?;
        Ok(())
    }

    fn of_soft_labels(&self) -> [Check; 4] {
        let sources = &self.data.train.0;
        let has_none = sources.iter().all(|source| source.soft_labels.is_none());
        let are_all_soft = sources.iter().all(|source| source.soft_labels.is_some());
        let is_joint = self.model.detector.kind == DetectorKind::Joint;
        [
            (has_none || is_joint, "data.train.soft_labels need model.detector.kind = \"joint\""),
            (
                has_none || self.train.entities.is_none(),
                "data.train.soft_labels are about all entities of a story; remove train.entities",
            ),
            (
                has_none || self.data.leave_out.is_none(),
                "data.train.soft_labels can't go with data.leave_out: their teacher may have read the pairs that are left out",
            ),
            (
                !are_all_soft || self.model.output_bias == OutputBias::Random,
                "model.output_bias = \"frequency\" counts labels, but every source has soft labels; set \"random\"",
            ),
        ]
    }

    fn of_run(&self) -> [Check; 8] {
        let LossConfig { preconditions, effects, conflicts, story, single_story, state_margin, .. } = self.loss;
        let weights = [preconditions, effects, conflicts, story, single_story];
        [
            (self.checkpoint.keep > 0, "checkpoint.keep must be at least 1"),
            (self.threads.is_none_or(|threads| (1..=4096).contains(&threads)), "threads must be from 1 to 4096"),
            (
                self.train.patience.is_none() || self.data.dev.is_some(),
                "train.patience needs dev pairs to compare epochs on; set data.dev",
            ),
            (
                !self.data.train.are_streamed() || self.loss.normalization == Normalization::Real,
                "data.train: synthetic stories and streaming need loss.normalization = \"real\"; \"padded\" pads to the \
                 most entities of all stories, which must be in memory for that",
            ),
            (
                self.model.max_sentences.is_none_or(|sentences| (1..=MAX_SENTENCES).contains(&sentences)),
                "model.max_sentences must be from 1 to 1024",
            ),
            (self.model.dropout.is_none_or(share), "model.dropout must be at least 0 and below 1"),
            (weights.into_iter().all(not_negative), "loss: no weight may be negative"),
            (not_negative(state_margin), "loss.state_margin must be at least 0"),
        ]
    }
}

fn of_training(train: &TrainConfig) -> [Check; 12] {
    let adamw = &train.adamw;
    [
        ((1..=MAX_EPOCHS).contains(&train.epochs), "train.epochs must be from 1 to 1000000"),
        (train.pairs_per_step > 0, "train.pairs_per_step must be at least 1"),
        (
            (1..=train.pairs_per_step.min(MAX_STEP_SHARDS)).contains(&train.shards),
            "train.shards must be from 1 to train.pairs_per_step, and at most 4096: a shard has at least one pair",
        ),
        (positive(train.learning_rate), "train.learning_rate must be above 0"),
        (train.head_learning_rate.is_none_or(positive), "train.head_learning_rate must be above 0"),
        (train.entities != Some(0), "train.entities must be at least 1"),
        (train.patience != Some(0), "train.patience must be at least 1"),
        (
            train.state_sample_ratio > 0. && train.state_sample_ratio <= 1.,
            "train.state_sample_ratio must be above 0, and at most 1",
        ),
        (share(train.warmup), "train.warmup must be at least 0 and below 1"),
        (
            [adamw.beta1, adamw.beta2].into_iter().all(|beta| share(in_float32(beta))),
            "train.adamw.beta1 and beta2 must be at least 0 and below 1, also as float32",
        ),
        (
            positive(in_float32(adamw.epsilon)) && positive(adamw.clip_norm),
            "train.adamw.epsilon and clip_norm must be above 0, epsilon also as float32",
        ),
        (not_negative(adamw.weight_decay), "train.adamw.weight_decay must not be negative"),
    ]
}

fn of_detector(detector: &DetectorConfig) -> [Check; 4] {
    let is_joint = detector.kind == DetectorKind::Joint;
    [
        (
            !is_joint || detector.norm == Norm::After && detector.residual_scale == 1. && !detector.standardize,
            "model.detector: norm, residual_scale and standardize need kind = \"paper\"",
        ),
        (not_negative(detector.residual_scale), "model.detector.residual_scale must not be negative"),
        (
            is_joint || (detector.sentence_layers == 0 && !detector.entities),
            "model.detector: sentence_layers and entities need kind = \"joint\"",
        ),
        (
            detector.context == Context::Sentence || detector.reads_stories(),
            "model.detector.context = \"story\" needs kind = \"joint\", and inputs that are not \"states\"; \
             set it to \"sentence\", which changes nothing",
        ),
    ]
}

/// Values that need others.
fn together(train: &TrainConfig, loss: &LossConfig, detector: &DetectorConfig) -> [Check; 3] {
    let is_real = loss.normalization == Normalization::Real;
    [
        (train.entities.is_none() || is_real, "train.entities needs loss.normalization = \"real\""),
        (
            train.state_sample_ratio == 1. || !detector.reads_inputs() && is_real,
            "train.state_sample_ratio below 1 needs a detector that reads whole stories only (model.detector: kind = \
             \"joint\", context = \"story\", inputs = \"embeddings\", entities = false) and loss.normalization = \"real\"",
        ),
        (
            detector.kind == DetectorKind::Joint || loss.single_story == 0.,
            "loss.single_story needs model.detector.kind = \"joint\"; the paper's detector does not need this loss",
        ),
    ]
}
