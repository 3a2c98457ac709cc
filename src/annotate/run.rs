//! Predictions of a trained run for the stories of a project.

use super::question::{ProposalQuestion, StoryText};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::TrainedRun;
use crate::prediction::PairPrediction;
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// How many predictions are kept besides those of the stories that were asked about together.
const MOST_KEPT: usize = 4096;
/// How many stories are predicted together.
const TOGETHER: usize = 4;

/// The predictions of a run so far, by what was read. A story whose text did not change is not predicted again.
#[derive(Default)]
pub struct Predictions {
    kept: HashMap<[StoryText; 2], PairPrediction>,
    /// What the run can't read: it is too long.
    unreadable: HashSet<[StoryText; 2]>,
    /// The number of stories that were asked about together.
    together: usize,
}

impl Predictions {
    /// The prediction for a question, if there is one.
    pub fn get(&self, question: &ProposalQuestion) -> Option<&PairPrediction> {
        self.kept.get(&question.texts)
    }

    /// Predicts what is asked, unless it was predicted before.
    ///
    /// # Errors
    /// `Data` if a story is too long for the model.
    pub fn predict(&mut self, run: &TrainedRun, questions: &[&ProposalQuestion]) -> Result<()> {
        let new: Vec<_> = questions.iter().filter(|question| self.get(question).is_none()).collect();
        if new.is_empty() {
            return Ok(());
        }
        let predicted = run.evaluate(new.iter().map(|question| question.pair()).collect(), |_| ())?.predictions;
        if predicted.len() != new.len() {
            return Err(Error::new(ErrorKind::Internal, "some stories were evaluated to no prediction"));
        }
        if self.kept.len() + new.len() > MOST_KEPT + self.together {
            self.kept.clear();
        }
        let decoded = predicted.into_iter().map(|pair| run.decoded(pair, run.own_decode(), None).prediction);
        self.kept.extend(new.iter().map(|question| question.texts.clone()).zip(decoded));
        Ok(())
    }

    /// Predicts as many of the questions as the time allows. Those that the run can't read are left out from then on.
    ///
    /// # Errors
    /// Those of [`Predictions::predict`] that are not about a single story.
    pub fn predict_until(
        &mut self,
        run: &TrainedRun,
        questions: &mut Vec<ProposalQuestion>,
        end: Instant,
    ) -> Result<()> {
        self.together = questions.len();
        questions.retain(|question| !self.unreadable.contains(&question.texts));
        let open: Vec<_> = questions.iter().filter(|question| self.get(question).is_none()).collect();
        for some in open.chunks(TOGETHER) {
            if Instant::now() >= end {
                break;
            }
            if self.predict(run, some).is_ok() {
                continue;
            }
            for question in some {
                match self.predict(run, &[question]) {
                    Err(error) if error.kind == ErrorKind::Data => drop(self.unreadable.insert(question.texts.clone())),
                    predicted => predicted?,
                }
            }
        }
        questions.retain(|question| !self.unreadable.contains(&question.texts));
        Ok(())
    }
}
