//! `tiered llm eval`: asks a language model the three tiers' questions about a story file.

use super::eval_args::Args;
use super::har;
use super::session::Run;
use super::summary::{Summary, TierSummary};
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use crate::llm::record::{RunFacts, write_records};
use crate::llm::server::Way;
use crate::llm::{
    ChatTemplate, MOST_SHOTS, Plan, Protocol, StorySet, Style, Tier, TierAnswers, ask, questions, read_stories,
};
use crate::say::{aside, counted, say};
use crate::schema;
use serde_json::{Map, Value, json};
use std::path::Path;

pub(super) fn run(args: &Args) -> Result<()> {
    let set = stories(args)?;
    if args.protocol == Protocol::Har {
        return har::run(args, &set);
    }
    if !args.examples.is_empty() || args.swapped {
        let message = "--shot and --swapped: are of protocol har only";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let plan = plan(args)?;
    let run = Run::begin(args, asked(args, &set, &plan))?;
    let answers = ask(&set.stories, &plan, &run.server, &|step| run.step(step));
    let answers = run.ended(answers)?;
    let (first, _) = questions(&set.stories, &plan, Tier::Story, &[0])?;
    let summary = Summary {
        settled: &run.settled,
        bos_seen: run.bos_seen(first.first().map(|question| question.asked().0))?,
        unaligned: run.server.unaligned(),
        tiers: answers.iter().map(|tier| TierSummary::of(tier, &set.stories)).collect(),
    };
    write(run.folder.path(), &set, &plan, &answers, &summary)?;
    summary.tiers.iter().for_each(|tier| say!("{}", tier.line()));
    let folder = run.folder.path().display();
    say!("{folder}: the records and results.json; `tiered llm score {folder}` scores them");
    Ok(())
}

/// The stories to ask about, with what is odd about them on standard error.
fn stories(args: &Args) -> Result<StorySet> {
    let mut set = read_stories(&args.data, args.protocol, args.split.as_deref())?;
    if args.protocol == Protocol::Gita4calamita && args.tiers == 3 {
        set.require_states()?;
    }
    if let Some(limit) = args.limit {
        set.stories.truncate(limit as usize);
    }
    set.warnings.iter().for_each(|warning| aside!("warning: {}: {warning}", args.data.display()));
    match set.stories.is_empty() {
        true => Err(Error::data(format!("{}: has no stories to ask about", args.data.display()))),
        false => Ok(set),
    }
}

fn plan(args: &Args) -> Result<Plan> {
    let usage = |message: String| Error::new(ErrorKind::Usage, message);
    if args.shots > MOST_SHOTS {
        return Err(usage(format!("--shots {}: at most {MOST_SHOTS} are shown", args.shots)));
    }
    if args.way == Some(Way::Said) && args.chat_template.is_some() {
        return Err(usage("--way said: the server uses its own chat template; leave out --chat-template".into()));
    }
    let style = match &args.chat_template {
        Some(path) => Style::Chat(ChatTemplate::read(path)?),
        None => Style::Plain,
    };
    let mut plan = Plan::new(args.protocol, style);
    plan.shots = args.shots;
    plan.cascade &= !args.no_cascade;
    plan.last = Tier::from_number(args.tiers.into()).unwrap_or(Tier::State);
    plan.concurrency = args.concurrency.into();
    Ok(plan)
}

/// What is asked, for `run.json`.
fn asked(args: &Args, set: &StorySet, plan: &Plan) -> Map<String, Value> {
    let (style, template) = match &plan.style {
        Style::Plain => ("plain", Value::Null),
        Style::Chat(template) => ("chat", json!(template.sha256())),
    };
    let asked = json!({
        "data_sha256": set.sha256, "split": set.split, "stories": set.stories.len(), "limit": args.limit,
        "protocol": plan.protocol, "departures": departures(args, plan), "style": style,
        "chat_template_sha256": template, "shots": plan.shots, "cascade": plan.cascade, "tiers": args.tiers,
    });
    asked.as_object().cloned().unwrap_or_default()
}

fn departures(args: &Args, plan: &Plan) -> Vec<String> {
    let mut departures = plan.departures();
    departures.extend(args.limit.map(|limit| format!("only the first {}", counted(limit, "story"))));
    departures.extend((args.way == Some(Way::Said)).then(|| "answers in words, not by likelihood".to_owned()));
    departures
}

fn write(folder: &Path, set: &StorySet, plan: &Plan, answers: &[TierAnswers], summary: &Summary) -> Result<()> {
    let internal = |error: serde_json::Error| Error::new(ErrorKind::Internal, format!("results.json: {error}"));
    let text = schema::to_string_pretty(summary).map_err(internal)?;
    let facts = match serde_json::to_value(summary).map_err(internal)? {
        Value::Object(mut facts) => {
            facts.remove("tiers");
            flat(facts)
        }
        _ => Map::new(),
    };
    let facts = RunFacts { model: summary.settled.server.model.clone(), date: summary.settled.date.clone(), facts };
    write_records(folder, &set.stories, plan, answers, &facts)?;
    durable::replace(&folder.join("results.json"), format!("{text}\n").as_bytes())
}

/// What was asked stands beside the other facts, `departures` too.
fn flat(mut facts: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Object(asked)) = facts.remove("asked") {
        facts.extend(asked);
    }
    facts
}
