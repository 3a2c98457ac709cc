//! Fields of a group as people call them.

use super::InWords;
use crate::attribute::Attribute;
use crate::language::Language;
use crate::report::labels::attribute_name;

/// What a change sets. Sentences are counted from 1. `None` stands for a sentence or an entity that has no number or no
/// name in the story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedField {
    /// Whether this story is there.
    Story(String),
    /// The sentences of this story.
    Sentences(String),
    /// The entity of this name.
    Entity(Option<String>),
    /// The text of this sentence.
    Text(Option<usize>),
    /// Who the actor is.
    Actor,
    /// Where the stories take place.
    Location,
    /// The label of an attribute.
    Label {
        /// Which attribute.
        attribute: Attribute,
        /// The name of the entity.
        entity: Option<String>,
        /// The number of the sentence.
        sentence: Option<usize>,
    },
    /// The conflict of this story.
    Conflict(String),
    /// Whether this story is done.
    Done(String),
    /// The answers of this pass, of which no other one sees more.
    Pass(String),
}

impl InWords for NamedField {
    fn english(&self) -> String {
        let name = |name: &Option<String>| name.as_ref().map_or("an entity".into(), |name| format!("{name:?}"));
        let sentence = |n: &Option<usize>| n.map_or("a sentence".into(), |n| format!("sentence {n}"));
        match self {
            NamedField::Story(story) => format!("story {story}"),
            NamedField::Sentences(story) => format!("the sentences of story {story}"),
            NamedField::Entity(None) => "an entity".into(),
            NamedField::Entity(entity) => format!("entity {}", name(entity)),
            NamedField::Text(n) => format!("the text of {}", sentence(n)),
            NamedField::Actor => "the actor".into(),
            NamedField::Location => "the location of the stories".into(),
            NamedField::Label { attribute, entity, sentence: n } => {
                format!("label {attribute} of {} in {}", name(entity), sentence(n))
            }
            NamedField::Conflict(story) => format!("the conflict of story {story}"),
            NamedField::Done(story) => format!("whether story {story} is done"),
            NamedField::Pass(pass) => format!("answers in the pass {pass:?}"),
        }
    }

    fn italian(&self) -> String {
        let name = |name: &Option<String>| name.as_ref().map_or("un'entità".into(), |name| format!("“{name}”"));
        match self {
            NamedField::Story(story) => format!("la storia {story}"),
            NamedField::Sentences(story) => format!("le frasi della storia {story}"),
            NamedField::Entity(None) => "un'entità".into(),
            NamedField::Entity(entity) => format!("l'entità {}", name(entity)),
            NamedField::Text(None) => "il testo di una frase".into(),
            NamedField::Text(Some(n)) => format!("il testo della frase {n}"),
            NamedField::Actor => "il protagonista".into(),
            NamedField::Location => "il luogo delle storie".into(),
            NamedField::Label { attribute, entity, sentence } => {
                let attribute = attribute_name(*attribute, Language::Italian);
                let place = sentence.map_or("in una frase".into(), |n| format!("nella frase {n}"));
                format!("l'etichetta “{attribute}” di {} {place}", name(entity))
            }
            NamedField::Conflict(story) => format!("il conflitto della storia {story}"),
            NamedField::Done(story) => format!("lo stato “finita” della storia {story}"),
            NamedField::Pass(pass) => format!("le risposte della passata “{pass}”"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_a_name_also_without_its_sentence_and_entity() {
        let label = |entity: Option<&str>, sentence| NamedField::Label {
            attribute: Attribute::Open,
            entity: entity.map(str::to_owned),
            sentence,
        };
        for (field, english, italian) in [
            (
                label(Some("frigo"), Some(2)),
                "label open of \"frigo\" in sentence 2",
                "l'etichetta “apertura” di “frigo” nella frase 2",
            ),
            (
                label(None, None),
                "label open of an entity in a sentence",
                "l'etichetta “apertura” di un'entità in una frase",
            ),
            (NamedField::Entity(None), "an entity", "un'entità"),
            (NamedField::Text(None), "the text of a sentence", "il testo di una frase"),
        ] {
            assert_eq!((field.english().as_str(), field.italian().as_str()), (english, italian));
        }
    }
}
