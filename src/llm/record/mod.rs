//! Recorded answers, in the format of lm-evaluation-harness (0.4): `samples_TASK_DATE.jsonl` has a line for each story
//! of a tier, `results_DATE.json` what the run was.

mod find;
mod read;
mod results;
mod write;

pub use find::{Records, find_records, records_in};
pub use read::{SampleRecord, parse_samples, read_samples};
pub use results::{RunFacts, read_facts};
pub use write::{sample_lines, task_hash, write_records};
