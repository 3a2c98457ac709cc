//! Compares systems over seeds: means, spread, intervals, and tests of the differences. A [`Comparison`] has one small
//! exporter for each format.

mod latex;
mod lines;
mod show;

pub use show::difference_cells;

use super::PublishedRow;
use crate::metrics::{
    Difference, Estimate, PValue, PairSet, RESAMPLES, Reached, Resamples, Tiers, differences, estimates, holm,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Tables of the same systems on one or more sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Begins the captions in LaTeX.
    pub title: String,
    /// The number of bootstrap resamples: of several sections, that of the one with the fewest.
    pub resamples: usize,
    /// The number of tests in Holm's correction: all that are shown, each once. Bootstrap and McNemar tests are corrected
    /// apart.
    pub tests: usize,
    /// One for each set and decoding.
    pub sections: Vec<Section>,
}

/// One set with one decoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// The name of the set.
    pub set: String,
    /// The name of the decoding, for titles; may be empty.
    pub decoding: String,
    /// `None` if no system was evaluated on the set.
    pub size: Option<SetSize>,
    /// In the order of their indices.
    pub rows: Vec<ComparisonRow>,
    /// One for each two rows that are compared.
    pub differences: Vec<RowDifference>,
    /// Published scores of systems other than the rows.
    pub published: Vec<PublishedRow>,
}

/// How many pairs and story groups a set has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetSize {
    /// What the scores are shares of.
    pub pairs: usize,
    /// What the bootstrap draws.
    pub groups: usize,
}

/// One system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRow {
    /// From 0; tables show it from 1.
    pub index: usize,
    /// The system's name.
    pub name: String,
    /// The seeds with a result. Empty, like `missing`, for a single run.
    pub seeds: Vec<u64>,
    /// The seeds without a result.
    pub missing: Vec<u64>,
    /// `None` if every seed is missing.
    pub scores: Option<Tiers<Estimate>>,
    /// The published scores of the same system.
    pub published: Option<PublishedRow>,
}

/// One row minus another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowDifference {
    /// Indices of the rows: the first minus the second.
    pub rows: [usize; 2],
    /// Their names.
    pub names: [String; 2],
    /// `None` if they share no seed.
    pub tiers: Option<Tiers<Difference>>,
}

/// The input of a section.
pub struct SectionData {
    /// The name of the set.
    pub set: String,
    /// The name of the decoding, for titles; may be empty.
    pub decoding: String,
    /// The pairs of the set; `None` if no system has results.
    pub pairs: Option<PairSet>,
    /// In the order of the rows.
    pub systems: Vec<System>,
    /// Published scores of other systems on the set.
    pub published: Vec<PublishedRow>,
}

/// A system's outcomes on the pairs of a set, by seed.
pub struct System {
    /// As tables name it.
    pub name: String,
    /// Seed -> the tiers that each pair reaches.
    pub by_seed: BTreeMap<u64, Reached>,
    /// The seeds without a result.
    pub missing: Vec<u64>,
    /// The published scores of the same system.
    pub published: Option<PublishedRow>,
}

/// Which rows are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compared {
    /// Every row with the first.
    WithFirst,
    /// These rows, by index: the first of each pair minus the second.
    Rows(Vec<[usize; 2]>),
}

/// Each one once, in order. What is shown twice would count twice in the correction of p-values.
pub fn once_each<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    all.into_iter().fold(Vec::new(), |mut once, one| {
        if !once.contains(&one) {
            once.push(one);
        }
        once
    })
}

impl Comparison {
    /// # Panics
    /// If outcomes are not of the pairs of their section, or a compared row does not exist.
    pub fn new(title: impl Into<String>, data: Vec<SectionData>, compared: &Compared) -> Self {
        let mut sections: Vec<Section> = data.iter().map(|data| Section::new(data, compared)).collect();
        let tests = correct(&mut sections, &data);
        let resamples = sections.iter().filter_map(Section::resamples).min().unwrap_or(RESAMPLES);
        Comparison { title: title.into(), resamples, tests, sections }
    }

    /// The same comparison for rows that are single runs: without seeds, and without the mean over them.
    pub fn of_single_runs(mut self) -> Self {
        self.sections.iter_mut().flat_map(|section| &mut section.rows).for_each(|row| row.seeds.clear());
        self
    }

    fn has_seeds(&self) -> bool {
        self.sections.iter().any(Section::has_seeds)
    }
}

