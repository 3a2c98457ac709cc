//! GivenNames of splits and stories: each is given once only.

use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Gives every name once only.
#[derive(Default)]
pub(super) struct GivenNames {
    /// For each name, by its hash, the number of the last suffix given; 1 if none was.
    given: HashMap<u128, u32>,
}

impl GivenNames {
    /// The name, with "#2", "#3" ... if it was given before. The result was never given before.
    pub fn distinct(&mut self, name: &str) -> String {
        let Some(&last) = self.given.get(&hash(name)) else {
            self.given.insert(hash(name), 1);
            return name.to_owned();
        };
        let free = (last + 1..).find(|number| !self.given.contains_key(&hash(&format!("{name}#{number}"))));
        let number = free.expect("a free number");
        self.given.insert(hash(name), number);
        self.distinct(&format!("{name}#{number}"))
    }
}

/// 128 bits of a name's SHA-256, in place of the name: a file may have millions.
fn hash(name: &str) -> u128 {
    let digest: [u8; 32] = Sha256::digest(name).into();
    u128::from_le_bytes(std::array::from_fn(|i| digest[i]))
}

/// Many short texts in one.
#[derive(Debug, Default)]
pub(super) struct Ids {
    text: String,
    ends: Vec<usize>,
}

impl Ids {
    pub fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    pub fn get(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[number]]
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_get_a_free_suffix() {
        let named = |names: &[&str]| {
            let mut given = GivenNames::default();
            names.iter().map(|name| given.distinct(name)).collect::<Vec<_>>()
        };
        assert_eq!(named(&["98", "98#2", "98", "98"]), ["98", "98#2", "98#3", "98#4"]);
        assert_eq!(named(&["98", "98", "98#2", "98"]), ["98", "98#2", "98#2#2", "98#3"]);
        assert_eq!(named(&["a", "b"]), ["a", "b"]);
    }

    #[test]
    fn ids_are_kept_apart() {
        let mut ids = Ids::default();
        ["13", "", "13-C0"].into_iter().for_each(|id| ids.push(id));
        assert_eq!((0..ids.len()).map(|number| ids.get(number)).collect::<Vec<_>>(), ["13", "", "13-C0"]);
    }
}
