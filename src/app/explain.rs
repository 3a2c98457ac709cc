//! An answer with what lies behind it: the probability of every state over the sentences of a story.

use crate::attribute::{Attribute, Side};
use crate::language::Language;
use crate::prediction::{EntityPrediction, StateCandidate, StoryPrediction};
use crate::question::Judged;
use crate::report::Answer;
use serde::Serialize;

/// An answer, and the states of its stories.
#[derive(Serialize)]
pub struct Explanation {
    /// As `tiered predict --format json` gives it.
    answer: Answer,
    /// What a person should know about the text: lines that were not read, likely slips.
    notes: Vec<String>,
    /// In the order of the answer.
    stories: Vec<ExplainedStory>,
}

#[derive(Serialize)]
struct ExplainedStory {
    language: Language,
    entities: Vec<ExplainedEntity>,
}

#[derive(Serialize)]
struct ExplainedEntity {
    name: String,
    /// For each sentence, how likely it takes part in a conflict of this entity.
    conflict_probs: Vec<f32>,
    states: Vec<ExplainedState>,
}

/// The most likely nontrivial state of an attribute, if its probability is at least 0.02.
#[derive(Serialize)]
struct ExplainedState {
    sentence: usize,
    side: Side,
    attribute: Attribute,
    class: u8,
    probability: f32,
    /// Whether it is predicted; else the trivial class is.
    predicted: bool,
}

impl Explanation {
    pub fn new(judged: Judged, notes: Vec<String>) -> Self {
        let language = judged.answer.language;
        let stories = judged.stories.iter().map(|story| ExplainedStory::of(story, language)).collect();
        Explanation { answer: judged.answer, notes, stories }
    }
}

impl ExplainedStory {
    fn of(story: &StoryPrediction, language: Language) -> Self {
        let entities = story.entities.iter().map(ExplainedEntity::of).collect();
        ExplainedStory { language, entities }
    }
}

impl ExplainedEntity {
    fn of(entity: &EntityPrediction) -> Self {
        let of_side = |side: Side| {
            let states = entity.side(side);
            let classes = &states.classes;
            states.candidates.iter().map(move |candidate| {
                let &StateCandidate { sentence, attribute, class, probability, .. } = candidate;
                let predicted = classes[sentence][attribute.index()] == class;
                ExplainedState { sentence, side, attribute, class, probability, predicted }
            })
        };
        ExplainedEntity {
            name: entity.name.clone(),
            conflict_probs: entity.conflict_probs.clone(),
            states: Side::BOTH.into_iter().flat_map(of_side).collect(),
        }
    }
}
