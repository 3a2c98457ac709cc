//! Files -> checked stories -> pairs.

mod story;

pub use story::{Classes, Conflict, Entity, Kind, Pair, Story};
