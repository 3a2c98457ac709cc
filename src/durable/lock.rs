//! Locks between processes.

use super::files::at;
use crate::error::{Error, ErrorKind, Result};
use std::fs::{self, File, Metadata, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A file that only one process can hold. It is released when dropped, or when the process ends.
pub struct Lock {
    file: File,
}

impl Lock {
    /// # Errors
    /// `CantCreate` if another process holds it.
    pub fn take(path: &Path) -> Result<Self> {
        let held = || {
            let message = format!("{}: another process works in this folder; wait until it ends", path.display());
            Error::new(ErrorKind::CantCreate, message)
        };
        Self::try_take(path)?.ok_or_else(held)
    }

    /// Waits until no other process holds it. Only for locks that are held for moments.
    ///
    /// # Errors
    /// `CantCreate`, `Io`.
    pub fn wait_for(path: &Path) -> Result<Self> {
        let file = at(path, fs::OpenOptions::new().create(true).append(true).open(path))?;
        at(path, file.lock())?;
        Ok(Lock { file })
    }

    /// Whether `path` names another file than this one. If it names none, or can't be asked, that is not known.
    pub fn is_not(&self, path: &Path) -> bool {
        let identity = |data: Metadata| (data.dev(), data.ino());
        let (there, held) = (path.metadata().map(identity), self.file.metadata().map(identity));
        there.is_ok_and(|there| held.is_ok_and(|held| there != held))
    }

    /// `None` if another process holds it.
    ///
    /// # Errors
    /// `CantCreate`, `Io`.
    pub fn try_take(path: &Path) -> Result<Option<Self>> {
        let file = at(path, fs::OpenOptions::new().create(true).append(true).open(path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::writing(path, &error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once_and_given_back() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("lock");
        let held = Lock::take(&path).unwrap();
        assert_eq!(Lock::take(&path).err().unwrap().kind, ErrorKind::CantCreate);
        drop(held);
        let held = Lock::take(&path).unwrap();
        assert!(!held.is_not(&path) && !held.is_not(&path.with_file_name("none")));
        fs::rename(&path, path.with_file_name("moved")).unwrap();
        fs::write(&path, "").unwrap();
        assert!(held.is_not(&path));
    }
}
