//! `tiered llm`: asks language models.

mod eval;
mod eval_args;
mod har;
mod piqa;
mod plan_args;
mod progress;
mod prompt;
mod score;
mod server_args;
mod session;
mod summary;

use crate::error::Result;

#[derive(clap::Subcommand)]
pub(super) enum Command {
    Prompt(prompt::Args),
    Eval(Box<eval_args::Args>),
    Score(score::Args),
    /// PIQA in English and the South Slavic languages: which of two solutions fits a situation
    #[command(subcommand)]
    Piqa(piqa::Command),
}

pub(super) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Prompt(args) => prompt::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Score(args) => score::run(args),
        Command::Piqa(command) => piqa::run(command),
    }
}
