//! Downloads one file: under a temporary name until it is complete and verified, then renamed.

use super::client::{Ask, HttpReply, HubClient, KEPT, LATER, pause, too_long};
use super::part::PartialFile;
use super::{FetchEvent, How, Listener};
use crate::durable::{self, FileDigest, free_bytes};
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Address, Failure, Tries, broken, first_pause};
use crate::untrusted::hex;
use sha1::{Digest, Sha1};
use std::fs::File;
use std::io::{ErrorKind as IoErrorKind, Read};
use std::path::{Path, PathBuf};

/// A try that received this many bytes made progress.
const PROGRESS: u64 = 1 << 20;

/// The checksum of a file's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checksum {
    /// The hub announces it for large files.
    Sha256(String),
    /// Git's: SHA-1 of the length and the content. The hub announces it for small files.
    Git(String),
}

/// Whether it has so many digits of hexadecimal, in lower case.
pub(super) fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

impl Checksum {
    /// The checksum in an ETag without quotes; its form shows the kind.
    pub fn of_etag(etag: &str) -> Option<Self> {
        match etag {
            hash if is_hex(hash, 64) => Some(Checksum::Sha256(hash.to_owned())),
            hash if is_hex(hash, 40) => Some(Checksum::Git(hash.to_owned())),
            _ => None,
        }
    }

    fn name(&self) -> &'static str {
        if matches!(self, Checksum::Sha256(_)) { "SHA-256" } else { "Git hash" }
    }

    fn value(&self) -> &str {
        let (Checksum::Sha256(value) | Checksum::Git(value)) = self;
        value
    }

    /// The same kind of checksum, computed from a file.
    ///
    /// # Errors
    /// `MissingInput`, `Io`.
    fn found_in(&self, path: &Path) -> Result<String> {
        let file = || File::open(path).map_err(|error| Error::reading(path, &error));
        match self {
            Checksum::Sha256(_) => FileDigest::of_file(path).map(|digest| digest.sha256),
            Checksum::Git(_) => git_hash(&mut file()?).map_err(|error| Error::reading(path, &error)),
        }
    }

    /// Whether a file has this checksum.
    ///
    /// # Errors
    /// `MissingInput`, `Io`.
    pub fn is_of(&self, path: &Path) -> Result<bool> {
        Ok(self.found_in(path)? == self.value())
    }
}

fn git_hash(file: &mut File) -> std::io::Result<String> {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", file.metadata()?.len()));
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// What is known about a file before it is downloaded.
pub struct Expected {
    pub bytes: Option<u64>,
    pub checksum: Option<Checksum>,
    /// The largest number of bytes that we accept.
    pub most: u64,
}

/// A file to fetch.
pub struct Wanted<'a> {
    /// Its name in messages.
    pub name: &'a str,
    pub address: Address,
    pub expected: Expected,
    /// Where it is to be saved.
    pub path: &'a Path,
}

