//! The program: what needs no libtorch is answered at once, the rest by `tiered-torch`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tiered::cli::main()
}
