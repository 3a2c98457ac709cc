//! The evaluation on dev, shared by the processes of a run: batch number c is that of process c mod N.

use super::fit::{Diverged, Fit, Halt};
use super::progress::DevRecord;
use crate::batch::Corpus;
use crate::calibrate;
use crate::decode::{Decode, StateDecode};
use crate::distributed::LostRank;
use crate::eval::{BatchEvaluation, Evaluation, evaluate_batches, merge};
use crate::loss::LossValues;
use crate::metrics::TierCounts;
use crate::prediction::LabelledPair;
use serde::{Deserialize, Serialize};

/// A [`BatchEvaluation`] on its way to the first process. Numbers that are not finite have no form in JSON, so losses
/// are sent as their bits.
#[derive(Serialize, Deserialize)]
struct BatchMessage {
    predictions: Vec<LabelledPair>,
    losses: [u64; LossValues::TERMS],
    counts: [u64; LossValues::TERMS],
}

/// What the first process makes of the evaluation: the record, or the first loss that is not finite.
type Outcome = Result<DevRecord, String>;

impl Fit<'_> {
    /// Evaluates on dev, decoded in every way that counts for the choice of the best epoch. `step` is for the message.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn evaluate(&self, dev: &Corpus, step: u64) -> Result<DevRecord, Halt> {
        let own = self.own_batches(dev);
        let outcome = match self.ranks.is_alone() {
            true => self.outcome(merge(own)),
            false => self.shared_outcome(own)?,
        };
        let diverged = |what| Diverged { step, what, pairs: vec!["of dev".to_owned()] };
        Ok(outcome.map_err(diverged)?)
    }

    fn own_batches(&self, dev: &Corpus) -> Vec<BatchEvaluation> {
        let (rank, size) = (self.ranks.rank(), self.ranks.size());
        let mode = self.model.eval_mode(self.eval.precision);
        let forward = |batch| match self.frozen.as_ref().and_then(|frozen| frozen.dev.as_ref()) {
            Some(vectors) => vectors.read(self.model, batch, mode),
            None => (self.model.forward(&batch, mode), batch),
        };
        evaluate_batches(dev, self.eval, |batch| batch % size == rank, forward, |_| ())
    }

    /// The outcome of the batches of all processes, which the first one finds.
    fn shared_outcome(&self, own: Vec<BatchEvaluation>) -> Result<Outcome, LostRank> {
        let ranks = &self.ranks;
        // A loss that is not finite comes from probabilities that are not, and the record would be of no use.
        let failed = own.iter().find_map(|batch| batch.losses.not_finite()).map(str::to_owned);
        let sent = failed.map_or(Ok(own.into_iter().map(BatchMessage::from).collect::<Vec<_>>()), Err);
        let parts = ranks.bytes_of_all(to_bytes(&sent))?;
        let outcome = if ranks.leads() { to_bytes(&self.outcome_of_parts(&parts)?) } else { Vec::new() };
        from_bytes(&ranks.bytes_of(0, outcome)?)
    }

    fn outcome_of_parts(&self, parts: &[Vec<u8>]) -> Result<Outcome, LostRank> {
        let parts = parts.iter().map(|bytes| from_bytes(bytes)).collect::<Result<Vec<_>, _>>()?;
        let parts: Vec<Vec<BatchMessage>> = match parts.into_iter().collect::<Result<_, String>>() {
            Ok(parts) => parts,
            Err(what) => return Ok(Err(what)),
        };
        let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
        let mut batches = Vec::new();
        for number in 0.. {
            let Some(batch) = parts[number % self.ranks.size()].next() else { break };
            batches.push(batch.into());
        }
        Ok(self.outcome(merge(batches)))
    }

    fn outcome(&self, evaluation: Evaluation) -> Outcome {
        match evaluation.losses.not_finite() {
            Some(what) => Err(what.to_owned()),
            None => Ok(self.record(&evaluation)),
        }
    }

    fn record(&self, evaluation: &Evaluation) -> DevRecord {
        let predictions = &evaluation.predictions;
        let tiers = |decode: Decode| TierCounts::of(&decode.apply(predictions));
        let trials = calibrate::try_states(predictions, self.decode);
        let states = calibrate::best(&trials).map_or(StateDecode::Argmax, |trial| trial.states);
        DevRecord {
            calibrated: TierCounts::of(&states.apply(&self.decode.apply(predictions))),
            losses: evaluation.losses,
            decode: self.decode,
            threshold: tiers(Decode::Threshold),
            pair: tiers(Decode::Pair),
            metric: self.config.metric_for_best_model,
        }
    }
}

impl From<BatchEvaluation> for BatchMessage {
    fn from(batch: BatchEvaluation) -> Self {
        let bits = |values: LossValues| values.to_terms().map(f64::to_bits);
        let (losses, counts) = (bits(batch.losses), bits(batch.counts));
        BatchMessage { predictions: batch.predictions, losses, counts }
    }
}

impl From<BatchMessage> for BatchEvaluation {
    fn from(sent: BatchMessage) -> Self {
        let [losses, counts] = [sent.losses, sent.counts].map(|bits| bits.map(f64::from_bits));
        BatchEvaluation {
            predictions: sent.predictions,
            losses: LossValues::from_terms(&losses, &counts),
            counts: LossValues::from_terms(&counts, &counts),
        }
    }
}

fn to_bytes(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("it can be written as JSON")
}

/// # Errors
/// [`LostRank`] if the other process is no such program.
fn from_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, LostRank> {
    serde_json::from_slice(bytes).map_err(|error| LostRank(format!("it sent what can't be read: {error}")))
}
