//! JSON documents of ours, which have a version.

use crate::error::{Error, Result};
use crate::schema;
use crate::untrusted::{self, MAX_CONFIG, json_error};
use serde::de::DeserializeOwned;
use std::path::Path;

/// A JSON document of ours; `None` if the file does not exist.
///
/// # Errors
/// `Io`; `Data` if it is no such document, or one of a later version.
pub fn read_document<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let bytes = untrusted::read_if_there(path, MAX_CONFIG).map_err(|error| Error::reading(path, &error))?;
    let parsed = bytes.map(|bytes| schema::from_slice(&bytes)).transpose();
    parsed.map_err(|error| Error::data(format!("{}: {}", path.display(), json_error(&error))).caused_by(error))
}
