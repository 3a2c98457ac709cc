//! Writes recorded answers as lm-evaluation-harness does: the same fields in the same order, numbers as text.

use super::results::{RunFacts, results};
use crate::durable::{self, sha256};
use crate::error::Result;
use crate::llm::cascade::{QuestionAnswer, TierAnswers};
use crate::llm::plan::Plan;
use crate::llm::scorer::OptionScore;
use crate::llm::story::AskedStory;
use crate::llm::tier::{Protocol, Tier};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Writes the answers of every tier into a folder: a `samples` and a `results` file each. Returns their paths.
///
/// # Errors
/// `CantCreate` or `Io` if writing fails.
pub fn write_records(
    folder: &Path,
    stories: &[AskedStory],
    plan: &Plan,
    tiers: &[TierAnswers],
    facts: &RunFacts,
) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for tier in tiers {
        let lines = sample_lines(stories, plan, tier);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let task = tier.tier.task();
        let results = results(plan, tier, stories, facts, &task_hash(&lines));
        let results = serde_json::to_string_pretty(&results).expect("it has string keys");
        // One tier's results never replace another's.
        for (name, text) in [
            (format!("samples_{task}_{}.jsonl", facts.date), text),
            (format!("results_{task}_{}.json", facts.date), results + "\n"),
        ] {
            let path = folder.join(name);
            durable::replace(&path, text.as_bytes())?;
            written.push(path);
        }
    }
    Ok(written)
}

/// One JSON object for each story of a tier.
pub fn sample_lines(stories: &[AskedStory], plan: &Plan, tier: &TierAnswers) -> Vec<Value> {
    let line = |(place, answer): (usize, &QuestionAnswer)| line(place, answer, &stories[answer.question.story], plan);
    tier.answers.iter().enumerate().map(line).collect()
}

/// SHA-256 of `doc_hash`, `prompt_hash` and `target_hash` of all lines, joined.
pub fn task_hash(lines: &[Value]) -> String {
    let hashes = lines.iter().flat_map(|line| ["doc_hash", "prompt_hash", "target_hash"].map(|hash| &line[hash]));
    sha256(hashes.filter_map(Value::as_str).collect::<String>().as_bytes())
}

fn line(place: usize, answer: &QuestionAnswer, story: &AskedStory, plan: &Plan) -> Value {
    let question = &answer.question;
    let target = match question.tier {
        Tier::Story => json!(story.plausible),
        tier => json!(story.answer(tier).unwrap_or_default()),
    };
    // As Python prints it.
    let printed = match &target {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let arguments =
        question.continuations.iter().enumerate().map(|(i, continuation)| {
            (format!("gen_args_{i}"), json!({"arg_0": question.prompt, "arg_1": continuation}))
        });
    let scores: Vec<Value> = answer.scores.iter().map(score).collect();
    let doc = serde_json::to_string_pretty(&story.doc).expect("it has string keys");
    let mut line = json!({
        "doc_id": place,
        "doc": story.doc,
        "target": target,
        "arguments": arguments.collect::<Map<_, _>>(),
        "resps": scores.iter().map(|score| json!([score])).collect::<Vec<_>>(),
        "filtered_resps": scores,
        "doc_hash": sha256(doc.as_bytes()),
        "prompt_hash": sha256(question.prompt.as_bytes()),
        "target_hash": sha256(printed.as_bytes()),
        "acc": if answer.is_right(story) { 1. } else { 0. },
    });
    add_ours(&mut line, answer, plan);
    line
}

/// Log-probability and whether it is greedy, as text, with the digits that Python prints. An answer in words has
/// log-probability 0, the other options have the lowest number.
fn score(score: &OptionScore) -> Value {
    let (logprob, is_greedy) = match *score {
        OptionScore::Exact { logprob, is_greedy } => (logprob, is_greedy),
        OptionScore::AtMost(bound) => (bound, false),
        OptionScore::Said(said) => (if said { 0. } else { f64::MIN }, said),
    };
    let digits = json!(logprob).to_string();
    json!([digits, if is_greedy { "True" } else { "False" }])
}

/// Fields that the harness does not have: only where something differs from its meaning.
fn add_ours(line: &mut Value, answer: &QuestionAnswer, plan: &Plan) {
    if plan.protocol != Protocol::Gita4calamita {
        line["protocol"] = json!(plan.protocol);
    }
    if !plan.cascade {
        line["cascade"] = json!(false);
    }
    let bounds: Vec<bool> = answer.scores.iter().map(|score| matches!(score, OptionScore::AtMost(_))).collect();
    if bounds.contains(&true) {
        line["at_most"] = json!(bounds);
    }
    if answer.scores.iter().any(|score| matches!(score, OptionScore::Said(_))) {
        line["said"] = json!(answer.chosen());
    }
}
