//! `tiered llm prompt`: prints a prompt.

use crate::cli::output::print;
use crate::data::pairs;
use crate::error::{Error, ErrorKind, Result};
use crate::llm::har::{first_prompt, har_shots};
use crate::llm::record::find_records;
use crate::llm::score::{Linked, link};
use crate::llm::{ChatTemplate, Plan, Protocol, Question, StorySet, Style, Tier, questions, read_stories, stories_of};
use std::path::PathBuf;

/// Print the prompt that asks about one story
///
/// Prints exactly what a language model reads, and a line end. Shots are drawn from the stories asked in the same tier.
/// In tiers 2 and 3 these depend on the model's answers: name its records with --records, else every implausible story
/// counts as asked. By protocol har, a row is a pair, and the prompt of tier 1 is printed; later tiers go on after it.
#[derive(clap::Args)]
pub(in crate::cli) struct Args {
    /// Story file: GITA4CALAMITA.jsonl, or a file in the format of TRIP and GITA
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Split of the story file, if it has several
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// How stories are asked about
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Protocol::Gita4calamita)]
    protocol: Protocol,
    /// The tier: 1 (is the story plausible?), 2 (which sentences conflict?), 3 (which state is the cause?)
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=3))]
    tier: u8,
    /// The story, by its row in the file or split, from 0
    #[arg(long, value_name = "NUMBER")]
    row: usize,
    /// Render a chat with this template: tokenizer_config.json, or a file of Jinja [default: plain text]
    #[arg(long, value_name = "FILE")]
    chat_template: Option<PathBuf>,
    /// How many shots to show
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=5))]
    shots: u8,
    /// Recorded answers (files or a folder) that tell which stories a tier asks about; may be repeated
    #[arg(long, value_name = "PATH")]
    records: Vec<PathBuf>,
    /// By protocol har, a pair to show as an example, by its id; repeat it for more [default: HAR's four, which need
    /// TRIP's full training split]
    #[arg(long = "shot", value_name = "ID")]
    examples: Vec<String>,
    /// By protocol har, the split that the examples are from
    #[arg(long, value_name = "NAME", default_value = "train")]
    shots_split: String,
    /// Print the continuations that are scored after the prompt instead, one a line in quotes
    #[arg(long)]
    options: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let set = read_stories(&args.data, args.protocol, args.split.as_deref())?;
    if args.protocol == Protocol::Har {
        return Ok(print(&format!("{}\n", of_har(args, &set)?))?);
    }
    let question = question(args, &set)?;
    let text = match args.options {
        false => question.prompt,
        true => question.continuations.iter().map(|option| format!("{option:?}")).collect::<Vec<_>>().join("\n"),
    };
    Ok(print(&format!("{text}\n"))?)
}

fn question(args: &Args, set: &StorySet) -> Result<Question> {
    let tier = Tier::from_number(args.tier.into()).expect("1 to 3");
    let style = match &args.chat_template {
        Some(path) => Style::Chat(ChatTemplate::read(path)?),
        None => Style::Plain,
    };
    let mut plan = Plan { shots: args.shots.into(), ..Plan::new(args.protocol, style) };
    if tier == Tier::State {
        set.require_states()?;
    }
    let asked = if args.records.is_empty() {
        plan.cascade = false;
        stories_of(&set.stories, &plan, tier, None)
    } else {
        recorded(args, set, tier)?
    };
    let path = args.data.display();
    let about = |problem: String| Error::new(ErrorKind::Usage, format!("{path}: {problem}"));
    let Some(story) = set.stories.get(args.row) else {
        return Err(about(format!(
            "has no row {}; its rows are 0 to {}",
            args.row,
            set.stories.len().saturating_sub(1)
        )));
    };
    if !asked.contains(&args.row) {
        let why = if story.plausible { "it is plausible" } else { "the tier before did not get it right" };
        return Err(about(format!("{tier} does not ask about {}: {why}", story.name())));
    }
    let (questions, _) = questions(&set.stories, &plan, tier, &asked)?;
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
    let is_asked = |&row: &usize| match tier {
        Tier::Story => true,
        Tier::Conflict => !set.stories[row].plausible && linked.reached(Tier::Story, row),
        Tier::State => !set.stories[row].plausible && linked.reached(Tier::Conflict, row),
    };
    Ok((0..set.stories.len()).filter(is_asked).collect())
}

/// HAR's prompt of tier 1.
fn of_har(args: &Args, set: &StorySet) -> Result<String> {
    let about = |problem: String| Error::new(ErrorKind::Usage, format!("{}: {problem}", args.data.display()));
    if args.tier != 1 || args.options {
        return Err(about(
            "by protocol har, the options and the tiers after the first depend on the model's answers".into(),
        ));
    }
    if set.checked.is_empty() {
        return Err(about("protocol har needs states of entities, as in the files of TRIP and GITA".into()));
    }
    let pairs_of = |set: &StorySet| pairs(&set.checked, 0);
    let examples = read_stories(&args.data, Protocol::Har, Some(&args.shots_split))?;
    let examples = har_shots(&pairs_of(&examples), &args.examples)?;
    let asked = pairs_of(set);
    let pair =
        asked.get(args.row).ok_or_else(|| about(format!("has {} pairs, and no row {}", asked.len(), args.row)))?;
    first_prompt(&examples, pair.stories.each_ref())
}