impl Wanted<'_> {
    /// The path of the partial download.
    fn partial(&self) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".incomplete");
        self.path.with_file_name(name)
    }

    /// Fetches the file; continues where an earlier try ended.
    ///
    /// # Errors
    /// `Unavailable` if the server can't be reached, refuses, or breaks off too often; `Data` if the content does not
    /// match its checksum; `Refused` if it is too long; `Io`, `CantCreate`.
    pub fn fetch(&self, client: &HubClient, on: Listener) -> Result<()> {
        self.fetch_checked(client, on, |_| Ok(()))
    }

    /// The same with a `check` of the whole file before it gets its name.
    ///
    /// # Errors
    /// Like [`Wanted::fetch`]; those of `check`, after which the file is removed.
    pub fn fetch_checked(
        &self,
        client: &HubClient,
        on: Listener,
        check: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        let partial = self.partial();
        if let Some(folder) = self.path.parent() {
            durable::create_folder(folder)?;
        }
        let limit = self.expected.bytes.unwrap_or(self.expected.most);
        if limit > self.expected.most {
            return Err(too_long(&self.address, self.expected.most));
        }
        let mut part = PartialFile::open(&partial, self.is_resumable().then_some(limit))?;
        self.check_space(&part)?;
        on(FetchEvent::Begins { name: self.name, have: part.bytes, bytes: self.expected.bytes });
        let mut restarted = part.bytes == 0;
        loop {
            self.fill(client, &mut part, limit, on)?;
            part.sync()?;
            match self.wrong(&partial)? {
                None => break,
                Some(wrong) if restarted => {
                    durable::remove_file(&partial)?;
                    return Err(wrong);
                }
                // The older part may belong to another file.
                Some(_) => part.restart()?,
            }
            restarted = true;
        }
        if let Err(wrong) = check(&partial) {
            durable::remove_file(&partial)?;
            return Err(wrong);
        }
        durable::rename(&partial, self.path)?;
        durable::sync_parent(self.path)?;
        let how = if self.expected.checksum.is_some() { How::Verified } else { How::Unverified };
        on(FetchEvent::Done { name: self.name, how });
        Ok(())
    }

    /// Only a file with a checksum is put together from several tries.
    fn is_resumable(&self) -> bool {
        self.expected.checksum.is_some() && self.expected.bytes.is_some()
    }

    fn check_space(&self, part: &PartialFile) -> Result<()> {
        let needed = self.expected.bytes.unwrap_or(0).saturating_sub(part.bytes);
        match free_bytes(self.path) {
            Some(free) if free < needed => {
                let message =
                    format!("{}: needs {needed} more bytes, but {free} are free; make room", self.path.display());
                Err(Error::new(ErrorKind::Io, message))
            }
            _ => Ok(()),
        }
    }

    /// Receives all bytes, with as many tries as needed.
    fn fill(&self, client: &HubClient, part: &mut PartialFile, limit: u64, on: Listener) -> Result<()> {
        let mut tries = Tries::new(first_pause(), if self.is_resumable() { KEPT } else { LATER });
        while self.expected.bytes.is_none_or(|bytes| part.bytes < bytes) {
            if part.bytes > 0 && !self.is_resumable() {
                part.restart()?;
            }
            let before = part.bytes;
            match self.one_try(client, part, limit, on) {
                Ok(()) if self.expected.bytes.is_none() => return Ok(()),
                Ok(()) => {}
                Err(failure) => pause(&mut tries, failure, part.bytes >= before + PROGRESS && self.is_resumable(), on)?,
            }
        }
        Ok(())
    }

    fn one_try(&self, client: &HubClient, part: &mut PartialFile, limit: u64, on: Listener) -> Result<(), Failure> {
        let ask = Ask::Body { from: part.bytes, bytes: limit - part.bytes };
        let mut reply = client.ask(&self.address, ask)?;
        let from = match self.body_start(&reply, part.bytes, limit) {
            Ok(from) => from,
            // The server now has another file than before.
            Err(failure) => {
                part.restart()?;
                return Err(failure);
            }
        };
        if from == 0 {
            part.restart()?;
        }
        let address = reply.address.clone();
        let announced = reply.length();
        if announced.is_some_and(|bytes| bytes > limit - from) {
            return Err(too_long(&address, limit).into());
        }
        let mut reader = reply.reader();
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = match reader.read(&mut buffer) {
                Ok(read) => read,
                Err(error) if error.kind() == IoErrorKind::Interrupted => continue,
                Err(error) => return Err(broken(&address, &error)),
            };
            if read == 0 {
                break;
            }
            if part.bytes + read as u64 > limit {
                return Err(too_long(&address, limit).into());
            }
            part.append(&buffer[..read])?;
            on(FetchEvent::At(part.bytes));
        }
        match self.expected.bytes {
            Some(bytes) if part.bytes < bytes => {
                let message = format!("the connection ended after {} of {bytes} bytes", part.bytes);
                Err(broken(&address, &std::io::Error::new(IoErrorKind::UnexpectedEof, message)))
            }
            _ => Ok(()),
        }
    }

    /// The position in the file at which the reply's body starts.
    fn body_start(&self, reply: &HttpReply, asked: u64, limit: u64) -> Result<u64, Failure> {
        let again = |why: &str| {
            let message = format!("{}: {why}", reply.address);
            Failure::Again(Error::new(ErrorKind::Unavailable, message), None)
        };
        match reply.status {
            200 => Ok(0),
            206 => {
                let range = reply.header("content-range").and_then(parse_range);
                match range {
                    Some((first, total)) if first == asked && total.is_none_or(|total| total == limit) => Ok(asked),
                    _ => Err(again("sent another range than the requested one")),
                }
            }
            416 => Err(again("has no bytes at the position where the download should continue")),
            other => Err(again(&format!("answered {other} instead of a file"))),
        }
    }

    /// The error if the content has the wrong checksum.
    fn wrong(&self, partial: &Path) -> Result<Option<Error>> {
        let Some(checksum) = &self.expected.checksum else { return Ok(None) };
        let found = checksum.found_in(partial)?;
        let what = checksum.name();
        Ok((found != checksum.value()).then(|| {
            Error::data(format!(
                "{}: the fetched file has the {what} {found} instead of {}; it was removed; try again, and if this \
                 happens again, do not trust this server",
                self.address,
                checksum.value()
            ))
        }))
    }
}

/// The first byte and the total length in `bytes 5-9/10`.
fn parse_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let first = range.split_once('-')?.0.parse().ok()?;
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    Some((first, total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        assert_eq!(parse_range("bytes 5-9/10"), Some((5, Some(10))));
        assert_eq!(parse_range("bytes 5-9/*"), Some((5, None)));
        for bad in ["", "5-9/10", "bytes */10", "bytes 5-9", "bytes x-9/10"] {
            assert_eq!(parse_range(bad), None, "{bad}");
        }
    }

    #[test]
    fn checksums_are_told_by_their_form_and_found() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "hello\n").unwrap();
        let git = Checksum::of_etag("ce013625030ba8dba906f756967f9e9ca394464a").unwrap(); // as `git hash-object` says
        let sha = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
        assert!(git.is_of(&path).unwrap() && Checksum::of_etag(sha).unwrap().is_of(&path).unwrap());
        std::fs::write(&path, "hallo\n").unwrap();
        assert!(!git.is_of(&path).unwrap() && !Checksum::of_etag(sha).unwrap().is_of(&path).unwrap());
        assert_eq!((Checksum::of_etag("abc"), Checksum::of_etag(&"Z".repeat(64))), (None, None));
    }
}
