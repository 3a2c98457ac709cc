//! Letters with accents, which Unicode writes in two ways: some keyboards and systems send "e" and an accent, others "é".

use icu_normalizer::ComposingNormalizerBorrowed;

/// The text with one character for each letter that has one (NFC). Texts that look alike are then the same.
pub(crate) fn composed(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_and_its_accent_become_one() {
        assert_eq!(composed("perche\u{301} caffe\u{300}"), "perch\u{e9} caff\u{e8}");
        assert_eq!(composed("caffè, ½ ℃"), "caffè, ½ ℃");
    }
}
