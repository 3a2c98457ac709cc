//! Reads files up to a limit, and escapes text from outside for messages.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads at most `most` bytes of a file; pipes and the like are allowed.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] if there is more, without reading the rest; and every error of reading.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_large(most));
    }
    let mut bytes = Vec::with_capacity(length as usize + 1);
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

/// Like [`read`], for a file in a folder that came from outside. It refuses everything but a regular file; opening a
/// pipe could block for ever.
///
/// # Errors
/// Like [`read`]; [`io::ErrorKind::InvalidInput`] if it is not a regular file.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    read(path, most)
}

/// Like [`read_regular`]; `None` if the file does not exist.
///
/// # Errors
/// Like [`read_regular`].
pub fn read_if_there(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    match read_regular(path, most) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

pub(super) fn too_large(most: u64) -> io::Error {
    let message = format!("it is larger than {} MiB, the limit for such files", most >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

/// The bytes as text, without a byte order mark.
///
/// # Errors
/// A message that names the line and the byte (counted from 1) that is not UTF-8.
pub fn text(bytes: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = &bytes[..error.valid_up_to()];
        not_utf8(good.iter().filter(|&&byte| byte == b'\n').count(), good.len())
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The lines of a text that are not blank, each with its number from 1.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty())
}

/// The error for invalid UTF-8 after this many line ends and bytes.
pub(super) fn not_utf8(line_ends: usize, bytes: usize) -> String {
    format!("is not UTF-8 text: line {}, byte {} of the file; save it as UTF-8", line_ends + 1, bytes + 1)
}

/// Text from outside, made safe for a message. Characters that move a terminal's cursor, change the direction of text
/// or are invisible are escaped. Text longer than `most` characters is cut.
pub fn shown(text: &str, most: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(most));
    for (i, c) in text.chars().enumerate() {
        if i == most {
            shown.push_str("...");
            break;
        }
        let is_safe = matches!(c, ' '..='~') || !(c.is_control() || is_invisible(c));
        if is_safe { shown.push(c) } else { shown.extend(c.escape_unicode()) }
    }
    shown
}

/// An error in a JSON file, with its line and column. The message may quote the file.
pub fn json_error(error: &serde_json::Error) -> String {
    format!("{} at line {} column {}", json_problem(error), error.line(), error.column())
}

/// [`json_error`] of one line of a file, whose number the caller knows.
pub fn json_line_error(error: &serde_json::Error) -> String {
    format!("{} at column {}", json_problem(error), error.column())
}

fn json_problem(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let plain = plain_types(message.strip_suffix(&place).unwrap_or(&message));
    shown(&plain, 300).to_string()
}

/// Replaces Rust's names of types.
fn plain_types(text: &str) -> String {
    TYPES.iter().fold(text.to_owned(), |text, (name, words)| text.replace(name, words))
}

/// What `serde` expects, in plainer words.
const TYPES: [(&str, &str); 7] = [
    ("expected u64", "expected a whole number from 0 on"),
    ("expected u32", "expected a whole number from 0 on"),
    ("expected usize", "expected a whole number from 0 on"),
    ("expected i64", "expected a whole number"),
    ("expected f64", "expected a number"),
    ("expected a boolean", "expected true or false"),
    ("expected a sequence", "expected a list"),
];

/// An error in a TOML file, with its line and column. The message quotes a few short lines of the file.
pub fn toml_error(error: &toml::de::Error) -> String {
    let text = plain_types(&error.to_string());
    let lines = text.lines().take(6).map(|line| shown(line, 400));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a character is invisible: marks of direction, joiners, fillers and tags.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_limit_is_read() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [7; 100]).unwrap();
        assert_eq!(read(&path, 100).unwrap(), [7; 100]);
        assert_eq!(read(&path, 99).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(Path::new("/dev/zero"), 1 << 20).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_regular(Path::new("/dev/zero"), 99).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(read_regular(&path.join("none"), 99).unwrap_err().kind(), io::ErrorKind::NotADirectory);
    }

    #[test]
    fn a_byte_that_is_no_text_has_a_place() {
        assert_eq!(text(b"a\nb\xff").unwrap_err(), "is not UTF-8 text: line 2, byte 4 of the file; save it as UTF-8");
        assert_eq!(text("\u{feff}è".as_bytes()), Ok("è"));
    }

    #[test]
    fn what_is_shown_can_not_deceive() {
        assert_eq!(shown("città 小", 100), "città 小");
        assert_eq!(shown("\u{1b}[2Ja\u{202e}b\n", 100), r"\u{1b}[2Ja\u{202e}b\u{a}");
        assert_eq!(shown("abcdef", 3), "abc...");
    }

    #[test]
    fn an_error_of_toml_shows_little_of_the_file() {
        let said = |text: &str| toml_error(&toml::from_str::<toml::Table>(text).unwrap_err());
        assert!(said("a = 1\nb = ").starts_with("TOML parse error at line 2, column 5\n  |\n2 | b = \n  |"));
        let long = said(&format!("{}\u{1b}[2J", "a".repeat(5000)));
        assert!(long.len() < 2000 && !long.contains('\u{1b}') && long.lines().count() == 5, "{long}");
    }
}
