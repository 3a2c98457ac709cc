//! What a config says about training, as the parts of a training run.

use crate::batch::{Corpus, InputText, Layout, Reads, Strata, WholeStories};
use crate::config::Config;
use crate::decode::Decode;
use crate::distributed::Ranks;
use crate::eval::EvalConfig;
use crate::loss::{Normalization, state_margins};
use crate::model::{DetectorKind, ModelConfig};
use crate::train::{Fit, Frozen, Network, TrainPairs, Vectors};
use std::rc::Rc;

/// Training as in the config.
pub fn fit<'a>(
    config: &Config,
    model: &ModelConfig,
    network: &'a Network,
    train: &'a TrainPairs,
    dev: Option<&'a Corpus>,
    eval: EvalConfig,
) -> Fit<'a> {
    let TrainPairs { corpus, parts, stream } = train;
    let pad_to_entities = (config.loss.normalization == Normalization::Padded).then(|| corpus.max_entities());
    let layout = Layout { pad_to_entities, ..eval.layout };
    let vectors = |corpus| Vectors::new(corpus, model.encoder.hidden_size, eval.device);
    Fit {
        model: &network.model,
        frozen: reads_vectors(network, model, train).then(|| Frozen { train: vectors(corpus), dev: dev.map(vectors) }),
        train: corpus,
        stream: stream.clone(),
        parts,
        dev,
        config: config.train,
        strata: match config.model.detector.kind {
            DetectorKind::Paper => Strata::One,
            DetectorKind::Joint => Strata::Conflict,
        },
        loss: config.loss,
        state_margins: state_margins(config.loss.state_margin, eval.device).map(Rc::new),
        eval: EvalConfig { layout, ..eval },
        decode: own_decode(config),
        seed: config.seed,
        ranks: Rc::new(Ranks::alone()),
    }
}

/// Whether no step changes the encoder, and all inputs are in memory. Then each input is encoded once only.
pub fn reads_vectors(network: &Network, model: &ModelConfig, train: &TrainPairs) -> bool {
    let sentences_only = Reads { input_text: InputText::Sentence, stories: WholeStories::Unread };
    network.encoder_is_frozen() && model.reads() == sentences_only && train.stream.is_none()
}

/// The decoding of conflicts that fits the run's detector. Epochs and thresholds are chosen with it.
pub fn own_decode(config: &Config) -> Decode {
    match config.model.detector.kind {
        DetectorKind::Paper => Decode::Threshold,
        DetectorKind::Joint => Decode::Pair,
    }
}
