//! The tiers of every evaluated set, runs side by side.

use super::chart::colour;
use super::read::{EvaluatedSet, Run};
use crate::metrics::Share;
use crate::report::{PublishedRow, TierRow};

/// One set: every run that was evaluated on it, by every decoding.
pub struct SetScores {
    pub name: String,
    pub pairs: u64,
    pub rows: Vec<ScoreRow>,
}

pub struct ScoreRow {
    /// Of the run, where there are several.
    pub run: Option<(String, usize)>,
    pub decoding: String,
    /// The way in which the run is meant to be read, and the rest of the page reads it.
    pub is_own: bool,
    pub is_published: bool,
    pub tiers: [Score; 3],
}

/// A share in percent; empty texts where it is undefined.
pub struct Score {
    pub percent: String,
    pub interval: String,
    pub count: String,
    /// For a bar: value and interval, between 0 and 100.
    pub bar: Option<[f64; 3]>,
}

/// The scores of one run on one set in large letters.
pub struct Headline {
    pub run: String,
    pub set: String,
    pub reading: String,
    pub tiers: [(&'static str, Score); 3],
}

impl Score {
    pub fn new(share: Share) -> Self {
        match (share.percent(), share.interval()) {
            (Some(percent), Some([low, high])) => Score {
                percent: format!("{percent:.1}"),
                interval: format!("{low:.1}–{high:.1}"),
                count: format!("{}/{}", share.count, share.total),
                bar: Some([percent, low, high]),
            },
            _ => Score { percent: "–".into(), interval: String::new(), count: String::new(), bar: None },
        }
    }

    fn published(percent: f64) -> Self {
        Score { percent: format!("{percent:.1}"), interval: String::new(), count: String::new(), bar: None }
    }
}

/// In the order in which the sets are met first.
pub fn scores(runs: &[Run]) -> Vec<SetScores> {
    let mut all: Vec<SetScores> = Vec::new();
    for (r, run) in runs.iter().enumerate() {
        for set in &run.sets {
            let rows = set.report.rows.iter().map(|row| ScoreRow::new(runs, r, set, row));
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

/// The scores to compare with that any of the reports on this set names.
fn published(runs: &[Run], set: &str) -> Vec<ScoreRow> {
    let reports = runs.iter().flat_map(|run| &run.sets).filter(|other| other.name == set);
    let mut rows: Vec<ScoreRow> = Vec::new();
    for PublishedRow { system, accuracy, consistency, verifiability } in reports.flat_map(|set| &set.report.published) {
        if rows.iter().all(|row| row.decoding != *system) {
            rows.push(ScoreRow {
                run: None,
                decoding: system.clone(),
                is_own: false,
                is_published: true,
                tiers: [*accuracy, *consistency, *verifiability].map(Score::published),
            });
        }
    }
    rows
}

impl ScoreRow {
    fn new(runs: &[Run], r: usize, set: &EvaluatedSet, row: &TierRow) -> Self {
        ScoreRow {
            run: (runs.len() > 1).then(|| (runs[r].name.clone(), colour(r))),
            decoding: row.name(),
            is_own: row.decoding == set.conflicts.name() && row.states == set.states,
            is_published: false,
            tiers: [row.accuracy, row.consistency, row.verifiability].map(Score::new),
        }
    }
}

/// Of every run on every set, as the run is meant to be read.
pub fn headlines(runs: &[Run]) -> Vec<Headline> {
    let with_pairs = runs.iter().flat_map(|run| run.sets.iter().map(move |set| (run, set)));
    let with_pairs = with_pairs.filter(|(_, set)| !set.predictions.is_empty());
    let headline = |(run, set): (&Run, &EvaluatedSet)| {
        let tiers = [
            ("accuracy", set.analysis.accuracy),
            ("consistency", set.analysis.consistency),
            ("verifiability", set.analysis.verifiability),
        ];
        Headline {
            run: run.name.clone(),
            set: set.name.clone(),
            reading: set.reading(),
            tiers: tiers.map(|(name, share)| (name, Score::new(share))),
        }
    };
    with_pairs.map(headline).collect()
}
