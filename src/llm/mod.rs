//! Asks language models the three tiers' questions, and scores their answers.
//!
//! stories -> prompts -> a server's log-probabilities -> answers, tier by tier -> scores. Knows no tensors.
//!
//! [`read_stories`] reads the stories, [`Plan`] holds a protocol and its settings, [`ask`] asks the tiers of a
//! [`Scorer`] one after another.

mod cascade;
mod choice;
mod faults;
mod fields;
pub mod har;
mod options;
mod parallel;
pub mod piqa;
mod plan;
mod prompt;
mod python_random;
mod question;
mod read;
pub mod record;
mod said;
pub mod score;
mod scorer;
pub mod server;
mod shots;
mod story;
mod template;
mod thought;
mod tier;

pub use cascade::{AskedQuestion, OnStep, QuestionAnswer, TierAnswers, ask, ask_all, stories_of};
pub use choice::Choice;
pub use options::{JUDGEMENTS, STATES, options, pair_answer, sentence_pairs, state_of};
pub use parallel::in_parallel;
pub use plan::{Plan, ShotSource};
pub use prompt::{PromptStyle, Wording, instruction, prompt, question};
pub use python_random::PythonRandom;
pub use question::{Question, questions};
pub use read::{StorySet, read_stories, read_stories_of};
pub use said::{QUESTIONS, Said, SaidOption, read_said};
pub use scorer::{OptionScore, Request, Scorer};
pub use shots::{MOST_SHOTS, SEED, draw_shots};
pub use story::{AskedStory, GoldStates, StoryKind, gold_states};
pub use template::{ChatTemplate, Message};
pub use tier::{Protocol, Tier};
