//! The tables of a report, for the exporters that show tables.

use super::table::Table;
use super::{DataDescription, PublishedRow, Report, TierRow};
use crate::attribute::Attribute;
use crate::metrics::{Calibration, Share, SideScores};
use crate::say::counted;

const UNDEFINED: &str = "undefined";

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

/// The three tiers by decoding, and published scores beneath.
pub(super) fn tiers(report: &Report) -> Table {
    let mut table = Table::new(["% [95% interval] count", "accuracy", "consistency", "verifiability"]);
    for row in &report.rows {
        table.push([row.name(), share(&row.accuracy), share(&row.consistency), share(&row.verifiability)]);
    }
    for PublishedRow { system, accuracy, consistency, verifiability } in &report.published {
        table.push([system.clone(), percent_of(*accuracy), percent_of(*consistency), percent_of(*verifiability)]);
    }
    table
}

/// Macro-F1 of states and conflicts, over all attributes.
pub(super) fn states(report: &Report) -> Table {
    let states = &report.states;
    let mut table = Table::new(["classification", "macro-F1 (%)"]);
    table.push(["preconditions, mean over attributes".into(), percent(states.preconditions.macro_f1)]);
    table.push(["effects, mean over attributes".into(), percent(states.effects.macro_f1)]);
    table.push(["conflicts".into(), percent(states.conflicts)]);
    table
}

/// How many nontrivial states each decoding asserts, and how right they are.
pub(super) fn asserted(report: &Report) -> Table {
    let mut table = Table::new(["nontrivial states", "asserted", "precision", "recall", "F1", "explained pairs"]);
    for row in &report.rows {
        let TierRow { asserted, explained, .. } = row;
        table.push([
            row.name(),
            format!("{} of {}", asserted.predicted, asserted.gold),
            share(&asserted.precision()),
            share(&asserted.recall()),
            percent(asserted.f1()),
            share(explained),
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
    let cell = |side: &SideScores, attribute| percent(side.by_attribute.get(&attribute).copied().flatten());
    for attribute in Attribute::ALL {
        let (preconditions, effects) = (&report.states.preconditions, &report.states.effects);
        table.push([attribute.to_string(), cell(preconditions, attribute), cell(effects, attribute)]);
    }
    table
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
