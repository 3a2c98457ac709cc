//! What is said in the end: beliefs -> the sentences in conflict, probabilities -> the states that hold.

mod conflict;
mod state;

pub use conflict::{Decode, THRESHOLD};
pub use state::StateDecode;
