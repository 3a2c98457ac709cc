//! The part of the program that computes with libtorch. `tiered` starts it.

use std::process::ExitCode;

fn main() -> ExitCode {
    tiered::cli::main_of_torch()
}
