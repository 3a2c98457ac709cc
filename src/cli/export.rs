//! `tiered model export`: a run -> a folder that `transformers` reads.

use super::output::print;
use crate::experiment::Which;
use crate::export::export;
use std::path::PathBuf;

/// Write a run as a Hugging Face folder: the encoder for `AutoModel`, its tokenizer, the heads beside it
#[derive(clap::Args)]
pub(super) struct Args {
    /// A run folder, made by `tiered train`
    run: PathBuf,
    /// The folder to make
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Which weights of the run
    #[arg(long, value_enum, default_value_t = Which::Best)]
    weights: Which,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let exported = export(&args.run, args.weights, &args.out)?;
    print(&format!(
        "written: {out}: {} tensors of the encoder, {} of heads and detector\nask it with: python {out}/read_export.py {out} \
         STORIES.txt\n",
        exported.encoder_tensors,
        exported.head_tensors,
        out = args.out.display()
    ))?;
    Ok(())
}
