//! The tables of a report, for the exporters that show tables.

use super::table::Table;
use super::{DataDescription, PublishedRow, Report, TierRow};
use crate::attribute::Attribute;
use crate::metrics::{Calibration, Share, SideScores};
use crate::say::counted;

const UNDEFINED: &str = "undefined";
/// What needs state labels, where pairs have none.
const NO_STATES: &str = "–";

/// What was measured on what, in one line.
pub fn title(system: &str, data: &DataDescription) -> String {
    let mut title = format!("{system}: {}", counted(data.pairs, &format!("{} pair", data.kind)));
    if let Some(file) = &data.file {
        title.push_str(&format!(" of {file}"));
    }
    if let Some(split) = &data.split {
        title.push_str(&format!(", {split}"));
    }
    title + &data.remark()
}

/// Why there are dashes, to follow the tables; empty where there are none.
pub(super) fn why_undefined(data: &DataDescription) -> String {
    data.why_undefined().map_or(String::new(), |line| format!("\n{line}\n"))
}

/// The three tiers by decoding, and published scores beneath.
pub(super) fn tiers(report: &Report) -> Table {
    let mut table = Table::new(["% [95% interval] count", "accuracy", "consistency", "verifiability"]);
    let cell = |cell| of_states(&report.data, cell);
    for row in &report.rows {
        table.push([row.name(), share(&row.accuracy), share(&row.consistency), cell(share(&row.verifiability))]);
    }
    for PublishedRow { system, accuracy, consistency, verifiability } in &report.published {
        table.push([system.clone(), percent_of(*accuracy), percent_of(*consistency), percent_of(*verifiability)]);
    }
    table
}

/// Macro-F1 of states and conflicts, over all attributes.
pub(super) fn states(report: &Report) -> Table {
    let states = &report.states;
    let cell = |cell| of_states(&report.data, cell);
    let mut table = Table::new(["classification", "macro-F1 (%)"]);
    table.push(["preconditions, mean over attributes".into(), cell(percent(states.preconditions.macro_f1))]);
    table.push(["effects, mean over attributes".into(), cell(percent(states.effects.macro_f1))]);
    table.push(["conflicts".into(), cell(percent(states.conflicts))]);
    table
}

/// How many nontrivial states each decoding asserts, and how right they are.
pub(super) fn asserted(report: &Report) -> Table {
    let mut table = Table::new(["nontrivial states", "asserted", "precision", "recall", "F1", "explained pairs"]);
    let cell = |cell| of_states(&report.data, cell);
    for row in &report.rows {
        let TierRow { asserted, explained, .. } = row;
        table.push([
            row.name(),
            cell(format!("{} of {}", asserted.predicted, asserted.gold)),
            cell(share(&asserted.precision())),
            cell(share(&asserted.recall())),
            cell(percent(asserted.f1())),
            cell(share(explained)),
        ]);
    }
    table
}

/// How far the probability of the story choice can be trusted.
pub(super) fn calibration(report: &Report) -> Table {
    let mut table = Table::new(["story choice", "NLL", "calibration error (%)"]);
    for Calibration { temperature, nll, ece } in &report.calibration {
        let name = if *temperature == 1. { "as it is".to_owned() } else { format!("temperature {temperature:.2}") };
        let nll = nll.map_or(UNDEFINED.to_owned(), |nll| format!("{nll:.3}"));
        table.push([name, nll, percent(*ece)]);
    }
    table
}

/// Macro-F1 of each attribute.
pub(super) fn attributes(report: &Report) -> Table {
    let mut table = Table::new(["macro-F1 (%)", "preconditions", "effects"]);
    let f1 = |side: &SideScores, attribute| percent(side.by_attribute.get(&attribute).copied().flatten());
    let cell = |side, attribute| of_states(&report.data, f1(side, attribute));
    for attribute in Attribute::ALL {
        let (preconditions, effects) = (&report.states.preconditions, &report.states.effects);
        table.push([attribute.to_string(), cell(preconditions, attribute), cell(effects, attribute)]);
    }
    table
}

/// What a cell says that needs state labels: a dash, if pairs have none.
pub fn of_states(data: &DataDescription, cell: String) -> String {
    if data.has_states() { cell } else { NO_STATES.to_owned() }
}

/// `72.6 [63.9, 79.9] 85/117`
pub fn share(share: &Share) -> String {
    match (share.percent(), share.interval()) {
        (Some(percent), Some([low, high])) => {
            format!("{percent:.1} [{low:.1}, {high:.1}] {}/{}", share.count, share.total)
        }
        _ => UNDEFINED.to_owned(),
    }
}

/// Of a percentage.
pub(super) fn percent_of(percent: f64) -> String {
    format!("{percent:.1}")
}

/// Of a value between 0 and 1, in percent.
pub fn percent(value: Option<f64>) -> String {
    value.map_or(UNDEFINED.to_owned(), |value| format!("{:.1}", 100.0 * value))
}
