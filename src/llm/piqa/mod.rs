//! PIQA: which of two solutions fits a situation. The South Slavic benchmark asks it in ten languages and dialects.
//!
//! data set -> prompts -> answers, or log-likelihoods of the solutions -> submission -> accuracy -> tables of results.
//! Source: folder `CLASSLA-PIQA-Benchmark` of TajaKuzman/Benchmarking-Text-Classification-on-South-Slavic, its README
//! and `eval.py` (February 2026). The network is behind two traits: [`Chat`] and [`Scorer`](super::Scorer).

mod answer;
mod ask;
mod dataset;
mod evaluate;
mod likelihood;
mod prompt;
mod published;
mod results;
mod score;
mod submission;

pub use answer::{UNANSWERED, read_answer};
pub use ask::{Chat, answer_lines, ask};
pub use dataset::{Item, PiqaSet, SET_ITEMS, SETS};
pub use evaluate::{by_answers, by_likelihood};
pub use likelihood::{Likelihood, Normalisation, RankedItem, likelihoods};
pub use prompt::{answer_schema, prompt, prompts_sha256};
pub use published::{PublishedAccuracy, published_accuracies};
pub use results::{ResultRow, read_results, replace_rows, results_json, set_table};
pub use score::{ScoredSubmission, score};
pub use submission::{Making, PiqaProtocol, SetPredictions, Submission, file_name};
