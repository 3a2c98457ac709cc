//! Answers lines as they come.

use super::output::is_printed;
use crate::error::{Error, Result};
use crate::schema;
use crate::untrusted::{self, MAX_PLAIN};
use serde::Serialize;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
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
        None => Ok(Box::new(BufReader::new(std::io::stdin()))),
    }
}

/// Prints the answer to each line, or why there is none, as long as somebody reads it. Blank lines are skipped; lines are
/// numbered from 0.
pub(super) fn follow(mut input: impl BufRead, answer: impl Fn(&str, usize) -> Result<String>) -> Result<()> {
    for number in 0.. {
        let mut bytes = Vec::new();
        let read = (&mut input).take(MAX_PLAIN + 1).read_until(b'\n', &mut bytes);
        read.map_err(|error| Error::reading(Path::new("the input"), &error))?;
        if bytes.is_empty() {
            break;
        }
        if bytes.len() as u64 > MAX_PLAIN {
            let most = MAX_PLAIN >> 20;
            return Err(Error::data(format!("line {}: is longer than {most} MiB; give fewer stories", number + 1)));
        }
        let text = untrusted::text(&bytes).map_err(|problem| Error::data(format!("line {}: {problem}", number + 1)));
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

fn unanswered(line: usize, error: &Error) -> String {
    let document = Unanswered { line, error: &error.message };
    schema::to_string(&document).expect("it has string keys only") + "\n"
}
