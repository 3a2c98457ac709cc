//! A JSON file taken apart step by step: partitions, then stories as text, then the values of one story. So a file never
//! takes much more memory than its own length, and every error has its place in the whole file.

use super::node::Node;
use crate::outside::{MAX_KEYS, json_error};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The text of a JSON file.
pub(super) struct Json<'a> {
    text: &'a str,
}

/// A value of the file, unread.
#[derive(Clone, Copy)]
pub(super) struct Raw<'a>(&'a RawValue);

/// One level of the file.
pub(super) enum Part<'a> {
    /// Every entry, repeated keys too.
    Object(Vec<(String, Raw<'a>)>),
    Other,
}

impl<'a> Json<'a> {
    pub fn new(text: &'a str) -> Self {
        Json { text }
    }

    /// The outermost level.
    ///
    /// # Errors
    /// A message with line and column if the file is no JSON, or the object has too many keys.
    pub fn root(&self) -> Result<Part<'a>, String> {
        self.level(self.text)
    }

    /// What the file is, for a message.
    pub fn root_type(&self) -> &'static str {
        type_name(self.text)
    }

    /// The level below a value.
    pub fn part(&self, raw: &Raw<'a>) -> Result<Part<'a>, String> {
        self.level(raw.text())
    }

    /// A whole value.
    pub fn node(&self, raw: &Raw) -> Result<Node, String> {
        serde_json::from_str(raw.text()).map_err(|error| self.invalid(raw.text(), &error))
    }

    fn level(&self, part: &'a str) -> Result<Part<'a>, String> {
        let invalid = |error| self.invalid(part, &error);
        if part.trim_start().starts_with('{') {
            let Entries(entries) = serde_json::from_str(part).map_err(invalid)?;
            return Ok(Part::Object(entries));
        }
        let _: &RawValue = serde_json::from_str(part).map_err(invalid)?;
        Ok(Part::Other)
    }

    /// An error in a part of the text, with its place in the whole.
    fn invalid(&self, part: &str, error: &serde_json::Error) -> String {
        let start = part.as_ptr() as usize - self.text.as_ptr() as usize;
        let before = &self.text[..start];
        let line = before.matches('\n').count() + error.line();
        let column = match error.line() {
            0 | 1 => start - before.rfind('\n').map_or(0, |newline| newline + 1) + error.column(),
            _ => error.column(),
        };
        let message = json_error(error);
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        format!("is not valid JSON: {message} at line {line} column {column}")
    }
}

impl<'a> Raw<'a> {
    pub fn text(&self) -> &'a str {
        self.0.get()
    }

    pub fn type_name(&self) -> &'static str {
        type_name(self.text())
    }
}

/// As [`Node::type_name`], from the first sign.
fn type_name(text: &str) -> &'static str {
    match text.trim_start().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// The entries of an object.
struct Entries<'a>(Vec<(String, Raw<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry()? {
            if entries.len() == MAX_KEYS {
                return Err(A::Error::custom(format_args!("more than {MAX_KEYS} keys in one object")));
            }
            entries.push((key, Raw(value)));
        }
        Ok(Entries(entries))
    }
}
