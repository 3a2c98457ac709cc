//! `tiered report`: run folders -> one HTML page.

use super::output::print;
use crate::durable;
use crate::error::{Error, ErrorKind};
use crate::page;
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
    /// The file to write; one that is there is replaced
    #[arg(long, value_name = "FILE")]
    html: PathBuf,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    if args.html.is_dir() {
        let message = format!("--html {}: is a folder; name a file", args.html.display());
        return Err(Error::new(ErrorKind::Usage, message).into());
    }
    let page = page::page(&args.runs)?;
    durable::replace(&args.html, page.as_bytes())?;
    print(&format!("written: {}\n", args.html.display()))?;
    Ok(())
}
