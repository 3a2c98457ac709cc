//! Reads files into checked stories and pairs.
//!
//! [`read_file`] reads a story file whatever its irregularities, and names each of them: [`Code`] lists what is found,
//! and [`Severity`] says what happens to the story. Contradictory stories are read by these rules:
//!
//! - The key names a story; `example_id` is only compared with it.
//! - A story with a breakpoint is implausible. A story without one is plausible, unless two or more other things in the
//!   file say that it is implausible; then it is an error. `plausible` alone never decides.
//! - The key decides whether an implausible story is cloze or order; else `type` does; else a comparison with the
//!   plausible story: the same sentences in another order make it an order story.
//! - The evidence is the last entry of `confl_sents` before the breakpoint.

mod check;
mod conflict;
mod encoding;
mod facts;
mod fields;
mod fold;
mod given;
mod group;
mod index;
mod json;
mod keep;
mod key;
mod markup;
mod names;
mod node;
mod pair;
mod parse;
mod plain;
mod plain_json;
mod read;
mod sentences;
mod shared;
mod soft;
mod states;
mod stats;
mod story;
mod typed_story;
mod unlabelled;

pub use check::{Code, Finding, Severity};
pub use fold::Fold;
pub use group::first_by_group;
pub use index::StoryIndex;
pub use markup::LeftOut;
pub use pair::{of_kind, pairs};
pub use plain::{Typed, read_plain, split_names};
pub(crate) use plain_json::{OF_STORY_FILES, is_story_file};
pub use read::{StoryFile, checking, read_bytes, read_file};
pub use sentences::Sentences;
pub(crate) use sentences::split as split_sentences;
pub use shared::{SharedStories, SharedStory, Unshared, WhyUnshared};
pub use soft::{SoftCell, SoftLabels, SoftStory};
pub use stats::{SplitStats, StoryStats};
pub use story::{Classes, Conflict, Entity, Kind, Pair, Story};
