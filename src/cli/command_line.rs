//! The command line: which commands there are, and what is said where one is wrong.

#[cfg(feature = "app")]
use super::app;
use super::{
    baseline, bench, compare, completions, data, doctor, eval, init, llm, man, model, predict, report, score, sweep,
    train,
};
use crate::config::{ConfigKey, keys};
use crate::say::aside;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use std::io::Write;

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

/// Parses the command line. On a usage error it prints the error and ends the program.
pub(super) fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| match key_of_config(&error) {
        Some(message) => {
            let mut cli = Cli::command();
            cli.build();
            exit(&cli.find_subcommand_mut("train").expect("it is one").error(error.kind(), message))
        }
        None => exit(&without_false_tip(error)),
    })
}

/// Help and version that can't be printed are an error, as any other output is; clap doesn't say so.
fn exit(error: &clap::Error) -> ! {
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    match printed {
        Err(failed) if failed.kind() != std::io::ErrorKind::BrokenPipe && !error.use_stderr() => {
            aside!("error: standard output cannot be written: {failed}");
            std::process::exit(crate::error::ErrorKind::Io as i32)
        }
        _ => std::process::exit(error.exit_code()),
    }
}

/// The program's arguments; what is not UTF-8 is replaced in them.
fn arguments() -> impl Iterator<Item = String> {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned())
}

/// Whether the error is an unknown flag of `train`.
fn is_flag_of_train(error: &clap::Error) -> bool {
    let command = arguments().skip(1).find(|argument| !argument.starts_with('-'));
    error.kind() == ErrorKind::UnknownArgument && command.is_some_and(|command| command == "train")
}

/// A message with the way to set it, if an unknown flag of `train` has the name of a key of the config.
fn key_of_config(error: &clap::Error) -> Option<String> {
    let flag = error.get(ContextKind::InvalidArg).filter(|_| is_flag_of_train(error))?.to_string();
    let name = flag.strip_prefix("--")?.replace('-', "_");
    let value = value_of(&flag, arguments()).unwrap_or_else(|| "VALUE".to_owned());
    let is_named = |key: &&ConfigKey| key.name == name || key.name.rsplit('.').next() == Some(name.as_str());
    let ways = keys().iter().filter(is_named).map(|key| format!("`--set {}={value}`", key.name));
    let ways = ways.collect::<Vec<_>>().join(" or ");
    (!ways.is_empty()).then(|| format!("`train` has no `{flag}`; it is a key of the config: write {ways}"))
}

/// The value of a flag, if it can stand in a shell as it is.
fn value_of(flag: &str, arguments: impl Iterator<Item = String>) -> Option<String> {
    let mut rest = arguments.skip_while(|argument| argument.split('=').next() != Some(flag));
    let value = match rest.next()?.split_once('=') {
        Some((_, value)) => value.to_owned(),
        None => rest.next()?,
    };
    let is_plain =
        value.starts_with(char::is_alphanumeric) && value.chars().all(|c| c.is_alphanumeric() || "+-._/:".contains(c));
    is_plain.then_some(value)
}

/// The same error of `train` without clap's tip to pass an unknown flag after "--": `train` refuses what stands there.
fn without_false_tip(mut error: clap::Error) -> clap::Error {
    if is_flag_of_train(&error) {
        error.remove(ContextKind::Suggested);
        if error.get(ContextKind::SuggestedArg).is_none() {
            let tip = StyledStr::from("keys of the config are set with '--set KEY=VALUE'");
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
        }
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_repeated_where_a_shell_reads_it_as_it_is() {
        let value = |arguments: &str| value_of("--epochs", arguments.split('|').map(str::to_owned));
        assert_eq!(value("tiered|train|--epochs|3").as_deref(), Some("3"));
        assert_eq!(value("tiered|train|--epochs=1e-3|--seed|1").as_deref(), Some("1e-3"));
        for none in ["tiered|train|--epochs", "tiered|train|--epochs|--seed|1", "train|--epochs|$(x)", "train|--seed|1"]
        {
            assert_eq!(value(none), None, "{none}");
        }
    }
}
