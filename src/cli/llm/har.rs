//! `tiered llm eval --protocol har`: both stories of a pair in one prompt, the tiers one after another in one text.

use super::eval_args::Args;
use super::session::Session;
use crate::cli::output::print;
use crate::data::Pair;
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use crate::llm::har::{HarAnswer, ask_har, demonstration};
use crate::llm::server::{Settled, Way};
use crate::llm::{Choice, Protocol, QUESTIONS, Said, StorySet};
use crate::prediction::{LabelledPair, write_predictions};
use crate::say::{counted, quoted, say};
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
    let ((asked, is_cut), shots) = (asked_pairs(args, set)?, args.plan.har_shots()?);
    let run = Session::begin(args, settings(args, set, &asked, &shots, is_cut)?)?;
    let concurrency = args.server.concurrency.into();
    let answers = ask_har(&asked, &shots, args.plan.swapped, concurrency, &run.server, &|step| run.step(step));
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

/// The pairs to ask about, and whether others were left out.
fn asked_pairs(args: &Args, set: &StorySet) -> Result<(Vec<Pair>, bool)> {
    let path = args.plan.data.display();
    if args.no_cascade || args.tiers != 3 || args.way.is_some_and(Way::chats) {
        let why = "protocol har is one text with all tiers: no --no-cascade, --tiers, --way said or top-chat";
        return Err(Error::new(ErrorKind::Usage, format!("{path}: {why}")));
    }
    let mut asked = args.plan.har_pairs(set)?;
    let all = asked.len();
    asked.truncate(args.limit.map_or(all, |limit| limit as usize));
    match asked.is_empty() {
        true => Err(Error::data(format!("{path}: has no pairs to ask about"))),
        false => {
            let is_cut = asked.len() < all;
            Ok((asked, is_cut))
        }
    }
}

fn settings(args: &Args, set: &StorySet, asked: &[Pair], shots: &[Pair], is_cut: bool) -> Result<Map<String, Value>> {
    let told: String = shots.iter().map(demonstration).collect::<Result<_>>()?;
    let mut departures = vec!["every step a choice among options by likelihood".to_owned()];
    departures.extend(args.plan.names_shots().then(|| "other examples than HAR's".to_owned()));
    departures.extend(args.plan.swapped.then(|| "the second story of every pair first".to_owned()));
    departures.extend(args.limit.filter(|_| is_cut).map(|limit| format!("only the first {}", counted(limit, "pair"))));
    let asked = json!({
        "data": args.plan.data.display().to_string(), "data_sha256": set.sha256, "split": set.split, "pairs": asked.len(), "limit": args.limit,
        "protocol": Protocol::Har, "departures": departures, "swapped": args.plan.swapped,
        "shots": shots.len(), "shots_from": shots.iter().map(|pair| &pair.id).collect::<Vec<_>>(),
        "shots_sha256": durable::sha256(told.as_bytes()),
    });
    Ok(asked.as_object().cloned().unwrap_or_default())
}

fn write(run: &Session, answers: &[HarAnswer], summary: &HarSummary) -> Result<()> {
    let folder = run.folder.path();
    let predictions: Vec<LabelledPair> = answers.iter().map(|answer| answer.pair.clone()).collect();
    let file = folder.join("predictions.jsonl");
    durable::replace_with(&file, |part| write_predictions(part, &predictions))?;
    let said = answers.iter().flat_map(|answer| answer.steps.iter().map(|step| Said::of_step(&answer.pair.id, step)));
    let lines =
        said.map(|said| schema::to_string(&said).map(|line| line + "\n")).collect::<std::result::Result<String, _>>();
    let lines = lines.map_err(|error| Error::new(ErrorKind::Internal, format!("{QUESTIONS}: {error}")))?;
    durable::replace(&folder.join(QUESTIONS), lines.as_bytes())?;
    durable::replace(&folder.join("results.json"), schema::document(summary).as_bytes())?;
    let (pairs, undecided) = (counted(summary.pairs, "pair"), summary.undecided);
    print(&format!("{}: {pairs} asked, {undecided} undecided\n", folder.display()))?;
    say!("`tiered score {}` scores them", quoted(file.display()));
    Ok(())
}
