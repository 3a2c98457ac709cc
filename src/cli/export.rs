//! `tiered model export`: writes a run as a folder that `transformers` reads.

use super::output::print;
use crate::error::Result;
use crate::experiment::CheckpointKind;
use crate::export::export;
use std::path::PathBuf;

/// Export a run as a Hugging Face folder: the encoder for `AutoModel`, its tokenizer, and a file of the heads
#[derive(clap::Args)]
pub(super) struct Args {
    /// A run folder, made by `tiered train`
    run: PathBuf,
    /// The folder to create
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
    /// Which weights of the run to use
    #[arg(long, value_enum, default_value_t = CheckpointKind::Best)]
    weights: CheckpointKind,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let exported = export(&args.run, args.weights, &args.output)?;
    print(&format!(
        "written: {out}: {} tensors of the encoder, {} of heads and detector\npredict with: python \
         {out}/read_export.py {out} STORIES.txt\n",
        exported.encoder_tensors,
        exported.head_tensors,
        out = args.output.display()
    ))?;
    Ok(())
}
