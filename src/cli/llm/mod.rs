//! `tiered llm`: asks language models.

mod eval;
mod piqa;
mod progress;
mod summary;

#[derive(clap::Subcommand)]
pub(super) enum Command {
    Eval(Box<eval::Args>),
    /// PIQA in English and the South Slavic languages: which of two solutions fits a situation
    #[command(subcommand)]
    Piqa(piqa::Command),
}

pub(super) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Eval(args) => Ok(eval::run(args)?),
        Command::Piqa(command) => piqa::run(command),
    }
}
