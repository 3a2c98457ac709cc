//! Reads the folder of a language model that was asked about pairs (`tiered llm eval`) as a run of the page.

use super::read::{EvaluatedSet, ReportedRun, facts_of, set_name};
use crate::analysis::{Analysis, PredictionSource};
use crate::decode::{AS_RECORDED, StateDecode};
use crate::error::{Error, Result};
use crate::llm::server::Settled;
use crate::llm::{Protocol, read_said};
use crate::metrics::{Calibration, StateCounts};
use crate::prediction::{LabelledPair, PredictionFormat, read_predictions, without_states};
use crate::report::{DataDescription, Report, TierRow};
use serde_json::{Map, Value};
use std::path::Path;

/// `None` if the folder is none of a language model.
///
/// # Errors
/// Those of the files in it; `Data` if it was not written by `tiered llm eval`.
pub fn read(folder: &Path) -> Result<Option<ReportedRun>> {
    let file = folder.join("predictions.jsonl");
    if !file.is_file() {
        return Ok(None);
    }
    let about = |problem: &str| Error::data(format!("{}: {problem}", folder.display()));
    let is_of_run = folder.join("report.json").is_file();
    let settled = Settled::read(folder)?.ok_or_else(|| match is_of_run {
        true => about("is one evaluation of a run; name the folder of the run"),
        false => about("has predictions, but no run.json; name a folder that `tiered llm eval` made"),
    })?;
    let protocol = settled.asked.get("protocol").cloned().unwrap_or_default();
    let protocol: Protocol =
        serde_json::from_value(protocol).map_err(|_| about("run.json: `protocol` is missing or unknown"))?;
    let (predictions, said) = (read_predictions(&file)?.pairs, read_said(folder)?);
    let report = report(&settled, &predictions);
    let source = PredictionSource {
        system: report.system.clone(),
        data: report.data.clone(),
        format: PredictionFormat::Lines,
        decoding: AS_RECORDED.to_owned(),
        states: StateDecode::Argmax,
        temperature: None,
    };
    let analysis = Analysis::of(source, &predictions, &facts_of(&report.data, 0, &predictions)?);
    let set = EvaluatedSet {
        name: set_name(&report.data),
        report,
        conflicts: None,
        states: StateDecode::Argmax,
        verifiability_by_argmax: analysis.verifiability,
        predictions,
        analysis,
        names_entities: protocol == Protocol::Har,
        said,
    };
    let name = settled.server.model.rsplit('/').next().unwrap_or_default().to_owned();
    Ok(Some(ReportedRun {
        name,
        facts: described(&settled, protocol),
        epochs: Vec::new(),
        best_epoch: None,
        sets: vec![set],
    }))
}

/// What differs from the protocol.
fn departures(asked: &Map<String, Value>) -> Vec<&str> {
    let departures = asked.get("departures").and_then(Value::as_array);
    departures.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Whether others were left out: a limit may be as large as the file.
fn is_limited(asked: &Map<String, Value>) -> bool {
    departures(asked).iter().any(|departure| departure.starts_with("only the first"))
}

/// "language model, protocol pairs, by forced; 2 shots".
fn described(settled: &Settled, protocol: Protocol) -> String {
    let departures = departures(&settled.asked);
    let departures = if departures.is_empty() { String::new() } else { format!("; {}", departures.join(", ")) };
    format!("language model, protocol {protocol}, log-probabilities by {}{departures}", settled.way)
}

fn report(settled: &Settled, predictions: &[LabelledPair]) -> Report {
    let text = |name: &str| settled.asked.get(name).and_then(Value::as_str).map(str::to_owned);
    Report {
        system: settled.server.model.clone(),
        data: DataDescription {
            file: text("data"),
            sha256: text("data_sha256"),
            split: text("split"),
            kind: "all".to_owned(),
            pairs: predictions.len() as u64,
            limited: is_limited(&settled.asked),
            without_states: without_states(predictions),
            ..DataDescription::default()
        },
        rows: vec![TierRow::new(AS_RECORDED, StateDecode::Argmax, predictions)],
        states: StateCounts::of(predictions).scores(),
        calibration: vec![Calibration::of(predictions, 1.)],
        published: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_limit_that_leaves_nothing_out_is_none() {
        let is_limited = |asked: Value| is_limited(asked.as_object().unwrap());
        assert!(!is_limited(json!({"limit": 100, "departures": ["2 shots"]})), "the file has no more");
        assert!(is_limited(json!({"limit": 100, "departures": ["2 shots", "only the first 100 stories"]})));
        assert!(!is_limited(json!({"limit": null})));
    }
}
