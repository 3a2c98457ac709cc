//! A server that runs the language model: an OpenAI-compatible one (vLLM, llama-cpp-python, a hosted service), or
//! llama.cpp's own.
//!
//! prompt and continuations -> tokens -> requests of one of the [`Way`]s -> log-probabilities -> journal -> scores.
//! [`Server::connect`] finds out what the server is, and refuses it unless its log-probabilities are those that it
//! generates with (`probe`). Servers are not trusted: answers are limited in size, and every number is checked.

mod answer;
mod asker;
mod chat;
mod chat_top;
mod client;
mod connect;
mod cut;
mod echo;
mod forced;
mod identity;
mod journal;
mod kind;
mod llama_cpp;
mod openai;
mod probe;
mod run;
mod scored;
mod scoring;
mod settings;
mod talk;
mod tokenizer;
mod top;
mod wire;

pub use chat::Conversation;
pub use client::LlmClient;
pub use connect::{Choices, Server};
pub use identity::Identity;
pub use journal::Journal;
pub use kind::{ServerKind, Way};
pub use probe::{Probe, ProbeReport};
pub use run::{LlmRunFolder, Settled, default_folder};
pub use scored::Scored;
pub use settings::ServerSettings;
pub use talk::left_out_remark;