impl Section {
    /// The number of bootstrap resamples: with very many groups there are fewer.
    fn resamples(&self) -> Option<usize> {
        self.size.map(|size| Resamples::count_for(size.groups))
    }

    /// Whether its rows have seeds.
    fn has_seeds(&self) -> bool {
        self.rows.iter().any(|row| !row.seeds.is_empty() || !row.missing.is_empty())
    }

    fn new(data: &SectionData, compared: &Compared) -> Self {
        let SectionData { set, decoding, pairs, systems, published } = data;
        let measured = pairs.as_ref().map(|set| (set, Resamples::of_groups(set.groups())));
        let row = |(i, system): (usize, &System)| ComparisonRow {
            index: i,
            name: system.name.clone(),
            seeds: system.by_seed.keys().copied().collect(),
            missing: system.missing.clone(),
            scores: measured.as_ref().and_then(|(set, resamples)| estimates(set, &system.by_seed, resamples)),
            published: system.published.clone(),
        };
        let difference = |rows: [usize; 2]| {
            let [first, second] = rows.map(|index| &systems[index]);
            let outcomes = [&first.by_seed, &second.by_seed];
            let tiers = measured.as_ref().and_then(|(set, resamples)| differences(set, outcomes, resamples));
            RowDifference { rows, names: [first.name.clone(), second.name.clone()], tiers }
        };
        let compared = match compared {
            Compared::WithFirst => (1..systems.len()).map(|index| [index, 0]).collect(),
            Compared::Rows(rows) => rows.clone(),
        };
        Section {
            set: set.clone(),
            decoding: decoding.clone(),
            size: pairs.as_ref().map(|set| SetSize { pairs: set.pairs(), groups: set.groups() }),
            rows: systems.iter().enumerate().map(row).collect(),
            differences: compared.into_iter().map(difference).collect(),
            published: published.clone(),
        }
    }
}

/// Whether two rows of a section differ in a tier.
struct Test<'a> {
    section: &'a SectionData,
    rows: [usize; 2],
    /// From 0.
    tier: usize,
}

impl Test<'_> {
    /// Whether both test the same outcomes of two rows in either order, under whatever decodings: accuracy does not depend on
    /// that of conflicts.
    fn is(&self, other: &Test) -> bool {
        let [first, second] = other.rows;
        let are = |rows: [usize; 2]| (0..2).all(|i| self.is_row(self.rows[i], other, rows[i]));
        self.section.set == other.section.set
            && self.tier == other.tier
            && (are([first, second]) || are([second, first]))
    }

    fn is_row(&self, row: usize, other: &Test, of_other: usize) -> bool {
        self.section.systems[row].name == other.section.systems[of_other].name
            && self.outcomes(row).eq(other.outcomes(of_other))
    }

    fn outcomes(&self, row: usize) -> impl Iterator<Item = (u64, bool)> {
        let by_seed = &self.section.systems[row].by_seed;
        by_seed.iter().flat_map(move |(&seed, reached)| reached.iter().map(move |tiers| (seed, tiers[self.tier])))
    }
}

/// Applies Holm's correction over all tests that are shown, each once. Returns their number.
fn correct(sections: &mut [Section], data: &[SectionData]) -> usize {
    let mut tests: Vec<(Test, Vec<&mut Difference>)> = Vec::new();
    for (section, shown) in data.iter().zip(sections) {
        for RowDifference { rows, tiers, .. } in &mut shown.differences {
            for (tier, difference) in tiers.iter_mut().flat_map(Tiers::each_mut).enumerate() {
                let test = Test { section, rows: *rows, tier };
                match tests.iter_mut().find(|(known, _)| known.is(&test)) {
                    Some((_, shown)) => shown.push(difference),
                    None => tests.push((test, vec![difference])),
                }
            }
        }
    }
    let of_bootstrap: fn(&mut Difference) -> &mut PValue = |difference| &mut difference.bootstrap;
    let of_mcnemar: fn(&mut Difference) -> &mut PValue = |difference| &mut difference.mcnemar;
    for pick in [of_bootstrap, of_mcnemar] {
        let values: Vec<f64> = tests.iter_mut().map(|(_, shown)| pick(shown[0]).p).collect();
        for ((_, shown), adjusted) in tests.iter_mut().zip(holm(&values)) {
            shown.iter_mut().for_each(|difference| pick(difference).holm = adjusted);
        }
    }
    tests.len()
}

#[cfg(test)]
mod tests;
