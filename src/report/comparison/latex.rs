//! LaTeX, for the package booktabs.

use super::{Comparison, Section};
use crate::report::Table;

impl Comparison {
    /// A `table` for every section, to `\input` in a document with `\usepackage{booktabs}`.
    pub fn to_latex(&self) -> String {
        let sections: Vec<String> = self.sections.iter().map(|section| self.table(section)).collect();
        sections.join("\n")
    }

    fn table(&self, section: &Section) -> String {
        let differences = section.differences_table().map(|table| format!("\n\\medskip\n\n{}", tabular(&table)));
        let caption = escape(&format!("{}. {}. {}", self.title, section.title(), self.note()));
        format!(
            "\\begin{{table}}\n\\centering\n\\caption{{{caption}}}\n{}{}\\end{{table}}\n",
            tabular(&section.scores_table()),
            differences.unwrap_or_default()
        )
    }
}

fn tabular(table: &Table) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
        format!("{} \\\\\n", cells.join(" & "))
    };
    let columns = "r".repeat(table.header().len() - 1);
    let rows: String = table.rows().iter().map(|row| line(row)).collect();
    let header = line(table.header());
    format!("\\begin{{tabular}}{{l{columns}}}\n\\toprule\n{header}\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}\n")
}

/// Signs that mean something to LaTeX as they look, and minus signs that are none of a word.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', c]),
            '\\' => escaped += "\\textbackslash{}",
            '~' => escaped += "\\textasciitilde{}",
            '^' => escaped += "\\textasciicircum{}",
            '<' | '>' => escaped.extend(['$', c, '$']),
            '±' => escaped += "$\\pm$",
            '-' if !before.is_alphanumeric() => escaped += "$-$",
            c => escaped.push(c),
        }
        before = c;
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_escaped() {
        assert_eq!(escape("50 % of a_b & e5-small"), "50 \\% of a\\_b \\& e5-small");
        assert_eq!(escape("-1.5 ± 2 [-3.0, +1.0] <0.001"), "$-$1.5 $\\pm$ 2 [$-$3.0, +1.0] $<$0.001");
        assert_eq!(escape("a\\b^{c}"), "a\\textbackslash{}b\\textasciicircum{}\\{c\\}");
    }
}
