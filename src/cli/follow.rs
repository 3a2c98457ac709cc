//! Answers lines as they come.

use super::output::is_printed;
use crate::error::{Error, Result};
use crate::schema;
use crate::untrusted::MAX_PLAIN;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// What is printed for a line that could not be answered.
#[derive(Serialize)]
struct Unanswered<'a> {
    line: usize,
    error: &'a str,
}

/// A file, or standard input for "-" or none.
pub(super) fn open_input(file: Option<&Path>) -> Result<Box<dyn BufRead>> {
    match file.filter(|file| *file != Path::new("-")) {
        Some(path) => {
            let file = File::open(path).map_err(|error| Error::reading(path, &error))?;
            Ok(Box::new(BufReader::new(file)))
        }
        None => Ok(Box::new(BufReader::new(io::stdin()))),
    }
}

/// Prints the answer to each line of `source`, or why there is none, as long as somebody reads it. Blank lines are
/// skipped; lines are numbered from 0.
pub(super) fn follow(
    mut input: impl BufRead,
    source: &Path,
    answer: impl Fn(&str, usize) -> Result<String>,
) -> Result<()> {
    for number in 0.. {
        let bytes = next_line(&mut input).map_err(|error| Error::reading(source, &error))?;
        if bytes.is_empty() {
            break;
        }
        let text = text_of(&bytes).map_err(|problem| Error::data(format!("line {}: {problem}", number + 1)));
        if text.as_ref().is_ok_and(|text| text.trim().is_empty()) {
            continue;
        }
        let answer = text.and_then(|text| answer(text, number)).unwrap_or_else(|error| unanswered(number, &error));
        if !is_printed(&answer)? {
            break;
        }
    }
    Ok(())
}

/// The next line with its end, empty where the input ends. A line that is too long is read over; its beginning, one byte
/// longer than allowed, is returned.
fn next_line(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(MAX_PLAIN + 1).read_until(b'\n', &mut bytes)?;
    if is_too_long(&bytes) {
        input.skip_until(b'\n')?;
    }
    Ok(bytes)
}

fn is_too_long(line: &[u8]) -> bool {
    line.len() as u64 > MAX_PLAIN && !line.ends_with(b"\n")
}

fn text_of(line: &[u8]) -> Result<&str, String> {
    if is_too_long(line) {
        return Err(format!("is longer than {} MiB; give fewer stories", MAX_PLAIN >> 20));
    }
    let text = std::str::from_utf8(line)
        .map_err(|error| format!("is not UTF-8 text from byte {} on; write it in UTF-8", error.valid_up_to() + 1))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn unanswered(line: usize, error: &Error) -> String {
    let document = Unanswered { line, error: &error.message };
    schema::to_string(&document).expect("it has string keys only") + "\n"
}
