//! `tiered llm piqa`: the South Slavic PIQA benchmark, and English PIQA.

mod eval;
mod prompt;
mod score;
mod tables;

use crate::error::Result;

#[derive(clap::Subcommand)]
pub(in crate::cli) enum Command {
    Prompt(prompt::Args),
    Eval(Box<eval::Args>),
    Score(score::Args),
}

pub(super) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Prompt(args) => prompt::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Score(args) => score::run(args),
    }
}
