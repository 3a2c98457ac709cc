//! Why a story is left out of a story file.

use super::InWords;
use super::finding::italian_of;
use crate::data::Finding;

/// What a story lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lack {
    /// It has no sentences.
    NoSentences,
    /// The sentence of this number is blank.
    BlankSentence(usize),
    /// It has no entities.
    NoEntities,
    /// A version is the plausible story.
    SameAsPlausible,
    /// No conflict of a version is marked.
    NoConflict,
    /// The sentences of the marked conflict changed places.
    ConflictReversed,
    /// The plausible story of a version is left out.
    PlausibleLeftOut,
    /// The plausible story of a version is not in the file that is imported.
    PlausibleNotInFile,
    /// `tiered data check` finds an error.
    Error(Box<Finding>),
}

impl InWords for Lack {
    fn english(&self) -> String {
        let lack = match self {
            Lack::NoSentences => "it has no sentences; write them",
            Lack::BlankSentence(n) => return format!("sentence {n} is blank; write or remove it"),
            Lack::NoEntities => "it has no entities; add those of the story",
            Lack::SameAsPlausible => "it has the sentences of the plausible story, in their order; change it",
            Lack::NoConflict => "no conflict is marked; mark its two sentences",
            Lack::ConflictReversed => "the evidence comes after the breakpoint; mark the conflict again",
            Lack::PlausibleLeftOut => "its plausible story is left out",
            Lack::PlausibleNotInFile => "its plausible story is not in the file",
            Lack::Error(finding) => return format!("{}: {}", finding.code, finding.message),
        };
        lack.into()
    }

    fn italian(&self) -> String {
        let lack = match self {
            Lack::NoSentences => "non ha frasi; scrivile",
            Lack::BlankSentence(n) => return format!("la frase {n} è vuota; scrivila o toglila"),
            Lack::NoEntities => "non ha entità; aggiungi quelle della storia",
            Lack::SameAsPlausible => "ha le frasi della storia plausibile, nello stesso ordine; cambiala",
            Lack::NoConflict => "nessun conflitto è segnato; segna le sue due frasi",
            Lack::ConflictReversed => {
                "le due frasi del conflitto si sono scambiate di posto; segna di nuovo il conflitto"
            }
            Lack::PlausibleLeftOut => "la sua storia plausibile è lasciata fuori",
            Lack::PlausibleNotInFile => "la sua storia plausibile non è nel file",
            Lack::Error(finding) => return italian_of(finding),
        };
        lack.into()
    }
}
