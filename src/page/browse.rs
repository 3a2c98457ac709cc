//! Every pair with what was said of it and what is so (TRIP, figure 6).

use super::read::{EvaluatedSet, Run};
use super::set_name;
use crate::analysis::Tier;
use crate::attribute::{Attribute, Side};
use crate::prediction::{EntityPrediction, PairPrediction, StoryPrediction};
use crate::report::words::{noun, predicate};

/// One pair.
pub struct PairView {
    /// The set it is of, as the filter names it.
    pub set: String,
    pub id: String,
    pub kind: String,
    pub tier: &'static str,
    /// The story that was chosen as plausible: "A" or "B".
    pub chosen: &'static str,
    /// Its probability in percent, as the model gives it.
    pub confidence: String,
    pub stories: [StoryView; 2],
    /// After the first and before the second sentence of the gold conflict.
    pub conflict: [PlaceView; 2],
}

pub struct StoryView {
    pub letter: &'static str,
    pub is_plausible: bool,
    pub is_chosen: bool,
    pub sentences: Vec<SentenceView>,
    /// What is said or so of states, by sentence and entity.
    pub states: Vec<StateRow>,
}

pub struct SentenceView {
    pub text: String,
    /// Takes part in the conflict: as labelled, as said.
    pub is_gold: bool,
    pub is_said: bool,
    /// Percent.
    pub belief: String,
}

/// The states at one sentence of a conflict.
pub struct PlaceView {
    pub when: String,
    pub states: Vec<StateView>,
}

pub struct StateRow {
    pub sentence: usize,
    pub entity: String,
    pub before: Vec<StateView>,
    pub after: Vec<StateView>,
}

/// A nontrivial state that is asserted, so, or both.
pub struct StateView {
    /// "right", "wrong" (asserted, and not so) or "missed" (so, and not asserted).
    pub status: &'static str,
    pub mark: &'static str,
    pub words: String,
}

const LETTERS: [&str; 2] = ["A", "B"];

/// Of all runs and sets.
pub fn pairs(runs: &[Run]) -> Vec<PairView> {
    let sets = runs.iter().flat_map(|run| run.sets.iter().map(move |set| (run, set)));
    let of_set = |(run, set): (&Run, &EvaluatedSet)| {
        let name = set_name(runs, run, &set.name);
        set.predictions.iter().map(move |p| PairView::new(&name, set, p)).collect::<Vec<_>>()
    };
    sets.flat_map(of_set).collect()
}

impl PairView {
    fn new(name: &str, set: &EvaluatedSet, prediction: &PairPrediction) -> Self {
        let said = set.conflicts.by_story(prediction);
        let [evidence, breakpoint] = prediction.gold_conflict;
        let story = prediction.implausible_story();
        let place = |when: &str, side, sentence| PlaceView {
            when: format!("{when} sentence {}", sentence + 1),
            states: story.entities.iter().flat_map(|e| states(e, side, sentence, true)).collect(),
        };
        PairView {
            set: name.to_owned(),
            id: prediction.id.clone(),
            kind: prediction.kind.clone(),
            tier: Tier::of(prediction).name(),
            chosen: LETTERS[prediction.plausible],
            confidence: format!("{:.0}", 100. * prediction.story_probs[prediction.plausible]),
            stories: [0, 1].map(|s| StoryView::new(s, prediction, &said[s])),
            conflict: [place("After", Side::Effect, evidence), place("Before", Side::Precondition, breakpoint)],
        }
    }
}

impl StoryView {
    fn new(s: usize, prediction: &PairPrediction, said: &[usize]) -> Self {
        let story = &prediction.stories[s];
        let is_plausible = s == prediction.gold_plausible;
        let sentence = |(n, text): (usize, &String)| SentenceView {
            text: text.clone(),
            is_gold: !is_plausible && prediction.gold_conflict.contains(&n),
            is_said: said.contains(&n),
            belief: format!("{:.0}", 100. * story.belief(n)),
        };
        StoryView {
            letter: LETTERS[s],
            is_plausible,
            is_chosen: s == prediction.plausible,
            sentences: story.sentences.iter().enumerate().map(sentence).collect(),
            states: rows(story),
        }
    }
}

/// Without rows in which nothing is said or so.
fn rows(story: &StoryPrediction) -> Vec<StateRow> {
    let places = (0..story.sentences.len()).flat_map(|n| story.entities.iter().map(move |entity| (n, entity)));
    let row = |(n, entity): (usize, &EntityPrediction)| StateRow {
        sentence: n + 1,
        entity: entity.name.clone(),
        before: states(entity, Side::Precondition, n, false),
        after: states(entity, Side::Effect, n, false),
    };
    places.map(row).filter(|row| !row.before.is_empty() || !row.after.is_empty()).collect()
}

/// The states of one entity at one place; with its name, if it is not named beside them.
fn states(entity: &EntityPrediction, side: Side, sentence: usize, named: bool) -> Vec<StateView> {
    let labels = entity.side(side);
    let mut views = Vec::new();
    for attribute in Attribute::ALL {
        let [gold, said] = [&labels.gold, &labels.predicted].map(|rows| rows[sentence][attribute.index()]);
        let mut add = |class: u8, status, mark| {
            if let Some(predicate) = predicate(attribute, side, class).filter(|_| attribute.is_nontrivial(class)) {
                let words = if named { format!("{} {predicate}", noun(&entity.name)) } else { predicate };
                views.push(StateView { status, mark, words });
            }
        };
        if gold == said {
            add(gold, "right", "✓");
        } else {
            add(said, "wrong", "✗");
            add(gold, "missed", "○");
        }
    }
    views
}
