//! What is said in the end: beliefs -> the sentences in conflict, probabilities -> the states that hold.

mod conflict;
mod state;
mod story;

pub use conflict::{Decode, THRESHOLD};
pub use state::StateDecode;
pub use story::judge;
