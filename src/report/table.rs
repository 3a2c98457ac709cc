//! A table of text cells: the first column flush left, the others flush right.

use unicode_width::UnicodeWidthStr;

/// How a table is written: [`Table::to_text`] and the like.
pub type TableFormat = fn(&Table) -> String;

/// Rows are as long as the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it is of, for CSV and LaTeX: they have no heading above their tables.
    title: Option<String>,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Table { title: None, header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// The same with what it is of, which CSV and LaTeX show: in the first cell of the header, and in a row above it.
    #[must_use]
    pub fn titled(self, title: impl Into<String>) -> Self {
        Table { title: Some(title.into()), ..self }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it is not as long as the header.
    pub fn push(&mut self, row: impl IntoIterator<Item = String>) {
        let row: Vec<_> = row.into_iter().collect();
        assert_eq!(row.len(), self.header.len(), "a row as long as the header");
        self.rows.push(row);
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The rows without the header, in the order in which they were added.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Aligned for the terminal, one line a row.
    pub fn to_text(&self) -> String {
        let lines: Vec<Vec<String>> = self.lines().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
        let width = |column: usize| lines.iter().map(|row| row[column].width()).max().unwrap_or(0);
        let widths: Vec<_> = (0..self.header.len()).map(width).collect();
        lines.iter().map(|row| text_line(row, &widths)).collect()
    }

    /// Columns as rows.
    pub fn transposed(&self) -> Table {
        let column = |i: usize| self.lines().map(|row| row[i].clone()).collect::<Vec<_>>();
        let rows = (1..self.header.len()).map(column).collect();
        Table { title: self.title.clone(), header: column(0), rows }
    }

    /// With pipes, one line a row.
    pub fn to_markdown(&self) -> String {
        let line = |row: &Vec<String>| {
            let cells: Vec<String> = row.iter().map(|cell| one_line(cell).replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut lines: Vec<_> = self.lines().map(line).collect();
        lines.insert(1, format!("|---|{}\n", "---:|".repeat(self.header.len() - 1)));
        lines.concat()
    }

    /// Comma-separated values (RFC 4180), one line a row.
    pub fn to_csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut header = self.header.clone();
        if let Some((first, title)) = header.first_mut().zip(self.title.as_ref()) {
            first.push_str(&format!("; {title}"));
        }
        let lines = std::iter::once(&header).chain(&self.rows);
        lines.for_each(|row| writer.write_record(row).expect("rows are as long as the header"));
        String::from_utf8(writer.into_inner().expect("memory can be written")).expect("cells are UTF-8")
    }

    /// A `tabular`, for a document with `\usepackage{booktabs}`.
    pub fn to_latex(&self) -> String {
        let line = |cells: &[String]| {
            let cells = cells.iter().map(|cell| latex_escaped(cell)).collect::<Vec<_>>().join(" & ");
            // After the end of a row and after a rule, these two would be an argument of that command.
            let shield = if cells.trim_start().starts_with(['[', '*']) { "{}" } else { "" };
            format!("{shield}{cells} \\\\\n")
        };
        let columns = "r".repeat(self.header.len() - 1);
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        let header = line(&self.header);
        let title = self.title.as_ref().map_or(String::new(), |title| {
            let (columns, title) = (self.header.len(), latex_escaped(title));
            format!("\\multicolumn{{{columns}}}{{l}}{{{title}}} \\\\\n\\midrule\n")
        });
        let rules = ["\\toprule\n", &title, &header, "\\midrule\n", &rows, "\\bottomrule\n"].concat();
        format!("\\begin{{tabular}}{{l{columns}}}\n{rules}\\end{{tabular}}\n")
    }

    fn lines(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.header).chain(&self.rows)
    }
}

fn text_line(row: &[String], widths: &[usize]) -> String {
    let pad = |cell: &str, width: usize| " ".repeat(width - cell.width());
    let mut line = format!("{}{}", row[0], pad(&row[0], widths[0]));
    for (cell, &width) in row.iter().zip(widths).skip(1) {
        line.push_str(&format!("  {}{cell}", pad(cell, width)));
    }
    format!("{}\n", line.trim_end())
}

/// A cell on one line: a blank for every line end.
pub(super) fn one_line(cell: &str) -> String {
    cell.replace("\r\n", " ").replace(['\n', '\r'], " ")
}

/// Signs that mean something to LaTeX as they look, and minus signs that are none of a word.
pub(super) fn latex_escaped(text: &str) -> String {
    let mut escaped = String::new();
    let mut before = ' ';
    for c in one_line(text).chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', c]),
            '\\' => escaped += "\\textbackslash{}",
            '~' => escaped += "\\textasciitilde{}",
            '^' => escaped += "\\textasciicircum{}",
            '<' | '>' | '|' => escaped.extend(['$', c, '$']),
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
    fn tables_align_in_text_and_in_markdown() {
        let mut table = Table::new(["what", "n"]);
        table.push(["città".into(), "10".into()]);
        table.push(["a".into(), "7".into()]);
        let mut wide = Table::new(["what", "n"]);
        wide.push(["台所".into(), "7".into()]);
        assert_eq!(wide.to_text(), "what  n\n台所  7\n", "a terminal shows these in two columns each");
        assert_eq!(table.to_text(), "what    n\ncittà  10\na       7\n");
        assert_eq!(table.to_markdown(), "| what | n |\n|---|---:|\n| città | 10 |\n| a | 7 |\n");
    }

    #[test]
    fn a_cell_stays_on_its_line() {
        let mut table = Table::new(["what", "n"]);
        table.push(["a\r\nb\nc\rd".into(), "7".into()]);
        assert_eq!(table.to_text(), "what     n\na b c d  7\n");
        assert_eq!(table.to_markdown(), "| what | n |\n|---|---:|\n| a b c d | 7 |\n");
        assert!(table.to_latex().contains("a b c d & 7 \\\\\n"), "{}", table.to_latex());
        assert_eq!(table.to_csv(), "what,n\n\"a\r\nb\nc\rd\",7\n", "CSV quotes line ends");
    }

    #[test]
    fn formats_without_a_heading_have_the_title_in_the_table() {
        let mut table = Table::new(["what", "n"]);
        table.push(["a".into(), "7".into()]);
        let titled = table.clone().titled("a_b, seen");
        assert_eq!((titled.to_text(), titled.to_markdown()), (table.to_text(), table.to_markdown()));
        assert_eq!(titled.to_csv(), "\"what; a_b, seen\",n\na,7\n");
        let rows = "\\toprule\n\\multicolumn{2}{l}{a\\_b, seen} \\\\\n\\midrule\nwhat & n \\\\\n";
        assert!(titled.to_latex().contains(rows), "{}", titled.to_latex());
    }

    #[test]
    fn a_row_is_no_argument_of_the_end_of_the_row_above_it() {
        let mut table = Table::new(["[a]", "n"]);
        table.push(["*b".into(), "7".into()]);
        table.push([" [c]".into(), "[8]".into()]);
        let rows = "\\toprule\n{}[a] & n \\\\\n\\midrule\n{}*b & 7 \\\\\n{} [c] & [8] \\\\\n\\bottomrule\n";
        assert!(table.to_latex().contains(rows), "{}", table.to_latex());
    }

    #[test]
    fn signs_are_escaped() {
        let mut table = Table::new(["what"]);
        table.push(["a|b".to_owned()]);
        assert_eq!(table.to_markdown(), "| what |\n|---|\n| a\\|b |\n");
        assert_eq!(latex_escaped("50 % of a_b & e5-small"), "50 \\% of a\\_b \\& e5-small");
        assert_eq!(latex_escaped("-1.5 ± 2 [-3.0, +1.0] <0.001"), "$-$1.5 $\\pm$ 2 [$-$3.0, +1.0] $<$0.001");
        assert_eq!(latex_escaped("a\\b^{c}"), "a\\textbackslash{}b\\textasciicircum{}\\{c\\}");
    }
}
