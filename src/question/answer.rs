//! The answers of a run.

use super::PairQuestion;
use crate::data::Pair;
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::TrainedRun;
use crate::language::Language;
use crate::prediction::{LabelledPair, StoryPrediction, all_readings, mean_of_readings};
use crate::report::Answer;

/// How an answer is found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Decoding {
    /// How the sentences in conflict are chosen; `None`: as is usual for the run's detector.
    pub conflicts: Option<Decode>,
    /// Which states are predicted; `None`: the choice made on dev, else argmax.
    pub states: Option<StateDecode>,
    /// Whether the probabilities are means over all readings of the stories ([`all_readings`]).
    pub augment: bool,
    /// The language in which states are named; `None`: the one of the function words.
    pub language: Option<Language>,
}

/// What a run predicts about a question.
pub struct Judged {
    /// The stories of the answer: two, or a single one.
    pub stories: Vec<StoryPrediction>,
    /// The same for a person or a program.
    pub answer: Answer,
}

/// Answers questions, in their order.
///
/// # Errors
/// `Unavailable` if one is about a single story and the run can't judge one; `Data` if a story or a sentence is too long
/// for the model.
pub fn judge(run: &TrainedRun, questions: Vec<PairQuestion>, decoding: Decoding) -> Result<Vec<Judged>> {
    if let Some(single) = questions.iter().find(|question| question.single_story) {
        run.require_single_story().map_err(|error| error.about(&single.source))?;
    }
    let asked_of =
        questions.iter().map(|question| (question.pair.clone(), question.source.clone())).collect::<Vec<_>>();
    let (pairs, asked): (Vec<Pair>, Vec<_>) =
        questions.into_iter().map(|q| (q.pair, (q.single_story, q.found))).unzip();
    let readings = if decoding.augment { all_readings(pairs) } else { pairs };
    let predictions = run.evaluate(readings, |_| ()).map_err(|error| of_question(run, asked_of, error))?.predictions;
    let predictions = if decoding.augment { mean_of_readings(predictions) } else { predictions };
    let answered = predictions.into_iter().zip(asked);
    answered.map(|(pair, (single_story, found))| decoded(run, pair, single_story, &found, decoding)).collect()
}

/// The error of the first question that the run can't read.
fn of_question(run: &TrainedRun, questions: Vec<(Pair, String)>, error: Error) -> Error {
    let mut errors =
        questions.into_iter().filter_map(|(pair, source)| Some(run.corpus(vec![pair]).err()?.about(source)));
    errors.next().unwrap_or(error)
}

fn decoded(
    run: &TrainedRun,
    mut pair: LabelledPair,
    single_story: bool,
    found: &[bool],
    decoding: Decoding,
) -> Result<Judged> {
    if single_story {
        let refused = || Error::new(ErrorKind::Internal, "a run that judges single stories gave no judgement of one");
        for story in &mut pair.prediction.stories {
            *story = story.single_story().ok_or_else(refused)?;
        }
    }
    let decode = decoding.conflicts.unwrap_or_else(|| run.own_decode());
    let prediction = run.decoded(pair, decode, decoding.states).prediction;
    let answer = if single_story { Answer::of_story } else { Answer::of_pair };
    let answer = answer(&prediction, decode, decoding.language).with_found(found);
    let mut stories = Vec::from(prediction.stories);
    if single_story {
        stories.swap_remove(prediction.plausible); // the answer is about the other one
    }
    Ok(Judged { stories, answer })
}
