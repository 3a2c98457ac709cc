//! The tables of a report, for the exporters that show tables.

use super::table::{Table, one_line};
use super::{DataDescription, PublishedRow, Report, TierRow};
use crate::attribute::Attribute;
use crate::decode::StateDecode;
use crate::metrics::{self, Calibration, PredictedCounts, Share, SideScores};
use crate::say::counted;

const UNDEFINED: &str = "undefined";
/// What needs state labels, where pairs have none.
const NO_STATES: &str = "–";

/// What was measured on what, in one line.
pub fn title(system: &str, data: &DataDescription) -> String {
    let kind = if data.kind == "all" { String::new() } else { format!("{} ", data.kind) };
    let mut title = format!("{system}: {}", counted(data.pairs, &format!("{kind}pair")));
    if let Some(file) = &data.file {
        title.push_str(&format!(" of {file}"));
    }
    if let Some(split) = &data.split {
        title.push_str(&format!(", {split}"));
    }
    one_line(&(title + &data.remark()))
}

/// What the intervals of all tables are.
pub const INTERVALS: &str = "95 % interval: bootstrap over story groups";

/// What the intervals are and why there are dashes, to follow the tables.
pub(super) fn notes(data: &DataDescription) -> String {
    let why_undefined = data.why_undefined().map_or(String::new(), |line| format!("\n{line}\n"));
    format!("\n{INTERVALS}\n{why_undefined}")
}

/// The three tiers by decoding of conflicts. Each way of predicting states has its own verifiability, with the number of
/// states that it predicts and their F1: argmax, the papers' way, first.
pub(super) fn tiers(report: &Report) -> Table {
    let mut ways: Vec<StateDecode> = Vec::new();
    let mut decodings: Vec<&TierRow> = Vec::new();
    for row in &report.rows {
        if !ways.contains(&row.states) {
            ways.push(row.states);
        }
        if !decodings.iter().any(|other| other.decoding == row.decoding) {
            decodings.push(row);
        }
    }
    let of_states = ways.iter().flat_map(|way| {
        let by = if *way == StateDecode::Argmax { String::new() } else { format!(", states {way}") };
        ["verifiability", "predicted / gold states", "F1 of states (%)"].map(|name| format!("{name}{by}"))
    });
    let header = ["% of pairs [95 % interval]", "accuracy", "consistency"].map(str::to_owned);
    let mut table = Table::new(header.into_iter().chain(of_states));
    for first in decodings {
        let of_way = |way| report.rows.iter().find(|row| row.decoding == first.decoding && row.states == way);
        let of_states =
            ways.iter().flat_map(|&way| of_way(way).map(|row| state_cells(report, row)).unwrap_or_default());
        let cells = [first.decoding.clone(), share(&first.accuracy), share(&first.consistency)];
        table.push(cells.into_iter().chain(of_states));
    }
    table
}

fn state_cells(report: &Report, row: &TierRow) -> [String; 3] {
    let PredictedCounts { predicted, gold, .. } = row.predicted_states.counts;
    let cells = [share(&row.verifiability), format!("{predicted} / {gold}"), percent(row.predicted_states.f1)];
    cells.map(|cell| of_states(&report.data, cell))
}

/// Published scores, to stand below ours.
pub(super) fn published(report: &Report) -> Table {
    let mut table = Table::new(["published, % of pairs", "accuracy", "consistency", "verifiability"]);
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

/// How many nontrivial states each decoding predicts, and how many of them are right.
pub(super) fn predicted_states(report: &Report) -> Table {
    let mut table =
        Table::new(["nontrivial states", "predicted", "precision", "recall", "F1", "pairs with verifiable states"]);
    let cell = |cell| of_states(&report.data, cell);
    for row in &report.rows {
        let TierRow { predicted_states, verifiable_states, .. } = row;
        table.push([
            row.name(),
            cell(format!("{} of {}", predicted_states.counts.predicted, predicted_states.counts.gold)),
            cell(share(&predicted_states.precision)),
            cell(share(&predicted_states.recall)),
            cell(percent(predicted_states.f1)),
            cell(share(verifiable_states)),
        ]);
    }
    table
}

/// How far the probability of the story choice can be trusted.
pub(super) fn calibration(report: &Report) -> Table {
    let mut table = Table::new(["story choice", "NLL", "calibration error (%)"]);
    for Calibration { temperature, nll, ece } in &report.calibration {
        let name = if *temperature == 1. {
            "uncalibrated".to_owned()
        } else {
            format!("calibrated, temperature {temperature:.2}")
        };
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
    let Some(percent) = share.percent() else { return UNDEFINED.to_owned() };
    let interval = share.percent_interval().map_or(String::new(), |[low, high]| format!(" [{low:.1}, {high:.1}]"));
    format!("{percent:.1}{interval} {}/{}", share.count, share.total)
}

/// Of a value between 0 and 1 that is always defined, in percent.
pub(super) fn percent_of(value: f64) -> String {
    format!("{:.1}", metrics::percent_of(value))
}

/// Of a value between 0 and 1, in percent.
pub fn percent(value: Option<f64>) -> String {
    value.map_or(UNDEFINED.to_owned(), percent_of)
}
