//! Reads an object of a JSON file entry by entry.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Receives the entries of an object; repeated keys too.
pub(super) trait Entries {
    /// Takes the value of this key, or skips it.
    fn entry<'de, A: MapAccess<'de>>(&mut self, key: String, map: &mut A) -> Result<(), A::Error>;
}

/// Gives the entries of an object to `E`. Anything else is skipped, and its type's name is returned.
pub(super) struct Object<'e, E>(pub &'e mut E);

impl<'de, E: Entries> DeserializeSeed<'de> for Object<'_, E> {
    type Value = Option<&'static str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, E: Entries> Visitor<'de> for Object<'_, E> {
    type Value = Option<&'static str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<X>(self) -> Result<Self::Value, X> {
        Ok(Some("null"))
    }

    fn visit_bool<X>(self, _: bool) -> Result<Self::Value, X> {
        Ok(Some("a boolean"))
    }

    fn visit_i64<X>(self, _: i64) -> Result<Self::Value, X> {
        Ok(Some("a number"))
    }

    fn visit_u64<X>(self, _: u64) -> Result<Self::Value, X> {
        Ok(Some("a number"))
    }

    fn visit_f64<X>(self, _: f64) -> Result<Self::Value, X> {
        Ok(Some("a number"))
    }

    fn visit_str<X>(self, _: &str) -> Result<Self::Value, X> {
        Ok(Some("a string"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Some("a list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while let Some(key) = map.next_key()? {
            self.0.entry(key, &mut map)?;
        }
        Ok(None)
    }
}
