//! Serde for counts that are undefined when they are over nothing (the default): these are written as `null`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub fn serialize<T: Serialize + Default + PartialEq, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    if *value == T::default() { to.serialize_none() } else { value.serialize(to) }
}

pub fn deserialize<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}
