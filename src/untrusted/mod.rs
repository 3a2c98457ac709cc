//! Input from outside: how much of it is read, which names stay in their folder, and how its text is shown.
//!
//! A file may come from an attacker or from a faulty program. These limits are far above real data (TRIP's longest
//! story has 7 sentences and 27 entities) and far below what would fill memory. Three of them grow with a story file, so
//! that a large one needs memory in proportion, unless it is streamed.

mod digest;
mod file;
mod name;
mod stream;

pub use digest::{hex, sha256};
pub use file::{json_error, json_line_error, lines, read, read_if_there, read_regular, shown, text, toml_error};
pub use name::{UnsafeName, component, model_id, relative, within};
pub use stream::{BYTE_ORDER_MARK, Mark, TextStream};

/// Bytes of a story file.
pub const MAX_STORY_FILE: u64 = 4 << 30;
/// Bytes of a story file that is read piece by piece while training.
pub const MAX_STREAMED_FILE: u64 = 1 << 40;
/// Bytes of a story file that may be in memory before they are parsed.
pub const MAX_UNREAD: u64 = 16 << 20;
/// Bytes of one story in a story file.
pub const MAX_STORY: usize = 1 << 20;
/// Sentences of a story.
pub const MAX_SENTENCES: usize = 128;
/// Entities of a story.
pub const MAX_ENTITIES: usize = 128;
/// Characters of the name of a split, a story or an entity.
pub const MAX_NAME: usize = 200;
/// Bytes that the stories of a file and their pairs may take; a larger file may take more.
pub const MAX_STORY_MEMORY: usize = 64 << 20;
/// By how many bytes each byte of a file raises [`MAX_STORY_MEMORY`].
pub const STORY_MEMORY_A_BYTE: usize = 32;
/// Pairs of names of a file that are compared with each other; a larger file may have more.
pub const MAX_NAME_PAIRS: usize = 2_000_000;
/// How many bytes of a file raise [`MAX_NAME_PAIRS`] by one.
pub const BYTES_A_NAME_PAIR: usize = 128;
/// Findings about one file; a larger file may have more.
pub const MAX_FINDINGS: usize = 100_000;
/// How many bytes of a file raise [`MAX_FINDINGS`] by one.
pub const BYTES_A_FINDING: usize = 128;
/// Bytes of stories that a person types.
pub const MAX_PLAIN: u64 = 2 << 20;
/// Bytes of a file of many questions about such stories.
pub const MAX_BATCH: u64 = 64 << 20;
/// Bytes of a file of predictions.
pub const MAX_PREDICTIONS: u64 = 256 << 20;
/// Bytes of a config, ours or an encoder's.
pub const MAX_CONFIG: u64 = 1 << 20;
/// Bytes of `metrics.jsonl`, which has a line of some hundred bytes for each epoch.
pub const MAX_METRICS: u64 = 1 << 30;
/// Epochs of a config.
pub const MAX_EPOCHS: u64 = 1_000_000;
/// Parts of one training step.
pub const MAX_STEP_SHARDS: usize = 4096;
/// Combinations of the values and seeds of a sweep.
pub const MAX_RUNS: usize = 10_000;
/// Bytes of a `model.safetensors.index.json`.
pub const MAX_INDEX: u64 = 8 << 20;
/// Files that hold the weights of one model. Each stays open; real models have fewer.
pub const MAX_SHARDS: usize = 256;
/// The largest factor by which a tokenizer may lengthen a text before it splits it.
pub const MAX_GROWTH: f64 = 10_000.;
/// Bytes of a `tokenizer.json`, or of a vocabulary from which one is built.
pub const MAX_TOKENIZER: u64 = 256 << 20;
