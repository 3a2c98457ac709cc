//! `tiered llm`: asks language models.

mod eval;
mod har;
mod progress;
mod prompt;
mod score;
mod summary;

#[derive(clap::Subcommand)]
pub(super) enum Command {
    Prompt(prompt::Args),
    Eval(Box<eval::Args>),
    Score(score::Args),
}

pub(super) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Prompt(args) => prompt::run(args),
        Command::Eval(args) => Ok(eval::run(args)?),
        Command::Score(args) => score::run(args),
    }
}
