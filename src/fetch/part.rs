//! The part of a file that was received so far.

use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The received part of a file.
pub struct PartialFile {
    path: PathBuf,
    file: File,
    /// How many bytes it has.
    pub bytes: u64,
}

impl PartialFile {
    /// Opens the part of an earlier try, if it may be continued: a regular file that is not longer than the whole. No
    /// other process can open it meanwhile.
    ///
    /// # Errors
    /// `CantCreate` if another process is fetching the file.
    pub fn open(path: &Path, resumable_up_to: Option<u64>) -> Result<Self> {
        if fs::symlink_metadata(path).is_ok_and(|data| !data.is_file()) {
            durable::remove_file(path)?;
        }
        let (file, bytes) = loop {
            let file = open_alone(path)?;
            // The process that held the lock before may have renamed the file.
            if let Some(bytes) = held_at(path, &file).map_err(|error| Error::writing(path, &error))? {
                break (file, bytes);
            }
        };
        let mut part = PartialFile { path: path.to_owned(), file, bytes };
        if resumable_up_to.is_none_or(|most| bytes > most) {
            part.restart()?;
        }
        Ok(part)
    }

    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_all(bytes);
        written.map_err(|error| {
            let message = format!("{}; make room, then run the command again", Error::writing(&self.path, &error));
            Error::new(ErrorKind::Io, message)
        })?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    pub fn restart(&mut self) -> Result<()> {
        self.file.set_len(0).map_err(|error| Error::writing(&self.path, &error))?;
        self.bytes = 0;
        Ok(())
    }

    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(|error| Error::writing(&self.path, &error))
    }
}

/// Opens a file with a lock, so that no other process opens it in this way.
fn open_alone(path: &Path) -> Result<File> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let file = file.map_err(|error| Error::writing(path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = format!("{}: another process is fetching it; wait until it ends", path.display());
            Err(Error::new(ErrorKind::CantCreate, message))
        }
        Err(TryLockError::Error(error)) => Err(Error::writing(path, &error)),
    }
}

/// The length of an open file, if the path still names this file.
fn held_at(path: &Path, file: &File) -> std::io::Result<Option<u64>> {
    let (open, named) = (file.metadata()?, fs::symlink_metadata(path));
    let is_it = named.is_ok_and(|named| (named.dev(), named.ino()) == (open.dev(), open.ino()));
    Ok(is_it.then_some(open.len()))
}
