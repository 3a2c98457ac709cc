//! Text of sentences.

/// The text with a capital letter at its beginning.
pub(super) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
