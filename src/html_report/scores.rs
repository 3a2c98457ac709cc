//! The tiers of every evaluated set, with the runs side by side.

use super::chart::colour;
use super::names::run_name;
use super::read::{EvaluatedSet, ReportedRun};
use crate::decode::StateDecode;
use crate::metrics::{PredictedCounts, Share};
use crate::report::{PublishedRow, TierRow, percent};

/// The scores on one set: one row for every run and decoding.
pub struct SetScores {
    pub name: String,
    pub pairs: u64,
    pub rows: Vec<ScoreRow>,
}

pub struct ScoreRow {
    /// The letter with the name, and the colour of the run, if there are several runs.
    pub run: Option<(String, usize)>,
    pub decoding: String,
    /// Whether this is the decoding of the run's detector, which the rest of the page uses.
    pub is_own: bool,
    pub is_published: bool,
    /// Accuracy and consistency.
    pub tiers: [Score; 2],
    /// By argmax, the papers' way, and as calibrated on dev; where the evaluation was made without that, in another way.
    pub by_states: [Option<StateScoresView>; 2],
}

/// Verifiability under one way of predicting states, and how much is predicted.
pub struct StateScoresView {
    /// The way, where the column does not tell.
    pub way: String,
    pub verifiability: Score,
    /// Nontrivial states that are predicted, of those in gold.
    pub predicted: String,
    pub f1: String,
}

/// A share in percent. Interval and count are empty if it is undefined.
pub struct Score {
    pub percent: String,
    pub interval: String,
    pub count: String,
    /// For a bar: value and interval, between 0 and 100.
    pub bar: Option<[f64; 3]>,
}

/// The scores of one run on one set, shown in large letters.
pub struct Headline {
    /// With its letter, if there are several runs.
    pub run: String,
    pub set: String,
    pub reading: String,
    /// Verifiability by argmax.
    pub tiers: [(&'static str, Score); 3],
    /// Verifiability with the states that the rest of the page shows, if they are not argmax.
    pub calibrated: Option<(StateDecode, Score)>,
}

impl Score {
    pub fn new(share: Share) -> Self {
        let Some(percent) = share.percent() else {
            return Score { percent: "–".into(), interval: String::new(), count: String::new(), bar: None };
        };
        let interval = share.percent_interval();
        Score {
            percent: format!("{percent:.1}"),
            interval: interval.map_or(String::new(), |[low, high]| format!("{low:.1}–{high:.1}")),
            count: format!("{}/{}", share.count, share.total),
            bar: interval.map(|[low, high]| [percent, low, high]),
        }
    }

    fn published(score: f64) -> Self {
        let percent = 100. * score;
        Score { percent: format!("{percent:.1}"), interval: String::new(), count: String::new(), bar: None }
    }
}

/// The scores, in the order in which the sets occur first.
pub fn scores(runs: &[ReportedRun]) -> Vec<SetScores> {
    let mut all: Vec<SetScores> = Vec::new();
    for (r, run) in runs.iter().enumerate() {
        for set in &run.sets {
            let first = |row: &&TierRow| {
                let of_decoding = set.report.rows.iter().find(|other| other.decoding == row.decoding);
                of_decoding.is_some_and(|other| std::ptr::eq(other, *row))
            };
            let rows = set.report.rows.iter().filter(first).map(|row| ScoreRow::new(runs, r, set, row));
            match all.iter_mut().find(|scores| scores.name == set.name) {
                Some(scores) => scores.rows.extend(rows),
                None => {
                    let (name, pairs) = (set.name.clone(), set.report.data.pairs);
                    all.push(SetScores { name, pairs, rows: rows.collect() });
                }
            }
        }
    }
    for scores in &mut all {
        scores.rows.extend(published(runs, &scores.name));
    }
    all
}

/// The published scores that the reports on this set contain.
fn published(runs: &[ReportedRun], set: &str) -> Vec<ScoreRow> {
    let reports = runs.iter().flat_map(|run| &run.sets).filter(|other| other.name == set);
    let mut rows: Vec<ScoreRow> = Vec::new();
    for PublishedRow { system, accuracy, consistency, verifiability } in reports.flat_map(|set| &set.report.published) {
        if rows.iter().all(|row| row.decoding != *system) {
            rows.push(ScoreRow {
                run: None,
                decoding: system.clone(),
                is_own: false,
                is_published: true,
                tiers: [*accuracy, *consistency].map(Score::published),
                by_states: [Some(StateScoresView::published(*verifiability)), None],
            });
        }
    }
    rows
}

impl ScoreRow {
    /// Of all rows of a report with the decoding of this one.
    fn new(runs: &[ReportedRun], r: usize, set: &EvaluatedSet, row: &TierRow) -> Self {
        let ways = || set.report.rows.iter().filter(move |other| other.decoding == row.decoding);
        let argmax = ways().find(|way| way.states == StateDecode::Argmax);
        let others = || ways().filter(|way| way.states != StateDecode::Argmax);
        let other = others().find(|way| way.states == set.states).or_else(|| others().next());
        ScoreRow {
            run: (runs.len() > 1).then(|| (run_name(runs, r), colour(r))),
            decoding: row.decoding.clone(),
            is_own: row.decoding == set.decoding(),
            is_published: false,
            tiers: [row.accuracy, row.consistency].map(Score::new),
            by_states: [argmax, other].map(|row| row.map(|row| StateScoresView::new(row, set.names_entities))),
        }
    }
}

impl StateScoresView {
    /// How much is predicted is left out for a language model that names no entity.
    fn new(row: &TierRow, names_entities: bool) -> Self {
        let PredictedCounts { predicted, gold, .. } = row.predicted_states.counts;
        let verifiability = Score::new(row.verifiability);
        if !names_entities {
            let way = "any gold state".to_owned();
            return StateScoresView { way, verifiability, predicted: String::new(), f1: String::new() };
        }
        StateScoresView {
            way: if row.states == StateDecode::Argmax { String::new() } else { row.states.to_string() },
            verifiability,
            predicted: format!("{predicted} / {gold}"),
            f1: percent(row.predicted_states.f1),
        }
    }

    fn published(verifiability: f64) -> Self {
        let verifiability = Score::published(verifiability);
        StateScoresView { way: String::new(), verifiability, predicted: String::new(), f1: String::new() }
    }
}

/// The scores of every run on every set, by the decoding of the run's detector.
pub fn headlines(runs: &[ReportedRun]) -> Vec<Headline> {
    let with_pairs = runs.iter().enumerate().flat_map(|(r, run)| run.sets.iter().map(move |set| (r, set)));
    let with_pairs = with_pairs.filter(|(_, set)| !set.predictions.is_empty());
    let headline = |(r, set): (usize, &EvaluatedSet)| {
        let calibrated = (set.states, Score::new(set.analysis.verifiability));
        let tiers = [
            ("accuracy", set.analysis.accuracy),
            ("consistency", set.analysis.consistency),
            ("verifiability", set.verifiability_by_argmax),
        ];
        Headline {
            run: run_name(runs, r),
            set: set.name.clone(),
            reading: set.reading(),
            tiers: tiers.map(|(name, share)| (name, Score::new(share))),
            calibrated: (set.states != StateDecode::Argmax && set.analysis.verifiability.total > 0)
                .then_some(calibrated),
        }
    };
    with_pairs.map(headline).collect()
}
