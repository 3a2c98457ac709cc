//! Files -> checked stories -> pairs.
//!
//! [`read_file`] survives every irregularity of a story file and names it: see [`Code`] for what is found, and
//! [`Severity`] for what becomes of the story. The rules by which contradictory stories are read:
//!
//! - The key names a story; `example_id` is only compared with it.
//! - A breakpoint makes a story implausible; without one it is plausible, unless two or more other things in the
//!   file say that it is implausible (then it is an error). `plausible` itself never decides.
//! - An implausible story is cloze or order by its key, else by `type`, else by comparing its sentences with the
//!   plausible story's: the same ones in another order make it an order story.
//! - The evidence is the last entry of `confl_sents` before the breakpoint.

mod check;
mod conflict;
mod encoding;
mod fields;
mod group;
mod json;
mod key;
mod markup;
mod names;
mod node;
mod pair;
mod parse;
mod plain;
mod read;
mod states;
mod stats;
mod story;
mod unlabelled;

pub use check::{Code, Finding, Severity};
pub use markup::LeftOut;
pub use pair::{of_kind, pairs};
pub use plain::{Sentences, Typed, read_plain, split_names};
pub use read::{StoryFile, read_bytes, read_file};
pub use stats::{PartitionStats, StoryStats};
pub use story::{Classes, Conflict, Entity, Kind, Pair, Story};
