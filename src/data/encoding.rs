//! Detects text that was written in one encoding and read in another.

use super::check::{Code, Notes};

/// Warns about a sentence or name with characters that nobody types.
pub(super) fn note_garbled(text: &str, field: &str, notes: &mut Notes) {
    if is_garbled(text) {
        let remedy = "its source was probably not read as UTF-8; create the file again";
        notes.add(Code::GarbledText, field, format!("has characters that result from a wrong encoding; {remedy}"));
    }
}

/// What Windows-1252 has for the bytes 80 to 9F.
const WINDOWS: &str = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ";
/// What Windows-1250 has for the bytes 80 to BF, and Windows-1252 has not.
const CENTRAL: &str = "ŚŤŹśťźˇ˘ŁĄŞŻ˛łąşĽ˝ľż";

/// Whether the text has U+FFFD, which stands for invalid bytes, a control character that no keyboard has, or UTF-8 that
/// was read as Latin-1, Windows-1252 or Windows-1250: that turns "è" into "Ã¨", "š" into "Å¡" or "Ĺˇ", and an apostrophe
/// into "â€™".
fn is_garbled(text: &str) -> bool {
    let is_second = |c: char| ('\u{80}'..='\u{bf}').contains(&c) || WINDOWS.contains(c) || CENTRAL.contains(c);
    // After another capital it is a word in capitals: DĹŽKA, CÂŞTIG.
    let is_misread = |first: char| {
        let mut found = text.match_indices(first).map(|(at, _)| (&text[..at], &text[at + first.len_utf8()..]));
        found.any(|(before, rest)| rest.starts_with(is_second) && !before.ends_with(char::is_uppercase))
    };
    let has_control = text.contains(|c: char| ('\u{80}'..='\u{9f}').contains(&c));
    has_control
        || ['Ã', 'Â', 'Ä', 'Å', 'Ĺ'].into_iter().any(is_misread)
        || ["\u{fffd}", "â€"].iter().any(|sign| text.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_read_as_latin_1_is_garbled() {
        for text in ["è", "perché", "È", "l’acqua", "čaša", "žlica", "Špela"] {
            let misread: String = text.bytes().map(char::from).collect();
            assert!(!is_garbled(text) && is_garbled(&misread), "{text}");
        }
        assert!(is_garbled("perch\u{fffd}") && is_garbled("lâ€™acqua") && is_garbled("Ãˆ tardi."));
        assert!(is_garbled("ÄŤaĹˇa") && is_garbled("Å¡kodo") && is_garbled("Å¾lica") && is_garbled("\u{9a}kodo"));
        assert!(!is_garbled("SÃO PAULO, Ângela, âge, Äpfel, Åsa, Ĺuba, DĹŽKA, PÄŤ, CÂŞTIG"));
    }
}
