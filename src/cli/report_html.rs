//! `tiered report html`: run folders -> one HTML page.

use super::out_file::{OutFile, Replacing};
use crate::page;
use crate::say::aside;
use std::path::PathBuf;

/// Make one page of runs to look at: scores, curves, figures, and every pair with what was said of it
///
/// The page holds everything that `tiered eval` left in the run folders, stories too; it opens from disk and asks for
/// nothing from elsewhere.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Run folders, made by `tiered train`
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The file to write; "-" for standard output
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    replacing: Replacing,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let out = OutFile::new(&args.output, args.replacing)?;
    out.write_bytes(page::page(&args.runs)?.as_bytes())?;
    aside!("written: {}", args.output.display());
    Ok(())
}
