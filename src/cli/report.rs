//! `tiered report`: what a system got right, as text or as a page.

use super::{report_html, report_text};
use crate::error::Result;

#[derive(clap::Subcommand)]
pub(super) enum Command {
    Text(report_text::Args),
    Html(report_html::Args),
}

pub(super) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Text(args) => report_text::run(args),
        Command::Html(args) => report_html::run(args),
    }
}
