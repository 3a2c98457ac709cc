//! Our documents as bytes.

use crate::error::{Error, ErrorKind, Result};
use crate::schema;
use serde::Serialize;

/// A document on one line, with its schema version.
pub fn json_bytes(document: &impl Serialize) -> Result<Vec<u8>> {
    let text = schema::to_string(document);
    text.map(String::into_bytes).map_err(|error| Error::new(ErrorKind::Internal, format!("JSON: {error}")))
}
