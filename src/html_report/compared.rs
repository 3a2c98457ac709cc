//! Paired tests between runs that read the same pairs in the same way, as in `tiered compare`. Each run is decoded as
//! on the rest of the page.

use super::listing::has_same_pairs;
use super::names::letter;
use super::read::{EvaluatedSet, ReportedRun};
use crate::metrics::{Difference, PairSet, Tiers, reached};
use crate::report::comparison::{Compared, Comparison, RowDifference, Section, SectionData, System, difference_cells};
use std::collections::BTreeMap;

/// The runs that were evaluated on one set, compared with the first of them.
pub struct ComparedView {
    pub set: String,
    /// The number of tests for Holm's correction: all tests on the page.
    pub tests: usize,
    pub rows: Vec<ComparedRow>,
}

/// The difference between two runs in one tier.
pub struct ComparedRow {
    /// "B − A", by their letters.
    pub runs: String,
    pub tier: &'static str,
    /// Points with their interval; p by the bootstrap and by McNemar's test, each before and after correction.
    pub cells: Vec<String>,
}

/// The comparisons on all sets that several runs were evaluated on.
pub fn compared(runs: &[ReportedRun]) -> Vec<ComparedView> {
    let comparison = Comparison::new("Runs", sections(runs), &Compared::WithFirst);
    let view = |section: Section| ComparedView {
        set: section.set,
        tests: comparison.tests,
        rows: section.differences.iter().flat_map(rows).collect(),
    };
    comparison.sections.into_iter().map(view).collect()
}

/// The sections, in the order in which their sets occur first.
fn sections(runs: &[ReportedRun]) -> Vec<SectionData> {
    let mut by_set: Vec<(&EvaluatedSet, Vec<System>)> = Vec::new();
    for (r, run) in runs.iter().enumerate() {
        for set in run.sets.iter().filter(|set| !set.predictions.is_empty()) {
            let is_it = |first: &EvaluatedSet| {
                first.way_to_read() == set.way_to_read() && has_same_pairs(&first.predictions, &set.predictions)
            };
            match by_set.iter_mut().find(|(first, _)| is_it(first)) {
                Some((_, systems)) if systems.iter().all(|system| system.name != letter(r)) => {
                    systems.push(system(r, set));
                }
                Some(_) => {}
                None => by_set.push((set, vec![system(r, set)])),
            }
        }
    }
    let several = by_set.into_iter().filter(|(_, systems)| systems.len() > 1);
    let section = |(set, systems): (&EvaluatedSet, Vec<System>)| SectionData {
        set: set.name.clone(),
        decoding: String::new(),
        pairs: Some(PairSet::of(&set.predictions)),
        systems,
        published: Vec::new(),
    };
    several.map(section).collect()
}

/// A run as a system. All runs have the same key, whatever their seeds, so that their predictions are compared.
fn system(run: usize, set: &EvaluatedSet) -> System {
    System {
        name: letter(run),
        by_seed: BTreeMap::from([(0, reached(&set.predictions))]),
        missing: Vec::new(),
        published: None,
    }
}

fn rows(difference: &RowDifference) -> Vec<ComparedRow> {
    let Some(tiers) = &difference.tiers else { return Vec::new() };
    let [run, first] = &difference.names;
    let row = |(tier, name): (Option<&Difference>, _)| {
        Some(ComparedRow { runs: format!("{run} − {first}"), tier: name, cells: difference_cells(tier?) })
    };
    tiers.each().into_iter().zip(Tiers::<Difference>::NAMES).filter_map(row).collect()
}
