//! What annotators are told, in the languages of the page. A message is a value that says what it is about; only here it is
//! put into words.

mod deed;
mod failure;
mod field;
mod finding;
mod hint_text;
mod lack;
mod problem;

pub(super) use deed::{Deed, Made};
pub use field::NamedField;
pub use finding::FindingLine;
pub(super) use finding::position;
pub(super) use hint_text::{ContradictionRemedy, HintText};
pub use lack::Lack;
pub use problem::EditProblem;
pub(super) use problem::MAX_SENTENCE;

use crate::language::Language;

/// Something that is told in words.
pub trait InWords {
    /// In English.
    fn english(&self) -> String;

    /// In Italian.
    fn italian(&self) -> String;

    /// In the language of the page.
    fn words(&self, language: Language) -> String {
        match language {
            Language::English => self.english(),
            Language::Italian => self.italian(),
        }
    }
}
