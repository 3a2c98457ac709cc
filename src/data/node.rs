//! JSON as written: unlike `serde_json::Value`, an object keeps all values of a repeated key.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The longest excerpt of a file in a message, in characters.
const EXCERPT: usize = 60;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Integer(i64),
    /// Any other number.
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    /// The type of the node, for messages about a wrong type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Node::Null => "null",
            Node::Bool(_) => "a boolean",
            Node::Integer(_) => "an integer",
            Node::Float(_) => "a number that is not an integer",
            Node::Text(_) => "a string",
            Node::List(_) => "a list",
            Node::Object(_) => "an object",
        }
    }

    /// The node as compact JSON, cut after [`EXCERPT`] characters.
    pub fn excerpt(&self) -> String {
        let text = self.to_string();
        match text.char_indices().nth(EXCERPT) {
            Some((cut, _)) => format!("{}...", &text[..cut]),
            None => text,
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Null => f.write_str("null"),
            Node::Bool(value) => write!(f, "{value}"),
            Node::Integer(value) => write!(f, "{value}"),
            Node::Float(value) => write!(f, "{value}"),
            Node::Text(value) => write!(f, "{value:?}"),
            Node::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Node::Object(fields) => write!(f, "{{{} fields}}", fields.len()),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(i64::try_from(value).map_or(Node::Float(value as f64), Node::Integer))
    }

    /// Some programs write whole numbers as 1.0.
    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        const EXACT: f64 = (1_i64 << 53) as f64;
        let is_whole = value.fract() == 0. && value.abs() < EXACT;
        Ok(if is_whole { Node::Integer(value as i64) } else { Node::Float(value) })
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut fields = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            fields.push(entry);
        }
        Ok(Node::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_keys_are_all_kept() {
        let node: Node = serde_json::from_str(r#"{"98": 1, "98": [null, "a", 2.5]}"#).unwrap();
        let second = Node::List(vec![Node::Null, Node::Text("a".into()), Node::Float(2.5)]);
        assert_eq!(second.to_string(), r#"[null, "a", 2.5]"#);
        assert_eq!(node, Node::Object(vec![("98".into(), Node::Integer(1)), ("98".into(), second)]));
    }

    #[test]
    fn excerpts_are_short_and_cut_between_characters() {
        assert_eq!(Node::Text("è".repeat(200)).excerpt().chars().count(), EXCERPT + 3);
    }
}
