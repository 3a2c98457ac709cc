//! `tiered llm eval --protocol har`: both stories of a pair in one prompt, the tiers one after another in one text.

use super::eval_args::Args;
use super::session::Run;
use crate::data::{Pair, pairs};
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use crate::llm::har::{HarAnswer, ask_har, har_shots};
use crate::llm::server::{Settled, Way};
use crate::llm::{Choice, Protocol, StorySet, read_stories};
use crate::prediction::{PairPrediction, write_predictions};
use crate::say::{counted, say};
use crate::schema;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// `results.json`: what the run was. `tiered score` computes the figures from the predictions.
#[derive(Serialize)]
struct HarSummary<'a> {
    #[serde(flatten)]
    settled: &'a Settled,
    /// Start tokens that the model saw before the first prompt.
    bos_seen: usize,
    /// Scored options whose prompt's tokens are not the first tokens of prompt and option.
    unaligned: u64,
    pairs: usize,
    /// Pairs whose questions ended early, because a bound was too weak to decide; they count as wrong from there on.
    undecided: usize,
    /// Questions whose best options were tied.
    ties: usize,
}

pub(super) fn run(args: &Args, set: &StorySet) -> Result<()> {
    let (asked, examples) = (asked_pairs(args, set)?, examples(args)?);
    let run = Run::begin(args, settings(args, set, &asked, &examples))?;
    let concurrency = args.concurrency.into();
    let answers = ask_har(&asked, &examples, args.swapped, concurrency, &run.server, &|step| run.step(step));
    let answers = run.ended(answers)?;
    let first = answers.first().and_then(|answer| answer.steps.first());
    let count = |matches: &dyn Fn(&Choice) -> bool| {
        answers.iter().flat_map(|answer| &answer.steps).filter(|step| matches(&step.choice)).count()
    };
    let summary = HarSummary {
        settled: &run.settled,
        bos_seen: run.bos_seen(first.map(|step| step.question.asked().0))?,
        unaligned: run.server.unaligned(),
        pairs: answers.len(),
        undecided: count(&|choice| choice.index().is_none()),
        ties: count(&|choice| choice.is_tied()),
    };
    write(&run, &answers, &summary)
}

fn usage(args: &Args, why: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("{}: {why}", args.data.display()))
}

fn asked_pairs(args: &Args, set: &StorySet) -> Result<Vec<Pair>> {
    if args.chat_template.is_some() || args.no_cascade || args.tiers != 3 || args.way == Some(Way::Said) {
        let why = "protocol har is one text with all tiers: no --chat-template, --no-cascade, --tiers or --way said";
        return Err(usage(args, why));
    }
    if set.checked.is_empty() {
        return Err(usage(args, "protocol har needs states of entities, as in the files of TRIP and GITA"));
    }
    let mut asked = pairs(&set.checked, 0);
    asked.truncate(args.limit.map_or(asked.len(), |limit| limit as usize));
    match asked.is_empty() {
        true => Err(Error::data(format!("{}: has no pairs to ask about", args.data.display()))),
        false => Ok(asked),
    }
}

fn examples(args: &Args) -> Result<Vec<Pair>> {
    let set = read_stories(&args.data, Protocol::Har, Some(&args.shots_split))?;
    har_shots(&pairs(&set.checked, 0), &args.examples).map_err(|error| error.about(args.data.display()))
}

fn settings(args: &Args, set: &StorySet, asked: &[Pair], examples: &[Pair]) -> Map<String, Value> {
    let mut departures = vec!["every step a choice among options by likelihood".to_owned()];
    departures.extend((!args.examples.is_empty()).then(|| "other examples than HAR's".to_owned()));
    departures.extend(args.swapped.then(|| "the second story of every pair first".to_owned()));
    departures.extend(args.limit.map(|limit| format!("only the first {}", counted(limit, "pair"))));
    let asked = json!({
        "data_sha256": set.sha256, "split": set.split, "pairs": asked.len(), "limit": args.limit,
        "protocol": Protocol::Har, "departures": departures, "swapped": args.swapped,
        "shots": examples.iter().map(|pair| &pair.id).collect::<Vec<_>>(), "shots_split": args.shots_split,
    });
    asked.as_object().cloned().unwrap_or_default()
}

fn write(run: &Run, answers: &[HarAnswer], summary: &HarSummary) -> Result<()> {
    let folder = run.folder.path();
    let predictions: Vec<PairPrediction> = answers.iter().map(|answer| answer.prediction.clone()).collect();
    let file = folder.join("predictions.jsonl");
    durable::replace_with(&file, |part| write_predictions(part, &predictions))?;
    let text = schema::to_string_pretty(summary)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("results.json: {error}")))?;
    durable::replace(&folder.join("results.json"), format!("{text}\n").as_bytes())?;
    say!("{}: {} asked, {} undecided", folder.display(), counted(summary.pairs, "pair"), summary.undecided);
    say!("`tiered score {}` scores them", file.display());
    Ok(())
}
