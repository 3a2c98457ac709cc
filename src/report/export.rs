//! The formats of a report: text for the terminal, Markdown, JSON.

use super::{
    Detail, Report,
    table::{Table, TableFormat},
    tables,
};
use crate::schema;

impl Report {
    /// Aligned tables for the terminal: systems side by side, measures below each other.
    pub fn to_text(&self, detail: Detail) -> String {
        let tiers = tables::tiers(self).transposed();
        let others = self.more_tables(detail);
        let tables = std::iter::once(&tiers).chain(&others).map(Table::to_text).collect::<Vec<_>>().join("\n");
        format!("{}\n\n{tables}{}", tables::title(&self.system, &self.data), tables::notes(&self.data))
    }

    /// A heading and tables with pipes.
    pub fn to_markdown(&self, detail: Detail) -> String {
        let tables = self.in_tables(detail, Table::to_markdown);
        format!("## {}\n\n{tables}{}", tables::title(&self.system, &self.data), tables::notes(&self.data))
    }

    /// The tables alone, an empty line between two. CSV and LaTeX say in the first one what was measured on what.
    pub fn in_tables(&self, detail: Detail, format: TableFormat) -> String {
        let tiers = tables::tiers(self).titled(tables::title(&self.system, &self.data));
        let all = std::iter::once(tiers).chain(self.more_tables(detail));
        all.map(|table| format(&table)).collect::<Vec<_>>().join("\n")
    }

    /// Everything, with two spaces of indentation; read back by [`schema::from_slice`].
    pub fn to_json(&self) -> String {
        schema::document(self)
    }

    /// What follows the tiers.
    fn more_tables(&self, detail: Detail) -> Vec<Table> {
        let mut more = Vec::new();
        if !self.published.is_empty() {
            more.push(tables::published(self));
        }
        if detail.verbose {
            more.extend([tables::predicted_states(self), tables::states(self)]);
            if !self.calibration.is_empty() {
                more.push(tables::calibration(self));
            }
        }
        if detail.per_attribute {
            more.push(tables::attributes(self));
        }
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::StateDecode;
    use crate::metrics::{Calibration, PredictedCounts, PredictedScores, Share, StateCounts};
    use crate::report::{DataDescription, PublishedSet, TierRow, published};

    fn report() -> Report {
        let of = |count, total| Share { interval: Some([0.025, 0.975]), ..Share::new(count, total) };
        let share = |count| of(count, 117);
        let row = |states, verifiable, [predicted, correct]: [u64; 2], explaining| TierRow {
            decoding: "pair".into(),
            states,
            accuracy: share(85),
            consistency: share(23),
            verifiability: share(verifiable),
            predicted_states: PredictedScores {
                counts: PredictedCounts { predicted, correct, gold: 100 },
                precision: of(correct, predicted),
                recall: Share::new(correct, 100),
                f1: Some(2. * correct as f64 / (predicted + 100) as f64),
            },
            verifiable_states: share(explaining),
        };
        let [argmax, top1] = [StateDecode::Argmax, StateDecode::ThresholdTop1(0.55)];
        let data = DataDescription {
            file: Some("stories.json".into()),
            split: Some("test".into()),
            kind: "cloze".into(),
            pairs: 117,
            ..DataDescription::default()
        };
        Report {
            system: "ours".into(),
            data,
            rows: vec![row(argmax, 3, [80, 40], 12), row(top1, 6, [40, 30], 24)],
            states: StateCounts::default().scores(),
            calibration: vec![Calibration { temperature: 1., nll: Some(0.5), ece: Some(0.125) }],
            published: published(PublishedSet::GitaCloze)[..1].to_vec(),
        }
    }

    #[test]
    fn text_has_a_column_a_decoding_and_published_scores_below() {
        let expected = "\
ours: 117 cloze pairs of stories.json, test

% of pairs [95 % interval]                                    pair
accuracy                                   72.6 [2.5, 97.5] 85/117
consistency                                19.7 [2.5, 97.5] 23/117
verifiability                                2.6 [2.5, 97.5] 3/117
predicted / gold states                                   80 / 100
F1 of states (%)                                              44.4
verifiability, states 0.55+top1              5.1 [2.5, 97.5] 6/117
predicted / gold states, states 0.55+top1                 40 / 100
F1 of states (%), states 0.55+top1                            42.9

published, % of pairs  accuracy  consistency  verifiability
XLM-R (GITA table 4)       72.6         19.6            2.5

95 % interval: bootstrap over story groups
";
        assert_eq!(report().to_text(Detail::default()), expected);
    }

    #[test]
    fn markdown_has_every_table() {
        let markdown = report().to_markdown(Detail { verbose: true, per_attribute: true });
        assert!(markdown.starts_with("## ours: 117 cloze pairs of stories.json, test\n\n| "));
        assert_eq!(markdown.matches("|---|").count(), 6);
        assert!(markdown.contains("| conflicts | undefined |"));
    }

    #[test]
    fn reports_survive_json() {
        assert_eq!(serde_json::from_str::<Report>(&report().to_json()).unwrap(), report());
    }
}
