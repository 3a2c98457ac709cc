//! The front matter, as YAML.

use super::contents::{CardContents, LONGEST, set_name};
use crate::metrics::Share;
use crate::report::{Report, TierRow};
use crate::untrusted::shown;
use serde::Serialize;

#[derive(Serialize)]
struct FrontMatter {
    library_name: &'static str,
    pipeline_tag: &'static str,
    tags: [&'static str; 4],
    #[serde(rename = "model-index")]
    model_index: [Model; 1],
}

#[derive(Serialize)]
struct Model {
    name: String,
    results: Vec<ModelResult>,
}

#[derive(Serialize)]
struct ModelResult {
    task: Named,
    dataset: Dataset,
    metrics: Vec<Metric>,
}

#[derive(Serialize)]
struct Named {
    r#type: &'static str,
    name: &'static str,
}

#[derive(Serialize)]
struct Dataset {
    r#type: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    split: Option<String>,
}

#[derive(Serialize)]
struct Metric {
    r#type: &'static str,
    name: String,
    /// Percent.
    value: f64,
}

/// The front matter, with the lines of dashes around it.
pub fn front_matter(contents: &CardContents) -> Result<String, String> {
    let matter = FrontMatter {
        library_name: "tiered",
        pipeline_tag: "text-classification",
        tags: ["tiered-reasoning", "physical-commonsense", "plausibility", "explanation"],
        model_index: [Model { name: name(&contents.name), results: contents.reports.iter().map(result).collect() }],
    };
    serde_saphyr::to_string(&matter).map(|yaml| format!("---\n{}\n---\n", yaml.trim_end())).map_err(|e| e.to_string())
}

fn result(report: &Report) -> ModelResult {
    ModelResult {
        task: Named { r#type: "text-classification", name: "Tiered physical commonsense reasoning" },
        dataset: Dataset {
            r#type: "tiered-stories",
            name: name(&set_name(&report.data)),
            split: report.data.split.as_deref().map(name),
        },
        metrics: report.rows.iter().flat_map(metrics).collect(),
    }
}

fn metrics(row: &TierRow) -> Vec<Metric> {
    let tiers = [("accuracy", &row.accuracy), ("consistency", &row.consistency), ("verifiability", &row.verifiability)];
    let metric = |(tier, share): (&'static str, &Share)| {
        let (value, [low, high]) = (share.percent()?, share.percent_interval()?);
        let name = name(&format!("{tier} (%), {}, 95 % interval {low:.1} to {high:.1}", row.name()));
        Some(Metric { r#type: tier, name, value: (100. * value).round() / 100. })
    };
    tiers.into_iter().filter_map(metric).collect()
}

fn name(text: &str) -> String {
    shown(text, LONGEST)
}
