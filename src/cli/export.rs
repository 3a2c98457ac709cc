//! `tiered model export`: writes a run as a folder that `transformers` reads.

use super::out_file::output_folder;
use super::output::{print, warn_unless_ended};
use crate::error::Result;
use crate::experiment::{CheckpointKind, RunFolder};
use crate::export::export;
use crate::say::quoted;
use std::path::PathBuf;

/// Export a run as a Hugging Face folder: the encoder for `AutoModel`, its tokenizer, and a file of the heads
#[derive(clap::Args)]
pub(super) struct Args {
    /// A run folder, made by `tiered train`
    run: PathBuf,
    /// The folder to create
    #[arg(long, value_name = "DIR", value_parser = output_folder())]
    output: PathBuf,
    /// Which weights of the run to use
    #[arg(long, value_enum, default_value_t = CheckpointKind::Best)]
    weights: CheckpointKind,
}

pub(super) fn run(args: &Args) -> Result<()> {
    warn_unless_ended(&RunFolder::open(&args.run)?);
    let exported = export(&args.run, args.weights, &args.output)?;
    print(&format!(
        "written: {}: {} tensors of the encoder, {} of heads and detector\npredict with: python {} {} STORIES.txt\n",
        args.output.display(),
        exported.encoder_tensors,
        exported.head_tensors,
        quoted(args.output.join("read_export.py").display()),
        quoted(args.output.display()),
    ))?;
    Ok(())
}
