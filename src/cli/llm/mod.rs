//! `tiered llm`: asks language models.

mod eval;
mod progress;
mod summary;

#[derive(clap::Subcommand)]
pub(super) enum Command {
    Eval(Box<eval::Args>),
}

pub(super) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Eval(args) => Ok(eval::run(args)?),
    }
}
