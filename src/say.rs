//! Prints progress and warnings, on streams that may be closed at any time.
//!
//! `println!` panics when its reader has gone (`| head`), which would end a training. Here a line that can't be printed
//! is dropped, and the work goes on. The results of a command go through `cli::output`, which reports errors. Both
//! escape text with [`harmless`], because it may quote stories and file names from outside.

use std::borrow::Cow;
use std::fmt::Arguments;
use std::fmt::Write as _;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// Prints a line of progress on standard output, unless `--quiet`.
macro_rules! say {
    ($($part:tt)*) => {
        if !$crate::say::is_quiet() {
            $crate::say::line(std::io::stdout(), format_args!($($part)*))
        }
    };
}

/// Prints a line on standard error.
macro_rules! aside {
    ($($part:tt)*) => { $crate::say::line(std::io::stderr(), format_args!($($part)*)) };
}

pub(crate) use {aside, say};

static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on prints no progress. Results, warnings and errors are still printed.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

pub fn line(mut stream: impl Write, words: Arguments) {
    // There is nowhere to report that this failed.
    let _ = writeln!(stream, "{}", harmless(&words.to_string())).and_then(|()| stream.flush());
}

/// "1 epoch", "2 epochs", "0 stories".
pub fn counted(count: impl TryInto<u64>, thing: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    match (count, thing.strip_suffix('y')) {
        (1, _) => format!("1 {thing}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        _ => format!("{count} {thing}s"),
    }
}

/// Text that can't control a terminal. Control characters and characters that change the direction of text are escaped
/// as in JSON, so that JSON stays valid. Line ends and tabs stay.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match acts(c) {
            true => write!(escaped, "\\u{:04x}", u32::from(c)).expect("a string can be written to"),
            false => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

/// Whether a character acts on a terminal. All such characters have at most four hexadecimal digits.
fn acts(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || turns
}

/// The text as one word of a shell: in quotes, unless it is plain.
pub fn quoted(text: impl std::fmt::Display) -> String {
    let text = text.to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=@:+".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind, Write};

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(Error::from(ErrorKind::BrokenPipe))
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Err(Error::from(ErrorKind::BrokenPipe))
        }
    }

    #[test]
    fn a_closed_stream_is_no_panic() {
        super::line(Closed, format_args!("nobody hears this"));
        let mut heard = Vec::new();
        super::line(&mut heard, format_args!("{} pairs", 3));
        assert_eq!(heard, b"3 pairs\n");
    }

    #[test]
    fn one_thing_is_no_plural() {
        let counted = |count| ["epoch", "story"].map(|thing| super::counted(count, thing));
        assert_eq!([counted(0), counted(1)], [["0 epochs", "0 stories"], ["1 epoch", "1 story"]]);
    }

    #[test]
    fn text_does_nothing_to_a_terminal() {
        let mut heard = Vec::new();
        super::line(&mut heard, format_args!("\u{1b}[2Jkettle\r\u{9b}31m\u{202e}\ttè\n"));
        assert_eq!(String::from_utf8(heard).unwrap(), "\\u001b[2Jkettle\\u000d\\u009b31m\\u202e\ttè\n\n");
        let json = serde_json::to_string("a\u{9b}b").unwrap();
        assert_eq!(serde_json::from_str::<String>(&super::harmless(&json)).unwrap(), "a\u{9b}b");
    }
}
