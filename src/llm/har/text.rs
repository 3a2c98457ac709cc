//! The sentences of HAR's prompts.

use crate::attribute::Attribute;
use crate::data::{Conflict, Pair, Story};
use crate::error::{Error, Result};

/// The names of the two stories of a pair.
pub(super) const LETTERS: [&str; 2] = ["A", "B"];

/// What follows the two sentences in conflict.
pub(super) const CONFLICT: &str = " conflict with each other.\n";

/// Both stories, sentence by sentence, from 1.
pub fn told(stories: [&Story; 2]) -> String {
    let told = |(letter, story): (&str, &Story)| {
        let lines = story.sentences.iter().enumerate().map(|(i, sentence)| format!("{}. {sentence}\n", i + 1));
        format!("Story {letter}: \n{}", lines.collect::<String>())
    };
    LETTERS.into_iter().zip(stories).map(told).collect()
}

/// What stands before the first answer: the worked examples, the two stories, and the first word of the answer. `shown`
/// are the stories of the pair, in the order in which they are shown. A pair is not its own example.
///
/// # Errors
/// `Data` if an example has no states at its conflict.
pub fn first_prompt(shots: &[Pair], pair: &Pair, shown: [usize; 2]) -> Result<String> {
    let is_other = |shot: &&Pair| shot.implausible_story().sentences != pair.implausible_story().sentences;
    let shots = shots.iter().filter(is_other).map(|shot| Ok(demonstration(shot)? + "\n"));
    let shots: String = shots.collect::<Result<_>>()?;
    Ok(format!("{shots}\n{}Story", told(shown.map(|story| &pair.stories[story]))))
}

/// A worked example: both stories, and the gold answers of all tiers.
///
/// # Errors
/// `Data` if it has no nontrivial state at its conflict.
pub fn demonstration(pair: &Pair) -> Result<String> {
    let story = pair.implausible_story();
    let Conflict { evidence, breakpoint } = pair.conflict;
    let [effect, precondition] = explanation(story, pair.conflict).ok_or_else(|| {
        Error::data(format!("pair {:?}: has no nontrivial states at its conflict; show another pair", pair.id))
    })?;
    let [plausible, implausible] = [LETTERS[pair.plausible], LETTERS[1 - pair.plausible]];
    let states = [
        (evidence, after(story, evidence), after_question(effect.entity), effect.text()),
        (breakpoint, before(story, breakpoint), before_question(precondition.entity), precondition.text()),
    ];
    let states: String = states
        .into_iter()
        .map(|(sentence, opening, question, state)| {
            format!("For sentence {}:\n{opening}{question} {state}.\n", sentence + 1)
        })
        .collect();
    Ok(format!(
        "{}Story {plausible} is more plausible.\nIn Story {implausible}, sentences {} and {}{CONFLICT}{states}",
        told(pair.stories.each_ref()),
        evidence + 1,
        breakpoint + 1,
    ))
}

/// "After Ada opened the chest, what"
pub(super) fn after(story: &Story, sentence: usize) -> String {
    format!("After {}, what", without_point(&story.sentences[sentence]))
}

/// "Before Ada opened the chest, what"
pub(super) fn before(story: &Story, sentence: usize) -> String {
    format!("Before {}, what", without_point(&story.sentences[sentence]))
}

/// " is the state of the chest? The chest is now"
pub(super) fn after_question(entity: &str) -> String {
    let (the, at_start) = named(entity);
    let be = if entity.ends_with('s') { "are" } else { "is" };
    format!(" {be} the state of {the}? {at_start} {be} now")
}

/// " was the state of the chest? The chest was"
pub(super) fn before_question(entity: &str) -> String {
    let (the, at_start) = named(entity);
    let be = if entity.ends_with('s') { "were" } else { "was" };
    format!(" {be} the state of {the}? {at_start} {be}")
}

/// Without the sign that ends the sentence, which is a point in TRIP; HAR's program drops the last character, whatever
/// it is.
fn without_point(sentence: &str) -> &str {
    sentence.strip_suffix(['.', '!', '?']).unwrap_or(sentence)
}

