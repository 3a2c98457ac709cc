//! The command line: which commands there are, and what is said where one is wrong.

#[cfg(feature = "app")]
use super::app;
use super::{
    baseline, bench, compare, completions, data, doctor, eval, init, llm, man, model, predict, report, score, sweep,
    train,
};
use clap::error::ContextKind;
use clap::{CommandFactory, Parser, Subcommand};

/// As clap's own, but without empty lines: the list of commands fits a screen of 24 lines.
const HELP: &str = "{about}\n{usage-heading} {usage}\nCommands:\n{subcommands}\nOptions:\n{options}";

#[derive(Parser)]
#[command(name = "tiered", version, long_version = env!("TIERED_VERSION"), about, propagate_version = true, arg_required_else_help = true, disable_help_subcommand = true, help_template = HELP)]
pub(super) struct Cli {
    /// Print no progress, only results, warnings and errors
    #[arg(long, short, global = true)]
    pub(super) quiet: bool,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Subcommand)]
pub(super) enum Command {
    Init(init::Args),
    Train(train::Args),
    Eval(eval::Args),
    Predict(predict::Args),
    #[cfg(feature = "app")]
    App(app::Args),
    Score(score::Args),
    Compare(compare::Args),
    /// Show what a system got right and why, as text or as an HTML page
    #[command(subcommand)]
    Report(report::Command),
    /// Story files: fetch, check, count, compare, find entities, synthesize, reorder
    #[command(subcommand)]
    Data(data::Command),
    /// Models: fetch, export, calibrate, average
    #[command(subcommand)]
    Model(model::Command),
    /// Sweeps of many runs: run them, show their status, compare them
    #[command(subcommand)]
    Sweep(sweep::Command),
    /// Language models: ask them, score what they answer
    #[command(subcommand)]
    Llm(llm::Command),
    Baseline(baseline::Args),
    Bench(bench::Args),
    Doctor(doctor::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Former names of commands, each with its present name.
const RENAMED: [(&str, &str); 8] = [
    ("analyse", "report text"),
    ("export", "model export"),
    ("fetch", "model fetch` or `tiered data fetch"),
    ("make-stories", "data synthesize"),
    ("random", "baseline"),
    ("reorder-stories", "data reorder"),
    ("study", "sweep"),
    ("tune", "model calibrate"),
];

/// Former names of flags, each with its present name.
const RENAMED_FLAGS: [(&str, &str); 12] = [
    ("--beside", "--published"),
    ("--by", "--unit"),
    ("--csv", "--format csv"),
    ("--emit", "tiered sweep submit FILE --scheduler NAME"),
    ("--html", "tiered report html RUN... --output PAGE"),
    ("--json", "--format json"),
    ("--latex", "--format latex"),
    ("--markdown", "--format markdown"),
    ("--max", "--verbose"),
    ("--out", "--output"),
    ("--peer", "--reference"),
    ("--save", "--output"),
];

/// Parses the command line. On a usage error it prints the error and ends the program.
pub(super) fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| match renamed(&error) {
        Some(message) => Cli::command().error(error.kind(), message).exit(),
        None => error.exit(),
    })
}

/// A message with the new name, if the unknown argument on the command line is a former name.
fn renamed(error: &clap::Error) -> Option<String> {
    let wrong = |kind| error.get(kind).map(ToString::to_string);
    if let Some(flag) = wrong(ContextKind::InvalidArg) {
        let is_bench = std::env::args().nth(1).is_some_and(|command| command == "bench");
        let of_bench = [("--json", "--output")];
        let mut renamed = of_bench.iter().filter(|_| is_bench).chain(&RENAMED_FLAGS);
        let (old, new) = renamed.find(|(old, _)| flag == *old)?;
        return Some(format!("`{old}` is `{new}` now"));
    }
    let (unknown, first) = (wrong(ContextKind::InvalidSubcommand)?, std::env::args().nth(1)?);
    if first == "report" && std::env::args().any(|argument| argument == "--html") {
        return Some("`tiered report RUN --html PAGE` is `tiered report html RUN --output PAGE` now".to_owned());
    }
    let (old, new) = RENAMED.iter().find(|(old, _)| unknown == *old && first == unknown)?;
    Some(format!("`tiered {old}` is `tiered {new}` now"))
}
