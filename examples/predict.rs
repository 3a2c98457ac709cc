//! Reads pairs, loads a run, predicts, scores, and explains one pair:
//! `LIBTORCH=$PWD/.libtorch cargo run --release --example predict -- runs/demo data/sample/it.json`

use std::path::Path;
use tiered::data;
use tiered::decode::StateDecode;
use tiered::error::{Error, ErrorKind, Result};
use tiered::experiment::{CheckpointKind, TrainedRun};
use tiered::machine::ComputeChoice;
use tiered::report::{Answer, TierRow};

fn main() -> Result<()> {
    println!("{}", run(&std::env::args().skip(1).collect::<Vec<_>>())?);
    Ok(())
}

/// The scores and the explanation, as text.
pub fn run(arguments: &[String]) -> Result<String> {
    let [run, stories] = arguments else {
        return Err(Error::new(ErrorKind::Usage, "usage: predict RUN STORIES"));
    };
    let pairs = data::pairs(data::read_file(Path::new(stories))?.split("test")?, 0);
    let run = TrainedRun::open(Path::new(run), CheckpointKind::Best, &ComputeChoice::default())?;

    // Conflicts as the run's detector decides them, states by argmax.
    let decode = run.own_decode();
    let predictions = run.evaluate(pairs, |_| ())?.predictions;
    let predictions: Vec<_> =
        predictions.into_iter().map(|pair| run.decoded(pair, decode, Some(StateDecode::Argmax))).collect();

    let TierRow { accuracy, consistency, verifiability, .. } =
        TierRow::new(decode.name(), StateDecode::Argmax, &predictions);
    let tiers = [("accuracy", accuracy), ("consistency", consistency), ("verifiability", verifiability)];
    let scores = tiers.map(|(tier, share)| format!("{tier}: {} of {} pairs\n", share.count, share.total)).concat();
    let first = predictions
        .first()
        .map(|pair| format!("\npair {}\n{}", pair.id, Answer::of_pair(&pair.prediction, decode, None).to_text()));
    Ok(scores + &first.unwrap_or_default())
}
