//! Keys of stories: "13" (plausible), "13-C0" (cloze), "13-O1" (order).

use super::story::Kind;

/// What the form of a key says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// Number of the plausible story.
    pub group: Option<i64>,
    /// The kind of an implausible story; `None` if the key has no such suffix.
    pub kind: Option<Kind>,
}

impl Key {
    pub fn parse(key: &str) -> Self {
        let number = key.split('-').next().unwrap_or(key);
        let suffix = key.rsplit_once('-').map_or("", |(_, suffix)| suffix);
        Key { group: number.parse().ok(), kind: kind_of_suffix(suffix) }
    }
}

/// The kind for "C" or "O" and a number; `None` for any other suffix.
fn kind_of_suffix(suffix: &str) -> Option<Kind> {
    let (kind, number) = match suffix.split_at_checked(1)? {
        ("C", number) => (Kind::Cloze, number),
        ("O", number) => (Kind::Order, number),
        _ => return None,
    };
    number.chars().all(|c| c.is_ascii_digit()).then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_name_group_and_kind() {
        assert_eq!(Key::parse("13"), Key { group: Some(13), kind: None });
        assert_eq!(Key::parse("13-C0"), Key { group: Some(13), kind: Some(Kind::Cloze) });
        assert_eq!(Key::parse("13-O12"), Key { group: Some(13), kind: Some(Kind::Order) });
        assert_eq!(Key::parse("story-Cooking"), Key { group: None, kind: None });
        assert_eq!(Key::parse("sl-0-C0"), Key { group: None, kind: Some(Kind::Cloze) });
        assert_eq!(Key::parse("1-è"), Key { group: Some(1), kind: None });
    }
}
