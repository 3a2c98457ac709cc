//! `tiered llm`: asks language models.

mod prompt;
mod score;

#[derive(clap::Subcommand)]
pub(super) enum Command {
    Prompt(prompt::Args),
    Score(score::Args),
}

pub(super) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Prompt(args) => prompt::run(args),
        Command::Score(args) => score::run(args),
    }
}