/// A person has a capital letter; a thing has an article.
fn is_person(entity: &str) -> bool {
    entity.chars().next().is_some_and(char::is_uppercase) && entity != "TV"
}

fn named(entity: &str) -> (String, String) {
    if is_person(entity) {
        (entity.to_owned(), entity.to_owned())
    } else {
        (format!("the {entity}"), format!("The {entity}"))
    }
}

/// A state of an entity on one side of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Explaining<'a> {
    pub entity: &'a str,
    pub attribute: Attribute,
    pub class: u8,
}

impl Explaining<'_> {
    fn text(&self) -> &'static str {
        state_text(self.attribute, self.class).expect("its class is not 0")
    }
}

/// The effect of the first sentence and the precondition of the second that explain a conflict: the first attribute of
/// an entity that is false in one and true in the other, else the first nontrivial state of each side.
fn explanation(story: &Story, conflict: Conflict) -> Option<[Explaining<'_>; 2]> {
    let mut states = story.entities.iter().flat_map(|entity| {
        Attribute::ALL.into_iter().map(move |attribute| {
            let effect = entity.effects[conflict.evidence][attribute.index()];
            let precondition = entity.preconditions[conflict.breakpoint][attribute.index()];
            (entity.name.as_str(), attribute, effect, precondition)
        })
    });
    let state = |entity, attribute, class| Explaining { entity, attribute, class };
    let contradiction =
        states.clone().find(|(_, _, effect, precondition)| matches!((effect, precondition), (1, 2) | (2, 1)));
    if let Some((entity, attribute, effect, precondition)) = contradiction {
        return Some([state(entity, attribute, effect), state(entity, attribute, precondition)]);
    }
    let effect = states.clone().find(|(_, attribute, effect, _)| attribute.is_nontrivial(*effect));
    let precondition = states.find(|(_, attribute, _, precondition)| attribute.is_nontrivial(*precondition));
    let (effect, precondition) = (effect?, precondition?);
    Some([state(effect.0, effect.1, effect.2), state(precondition.0, precondition.1, precondition.3)])
}

/// The states that an entity may have, each with its attribute and class: a person's five attributes, a thing's
/// fifteen. A text that stands for several (a thing can be "dry" in one way only) occurs once.
pub(super) fn states_of(entity: &str) -> Vec<(&'static str, Attribute, u8)> {
    let attributes = Attribute::ALL.into_iter().filter(|attribute| attribute.is_human() == is_person(entity));
    let classes = attributes.flat_map(|attribute| (1..attribute.classes() as u8).map(move |class| (attribute, class)));
    let mut states: Vec<(&str, Attribute, u8)> = Vec::new();
    for (attribute, class) in classes {
        let text = state_text(attribute, class).expect("its class is not 0");
        if !states.iter().any(|(other, ..)| *other == text) {
            states.push((text, attribute, class));
        }
    }
    states
}

/// HAR's name of a class; `None` for class 0 of attributes that have no name for it.
fn state_text(attribute: Attribute, class: u8) -> Option<&'static str> {
    use Attribute::*;
    let [is_false, is_true] = match attribute {
        HLocation => {
            return ["moved nowhere new", "disappeared", "moved somewhere new"].get(usize::from(class)).copied();
        }
        Location => return LOCATIONS.get(usize::from(class)).copied(),
        Conscious => ["unconscious", "conscious"],
        Wearing => ["undressed", "dressed"],
        HWet | Wet => ["dry", "wet"],
        Hygiene | Clean => ["dirty", "clean"],
        Exist => ["no longer existent", "existent"],
        Power => ["unpowered", "powered"],
        Functional => ["broken", "functional"],
        Pieces => ["whole", "in pieces"],
        Open => ["closed", "open"],
        Temperature => ["cold", "hot"],
        Solid => ["fluid", "solid"],
        Contain => ["empty", "occupied"],
        Running => ["turned off", "turned on"],
        Moveable => ["stuck", "moveable"],
        Mixed => ["separated", "mixed"],
        Edible => ["inedible", "edible"],
    };
    match class {
        1 => Some(is_false),
        2 => Some(is_true),
        _ => None,
    }
}

