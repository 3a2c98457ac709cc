//! Trains the model with a conflict detector of its own, and scores it on the training pairs:
//! `LIBTORCH=$PWD/.libtorch cargo run --release --example custom_detector -- configs/demo.toml`
//!
//! The detector here is about the smallest that works: whether a sentence takes part in a conflict of an entity is a
//! linear function of the state logits of that entity in that sentence. It sees no other sentence.

use std::path::Path;
use tch::{Kind, Tensor, nn};
use tiered::batch::Batch;
use tiered::config::Config;
use tiered::decode::{Decode, StateDecode};
use tiered::error::{Error, ErrorKind, Result};
use tiered::experiment::Trial;
use tiered::model::{ConflictDetector, Conflicts, DetectorInput, Mode, ModelConfig};
use tiered::report::TierRow;
use tiered::train::{TrainEvent, Training};

struct LinearDetector {
    layer: nn::Linear,
}

fn linear_detector(p: &nn::Path, _config: &ModelConfig) -> Box<dyn ConflictDetector> {
    let logits = 2 * tiered::attribute::SIDE_CLASSES as i64; // before and after the sentence
    Box::new(LinearDetector { layer: nn::linear(p / "linear", logits, 1, nn::LinearConfig::default()) })
}

impl ConflictDetector for LinearDetector {
    fn forward(&self, input: DetectorInput, batch: &Batch, _mode: Mode) -> Conflicts {
        let (r, n) = batch.cells.size2().expect("cells are [R, N]");
        let scores: Tensor = input.state_logits.to_kind(Kind::Float).apply(&self.layer); // [U, 1]
        Conflicts::Sentences { logits: scores.index_select(0, &batch.cells.view([-1])).view([r, n]) }
    }
}

fn main() -> Result<()> {
    println!("{}", run(&std::env::args().skip(1).collect::<Vec<_>>())?);
    Ok(())
}

/// The scores, as text.
pub fn run(arguments: &[String]) -> Result<String> {
    let [config, overrides @ ..] = arguments else {
        return Err(Error::new(ErrorKind::Usage, "usage: custom_detector CONFIG [KEY=VALUE]..."));
    };
    // The losses and the decoding are those of a detector with a conflict probability for each sentence.
    let own = ["model.detector.kind=\"paper\"", "loss.single_story=0"].map(str::to_owned);
    let config = Config::open(Path::new(config), &[overrides, &own].concat())?;
    let trial = Trial::with_detector(config, None, &linear_detector)?;
    let mut training = Training::new(trial.fit(), trial.parameters());
    while let Some(event) = training.advance()? {
        if let TrainEvent::Step(step) = event {
            eprintln!("step {} of {}: {}", step.step, step.steps, step.losses);
        }
    }
    let predictions = Decode::Threshold.apply(&trial.evaluate(&trial.train.corpus, 8, |_| ()).predictions);
    let scores = TierRow::new("threshold", StateDecode::Argmax, &predictions);
    let names = trial.weights().into_keys().filter(|name| name.starts_with("detector."));
    let names = names.collect::<Vec<_>>().join(", ");
    Ok(format!("{names}\naccuracy on the training pairs: {} of {}", scores.accuracy.count, scores.accuracy.total))
}
