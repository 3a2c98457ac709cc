//! `--format`: how what a command tells is printed.

use crate::report::{Table, TableFormat};
use clap::ValueEnum;

/// Of commands that print tables.
#[derive(clap::Args, Clone, Copy)]
pub(super) struct FormatArgs {
    /// How to print the tables
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Aligned, for a terminal
    Text,
    /// Everything, with a schema version
    Json,
    /// Tables with pipes
    Markdown,
    /// Comma-separated values, an empty line between two tables
    Csv,
    /// LaTeX (booktabs)
    Latex,
}

impl Format {
    /// The format of tables; `None` for JSON, which has none.
    pub fn of_tables(self) -> Option<TableFormat> {
        match self {
            Format::Text => Some(Table::to_text),
            Format::Json => None,
            Format::Markdown => Some(Table::to_markdown),
            Format::Csv => Some(Table::to_csv),
            Format::Latex => Some(Table::to_latex),
        }
    }
}

/// Of commands whose answer is no table.
#[derive(clap::Args, Clone, Copy)]
pub(super) struct TextFormatArgs {
    /// How to print the answer [default: text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<TextFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TextFormat {
    /// For a person
    Text,
    /// Everything, with a schema version
    Json,
}

impl TextFormatArgs {
    pub fn is_json(self) -> bool {
        self.format == Some(TextFormat::Json)
    }

    /// Whether text was asked for.
    pub fn must_be_text(self) -> bool {
        self.format == Some(TextFormat::Text)
    }
}
