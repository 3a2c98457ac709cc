//! States in words: "the fridge is closed", "the fridge must be open" (TRIP, table 5).

use super::labels::label;
use crate::attribute::{Attribute, Side};
use crate::language::Language;
use crate::prediction::PredictedState;

/// The words for an entity whose attribute is false or true.
struct Words {
    /// As an effect: "is closed", "is open".
    is: [&'static str; 2],
    /// As a precondition, after "must": "be closed", "be open".
    must: [&'static str; 2],
}

/// `None` for the two location attributes: their classes are changes, not truth values.
const fn words(attribute: Attribute) -> Option<Words> {
    use Attribute::*;
    let (is, must) = match attribute {
        HLocation | Location => return None,
        Conscious => (["is unconscious", "is conscious"], ["be unconscious", "be conscious"]),
        Wearing => (["is undressed", "is dressed"], ["be undressed", "be dressed"]),
        HWet | Wet => (["is dry", "is wet"], ["be dry", "be wet"]),
        Hygiene | Clean => (["is dirty", "is clean"], ["be dirty", "be clean"]),
        Exist => (["does not exist", "exists"], ["not exist", "exist"]),
        Power => (["has no power", "has power"], ["have no power", "have power"]),
        Functional => (["is broken", "works"], ["be broken", "work"]),
        Pieces => (["is whole", "is in pieces"], ["be whole", "be in pieces"]),
        Open => (["is closed", "is open"], ["be closed", "be open"]),
        Temperature => (["is cold", "is hot"], ["be cold", "be hot"]),
        Solid => (["is not solid", "is solid"], ["not be solid", "be solid"]),
        Contain => (["is empty", "holds something"], ["be empty", "hold something"]),
        Running => (["is off", "is running"], ["be off", "be running"]),
        Moveable => (["can't be moved", "can be moved"], ["be immovable", "be movable"]),
        Mixed => (["is not mixed", "is mixed"], ["not be mixed", "be mixed"]),
        Edible => (["is not edible", "is edible"], ["not be edible", "be edible"]),
    };
    Some(Words { is, must })
}

/// Classes 1 and 2 of `h_location`: after the sentence, and before it. Both sides of a location have the change that
/// the sentence makes as their class. The precondition is therefore that the change is possible.
const H_LOCATION: [[&str; 2]; 2] =
    [["has disappeared", "must be there to disappear"], ["has moved", "must be there to move"]];

/// Classes 1 to 8 of `location`, in the form of [`H_LOCATION`].
const LOCATION: [[&str; 2]; 8] = [
    ["has disappeared", "must be there to disappear"],
    ["is picked up", "must be there to be picked up"],
    ["is put down", "must be there to be put down"],
    ["is put on", "must be there to be put on"],
    ["is taken off", "must be there to be taken off"],
    ["is in a container", "must be there to be put into a container"],
    ["is out of its container", "must be there to be taken out of a container"],
    ["has moved", "must be there to be moved"],
];

/// The predicate of a class: "is closed" after a sentence, "must be open" before it. `None` for class 0, which has no
/// meaning, and for classes that the attribute does not have.
pub fn predicate(attribute: Attribute, side: Side, class: u8) -> Option<String> {
    let value = usize::from(class).checked_sub(1)?;
    let Some(Words { is, must }) = words(attribute) else {
        let table: &[[&str; 2]] = if attribute == Attribute::Location { &LOCATION } else { &H_LOCATION };
        return table.get(value).map(|[after, before]| if side == Side::Effect { *after } else { *before }.to_owned());
    };
    match side {
        Side::Effect => is.get(value).map(|&is| is.to_owned()),
        Side::Precondition => must.get(value).map(|must| format!("must {must}")),
    }
}

/// "the fridge is closed", "Mia must be conscious". In languages other than English it is a label, "frigo: chiuso".
pub fn phrase(state: &PredictedState, language: Language) -> String {
    let PredictedState { entity, side, attribute, class, .. } = state;
    let words = match language {
        Language::English => predicate(*attribute, *side, *class),
        Language::Italian => label(*attribute, *side, *class, language).map(str::to_owned),
    };
    let words = words.unwrap_or_else(|| format!("{attribute} is {class}"));
    let colon = if language == Language::English { "" } else { ":" };
    format!("{}{colon} {words}", noun(entity, language))
}

/// An entity as the subject of a sentence. Names (with a capital) stay as they are; things in English get an article.
pub fn noun(entity: &str, language: Language) -> String {
    let is_name = entity.chars().next().is_some_and(char::is_uppercase);
    let has_article = ["the ", "a ", "an "].iter().any(|article| entity.starts_with(article));
    if is_name || has_article || language != Language::English { entity.to_owned() } else { format!("the {entity}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_but_0_has_words_of_its_own() {
        for (attribute, side) in Attribute::ALL.into_iter().flat_map(|a| Side::BOTH.map(|side| (a, side))) {
            let said: Vec<_> = (0..=9).map(|class| predicate(attribute, side, class)).collect();
            let mut distinct: Vec<_> =
                said[1..attribute.classes()].iter().map(|words| words.as_ref().unwrap()).collect();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), attribute.classes() - 1, "{attribute}");
            assert!(said[0].is_none() && said[attribute.classes()..].iter().all(Option::is_none), "{attribute}");
        }
    }

    #[test]
    fn states_read_as_sentences() {
        let state = |entity: &str, sentence, side, attribute, class| {
            let state = PredictedState { entity: entity.into(), sentence, side, attribute, class };
            [Language::English, Language::Italian].map(|language| phrase(&state, language))
        };
        let [said, italian] = state("fridge", 0, Side::Effect, Attribute::Open, 1);
        assert_eq!(italian, "fridge: chiuso");
        assert_eq!(said, "the fridge is closed");
        let [said, _] = state("fridge", 2, Side::Precondition, Attribute::Open, 2);
        assert_eq!(said, "the fridge must be open");
        let [said, _] = state("Mia", 1, Side::Precondition, Attribute::Conscious, 1);
        assert_eq!(said, "Mia must be unconscious");
        let [said, _] = state("the spoon", 1, Side::Effect, Attribute::Location, 6);
        assert_eq!(said, "the spoon is in a container");
    }
}
