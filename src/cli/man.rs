//! `tiered man`: prints the manual pages.

use super::output::print_bytes;
use crate::error::{EXIT_CODES, Error, ErrorKind, Result};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

/// Print the manual page of the program, or of one command
#[derive(clap::Args)]
pub(super) struct Args {
    /// The command, in its words (`sweep run`) [default: the whole program]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

pub(super) fn run(args: &Args, mut program: clap::Command) -> Result<()> {
    program.build();
    let mut described = &program;
    for name in &args.command {
        let unknown = || {
            Error::new(
                ErrorKind::Usage,
                format!("unknown command {:?}; `tiered --help` lists all commands", args.command.join(" ")),
            )
        };
        described = described.find_subcommand(name).ok_or_else(unknown)?;
    }
    let (man, mut page) =
        (Man::new(described.clone()).source(concat!("tiered ", env!("CARGO_PKG_VERSION"))), Vec::new());
    man.render(&mut page).and_then(|()| exit_status().to_writer(&mut page)).expect("memory takes all that is written");
    print_bytes(&page)
}

fn exit_status() -> Roff {
    let mut section = Roff::new();
    section.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in EXIT_CODES {
        section.control("TP", []).text([bold(code.to_string())]).text([roman(meaning)]);
    }
    section
}
