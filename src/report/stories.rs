//! What a system scored on stories judged one by one, and its formats.

use super::published::{KindScores, PublishedStoryRow};
use super::table::{Table, TableFormat};
use super::tables::{notes, of_states, percent, share, title};
use super::{DataDescription, decoding_name};
use crate::decode::{Decode, StateDecode, judge};
use crate::metrics::{KindShares, StoryGroups, undefined};
use crate::prediction::LabelledPair;
use crate::schema;
use serde::{Deserialize, Serialize};

/// The stories of a set of pairs, each judged without the other; a plausible story counts once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoryReport {
    /// What made the predictions, for the title.
    pub system: String,
    /// The pairs whose stories were judged.
    pub data: DataDescription,
    /// One for each decoding.
    pub rows: Vec<StoryRow>,
    /// Scores to compare with.
    pub published: Vec<PublishedStoryRow>,
}

/// The tiers of stories under one decoding: accuracy over all stories, the others over the implausible ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoryRow {
    /// How the sentences in conflict were decided ("threshold", "pair").
    pub decoding: String,
    /// Which states are predicted.
    pub states: StateDecode,
    /// Tier 1.
    pub accuracy: KindShares,
    /// Tier 2.
    pub consistency: KindShares,
    /// Tier 3; undefined if any pair lacks state labels.
    #[serde(with = "undefined")]
    pub verifiability: KindShares,
}

impl StoryRow {
    /// `None` if the system can't judge a story by itself.
    pub fn new(predictions: &[LabelledPair], conflicts: Decode, states: StateDecode) -> Option<Self> {
        let judgements = judge(predictions, conflicts, states)?;
        let groups = StoryGroups::of(predictions);
        Some(StoryRow {
            decoding: conflicts.name().to_owned(),
            states,
            accuracy: KindShares::accuracy(&judgements, &groups),
            consistency: KindShares::consistency(&judgements, &groups),
            verifiability: match predictions.iter().all(LabelledPair::has_gold_states) {
                true => KindShares::verifiability(&judgements, &groups),
                false => KindShares::default(),
            },
        })
    }
}

impl StoryReport {
    /// For the terminal: title, a table for each tier, and notes.
    pub fn to_text(&self) -> String {
        let tables: Vec<_> = self.tables().iter().map(Table::to_text).collect();
        let title = title(&self.system, &self.data);
        format!("{title}, story by story\n\n{}{}", tables.join("\n"), notes(&self.data))
    }

    /// The same with a heading of level 2.
    pub fn to_markdown(&self) -> String {
        let tables: Vec<_> = self.tables().iter().map(Table::to_markdown).collect();
        let title = title(&self.system, &self.data);
        format!("## {title}, story by story\n\n{}{}", tables.join("\n"), notes(&self.data))
    }

    /// The tables alone, an empty line between two. CSV and LaTeX say in the first one what was measured on what.
    pub fn in_tables(&self, format: TableFormat) -> String {
        let [accuracy, others @ ..] = self.tables();
        let accuracy = accuracy.titled(format!("{}, story by story", title(&self.system, &self.data)));
        std::iter::once(&accuracy).chain(&others).map(format).collect::<Vec<_>>().join("\n")
    }

    /// The whole report with the version of our formats, and a line end.
    pub fn to_json(&self) -> String {
        schema::document(self)
    }

    fn tables(&self) -> [Table; 3] {
        let mut accuracy = Table::new(["accuracy, %", "all", "cloze", "order", "plausible"]);
        for row in &self.rows {
            let [name, all, cloze, order] = shares(row, &row.accuracy);
            accuracy.push([name, all, cloze, order, row.accuracy.plausible.map_or(String::new(), |s| share(&s))]);
        }
        for row in &self.published {
            let [name, all, cloze, order] = scores(row, &row.accuracy);
            accuracy.push([
                name,
                all,
                cloze,
                order,
                row.accuracy.plausible.map_or(String::new(), |share| percent(Some(share))),
            ]);
        }
        let consistency = self.table("consistency, %", |row| &row.consistency, |row| &row.consistency);
        let mut verifiability = self.table("verifiability, %", |row| &row.verifiability, |row| &row.verifiability);
        if !self.data.has_states() {
            verifiability = Table::new(["verifiability, %", "all", "cloze", "order"]);
            for row in &self.rows {
                let [name, cells @ ..] = shares(row, &row.verifiability);
                let [all, cloze, order] = cells.map(|cell| of_states(&self.data, cell));
                verifiability.push([name, all, cloze, order]);
            }
            self.published.iter().for_each(|row| verifiability.push(scores(row, &row.verifiability)));
        }
        [accuracy, consistency, verifiability]
    }

    /// A tier of the implausible stories.
    fn table(
        &self,
        name: &str,
        ours: fn(&StoryRow) -> &KindShares,
        theirs: fn(&PublishedStoryRow) -> &KindScores,
    ) -> Table {
        let mut table = Table::new([name, "all", "cloze", "order"]);
        self.rows.iter().for_each(|row| table.push(shares(row, ours(row))));
        self.published.iter().for_each(|row| table.push(scores(row, theirs(row))));
        table
    }
}

fn shares(row: &StoryRow, tier: &KindShares) -> [String; 4] {
    [decoding_name(&row.decoding, row.states), share(&tier.overall), share(&tier.cloze), share(&tier.order)]
}

fn scores(row: &PublishedStoryRow, tier: &KindScores) -> [String; 4] {
    let [overall, cloze, order] = [tier.overall, tier.cloze, tier.order].map(percent);
    [row.system.clone(), overall, cloze, order]
}
