//! A table of text cells: the first column flush left, the others flush right.

/// Rows are as long as the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Table { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
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

    pub fn header(&self) -> &[String] {
        &self.header
    }

    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Aligned for the terminal, one line a row.
    pub fn to_text(&self) -> String {
        let widths: Vec<_> = (0..self.header.len()).map(|column| self.width(column)).collect();
        self.lines().map(|row| text_line(row, &widths)).collect()
    }

    /// With pipes, one line a row.
    pub fn to_markdown(&self) -> String {
        let mut lines: Vec<_> = self.lines().map(|row| format!("| {} |\n", row.join(" | "))).collect();
        lines.insert(1, format!("|---|{}\n", "---:|".repeat(self.header.len() - 1)));
        lines.concat()
    }

    fn lines(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.header).chain(&self.rows)
    }

    fn width(&self, column: usize) -> usize {
        self.lines().map(|row| row[column].chars().count()).max().unwrap_or(0)
    }
}

fn text_line(row: &[String], widths: &[usize]) -> String {
    let mut line = format!("{:<width$}", row[0], width = widths[0]);
    for (cell, &width) in row.iter().zip(widths).skip(1) {
        line.push_str(&format!("  {cell:>width$}"));
    }
    format!("{}\n", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_align_in_text_and_in_markdown() {
        let mut table = Table::new(["what", "n"]);
        table.push(["città".into(), "10".into()]);
        table.push(["a".into(), "7".into()]);
        assert_eq!(table.to_text(), "what    n\ncittà  10\na       7\n");
        assert_eq!(table.to_markdown(), "| what | n |\n|---|---:|\n| città | 10 |\n| a | 7 |\n");
    }
}
