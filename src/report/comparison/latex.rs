//! LaTeX that uses the package booktabs.

use super::{Comparison, Section};
use crate::report::table::latex_escaped;

impl Comparison {
    /// One `table` for every section. `\input` them in a document with `\usepackage{booktabs}`.
    pub fn to_latex(&self) -> String {
        let sections: Vec<String> = self.sections.iter().map(|section| self.table(section)).collect();
        sections.join("\n")
    }

    fn table(&self, section: &Section) -> String {
        let differences = section.differences_table().map(|table| format!("\n\\medskip\n\n{}", table.to_latex()));
        let caption = latex_escaped(&format!("{}. {}. {}", self.title, section.title(), self.note()));
        format!(
            "\\begin{{table}}\n\\centering\n\\caption{{{caption}}}\n{}{}\\end{{table}}\n",
            section.scores_table().to_latex(),
            differences.unwrap_or_default()
        )
    }
}
