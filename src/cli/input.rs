//! Stories that a person typed: from a file or from standard input.

use crate::error::{Error, Result};
use crate::say::aside;
use crate::untrusted;
use std::io::{IsTerminal, Read};
use std::path::Path;

/// The input text, and its name for errors. "-" and no file are standard input.
pub(super) fn read_input(file: Option<&Path>, most: u64) -> Result<(String, String)> {
    let (bytes, source) = match file.filter(|file| *file != Path::new("-")) {
        Some(path) => {
            let bytes = untrusted::read(path, most).map_err(|error| match error.kind() {
                std::io::ErrorKind::FileTooLarge => {
                    Error::data(format!("{}: {error}", path.display())).caused_by(error)
                }
                _ => Error::reading(path, &error),
            })?;
            (bytes, path.display().to_string())
        }
        None => (read_standard_input(most)?, "standard input".to_owned()),
    };
    let text = untrusted::text(&bytes).map_err(|problem| Error::data(format!("{source}: {problem}")))?;
    Ok((text.to_owned(), source))
}

fn read_standard_input(most: u64) -> Result<Vec<u8>> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        aside!("reading stories from the terminal, one sentence a line; end with Ctrl-D");
    }
    let mut bytes = Vec::new();
    let read = stdin.lock().take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::reading(Path::new("standard input"), &error))?;
    if bytes.len() as u64 > most {
        return Err(Error::data(format!("standard input: more than {} MiB; give fewer stories", most >> 20)));
    }
    Ok(bytes)
}
