//! `tiered report html`: writes one HTML page about runs.

use super::out_file::{OutFile, Replacing};
use crate::error::Result;
use crate::html_report;
use crate::say::{aside, is_quiet};
use std::path::PathBuf;

/// Write an HTML page about runs: scores, curves, figures, and every pair with its predictions
///
/// The page contains everything that `tiered eval` saved in the run folders, including the stories. Of a language model it
/// has what the model was asked about each pair, and what it said. It opens from disk and loads nothing from the network.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Run folders, made by `tiered train`, and folders of language models that were asked about pairs (`tiered llm eval`
    /// by protocol pairs or har)
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The file to write; "-" for standard output
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    replacing: Replacing,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let out = OutFile::new(&args.output, args.replacing)?;
    out.write_bytes(html_report::page(&args.runs)?.as_bytes())?;
    if !is_quiet() {
        aside!("written: {}", args.output.display());
    }
    Ok(())
}
