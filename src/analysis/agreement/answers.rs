//! What both annotators were asked about their shared stories, and what they answered.

use crate::attribute::Attribute;
use crate::data::{Entity, SharedStory, Story};
use crate::metrics::LabelledUnit;

/// What both annotators answered to one question.
#[derive(Clone, Copy)]
pub(super) struct TwoAnswers<'a> {
    pub story: &'a SharedStory<'a>,
    pub tier: u8,
    /// In tiers 2 and 3.
    pub sentence: Option<usize>,
    /// In tier 3, like the attribute.
    pub entity: Option<&'a str>,
    pub attribute: Option<Attribute>,
    /// In tiers 1 and 2, 1 is implausible and in the conflict, else 0. At least one annotator gives a label.
    pub labels: [Option<u8>; 2],
}

/// The answers of all tiers: those of tier 1 first, each in the order of the stories.
pub(super) fn answers<'a>(stories: &'a [SharedStory<'a>]) -> Vec<TwoAnswers<'a>> {
    let plausibility = stories.iter().map(of_story);
    let conflicts = stories.iter().flat_map(of_sentences);
    plausibility.chain(conflicts).chain(stories.iter().flat_map(of_states)).collect()
}

/// Whether the story is implausible.
fn of_story<'a>(story: &'a SharedStory<'a>) -> TwoAnswers<'a> {
    let labels = story.passes.map(|pass| Some(pass.conflict.is_some().into()));
    TwoAnswers { story, tier: 1, sentence: None, entity: None, attribute: None, labels }
}

/// Whether each sentence is in the conflict, if at least one annotator says that there is one.
fn of_sentences<'a>(story: &'a SharedStory<'a>) -> impl Iterator<Item = TwoAnswers<'a>> {
    let is_in = |pass: &Story, sentence| {
        pass.conflict.is_some_and(|conflict| [conflict.evidence, conflict.breakpoint].contains(&sentence))
    };
    let has_conflict = story.passes.iter().any(|pass| pass.conflict.is_some());
    (0..story.passes[0].sentences.len()).filter(move |_| has_conflict).map(move |sentence| {
        let labels = story.passes.map(|pass| Some(is_in(pass, sentence).into()));
        TwoAnswers { tier: 2, sentence: Some(sentence), labels, ..of_story(story) }
    })
}

/// The label of every attribute of every entity in every sentence that has one by at least one annotator.
fn of_states<'a>(story: &'a SharedStory<'a>) -> impl Iterator<Item = TwoAnswers<'a>> {
    let entities = entities(story);
    let cells = (0..story.passes[0].sentences.len())
        .flat_map(move |sentence| entities.clone().into_iter().map(move |entity| (sentence, entity)));
    cells.flat_map(move |(sentence, (name, entity))| {
        Attribute::ALL.into_iter().filter_map(move |attribute| {
            let labels = entity.map(|entity| entity?.label(sentence, attribute));
            let (sentence, entity, attribute) = (Some(sentence), Some(name), Some(attribute));
            (labels != [None; 2]).then(|| TwoAnswers {
                tier: 3,
                sentence,
                entity,
                attribute,
                labels,
                ..of_story(story)
            })
        })
    })
}

/// The entities of both annotators by name: those of the first, then those that only the second has.
fn entities<'a>(story: &SharedStory<'a>) -> Vec<(&'a str, [Option<&'a Entity>; 2])> {
    let find = |name: &str| story.passes.map(|pass| pass.entities.iter().find(|entity| entity.name == name));
    let [first, second] = story.passes.map(|pass| pass.entities.iter().map(|entity| entity.name.as_str()));
    let all = first.chain(second).map(|name| (name, find(name)));
    let mut entities: Vec<(&str, [Option<&Entity>; 2])> = Vec::new();
    for (name, passes) in all {
        if !entities.iter().any(|(known, _)| *known == name) {
            entities.push((name, passes));
        }
    }
    entities
}

impl TwoAnswers<'_> {
    /// Whether two answers are about the same entity in the same sentence, in tier 3.
    pub fn is_of_same_cell(&self, other: &TwoAnswers) -> bool {
        let is_same = (self.tier, self.sentence, self.entity) == (other.tier, other.sentence, other.entity);
        self.tier == 3 && is_same && std::ptr::eq(self.story, other.story)
    }

    /// For the coefficients of agreement.
    pub fn unit(&self) -> LabelledUnit {
        let is_nontrivial = |&label: &u8| self.attribute.map_or(label > 0, |attribute| attribute.is_nontrivial(label));
        LabelledUnit {
            group: self.story.group,
            labels: self.labels,
            is_nontrivial: self.labels.iter().flatten().any(is_nontrivial),
        }
    }
}
