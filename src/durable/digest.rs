//! Length and SHA-256 of files.

use crate::error::{Error, Result};
use crate::untrusted::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Length in bytes and SHA-256 of a file. They show whether the file changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// The length of the content.
    pub bytes: u64,
    /// In lower-case hexadecimal.
    pub sha256: String,
}

impl FileDigest {
    /// # Errors
    /// `MissingInput`, `Io`.
    pub fn of_file(path: &Path) -> Result<Self> {
        File::open(path).and_then(|mut file| Self::of_open(&mut file)).map_err(|error| Error::reading(path, &error))
    }

    /// Of what follows in a file.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn of_open(file: &mut impl Read) -> io::Result<Self> {
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        let mut buffer = vec![0; 1 << 20];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(FileDigest { bytes, sha256: hex(&hash.finalize()) }),
                read => {
                    hash.update(&buffer[..read]);
                    bytes += read as u64;
                }
            }
        }
    }
}
