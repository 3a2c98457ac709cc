//! Files of lines that only grow: a line is in the file as a whole or not at all.

use crate::error::{Error, Result};
use crate::fault;
use crate::untrusted;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The whole lines of a file; nothing if there is no file. A last line without a line end was torn by a kill.
///
/// # Errors
/// `Io` if it can't be read or has more than `limit` bytes.
pub fn whole_lines(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let text = untrusted::read_if_there(path, limit).map_err(|error| Error::reading(path, &error))?;
    let mut text = text.unwrap_or_default();
    text.truncate(text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
    Ok(text)
}

/// A file of lines, open for appending.
#[derive(Debug)]
pub struct LineFile {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines.
    length: u64,
    /// Whether a line that failed may still be in the file.
    is_torn: bool,
}

impl LineFile {
    /// Opens the file, or creates it, and removes what follows its whole lines, which have `length` bytes.
    ///
    /// # Errors
    /// `CantCreate`, `Io`.
    pub fn open(path: &Path, length: u64) -> Result<Self> {
        let file = fault::operation(|| {
            let file = OpenOptions::new().create(true).append(true).open(path)?;
            if file.metadata()?.len() > length {
                file.set_len(length)?;
            }
            Ok(file)
        });
        let file = file.map_err(|error| Error::writing(path, &error))?;
        super::sync_parent(path)?;
        Ok(LineFile { path: path.to_owned(), file, length, is_torn: false })
    }

    /// The bytes of its lines.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends a line, which has its line end. After an error, nothing was appended.
    ///
    /// # Errors
    /// `Io` if it can't be written.
    pub fn append(&mut self, line: &[u8]) -> Result<()> {
        self.write(line, |_| Ok(()))
    }

    /// The same, and syncs it to the disk.
    ///
    /// # Errors
    /// `Io` if it can't be written.
    pub fn append_durably(&mut self, line: &[u8]) -> Result<()> {
        self.write(line, |file| fault::operation(|| file.sync_data()))
    }

    /// Syncs the file to the disk.
    ///
    /// # Errors
    /// `Io`.
    pub fn sync(&self) -> Result<()> {
        fault::operation(|| self.file.sync_all()).map_err(|error| Error::writing(&self.path, &error))
    }

    fn write(&mut self, line: &[u8], then: impl FnOnce(&File) -> io::Result<()>) -> Result<()> {
        self.require_there()?;
        self.mend()?;
        let written = fault::operation(|| self.file.write_all(line)).and_then(|()| then(&self.file));
        if let Err(error) = written {
            self.is_torn = true;
            // If that fails too, the next line tries it again.
            drop(self.mend());
            return Err(Error::writing(&self.path, &error));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// # Errors
    /// `Io` if the path names another file by now, or none: lines in this one would be lost.
    fn require_there(&self) -> Result<()> {
        let identity = |data: Metadata| (data.dev(), data.ino());
        match self.path.metadata().ok().map(identity) == self.file.metadata().ok().map(identity) {
            true => Ok(()),
            false => {
                let gone = "another program has replaced or removed it; end this one and start it again";
                Err(Error::writing(&self.path, &io::Error::other(gone)))
            }
        }
    }

    /// Removes what a line that failed has left.
    fn mend(&mut self) -> Result<()> {
        if self.is_torn {
            let cut = self.file.set_len(self.length).and_then(|()| self.file.sync_data());
            cut.map_err(|error| Error::writing(&self.path, &error))?;
            self.is_torn = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failed_line_left_is_removed_before_the_next_one() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("lines");
        let mut lines = LineFile::open(&path, 0).unwrap();
        lines.append(b"one\n").unwrap();
        // As a full disk would: a part of the line is in the file.
        lines.write(b"two", |_| Err(io::Error::from(io::ErrorKind::StorageFull))).unwrap_err();
        assert_eq!((std::fs::read(&path).unwrap(), lines.length()), (b"one\n".to_vec(), 4));
        // It could not be removed at once either.
        (&lines.file).write_all(b"tw").unwrap();
        lines.is_torn = true;
        lines.append_durably(b"three\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\nthree\n");
        assert_eq!(whole_lines(&path, 100).unwrap(), b"one\nthree\n");

        std::fs::write(folder.path().join("copy"), b"one\n").unwrap();
        std::fs::rename(folder.path().join("copy"), &path).unwrap();
        let error = lines.append_durably(b"four\n").unwrap_err();
        assert!(error.message.contains("another program has replaced or removed it"), "{error}");
        std::fs::remove_file(&path).unwrap();
        lines.append(b"four\n").unwrap_err();
        assert_eq!(lines.length(), 10);
    }
}
