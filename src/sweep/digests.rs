//! SHA-256 of story files, computed once for all runs of a sweep.

use crate::config::expand;
use crate::durable::FileDigest;
use crate::error::{Error, Result};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The files that were read so far. A sweep may last for days: a file that was written since is read again.
#[derive(Default)]
pub struct Digests(RefCell<BTreeMap<PathBuf, (Stamp, String)>>);

/// The length of a file, and when it was written.
type Stamp = (u64, SystemTime);

impl Digests {
    /// The SHA-256 of a file, as it is now.
    ///
    /// # Errors
    /// `MissingInput`, `Io`; `Config` if a variable in the path is not set.
    pub fn of(&self, path: &Path) -> Result<String> {
        let path = expand(path)?;
        let now = stamp(&path).map_err(|error| Error::reading(&path, &error))?;
        let known = self.0.borrow().get(&path).filter(|(then, _)| *then == now).map(|(_, sha256)| sha256.clone());
        if let Some(sha256) = known {
            return Ok(sha256);
        }
        let sha256 = FileDigest::of_file(&path)?.sha256;
        self.0.borrow_mut().insert(path, (now, sha256.clone()));
        Ok(sha256)
    }
}

fn stamp(path: &Path) -> io::Result<Stamp> {
    let metadata = fs::metadata(path)?;
    Ok((metadata.len(), metadata.modified()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durable::sha256;

    #[test]
    fn a_file_is_read_again_only_if_it_was_written() {
        let folder = tempfile::TempDir::new().unwrap();
        let (digests, file) = (Digests::default(), folder.path().join("stories.json"));
        assert!(digests.of(&file).is_err());
        for content in ["one", "four", "other"] {
            fs::write(&file, content).unwrap();
            assert_eq!(digests.of(&file).unwrap(), sha256(content.as_bytes()));
        }
        let of_before = digests.0.borrow().values().next().unwrap().clone();
        digests.0.borrow_mut().insert(file.clone(), (of_before.0, "kept".to_owned()));
        assert_eq!(digests.of(&file).unwrap(), "kept");
    }
}
