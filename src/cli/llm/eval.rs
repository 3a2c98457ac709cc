//! `tiered llm eval`: asks a language model the three tiers' questions about a story file.

use super::eval_args::Args;
use super::har;
use super::session::Session;
use super::summary::{AnswerSummary, TierSummary};
use crate::cli::output::print;
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use crate::llm::record::{RunFacts, records_in, write_records};
use crate::llm::score::{link, pair_predictions};
use crate::llm::server::{Way, left_out_remark};
use crate::llm::{Plan, Protocol, StorySet, Tier, TierAnswers, ask, read_stories};
use crate::prediction::write_predictions;
use crate::say::{aside, counted, quoted, say};
use crate::schema;
use serde_json::{Map, Value, json};
use std::path::Path;

pub(super) fn run(args: &Args) -> Result<()> {
    let (set, is_cut) = stories(args)?;
    if args.protocol == Protocol::Har {
        return har::run(args, &set);
    }
    let plan = plan(args, &set)?;
    let run = Session::begin(args, asked(args, &set, &plan, is_cut))?;
    let answers = ask(&set.stories, &plan, &run.server, &|step| run.step(step));
    let answers = run.ended(answers)?;
    let first = answers.iter().flat_map(|tier| &tier.answers).next();
    let summary = AnswerSummary {
        settled: &run.settled,
        bos_seen: run.bos_seen(first.map(|answer| answer.question.asked().0))?,
        unaligned: run.server.unaligned(),
        left_out: run.server.left_out(),
        tiers: answers.iter().map(|tier| TierSummary::of(tier, &set.stories)).collect(),
    };
    write(run.folder.path(), &set, &plan, &answers, &summary)?;
    summary.tiers.iter().try_for_each(|tier| print(&format!("{}\n", tier.lines())))?;
    summary.left_out.iter().for_each(|name| aside!("warning: {}", left_out_remark(name)));
    let folder = run.folder.path().display();
    say!("{folder}: the records and results.json; `tiered llm score {}` scores them", quoted(&folder));
    Ok(())
}

/// The stories to ask about, with what is odd about them on standard error, and whether others were left out.
fn stories(args: &Args) -> Result<(StorySet, bool)> {
    let mut set = read_stories(&args.plan.data, args.protocol, args.plan.split.as_deref())?;
    let is_cut = args.limit.is_some_and(|limit| set.keep_first(limit as usize));
    // Before anything is asked, because answers may cost something.
    if args.tiers >= 2 && args.protocol != Protocol::Har {
        set.require_conflicts()?;
    }
    if args.tiers == 3 && args.protocol != Protocol::Har {
        set.require_states(args.protocol)?;
    }
    set.warnings.iter().for_each(|warning| aside!("warning: {}: {warning}", args.plan.data.display()));
    set.require_stories()?;
    Ok((set, is_cut))
}

fn plan(args: &Args, set: &StorySet) -> Result<Plan> {
    if args.way.is_some_and(Way::chats) && args.plan.chat_template.is_some() {
        let message = "--way said and top-chat: the server uses its own chat template; leave out --chat-template";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    if args.way.is_some_and(Way::chats) && (args.tokenizer.is_some() || args.bos.is_some() || args.plan.no_blank) {
        let message = "--way said and top-chat cut no text into tokens; leave out --tokenizer, --bos and --no-blank";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let mut plan = args.plan.plan(args.protocol, set)?;
    plan.cascade &= !args.no_cascade;
    plan.last = Tier::from_number(args.tiers.into()).unwrap_or(Tier::State);
    plan.concurrency = args.server.concurrency.into();
    Ok(plan)
}

/// What is asked, for `run.json`.
fn asked(args: &Args, set: &StorySet, plan: &Plan, is_cut: bool) -> Map<String, Value> {
    let mut asked = args.plan.settled(plan);
    let rest = json!({
        "data": args.plan.data.display().to_string(), "data_sha256": set.sha256, "split": set.split, "stories": set.stories.len(), "limit": args.limit,
        "protocol": plan.protocol, "departures": departures(args, plan, is_cut), "cascade": plan.cascade, "tiers": args.tiers,
    });
    asked.extend(rest.as_object().cloned().unwrap_or_default());
    asked
}

fn departures(args: &Args, plan: &Plan, is_cut: bool) -> Vec<String> {
    let mut departures = plan.departures();
    departures.extend(args.limit.filter(|_| is_cut).map(|limit| format!("only the first {}", counted(limit, "story"))));
    departures.extend(match args.way {
        Some(Way::Said) => Some("answers in words, not by likelihood".to_owned()),
        Some(Way::TopChat) => Some("by the first token of a chat, without a blank before an option".to_owned()),
        _ => None,
    });
    departures
}

fn write(folder: &Path, set: &StorySet, plan: &Plan, answers: &[TierAnswers], summary: &AnswerSummary) -> Result<()> {
    let settled = summary.settled;
    let mut facts = settled.flat();
    facts.insert("bos_seen".to_owned(), json!(summary.bos_seen));
    facts.insert("unaligned".to_owned(), json!(summary.unaligned));
    if !summary.left_out.is_empty() {
        facts.insert("left_out".to_owned(), json!(summary.left_out));
    }
    let (model, date) = (settled.server.model.clone(), settled.date.clone());
    let facts = RunFacts { model, date, facts, ..RunFacts::default() };
    write_records(folder, &set.stories, plan, answers, &facts)?;
    let has_pairs = plan.protocol == Protocol::Pairs && plan.last == Tier::State && settled.way != Way::Said;
    if has_pairs && !set.checked.is_empty() {
        write_pairs(folder, set)?;
    }
    durable::replace(&folder.join("results.json"), schema::document(summary).as_bytes())
}

/// The answers as predictions about pairs, if two stories of one pair were asked about.
fn write_pairs(folder: &Path, set: &StorySet) -> Result<()> {
    let records = records_in(folder)?;
    let predictions = pair_predictions(&records, &link(&records)?, &set.checked)?.predictions;
    match predictions.is_empty() {
        true => Ok(()),
        false => durable::replace_with(&folder.join("predictions.jsonl"), |part| write_predictions(part, &predictions)),
    }
}
