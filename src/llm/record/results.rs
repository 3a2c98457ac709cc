//! `results_DATE.json`: what a run was, and the share right among the stories asked.

use crate::error::{Error, Result};
use crate::llm::cascade::TierAnswers;
use crate::llm::plan::Plan;
use crate::llm::prompt::PromptStyle;
use crate::llm::server::left_out_remark;
use crate::llm::story::AskedStory;
use crate::llm::tier::Tier;
use crate::untrusted::{self, MAX_INDEX, json_error};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// What a run was, as far as its records say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFacts {
    /// The model, as it is called in tables.
    pub model: String,
    /// When it was asked, as in names of files: "2026-01-31T12-00-00".
    pub date: String,
    /// Whatever else the one who asked knows: server, way, tokens, probe. They stand under `tiered`.
    pub facts: Map<String, Value>,
    /// How many stories each tier asked about, as a `results` file says (`n-samples`). Not used in writing one.
    pub asked: BTreeMap<Tier, u64>,
}

impl RunFacts {
    /// What must stand beside the figures of its tier.
    pub fn remarks(&self) -> Vec<String> {
        let texts = |field: &str| self.facts.get(field).and_then(Value::as_array).into_iter().flatten();
        let remarks = texts("remarks").filter_map(|text| text.as_str().map(str::to_owned));
        remarks.chain(texts("left_out").filter_map(Value::as_str).map(left_out_remark)).collect()
    }
}

/// The document of one tier.
pub(super) fn results(
    plan: &Plan,
    tier: &TierAnswers,
    stories: &[AskedStory],
    facts: &RunFacts,
    task_hash: &str,
) -> Value {
    let task = tier.tier.task();
    let asked = tier.answers.len();
    let right = tier.answers.iter().filter(|answer| answer.is_right(&stories[answer.question.story])).count();
    let share = (asked > 0).then(|| right as f64 / asked as f64);
    let (template, template_sha) = match &plan.style {
        PromptStyle::Plain => (Value::Null, Value::Null),
        PromptStyle::Chat(template) => (json!(template.source()), json!(template.sha256())),
    };
    let mut ours = Map::from_iter([
        ("protocol".to_owned(), json!(plan.protocol)),
        ("departures".to_owned(), json!(plan.departures())),
        ("remarks".to_owned(), json!(tier.remarks)),
    ]);
    ours.extend(facts.facts.clone());
    json!({
        "results": {task: {"alias": task, "acc,none": share}},
        "n-shot": {task: plan.shots},
        "n-samples": {task: {"original": asked, "effective": asked}},
        "config": {"fewshot_seed": plan.seed},
        "task_hashes": {task: task_hash},
        "model_name": facts.model,
        "fewshot_as_multiturn": matches!(plan.style, PromptStyle::Chat(_)),
        "chat_template": template,
        "chat_template_sha": template_sha,
        "date": facts.date,
        "tiered": ours,
    })
}

/// The model, how many stories were asked about, and our own facts in a `results` file.
///
/// # Errors
/// `Io` or `Data` if it can't be read, or is not a JSON object.
pub fn read_facts(path: &Path) -> Result<RunFacts> {
    let bytes = untrusted::read(path, MAX_INDEX).map_err(|error| Error::reading(path, &error))?;
    let text = untrusted::text(&bytes).map_err(|problem| Error::data(problem).about(path.display()))?;
    let results: Value = serde_json::from_str(text).map_err(|error| {
        Error::data(format!("is not valid JSON: {}", json_error(&error))).caused_by(error).about(path.display())
    })?;
    let text = |field: &str| results[field].as_str().unwrap_or_default().to_owned();
    let facts = results["tiered"].as_object().cloned().unwrap_or_default();
    let asked = |tier: Tier| Some((tier, results["n-samples"][tier.task()]["effective"].as_u64()?));
    let asked = Tier::ALL.into_iter().filter_map(asked).collect();
    Ok(RunFacts { model: text("model_name"), date: text("date"), facts, asked })
}
