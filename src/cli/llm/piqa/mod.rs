//! `tiered llm piqa`: the South Slavic PIQA benchmark, and English PIQA.

mod eval;
mod prompt;
mod score;
mod tables;

#[derive(clap::Subcommand)]
pub(in crate::cli) enum Command {
    Prompt(prompt::Args),
    Eval(Box<eval::Args>),
    Score(score::Args),
}

pub(super) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Prompt(args) => Ok(prompt::run(args)?),
        Command::Eval(args) => Ok(eval::run(args)?),
        Command::Score(args) => Ok(score::run(args)?),
    }
}
