//! The figures and tables of an analysis.

use super::chart::{Bar, DotRow, Figure, bar_chart, dot_chart, reliability_chart};
use super::listing::Listing;
use super::names::set_name;
use super::read::{EvaluatedSet, ReportedRun};
use super::scores::Score;
use super::story::confidence;
use crate::analysis::{Analysis, AttributeScores, Classified, Mistake};
use crate::error::Result;
use crate::metrics::Share;
use crate::prediction::LabelledPair;

/// How many confusions are shown.
const CONFUSIONS: usize = 10;

/// The analysis of one set.
pub struct AnalysisView {
    pub name: String,
    /// Another set of the run that contains all of these pairs.
    pub part_of: Option<String>,
    pub reading: String,
    pub figures: Vec<Figure>,
    pub groups: Vec<GroupView>,
    /// Missed gold state, wrongly predicted state, count.
    pub confusions: Vec<[String; 3]>,
    pub mistakes: Vec<MistakeView>,
}

pub struct GroupView {
    pub by: &'static str,
    pub rows: Vec<(String, u64, [Score; 3])>,
}

pub struct MistakeView {
    /// The number of its pair on the page.
    pub pair: usize,
    pub id: String,
    pub kind: String,
    pub confidence: String,
}

/// The analyses of all sets with predictions and state labels.
pub fn analysis(runs: &[ReportedRun], listing: &Listing) -> Result<Vec<AnalysisView>> {
    let mut views = Vec::new();
    for (r, run) in runs.iter().enumerate() {
        for (s, set) in run.sets.iter().enumerate().filter(|(_, set)| set.can_be_analysed()) {
            let part_of = listing.whole_of(r, s).map(|whole| run.sets[whole].name.clone());
            let number = |prediction: &LabelledPair| listing.number(set, prediction);
            views.push(AnalysisView::new(set_name(runs, r, &set.name), part_of, set, number)?);
        }
    }
    Ok(views)
}

impl AnalysisView {
    /// `number` returns the number of a pair on the page.
    fn new(
        name: String,
        part_of: Option<String>,
        set: &EvaluatedSet,
        number: impl Fn(&LabelledPair) -> Option<usize>,
    ) -> Result<Self> {
        let analysis = &set.analysis;
        let mut figures = vec![outcomes(analysis)?];
        figures.extend(reliability(analysis)?);
        figures.push(support(analysis)?);
        figures.push(classified("Preconditions by attribute", analysis, |scores| scores.preconditions)?);
        figures.push(classified("Effects by attribute", analysis, |scores| scores.effects)?);
        figures.push(recall(analysis)?);
        let group = |grouping: &crate::analysis::Grouping| GroupView {
            by: grouping.by,
            rows: grouping.rows.iter().map(group_row).collect(),
        };
        let number = |id: &str| set.predictions.iter().find(|p| p.id == id).and_then(&number);
        let mistake = |mistake: &Mistake| MistakeView {
            pair: number(&mistake.id).unwrap_or_default(),
            id: mistake.id.clone(),
            kind: mistake.kind.clone(),
            confidence: confidence(mistake.confidence),
        };
        Ok(AnalysisView {
            name,
            part_of,
            reading: set.reading(),
            figures: figures.into_iter().filter(|figure| !figure.is_empty()).collect(),
            groups: analysis.groups.iter().map(group).collect(),
            confusions: confusions(analysis),
            mistakes: analysis.mistakes.iter().map(mistake).collect(),
        })
    }
}

fn group_row(row: &crate::analysis::GroupRow) -> (String, u64, [Score; 3]) {
    let tiers = [row.accuracy, row.consistency, row.verifiability].map(Score::new);
    (row.name.clone(), row.accuracy.total, tiers)
}

fn confusions(analysis: &Analysis) -> Vec<[String; 3]> {
    let row = |confused: &crate::analysis::Confused| {
        let is_same = confused.gold == confused.predicted;
        let predicted = if is_same { "same attribute, wrong class".to_owned() } else { confused.predicted.to_string() };
        [confused.gold.to_string(), predicted, confused.count.to_string()]
    };
    analysis.confusions.iter().take(CONFUSIONS).map(row).collect()
}

fn outcomes(analysis: &Analysis) -> Result<Figure> {
    let mark = |is_right| if is_right { "✓" } else { "✗" }.to_owned();
    let bar = |outcome: &crate::analysis::Outcome| Bar {
        labels: vec![mark(outcome.story), mark(outcome.conflict), mark(outcome.states)],
        parts: vec![(outcome.pairs.count as f64, if outcome.story { 2 } else { 1 })],
        note: outcome.pairs.percent().map_or(String::new(), |p| format!("{} ({p:.0} %)", outcome.pairs.count)),
    };
    let bars: Vec<_> = analysis.outcomes.iter().map(bar).collect();
    let about = "Pairs by whether the story, the conflict and the states at the conflict are right";
    bar_chart("Right and wrong parts of the answer", about, &["story", "conflict", "states"], &["pairs"], &bars)
}

fn classified(title: &str, analysis: &Analysis, side: fn(&AttributeScores) -> Classified) -> Result<Figure> {
    let some = analysis.attributes.iter().filter(|scores| side(scores).counts.gold + side(scores).counts.predicted > 0);
    let row = |scores: &AttributeScores| {
        let Classified { counts, precision, recall, .. } = side(scores);
        DotRow { label: scores.attribute.to_string(), values: [precision, recall], note: counts.gold.to_string() }
    };
    let rows: Vec<_> = some.map(row).collect();
    let about = format!("{title}: precision and recall of nontrivial states (%), number of gold states");
    dot_chart(title, &about, ["precision", "recall"], &rows)
}

fn support(analysis: &Analysis) -> Result<Figure> {
    let some = analysis.attributes.iter().filter(|scores| scores.support.detected.total > 0);
    let bar = |scores: &AttributeScores| {
        let Share { count, total, .. } = scores.support.detected;
        Bar {
            labels: vec![scores.attribute.to_string()],
            parts: vec![(count as f64, 2), ((total - count) as f64, 5)],
            note: format!("{count} of {total}"),
        }
    };
    let about = "Correct states at gold conflicts; the full part of the bar counts those at detected conflicts";
    let parts = ["at detected conflicts", "at other conflicts"];
    bar_chart("Correct states at detected conflicts", about, &[], &parts, &some.map(bar).collect::<Vec<_>>())
}

fn recall(analysis: &Analysis) -> Result<Figure> {
    let bar = |row: &crate::analysis::AttributeRecall| Bar {
        labels: vec![row.attribute.to_string()],
        parts: vec![(row.states.count as f64, 2), ((row.states.total - row.states.count) as f64, 5)],
        note: format!("{} of {}", row.states.count, row.states.total),
    };
    let bars: Vec<_> = analysis.recall.by_attribute.iter().map(bar).collect();
    let pairs = analysis.recall.pairs;
    let about = format!("Recall of gold states in the implausible stories of the {pairs} consistent pairs");
    bar_chart("Recall of gold states", &about, &[], &["predicted", "missed"], &bars)
}

fn reliability(analysis: &Analysis) -> Result<Option<Figure>> {
    let about = "How often the chosen story is right, by the confidence of the choice. The numbers above the dots count \
                 pairs. The bars are 95 % intervals (bootstrap over story groups).";
    match analysis.calibration.first() {
        Some(reliability) => reliability_chart("Confidence and accuracy", about, &reliability.bins).map(Some),
        None => Ok(None),
    }
}
