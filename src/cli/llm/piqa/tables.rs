//! The tables of `tiered llm piqa score`: one for each protocol, and one beside the published scores.

use crate::llm::piqa::{PiqaProtocol, PublishedAccuracy, SETS, ScoredSubmission, published_accuracies};
use crate::report::{Table, TableFormat, percent, share};
use crate::schema;
use serde::Serialize;
use std::collections::BTreeMap;

const NOTES: &str = "95 % interval: bootstrap over items. Unanswered: neither 0 nor 1, counted as wrong.\n";
const OTHER_PROTOCOL: &str = "Scores by likelihood are not comparable with the benchmark's table.\n";

/// The tables in a format, with notes below if it is text.
pub(super) fn shown(scores: &[ScoredSubmission], with_published: bool, format: TableFormat, is_text: bool) -> String {
    let of_protocols = PiqaProtocol::ALL.into_iter().filter_map(|protocol| of_protocol(scores, protocol));
    let published = with_published.then(|| beside_published(scores));
    let tables: Vec<String> = of_protocols.chain(published).map(|table| format(&table)).collect();
    let is_other = scores.iter().any(|scored| scored.protocol != PiqaProtocol::Answer);
    let notes = [NOTES, if is_other { OTHER_PROTOCOL } else { "" }].concat();
    tables.join("\n") + &if is_text { format!("\n{notes}") } else { String::new() }
}

/// What a protocol is called above its systems.
fn title(protocol: PiqaProtocol) -> &'static str {
    match protocol {
        PiqaProtocol::Answer => "answers to the benchmark's prompt",
        PiqaProtocol::LikelihoodSum => "likelihood of the solution, sum",
        PiqaProtocol::LikelihoodPerCharacter => "likelihood of the solution, per character",
    }
}

/// The scores of a protocol, in the order of the submissions; none if it has none.
fn of_protocol(scores: &[ScoredSubmission], protocol: PiqaProtocol) -> Option<Table> {
    let mut table = Table::new([title(protocol), "set", "accuracy % [95 % interval] right/items", "unanswered"]);
    for scored in scores.iter().filter(|scored| scored.protocol == protocol) {
        let ScoredSubmission { system, set, accuracy, unanswered, .. } = scored;
        table.push([system.clone(), set.clone(), share(accuracy), unanswered.to_string()]);
    }
    (!table.rows().is_empty()).then_some(table)
}

/// Accuracy in percent on the benchmark's sets: our systems, then the published ones.
fn beside_published(scores: &[ScoredSubmission]) -> Table {
    let header = ["accuracy %"].into_iter().chain(SETS.map(|set| set.trim_start_matches("piqa-"))).chain(["mean"]);
    let mut table = Table::new(header);
    let mut row = |system: &str, on: &dyn Fn(&str) -> Option<f64>| {
        let accuracies = SETS.map(on);
        // The mean is over all ten sets, or it would be of another benchmark.
        let sum = accuracies.iter().copied().sum::<Option<f64>>();
        let cells = accuracies.into_iter().chain([sum.map(|sum| sum / SETS.len() as f64)]);
        let cells = cells.map(|accuracy| accuracy.map_or("-".to_owned(), |accuracy| percent(Some(accuracy))));
        table.push(std::iter::once(system.to_owned()).chain(cells));
    };
    for (system, accuracies) in by_system(scores) {
        row(system, &|set| accuracies.get(set).copied());
    }
    for published in published_accuracies() {
        row(&format!("{} (published)", published.system), &|set| published.on(set));
    }
    table
}

/// The systems scored by the benchmark's protocol, in the order of the submissions, each with its accuracy by set.
fn by_system(scores: &[ScoredSubmission]) -> Vec<(&str, BTreeMap<&str, f64>)> {
    let mut systems: Vec<(&str, BTreeMap<&str, f64>)> = Vec::new();
    for scored in scores.iter().filter(|scored| scored.protocol == PiqaProtocol::Answer) {
        let number = systems.iter().position(|(system, _)| *system == scored.system).unwrap_or_else(|| {
            systems.push((&scored.system, BTreeMap::new()));
            systems.len() - 1
        });
        systems[number].1.extend(scored.accuracy.fraction().map(|accuracy| (scored.set.as_str(), accuracy)));
    }
    systems
}

#[derive(Serialize)]
struct Document<'a> {
    scores: &'a [ScoredSubmission],
    /// System -> set -> accuracy.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<BTreeMap<&'static str, BTreeMap<&'static str, f64>>>,
}

/// Everything, with the schema's version.
pub(super) fn json(scores: &[ScoredSubmission], with_published: bool) -> String {
    let by_set = |row: PublishedAccuracy| SETS.iter().filter_map(move |set| Some((*set, row.on(set)?))).collect();
    let published = || published_accuracies().into_iter().map(|row| (row.system, by_set(row))).collect();
    schema::document(&Document { scores, published: with_published.then(published) })
}
