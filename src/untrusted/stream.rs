//! Reads a text file as a stream.

use super::digest::hex;
use super::file::{not_utf8, too_large};
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::io::{self, Error, ErrorKind, Read};
use std::rc::Rc;

/// The bytes with which some programs begin a file of text.
pub const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Passes on a file without its byte order mark, and checks its size and its UTF-8 on the way.
///
/// Reading fails with [`ErrorKind::FileTooLarge`] beyond a limit, and with [`ErrorKind::InvalidData`] where the file is
/// not UTF-8; that error names the line and the byte.
pub struct TextStream<R> {
    source: R,
    most: u64,
    most_at_once: u64,
    since_mark: Rc<Cell<u64>>,
    hash: Sha256,
    bytes: u64,
    /// What was checked as text so far: bytes and line ends.
    text: (usize, usize),
    /// The beginning of a character whose end has not been read yet.
    partial: Vec<u8>,
}

/// Tells a stream that everything it gave so far has been used.
#[derive(Clone)]
pub struct Mark(Rc<Cell<u64>>);

impl Mark {
    /// Everything given so far has been used: the bytes since the mark count from 0 again.
    pub fn set(&self) {
        self.0.set(0);
    }
}

impl<R: Read> TextStream<R> {
    /// Allows at most `most` bytes in all, and `most_at_once` between two settings of the mark (plus a buffer).
    pub fn new(source: R, most: u64, most_at_once: u64) -> (Self, Mark) {
        let since_mark = Rc::new(Cell::new(0));
        let mark = Mark(since_mark.clone());
        let (hash, text, partial) = (Sha256::new(), (0, 0), Vec::new());
        (TextStream { source, most, most_at_once, since_mark, hash, bytes: 0, text, partial }, mark)
    }

    /// SHA-256 of all bytes read, in lower-case hexadecimal.
    pub fn sha256(self) -> String {
        hex(&self.hash.finalize())
    }

    /// Checks the next bytes of the file; an empty slice is its end.
    fn check(&mut self, next: &[u8]) -> io::Result<()> {
        self.hash.update(next);
        self.bytes += next.len() as u64;
        self.since_mark.set(self.since_mark.get() + next.len() as u64);
        if self.bytes > self.most {
            return Err(too_large(self.most));
        }
        if self.since_mark.get() > self.most_at_once {
            let message = format!("one value in it is larger than {} MiB", self.most_at_once >> 20);
            return Err(Error::new(ErrorKind::FileTooLarge, message));
        }
        let mut unchecked = std::mem::take(&mut self.partial);
        unchecked.extend(next);
        let good = match std::str::from_utf8(&unchecked) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let rest = unchecked.split_off(good);
        self.text.0 += good;
        self.text.1 += unchecked.iter().filter(|&&byte| byte == b'\n').count();
        let is_beginning =
            std::str::from_utf8(&rest).is_err_and(|error| error.error_len().is_none()) && !next.is_empty();
        if !rest.is_empty() && !is_beginning {
            return Err(Error::new(ErrorKind::InvalidData, not_utf8(self.text.1, self.text.0)));
        }
        self.partial = rest;
        Ok(())
    }
}

impl<R: Read> Read for TextStream<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let is_start = self.bytes == 0;
        let mut length = self.source.read(buffer)?;
        while is_start && (1..BYTE_ORDER_MARK.len()).contains(&length) {
            match self.source.read(&mut buffer[length..])? {
                0 => break,
                more => length += more,
            }
        }
        self.check(&buffer[..length])?;
        if is_start && buffer[..length].starts_with(BYTE_ORDER_MARK) {
            buffer.copy_within(BYTE_ORDER_MARK.len()..length, 0);
            length -= BYTE_ORDER_MARK.len();
            return if length == 0 { self.read(buffer) } else { Ok(length) };
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = 1.min(buffer.len());
            self.0.read(&mut buffer[..length])
        }
    }

    fn read(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        TextStream::new(Slow(bytes), 20, 10).0.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn characters_may_lie_across_what_is_read_at_once() {
        assert_eq!(read("\u{feff}è 小\n".as_bytes()).unwrap(), "è 小\n");
        assert_eq!(read(b"").unwrap(), "");
        assert_eq!(read("\u{feff}".as_bytes()).unwrap(), "");
        for bytes in [&b"a\nb\xff c"[..], b"a\nb\xe5\xb0"] {
            assert_eq!(
                read(bytes).unwrap_err().to_string(),
                "is not UTF-8 text: line 2, byte 4 of the file; save it as UTF-8"
            );
        }
    }

    #[test]
    fn a_mark_makes_room_up_to_the_limit_of_the_whole() {
        let (mut stream, mark) = TextStream::new(&[b' '; 30][..], 28, 10);
        let mut buffer = [0; 8];
        stream.read_exact(&mut buffer).unwrap();
        mark.set();
        stream.read_exact(&mut buffer).unwrap();
        assert!(stream.read(&mut buffer).unwrap_err().to_string().starts_with("one value"));
        mark.set();
        assert!(stream.read(&mut buffer).unwrap_err().to_string().starts_with("it is larger"));
    }
}
