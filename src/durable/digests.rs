//! SHA-256 of files that are asked for again and again.

use super::FileDigest;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The files that were read so far. A file that was written since is read again.
#[derive(Default)]
pub struct Digests(Mutex<BTreeMap<PathBuf, (Stamp, String)>>);

/// The length of a file, and when it was written.
type Stamp = (u64, SystemTime);

impl Digests {
    /// None so far.
    pub const fn new() -> Self {
        Digests(Mutex::new(BTreeMap::new()))
    }

    /// The SHA-256 of a file, as it is now.
    ///
    /// # Errors
    /// `MissingInput`, `Io`.
    pub fn of(&self, path: &Path) -> Result<String> {
        let now = stamp(path).map_err(|error| Error::reading(path, &error))?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, sha256)) = known.get(path).filter(|(then, _)| *then == now) {
            return Ok(sha256.clone());
        }
        let sha256 = FileDigest::of_file(path)?.sha256;
        known.insert(path.to_owned(), (now, sha256.clone()));
        Ok(sha256)
    }
}

fn stamp(path: &Path) -> io::Result<Stamp> {
    let metadata = fs::metadata(path)?;
    Ok((metadata.len(), metadata.modified()?))
}

#[cfg(test)]
mod tests {
    use super::super::sha256;
    use super::*;

    #[test]
    fn a_file_is_read_again_only_if_it_was_written() {
        let folder = tempfile::TempDir::new().unwrap();
        let (digests, file) = (Digests::default(), folder.path().join("stories.json"));
        assert!(digests.of(&file).is_err());
        for content in ["one", "four", "other"] {
            fs::write(&file, content).unwrap();
            assert_eq!(digests.of(&file).unwrap(), sha256(content.as_bytes()));
        }
        let of_before = digests.0.lock().unwrap().values().next().unwrap().clone();
        digests.0.lock().unwrap().insert(file.clone(), (of_before.0, "kept".to_owned()));
        assert_eq!(digests.of(&file).unwrap(), "kept");
    }
}
