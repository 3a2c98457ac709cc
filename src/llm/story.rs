//! A story as it is asked: its sentences, and what the right answers are.

use super::options::{JUDGEMENTS, STATES, pair_answer, state_of};
use super::tier::Tier;
use crate::attribute::Attribute;
use crate::data;
use crate::untrusted::shown;
use serde_json::{Value, json};

/// The kind of a story in tables of GITA4CALAMITA: the letter in its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StoryKind {
    /// No letter, even if the story is implausible.
    Plausible,
    /// The letter C: one sentence was replaced.
    Cloze,
    /// The letter O: two sentences were swapped.
    Order,
}

/// What is right in tier 3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoldStates {
    /// The official file names one state, by hand.
    Named(String),
    /// Dense labels: every option with a nontrivial state at the conflict, in the order of the options.
    Any(Vec<&'static str>),
    /// The file has no states, or its dense states name no single one, and that was asked for.
    Unknown,
}

/// A story with its right answers. The row names it: ids occur twice in released files.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedStory {
    /// From 0, in the file or split.
    pub row: usize,
    /// `example_id`, or the key where that is the name.
    pub id: String,
    /// Number of the plausible story.
    pub group: i64,
    /// In the order of the story.
    pub sentences: Vec<String>,
    /// The gold label.
    pub plausible: bool,
    /// By the letter of the id in a document of GITA4CALAMITA, else as `made`.
    pub kind: StoryKind,
    /// By `type`.
    pub made: Option<data::Kind>,
    /// The sentences in conflict, from 0, as answers name them. `None` if the file names none.
    pub conflict: Option<[usize; 2]>,
    /// What is right in tier 3.
    pub states: GoldStates,
    /// The story as a JSON object: as in the file, or with the answers as read.
    pub doc: Value,
}

impl StoryKind {
    /// In lower case: "cloze".
    pub const fn name(self) -> &'static str {
        match self {
            StoryKind::Plausible => "plausible",
            StoryKind::Cloze => "cloze",
            StoryKind::Order => "order",
        }
    }

    /// By the letter after the number: "12-O0" is an order story.
    pub fn from_id(id: &str) -> Self {
        match id.split_once('-').and_then(|(_, letter)| letter.chars().next()) {
            Some('C') => StoryKind::Cloze,
            Some('O') => StoryKind::Order,
            _ => StoryKind::Plausible,
        }
    }

    /// Of how the story was made.
    pub const fn of_made(made: Option<data::Kind>) -> Self {
        match made {
            None => StoryKind::Plausible,
            Some(data::Kind::Cloze) => StoryKind::Cloze,
            Some(data::Kind::Order) => StoryKind::Order,
        }
    }
}

impl AskedStory {
    /// "row 54 (98)", for messages.
    pub fn name(&self) -> String {
        format!("row {} ({})", self.row, shown(&self.id, 40))
    }

    /// The answer to show in a shot; `None` if the file does not tell it.
    pub fn answer(&self, tier: Tier) -> Option<String> {
        match tier {
            Tier::Story => Some(JUDGEMENTS[usize::from(self.plausible)].to_owned()),
            Tier::Conflict => self.conflict.map(pair_answer),
            Tier::State => match &self.states {
                GoldStates::Named(state) => Some(state.clone()),
                GoldStates::Any(states) => states.first().map(|&state| state.to_owned()),
                GoldStates::Unknown => None,
            },
        }
    }

    /// Whether an option is right.
    pub fn is_right(&self, tier: Tier, option: &str) -> bool {
        match (tier, &self.states) {
            (Tier::State, GoldStates::Any(states)) => states.contains(&option),
            _ => self.answer(tier).is_some_and(|answer| answer == option),
        }
    }

    /// A checked story of a file with dense states. Its document holds the answers as they were read.
    pub fn from_checked(row: usize, story: &data::Story) -> Self {
        let states = story.has_states.then(|| gold_states(story));
        let (breakpoint, evidence) = match story.conflict {
            Some(conflict) => (json!(conflict.breakpoint), json!([conflict.evidence])),
            None => (json!(-1), json!([])),
        };
        let doc = json!({
            "story_id": story.group, "example_id": story.id, "type": story.kind.map(data::Kind::name),
            "sentences": story.sentences, "length": story.sentences.len(), "plausible": story.conflict.is_none(),
            "breakpoint": breakpoint, "confl_sents": evidence, "states": states,
        });
        AskedStory {
            row,
            id: story.id.clone(),
            group: story.group,
            sentences: story.sentences.clone(),
            plausible: story.conflict.is_none(),
            kind: StoryKind::of_made(story.kind),
            made: story.kind,
            conflict: story.conflict.map(|conflict| [conflict.evidence, conflict.breakpoint]),
            states: states.map_or(GoldStates::Unknown, GoldStates::Any),
            doc,
        }
    }
}

/// The options with a nontrivial state among the effects of the first sentence in conflict and the preconditions of the
/// second, in the order of the options; none for a plausible story.
pub fn gold_states(story: &data::Story) -> Vec<&'static str> {
    let Some(conflict) = story.conflict else { return Vec::new() };
    let is_gold = |attribute: Attribute| {
        let is_nontrivial = |class: u8| attribute.is_nontrivial(class);
        story.entities.iter().any(|entity| {
            is_nontrivial(entity.effects[conflict.evidence][attribute.index()])
                || is_nontrivial(entity.preconditions[conflict.breakpoint][attribute.index()])
        })
    };
    let named: Vec<_> = Attribute::ALL.into_iter().filter(|&a| is_gold(a)).filter_map(state_of).collect();
    STATES.into_iter().filter(|state| named.contains(state)).collect()
}
