//! Parses the arguments, runs the command, prints the error and its causes, and sets the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    tiered::cli::main()
}
