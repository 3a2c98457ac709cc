//! The formats of a report: text for the terminal, Markdown, JSON.

use super::{Detail, Report, table::Table, tables};

impl Report {
    /// Aligned tables for the terminal.
    pub fn to_text(&self, detail: Detail) -> String {
        let tables = self.tables(detail).iter().map(Table::to_text).collect::<Vec<_>>().join("\n");
        format!("{}\n\n{tables}{}", tables::title(&self.system, &self.data), tables::why_undefined(&self.data))
    }

    /// A heading and tables with pipes.
    pub fn to_markdown(&self, detail: Detail) -> String {
        let tables = self.tables(detail).iter().map(Table::to_markdown).collect::<Vec<_>>().join("\n");
        format!("## {}\n\n{tables}{}", tables::title(&self.system, &self.data), tables::why_undefined(&self.data))
    }

    /// Everything, with two spaces of indentation; read back by `serde_json`.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self).expect("a report has string keys and finite numbers only");
        json + "\n"
    }

    fn tables(&self, detail: Detail) -> Vec<Table> {
        let mut all = vec![tables::tiers(self), tables::asserted(self), tables::states(self)];
        if !self.calibration.is_empty() {
            all.push(tables::calibration(self));
        }
        if detail == Detail::PerAttribute {
            all.push(tables::attributes(self));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::StateDecode;
    use crate::metrics::{AssertedCounts, Calibration, Share, StateCounts};
    use crate::report::{DataDescription, PublishedSet, TierRow, published};

    fn report() -> Report {
        let share = |count| Share { count, total: 117 };
        let row = |states, verifiable, [predicted, correct]: [u64; 2], explained| TierRow {
            decoding: "pair".into(),
            states,
            accuracy: share(85),
            consistency: share(23),
            verifiability: share(verifiable),
            asserted: AssertedCounts { predicted, correct, gold: 100 },
            explained: share(explained),
        };
        let [argmax, surest] = [StateDecode::Argmax, StateDecode::Surest(0.55)];
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
            rows: vec![row(argmax, 3, [80, 40], 12), row(surest, 6, [40, 30], 24)],
            states: StateCounts::default().scores(),
            calibration: vec![Calibration { temperature: 1., nll: Some(0.5), ece: Some(0.125) }],
            published: published(PublishedSet::GitaCloze)[..1].to_vec(),
        }
    }

    #[test]
    fn text_is_aligned_with_intervals_and_published_scores() {
        let expected = "\
ours: 117 cloze pairs of stories.json, test

% [95% interval] count                    accuracy               consistency          verifiability
pair                      72.6 [63.9, 79.9] 85/117  19.7 [13.5, 27.8] 23/117   2.6 [0.9, 7.3] 3/117
pair, states 0.55,surest  72.6 [63.9, 79.9] 85/117  19.7 [13.5, 27.8] 23/117  5.1 [2.4, 10.7] 6/117
XLM-R (GITA table 4)                          72.6                      19.6                    2.5

nontrivial states          asserted                precision                    recall    F1           explained pairs
pair                      80 of 100  50.0 [39.3, 60.7] 40/80  40.0 [30.9, 49.8] 40/100  44.4   10.3 [6.0, 17.1] 12/117
pair, states 0.55,surest  40 of 100  75.0 [59.8, 85.8] 30/40  30.0 [21.9, 39.6] 30/100  42.9  20.5 [14.2, 28.7] 24/117
";
        assert_eq!(report().to_text(Detail::Summary).split_inclusive('\n').take(10).collect::<String>(), expected);
    }

    #[test]
    fn markdown_has_every_table() {
        let markdown = report().to_markdown(Detail::PerAttribute);
        assert!(markdown.starts_with("## ours: 117 cloze pairs of stories.json, test\n\n| "));
        assert_eq!(markdown.matches("|---|").count(), 5);
        assert!(markdown.contains("| conflicts | undefined |"));
    }

    #[test]
    fn reports_survive_json() {
        assert_eq!(serde_json::from_str::<Report>(&report().to_json()).unwrap(), report());
    }
}
