//! `tiered app`: serves the local page on which to try runs and annotate stories.

use super::output::{print, warn_unless_ended};
use crate::annotate::Project;
use crate::app::{App, DEFAULT_PORT, Models, routes};
use crate::error::Result;
use crate::experiment::{CheckpointKind, RunFolder};
use crate::machine::{self, ComputeChoice};
use crate::say::{aside, say};
use std::path::PathBuf;

/// Try runs and annotate stories in the browser: a page on this machine, for you only
///
/// It prints the address of the page, and serves it until Ctrl-C. The page answers while you type, shows several runs
/// side by side, and why they answer so. With --project stories are annotated too, and the runs propose labels. Nothing
/// leaves this machine, and other users of it can't open the page: the address holds a secret.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Run folders, made by `tiered train`
    runs: Vec<PathBuf>,
    /// The folder of an annotation project: an existing one, or an empty or new folder
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// The port of 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = DEFAULT_PORT)]
    port: u16,
    /// Do not open a browser, only print the address
    #[arg(long)]
    no_browser: bool,
    /// Which weights of the runs to use
    #[arg(long, value_enum, default_value_t = CheckpointKind::Best)]
    weights: CheckpointKind,
    #[command(flatten)]
    compute: ComputeChoice,
}

pub(super) fn run(args: &Args) -> Result<()> {
    machine::share_memory();
    for run in &args.runs {
        warn_unless_ended(&RunFolder::open(run)?);
    }
    let app = App::bind(args.port)?;
    let project = args.project.as_deref().map(Project::open).transpose()?;
    if let Some(Err(error)) = project.as_ref().map(Project::refresh_story_files) {
        aside!("warning: the story files could not be written: {error}; the journal has everything");
    }
    let models = Models::open(&args.runs, args.weights, &args.compute)?;
    print(&format!("{}\n", app.address()))?;
    say!("This address is for you only. Ctrl-C ends the server.");
    app.serve(routes(models, project), !args.no_browser)
}
