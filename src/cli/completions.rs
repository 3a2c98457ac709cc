//! `tiered completions`: what a shell needs to complete our commands and flags.

use super::output::print_bytes;
use clap_complete::{Shell, generate};

/// Print what a shell needs to complete commands and flags
#[derive(clap::Args)]
pub(super) struct Args {
    shell: Shell,
}

pub(super) fn run(args: &Args, mut program: clap::Command) -> anyhow::Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut program, "tiered", &mut script);
    print_bytes(&script)?;
    Ok(())
}
