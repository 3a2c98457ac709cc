//! What hints say.

use super::InWords;
use super::finding::{english_hint, italian_of};
use crate::attribute::{Attribute, Side};
use crate::data::Finding;
use crate::language::Language;
use crate::report::labels::{attribute_name, label};
use crate::report::words::{noun, predicate};

/// What a hint says. Sentences are counted from 1.
pub(in crate::annotate) enum HintText<'a> {
    /// A sentence needs another state of an entity than an earlier one tells.
    Contradiction {
        name: &'a str,
        attribute: Attribute,
        /// The class that is known, and whether it is from before or after the evidence.
        known: (u8, Side),
        needed: u8,
        evidence: usize,
        breakpoint: usize,
        remedy: ContradictionRemedy,
    },
    /// No label shows the conflict that is marked.
    ConflictNotShown { evidence: usize, breakpoint: usize },
    /// The story is done, but an entity that the sentence names has no label there.
    NotLabelled { name: &'a str, sentence: usize },
    /// A thing has a label of people, or the reverse.
    WrongKind { attribute: Attribute, name: &'a str, person: bool },
    /// What `tiered data check` finds.
    Found(&'a Finding),
}

/// What to do about a contradiction.
#[derive(Clone, Copy)]
pub(in crate::annotate) enum ContradictionRemedy {
    /// The story is plausible.
    CorrectLabel,
    /// No conflict is marked.
    MarkConflict,
    /// Another conflict is marked.
    OneConflict,
}

impl InWords for ContradictionRemedy {
    fn english(&self) -> String {
        let remedy = match self {
            ContradictionRemedy::CorrectLabel => "the story is plausible, so one of the labels may be wrong",
            ContradictionRemedy::MarkConflict => "mark this conflict, or correct a label",
            ContradictionRemedy::OneConflict => "another conflict is marked; a story has one",
        };
        remedy.into()
    }

    fn italian(&self) -> String {
        let remedy = match self {
            ContradictionRemedy::CorrectLabel => "la storia è plausibile, quindi forse un'etichetta è sbagliata",
            ContradictionRemedy::MarkConflict => "segna questo conflitto, o correggi un'etichetta",
            ContradictionRemedy::OneConflict => "è segnato un altro conflitto; una storia ne ha uno solo",
        };
        remedy.into()
    }
}

impl InWords for HintText<'_> {
    fn english(&self) -> String {
        match *self {
            // "the fridge is closed after sentence 1, but must be open before sentence 3"
            HintText::Contradiction { name, attribute, known, needed, evidence, breakpoint, remedy } => {
                let (class, side) = known;
                let said = predicate(attribute, side, class).unwrap_or_default();
                let must = predicate(attribute, Side::Precondition, needed).unwrap_or_default();
                let when = if side == Side::Effect { "after" } else { "before" };
                let name = noun(name, Language::English);
                let remedy = remedy.english();
                format!("{name} {said} {when} sentence {evidence}, but {must} before sentence {breakpoint}; {remedy}")
            }
            HintText::ConflictNotShown { evidence, breakpoint } => {
                let problem = format!("no label shows the conflict between sentences {evidence} and {breakpoint}");
                let remedy = format!("label what sentence {evidence} leaves and sentence {breakpoint} must not find");
                format!("{problem}; {remedy}")
            }
            HintText::NotLabelled { name, sentence } => {
                let name = noun(name, Language::English);
                format!("the story is done, but {name} has no label in sentence {sentence}")
            }
            HintText::WrongKind { attribute, name, person } => {
                let (of, kind) = if person { ("things", "person") } else { ("people", "thing") };
                format!("{attribute} is an attribute of {of}, but {name:?} is a {kind}")
            }
            HintText::Found(finding) => english_hint(finding),
        }
    }

    fn italian(&self) -> String {
        match *self {
            // A label does not agree with the noun, so it can't agree wrongly: "scatola: chiuso".
            HintText::Contradiction { name, attribute, known, needed, evidence, breakpoint, remedy } => {
                let of = |side, class| label(attribute, side, class, Language::Italian).unwrap_or_default();
                let (class, side) = known;
                // What follows in the label of a location, as "presente, poi in un contenitore", is not required.
                let needed = of(Side::Precondition, needed).split(", ").next().unwrap_or_default();
                let said = of(side, class);
                let when = if side == Side::Effect { "dopo la" } else { "prima della" };
                let remedy = remedy.italian();
                format!(
                    "“{name}”: {when} frase {evidence} “{said}”, ma la frase {breakpoint} richiede “{needed}”; {remedy}"
                )
            }
            HintText::ConflictNotShown { evidence, breakpoint } => format!(
                "nessuna etichetta mostra il conflitto tra le frasi {evidence} e {breakpoint}; etichetta \
                 ciò che la frase {evidence} lascia e ciò che la frase {breakpoint} non deve trovare"
            ),
            HintText::NotLabelled { name, sentence } => {
                format!("la storia è finita, ma “{name}” non ha etichette nella frase {sentence}")
            }
            HintText::WrongKind { attribute, name, person } => {
                let (of, kind) = if person { ("delle cose", "una persona") } else { ("delle persone", "una cosa") };
                let attribute = attribute_name(attribute, Language::Italian);
                format!("“{attribute}” è un attributo {of}, ma “{name}” è {kind}")
            }
            HintText::Found(finding) => italian_of(finding),
        }
    }
}
