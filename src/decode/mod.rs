//! Reads the final answer from probabilities: the sentences in conflict and the predicted states.

mod conflict;
mod state;
mod story;

pub use conflict::{AS_RECORDED, Decode};
pub use state::StateDecode;
pub use story::judge;