const LOCATIONS: [&str; 9] = [
    "moved nowhere new",
    "disappeared",
    "picked up",
    "put down",
    "put on",
    "removed",
    "put into a container",
    "taken out of a container",
    "moved somewhere new",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Entity, Kind};

    pub(crate) fn pair() -> Pair {
        let story = |id: &str, first: &str, conflict| {
            let mut rows = [vec![[0; 20]; 2], vec![[0; 20]; 2]];
            if conflict {
                rows[0][1][Attribute::Open.index()] = 2;
                rows[1][0][Attribute::Open.index()] = 1;
            }
            let [preconditions, effects] = rows;
            let labelled = vec![[Attribute::Open].into_iter().collect(); 2];
            let entity = Entity { name: "chest".into(), preconditions, effects, labelled };
            Story {
                id: id.into(),
                group: 1,
                actor: String::new(),
                location: String::new(),
                sentences: vec![first.to_owned(), "Ada looked into the chest.".to_owned()],
                entities: vec![entity],
                has_states: true,
                conflict: conflict.then_some(Conflict { evidence: 0, breakpoint: 1 }),
                kind: conflict.then_some(Kind::Cloze),
            }
        };
        Pair {
            id: "1-C0".into(),
            group: 1,
            kind: Kind::Cloze,
            stories: [story("1-C0", "Ada shut the chest.", true), story("1", "Ada opened the chest.", false)],
            plausible: 1,
            conflict: Conflict { evidence: 0, breakpoint: 1 },
            soft: None,
        }
    }

    #[test]
    fn a_sentence_without_a_final_point_keeps_its_letters() {
        let sentences = ["Ada sat.", "Ada sat!", "Did Ada sit?", "Ada sat", "Ada sat...", ""];
        let expected = ["Ada sat", "Ada sat", "Did Ada sit", "Ada sat", "Ada sat..", ""];
        assert_eq!(sentences.map(without_point), expected);
    }

    #[test]
    fn an_example_tells_the_tiers_in_hars_words() {
        let expected = "Story A: \n1. Ada shut the chest.\n2. Ada looked into the chest.\nStory B: \n1. Ada opened the \
                        chest.\n2. Ada looked into the chest.\nStory B is more plausible.\nIn Story A, sentences 1 and \
                        2 conflict with each other.\nFor sentence 1:\nAfter Ada shut the chest, what is the state of \
                        the chest? The chest is now closed.\nFor sentence 2:\nBefore Ada looked into the chest, what \
                        was the state of the chest? The chest was open.\n";
        assert_eq!(demonstration(&pair()).unwrap(), expected);
        let mut other = pair();
        other.stories[0].sentences[0] = "Ada locked the chest.".to_owned();
        let stories = told(other.stories.each_ref());
        let prompt = first_prompt(&[pair()], &other, [0, 1]).unwrap();
        assert_eq!(prompt, format!("{expected}\n\n{stories}Story"));
        let prompt = first_prompt(&[pair(), other.clone()], &other, [0, 1]).unwrap();
        assert_eq!(prompt, format!("{expected}\n\n{stories}Story"), "a pair is not its own example");
    }

    #[test]
    fn people_have_no_article_and_plural_things_are() {
        assert_eq!(after_question("Ada"), " is the state of Ada? Ada is now");
        assert_eq!(before_question("socks"), " were the state of the socks? The socks were");
        assert_eq!(after_question("TV"), " is the state of the TV? The TV is now");
    }

    #[test]
    fn every_state_has_a_name_and_every_name_occurs_once() {
        for (entity, states) in [("Ada", 2 * 4 + 2), ("chest", 14 * 2 + 8)] {
            let mut names: Vec<_> = states_of(entity).into_iter().map(|(name, ..)| name).collect();
            assert_eq!(names.len(), states, "{entity}");
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), states, "{entity}");
        }
    }

    #[test]
    fn an_example_without_states_is_refused() {
        let mut without = pair();
        without.stories[0].entities[0].effects[0] = [0; 20];
        let error = demonstration(&without).unwrap_err();
        assert!(error.message.contains("1-C0") && error.message.contains("show another pair"), "{error}");
    }
}
