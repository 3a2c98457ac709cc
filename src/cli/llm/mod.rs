//! `tiered llm`: asks language models.

mod piqa;

#[derive(clap::Subcommand)]
pub(super) enum Command {
    /// PIQA in English and the South Slavic languages: which of two solutions fits a situation
    #[command(subcommand)]
    Piqa(piqa::Command),
}

pub(super) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Piqa(command) => piqa::run(command),
    }
}
