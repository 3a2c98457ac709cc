//! `tiered llm prompt`: prints a prompt.

use super::plan_args::PlanArgs;
use crate::cli::output::print_exactly;
use crate::error::{Error, ErrorKind, Result};
use crate::llm::har::first_prompt;
use crate::llm::record::find_records;
use crate::llm::score::{Linked, link};
use crate::llm::{Protocol, Question, StorySet, Tier, questions, read_stories, stories_of};
use crate::say::aside;
use std::path::PathBuf;

/// Print the prompt that asks about one story
///
/// Prints exactly what a language model reads, and a line end; on a terminal, control characters are escaped. Shots are drawn from the stories asked in the same tier.
/// In tiers 2 and 3 these depend on the model's answers: name its records with --records, else every implausible story
/// counts as asked. By protocol har, a row is a pair, and the prompt of tier 1 is printed; later tiers go on after it.
#[derive(clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    plan: PlanArgs,
    /// How stories are asked about
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Protocol::Gita4calamita)]
    protocol: Protocol,
    /// The tier: 1 (is the story plausible?), 2 (which sentences conflict?), 3 (which state is the cause?)
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=3))]
    tier: u8,
    /// The story, by its row among those of the file or split that can be asked about, from 0
    #[arg(long, value_name = "NUMBER")]
    row: usize,
    /// Recorded answers (files or a folder) that tell which stories a tier asks about; may be repeated
    #[arg(long, value_name = "PATH")]
    records: Vec<PathBuf>,
    /// Print the continuations that are scored after the prompt instead, one a line in quotes
    #[arg(long)]
    options: bool,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let set = read_stories(&args.plan.data, args.protocol, args.plan.split.as_deref())?;
    set.warnings.iter().for_each(|warning| aside!("warning: {}: {warning}", args.plan.data.display()));
    set.require_stories()?;
    if args.protocol == Protocol::Har {
        return print_exactly(&format!("{}\n", of_har(args, &set)?));
    }
    let question = question(args, &set)?;
    let text = match args.options {
        false => question.prompt,
        true => question.continuations.iter().map(|option| format!("{option:?}")).collect::<Vec<_>>().join("\n"),
    };
    print_exactly(&format!("{text}\n"))
}

fn question(args: &Args, set: &StorySet) -> Result<Question> {
    let tier = Tier::from_number(args.tier.into()).expect("1 to 3");
    let mut plan = args.plan.plan(args.protocol, set)?;
    if tier == Tier::State {
        set.require_states(args.protocol)?;
    }
    let asked = if args.records.is_empty() {
        plan.cascade = false;
        stories_of(&set.stories, &plan, tier, None)
    } else {
        recorded(args, set, tier)?
    };
    let path = args.plan.data.display();
    let about = |problem: String| Error::new(ErrorKind::Usage, format!("{path}: {problem}"));
    let Some(story) = set.stories.get(args.row) else {
        return Err(about(format!("has no row {}; its rows are 0 to {}", args.row, set.stories.len() - 1)));
    };
    if !asked.contains(&args.row) {
        let why = if story.plausible { "it is plausible" } else { "the tier before did not get it right" };
        return Err(about(format!("{tier} does not ask about {}: {why}", story.name())));
    }
    let (questions, _) = questions(&set.stories, &plan, tier, &asked).map_err(|error| match error.kind {
        ErrorKind::Data => error.about(path),
        _ => error,
    })?;
    Ok(questions.into_iter().find(|question| question.story == args.row).expect("it is asked"))
}

/// The rows that a tier asked about, by the records of the tiers before.
fn recorded(args: &Args, set: &StorySet, tier: Tier) -> Result<Vec<usize>> {
    let records = find_records(&args.records)?;
    let [records] = &records[..] else {
        return Err(Error::new(ErrorKind::Usage, "--records: name the files of one model"));
    };
    let linked: Linked = link(records)?;
    if linked.stories.iter().map(|story| &story.doc).ne(set.stories.iter().map(|story| &story.doc)) {
        let problem = "are of other stories than those of the story file";
        return Err(Error::data(problem).about(records.folder.display()));
    }
    linked.asked(tier).ok_or_else(|| {
        let problem = format!("lack the tier before {tier}, which tells what was asked there");
        Error::data(problem).about(records.folder.display())
    })
}

/// HAR's prompt of tier 1.
fn of_har(args: &Args, set: &StorySet) -> Result<String> {
    let about = |problem: String| Error::new(ErrorKind::Usage, format!("{}: {problem}", args.plan.data.display()));
    if !args.records.is_empty() {
        let message = "--records: by protocol har a prompt of tier 1 does not depend on other answers; leave it out";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    if args.tier != 1 || args.options {
        return Err(about(
            "by protocol har, the options and the tiers after the first depend on the model's answers".into(),
        ));
    }
    let (asked, shots) = (args.plan.har_pairs(set)?, args.plan.har_shots()?);
    let pair =
        asked.get(args.row).ok_or_else(|| about(format!("has {} pairs, and no row {}", asked.len(), args.row)))?;
    let shown = if args.plan.swapped { [1, 0] } else { [0, 1] };
    first_prompt(&shots, pair, shown)
}
