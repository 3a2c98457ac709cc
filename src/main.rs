//! Parses, runs, prints the error chain, sets the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    tiered::cli::main()
}
