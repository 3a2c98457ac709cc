//! The tables of a report, for the exporters that show tables.

use super::table::Table;
use super::{PublishedRow, Report, TierRow};
use crate::attribute::Attribute;
use crate::metrics::{Share, SideScores};

const UNDEFINED: &str = "undefined";

/// What was measured on what, in one line.
pub(super) fn title(report: &Report) -> String {
    let data = &report.data;
    let mut title = format!("{}: {} {} pairs", report.system, data.pairs, data.kind);
    if let Some(file) = &data.file {
        title.push_str(&format!(" of {file}"));
    }
    if let Some(split) = &data.split {
        title.push_str(&format!(", {split}"));
    }
    title
}

/// The three tiers by decoding, and published scores beneath.
pub(super) fn tiers(report: &Report) -> Table {
    let mut table = Table::new(["% [95% interval] count", "accuracy", "consistency", "verifiability"]);
    for TierRow { decoding, accuracy, consistency, verifiability } in &report.rows {
        table.push([decoding.clone(), share(accuracy), share(consistency), share(verifiability)]);
    }
    for PublishedRow { system, accuracy, consistency, verifiability } in &report.published {
        let cell = |percent| format!("{percent:.1}");
        table.push([system.clone(), cell(accuracy), cell(consistency), cell(verifiability)]);
    }
    table
}

/// Macro-F1 of states and conflicts, over all attributes.
pub(super) fn states(report: &Report) -> Table {
    let states = &report.states;
    let mut table = Table::new(["classification", "macro-F1 (%)"]);
    table.push(["preconditions, mean over attributes".into(), f1(states.preconditions.macro_f1)]);
    table.push(["effects, mean over attributes".into(), f1(states.effects.macro_f1)]);
    table.push(["conflicts".into(), f1(states.conflicts)]);
    table
}

/// Precision, recall and F1 of the nontrivial states.
pub(super) fn asserted(report: &Report) -> Table {
    let asserted = &report.states.asserted;
    let mut table = Table::new(["nontrivial states", "%"]);
    table.push(["precision".into(), share(&asserted.precision())]);
    table.push(["recall".into(), share(&asserted.recall())]);
    table.push(["F1".into(), f1(asserted.f1())]);
    table
}

/// Macro-F1 of each attribute.
pub(super) fn attributes(report: &Report) -> Table {
    let mut table = Table::new(["macro-F1 (%)", "preconditions", "effects"]);
    let cell = |side: &SideScores, attribute| f1(side.by_attribute.get(&attribute).copied().flatten());
    for attribute in Attribute::ALL {
        let (preconditions, effects) = (&report.states.preconditions, &report.states.effects);
        table.push([attribute.to_string(), cell(preconditions, attribute), cell(effects, attribute)]);
    }
    table
}

/// `72.6 [63.9, 79.9] 85/117`
fn share(share: &Share) -> String {
    match (share.percent(), share.interval()) {
        (Some(percent), Some([low, high])) => {
            format!("{percent:.1} [{low:.1}, {high:.1}] {}/{}", share.count, share.total)
        }
        _ => UNDEFINED.to_owned(),
    }
}

fn f1(value: Option<f64>) -> String {
    value.map_or(UNDEFINED.to_owned(), |value| format!("{:.1}", 100.0 * value))
}
