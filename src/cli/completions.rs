//! `tiered completions`: prints a script with which a shell completes commands and flags.

use super::output::print_bytes;
use crate::error::Result;
use clap_complete::{Shell, generate};

/// Print a completion script for a shell
#[derive(clap::Args)]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: &Args, mut program: clap::Command) -> Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut program, "tiered", &mut script);
    print_bytes(&script)
}
