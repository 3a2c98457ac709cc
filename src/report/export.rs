//! The formats of a report: text for the terminal, Markdown, JSON.

use super::{Detail, Report, table::Table, tables};

impl Report {
    /// Aligned tables for the terminal.
    pub fn to_text(&self, detail: Detail) -> String {
        let tables = self.tables(detail).iter().map(Table::to_text).collect::<Vec<_>>().join("\n");
        format!("{}\n\n{tables}", tables::title(self))
    }

    /// A heading and tables with pipes.
    pub fn to_markdown(&self, detail: Detail) -> String {
        let tables = self.tables(detail).iter().map(Table::to_markdown).collect::<Vec<_>>().join("\n");
        format!("## {}\n\n{tables}", tables::title(self))
    }

    /// Everything, with two spaces of indentation; read back by `serde_json`.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self).expect("a report has string keys and finite numbers only");
        json + "\n"
    }

    fn tables(&self, detail: Detail) -> Vec<Table> {
        let mut all = vec![tables::tiers(self), tables::states(self), tables::asserted(self)];
        if detail == Detail::PerAttribute {
            all.push(tables::attributes(self));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{StateCounts, TierCounts};
    use crate::report::{DataDescription, PublishedSet, TierRow, published};

    fn report() -> Report {
        let counts = TierCounts { pairs: 117, accurate: 85, consistent: 23, verifiable: 3 };
        let data = DataDescription {
            file: Some("stories.json".into()),
            split: Some("test".into()),
            kind: "cloze".into(),
            pairs: 117,
        };
        Report {
            system: "ours".into(),
            data,
            rows: vec![TierRow::new("threshold", &counts)],
            states: StateCounts::default().scores(),
            published: published(PublishedSet::GitaCloze)[..1].to_vec(),
        }
    }

    #[test]
    fn text_is_aligned_with_intervals_and_published_scores() {
        let expected = "\
ours: 117 cloze pairs of stories.json, test

% [95% interval] count                  accuracy               consistency         verifiability
threshold               72.6 [63.9, 79.9] 85/117  19.7 [13.5, 27.8] 23/117  2.6 [0.9, 7.3] 3/117
XLM-R (GITA table 4)                        72.6                      19.6                   2.5
";
        assert_eq!(report().to_text(Detail::Summary).split_inclusive('\n').take(5).collect::<String>(), expected);
    }

    #[test]
    fn markdown_has_every_table() {
        let markdown = report().to_markdown(Detail::PerAttribute);
        assert!(markdown.starts_with("## ours: 117 cloze pairs of stories.json, test\n\n| "));
        assert_eq!(markdown.matches("|---|").count(), 4);
        assert!(markdown.contains("| conflicts | undefined |"));
    }

    #[test]
    fn reports_survive_json() {
        assert_eq!(serde_json::from_str::<Report>(&report().to_json()).unwrap(), report());
    }
}
