//! What kinds of servers there are, and in which ways they give log-probabilities.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a server is asked for the log-probability of a continuation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// The server repeats the prompt and the continuation with their log-probabilities: one request an option
    Echo,
    /// The next token is forced, and the server reports how likely it was: one request a token
    Forced,
    /// The options are looked for among the likeliest tokens; what is not listed stays undecided
    Top,
    /// The same among the first tokens of a chat's answer, without a blank: for services that only chat
    #[serde(rename = "top-chat")]
    TopChat,
    /// The model answers in words: no log-probabilities, another protocol
    Said,
}

impl Way {
    /// As on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Way::Echo => "echo",
            Way::Forced => "forced",
            Way::Top => "top",
            Way::TopChat => "top-chat",
            Way::Said => "said",
        }
    }

    /// Whether the server is asked in chats of its own template, and never for tokens.
    pub fn chats(self) -> bool {
        matches!(self, Way::TopChat | Way::Said)
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which program answers, as far as requests differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerKind {
    /// llama.cpp's `llama-server`
    LlamaCpp,
    /// vLLM's OpenAI-compatible server
    Vllm,
    /// The server of llama-cpp-python: takes text only
    LlamaCppPython,
    /// Anything else that is OpenAI-compatible
    Other,
}

impl ServerKind {
    /// The ways worth trying, the best first. llama.cpp refuses `echo`; that of llama-cpp-python is shifted for models
    /// without a start token, and takes minutes.
    pub fn ways(self) -> &'static [Way] {
        match self {
            ServerKind::LlamaCpp | ServerKind::LlamaCppPython => &[Way::Forced, Way::Top],
            ServerKind::Vllm | ServerKind::Other => &[Way::Echo, Way::Forced, Way::Top],
        }
    }

    /// Whether a prompt may be token ids.
    pub fn takes_ids(self) -> bool {
        self != ServerKind::LlamaCppPython
    }

    /// The most tokens that it lists beside the one generated. Hosted services list 5 after a plain prompt.
    pub fn alternatives(self) -> u32 {
        match self {
            ServerKind::LlamaCpp => 200,
            ServerKind::Vllm | ServerKind::LlamaCppPython => 20,
            ServerKind::Other => 5,
        }
    }
}

impl fmt::Display for ServerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ServerKind::LlamaCpp => "llama.cpp",
            ServerKind::Vllm => "vLLM",
            ServerKind::LlamaCppPython => "llama-cpp-python",
            ServerKind::Other => "OpenAI-compatible server",
        })
    }
}
