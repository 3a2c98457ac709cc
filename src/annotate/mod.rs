//! Annotates stories: a project is a folder with stories, their labels, and a journal of every edit.
//!
//! - A group is a plausible story with its versions (cloze, order). Its stories share sentences and entities, so that a
//!   sentence is written and labelled once.
//! - A pass is one set of answers: labels, conflicts, done marks. Annotators who name the same pass share it; a pass shows
//!   nothing of another one.
//! - An edit is a list of operations ([`Op`]). `expand` turns them into changes of single fields ([`Change`]). The journal
//!   has them on the disk before anybody hears that the edit was made.
//! - Edits carry the revision that the annotator last saw. Those of different fields merge. Those of the same field are
//!   told as a clash, with both values.
//! - Whatever an annotator did can be undone, back to the beginning, but for what somebody else changed or built on since.

mod change;
mod describe;
mod edit;
mod events;
mod expand;
mod export;
mod group;
mod hint;
mod history;
mod import;
mod journal;
mod lost;
mod mention;
mod merge;
mod message;
mod op;
mod priority;
mod project;
mod proposal;
mod question;
mod record;
mod refusal;
mod run;
mod sender;
mod settle;
mod stories;
mod undo;
mod view;

pub use change::{Change, EntityId, EntityText, MarkedConflict, SentenceId};
pub use events::{EditEvent, EditEvents};
pub use export::{Export, LeftOutStory};
pub use hint::Hint;
pub use import::{Imported, ImportedStory};
pub use message::{EditProblem, FindingLine, InWords, Lack, NamedField};
pub use op::{Direction, Op};
pub use priority::{By, Priority};
pub use project::Project;
pub use proposal::{Proposal, ProposedCell, ProposedConflict, ProposedLabel};
pub use question::ProposalQuestion;
pub use record::StoryFormat;
pub use refusal::{Clash, EditRefusal};
pub use run::Predictions;
pub use sender::{Edited, OnClash, Sender};
pub use stories::{MAIN_PASS, Stories};
pub use view::{
    AnnotatedCell, AnnotatedSentence, AnnotatedStory, EntityView, ProjectView, Proposed, ProposedEntity, StoryLine,
};
