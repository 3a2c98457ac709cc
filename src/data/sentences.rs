//! Where the sentences of a text end.

use crate::language::is_before_name;
use unicode_segmentation::UnicodeSegmentation;

/// Where sentences end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sentences {
    /// At the end of a line; in JSON, at the end of a string.
    AsGiven,
    /// Also where Unicode's rules end a sentence (UAX #29), but not after the point of a title ("Mr. Hill").
    Split,
}

/// The sentences of a text by Unicode's rules, which take the point of a title for an end: such pieces are joined again.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for piece in text.unicode_sentences() {
        match sentences.last_mut() {
            Some(last) if ends_with_title(last) => last.push_str(piece),
            _ => sentences.push(piece.to_owned()),
        }
    }
    sentences
}

/// English titles are capitalised: "5 ms." and "the dr." end sentences.
const SMALL_TITLES: [&str; 3] = ["sig", "dott", "prof"];

fn ends_with_title(piece: &str) -> bool {
    let word = piece.trim_end().strip_suffix('.').and_then(|text| text.rsplit(|c: char| !c.is_alphanumeric()).next());
    let is_capital = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
    word.is_some_and(|word| is_before_name(&word.to_lowercase()) && (is_capital(word) || SMALL_TITLES.contains(&word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_end_no_sentence() {
        let text = "Mr. Hill met Mrs. Hill and (Dr. Ann) Lee. She sat down. St. Mary's was shut! Was it?";
        let sentences =
            ["Mr. Hill met Mrs. Hill and (Dr. Ann) Lee. ", "She sat down. ", "St. Mary's was shut! ", "Was it?"];
        assert_eq!(split(text), sentences);
        let italian = "Il sig. Rossi saluta il Prof. Bianchi. Poi la sig.ra Verdi esce.";
        assert_eq!(split(italian), ["Il sig. Rossi saluta il Prof. Bianchi. ", "Poi la sig.ra Verdi esce."]);
        assert_eq!(split("It took 5 ms. She saw the dr. Mr."), ["It took 5 ms. ", "She saw the dr. ", "Mr."]);
        assert_eq!(split("Two programs. Ann slept."), ["Two programs. ", "Ann slept."]);
        assert!(split(" ... ").is_empty());
    }
}
