//! The version of our JSON formats (`docs/formats.md`). It is the first key of every JSON document and of every line of
//! JSONL. A reader ignores fields that it does not know, and refuses higher versions.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Error;
use std::path::Path;

/// The version that we write, and the highest that we read.
const VERSION: u64 = 1;

/// Serializes as [`VERSION`]. Deserializing a higher version fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SchemaVersion;

impl Serialize for SchemaVersion {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(VERSION)
    }
}

impl<'de> Deserialize<'de> for SchemaVersion {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match u64::deserialize(from)? {
            VERSION => Ok(SchemaVersion),
            newer if newer > VERSION => Err(D::Error::custom(format!(
                "schema_version {newer} is not supported: this tiered reads up to {VERSION}; update tiered"
            ))),
            other => Err(D::Error::custom(format!("schema_version {other} is invalid: versions start at 1"))),
        }
    }
}

/// A document with its version in front.
#[derive(Serialize)]
struct Versioned<'a, T> {
    schema_version: SchemaVersion,
    #[serde(flatten)]
    document: &'a T,
}

impl<'a, T> Versioned<'a, T> {
    fn new(document: &'a T) -> Self {
        Versioned { schema_version: SchemaVersion, document }
    }
}

/// The document on one line.
///
/// # Errors
/// If the document is not an object, or can't be serialized.
pub fn to_string(document: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(&Versioned::new(document))
}

/// One of our own documents with an indentation of two spaces, and a line end.
///
/// # Panics
/// If the document is not an object with string keys, or has a path that is not UTF-8 (see [`path`]).
pub fn document(document: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(&Versioned::new(document));
    text.expect("our documents are objects with string keys, and their paths are text") + "\n"
}

/// Writes a path, whatever its bytes are: what is not UTF-8 in it is replaced.
///
/// # Errors
/// Those of the serializer.
pub fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// The version of a document, which is read before the rest.
#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Head {
    #[serde(default, rename = "schema_version")]
    _version: SchemaVersion,
}

/// Checks the version of a document. A document without one passes; so does text that is not JSON, which its reader
/// refuses.
///
/// # Errors
/// If the version is not supported.
pub fn check(bytes: &[u8]) -> Result<(), Error> {
    match serde_json::from_slice::<Head>(bytes) {
        Err(error) if error.is_data() => Err(error),
        _ => Ok(()),
    }
}

/// Reads a document whose version is supported.
///
/// # Errors
/// If the version is not supported, or the document is invalid.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    check(bytes)?;
    serde_json::from_slice(bytes)
}

/// Like [`from_slice`], for text.
///
/// # Errors
/// Like [`from_slice`].
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    from_slice(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Document {
        name: String,
        size: f32,
    }

    #[test]
    fn the_version_comes_first_and_documents_survive() {
        let document = Document { name: "a".into(), size: 0.1 };
        let text = to_string(&document).unwrap();
        assert_eq!(text, r#"{"schema_version":1,"name":"a","size":0.1}"#);
        assert_eq!(from_str::<Document>(&text).unwrap(), document);
        assert_eq!(super::document(&document), "{\n  \"schema_version\": 1,\n  \"name\": \"a\",\n  \"size\": 0.1\n}\n");
    }

    #[test]
    fn other_versions_are_refused_before_anything_else() {
        let read = |version: &str| from_str::<Document>(&format!(r#"{{"schema_version": {version}, "other": 1}}"#));
        let said = |version: &str| read(version).unwrap_err().to_string();
        assert!(said("2").contains("schema_version 2 is not supported: this tiered reads up to 1; update tiered"));
        assert!(said("0").contains("is invalid") && said("\"1\"").contains("invalid type: string"));
        assert!(said("1").contains("missing field `name`"));
    }

    #[test]
    fn a_document_without_a_version_or_with_more_fields_is_read() {
        for text in [r#"{"name": "a", "size": 2}"#, r#"{"schema_version": 1, "name": "a", "size": 2, "more": [{}]}"#] {
            assert_eq!(from_str::<Document>(text).unwrap().size, 2.);
        }
        assert!(from_str::<Document>("[]").is_err() && from_str::<Document>("3").is_err());
        assert!(from_str::<Document>("{").unwrap_err().is_eof());
    }
}
