//! Where the sentences of a text end.

use super::markup::unnumbered;
use crate::language::is_before_name;
use unicode_segmentation::UnicodeSegmentation;

/// Where sentences end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sentences {
    /// At the end of a line; in JSON, at the end of a string.
    AsGiven,
    /// Also where Unicode's rules end a sentence (UAX #29), but not after the point of a title ("Mr. Hill"). Numbers before
    /// sentences ("1. ") are removed.
    Split,
}

/// The sentences of a text by Unicode's rules, which take the point of a title for an end: such pieces are joined again.
/// Numbers before sentences ("1. ", "2) ") are removed; returns how many, too.
pub(crate) fn split(text: &str) -> (Vec<String>, usize) {
    let (mut sentences, mut numbers): (Vec<String>, usize) = (Vec::new(), 0);
    for piece in text.trim_end().unicode_sentences() {
        match sentences.last_mut().filter(|last| ends_with_title(last)) {
            Some(last) => last.push_str(piece),
            None => {
                let rest = unnumbered(piece);
                numbers += usize::from(rest.is_some());
                let sentence = rest.unwrap_or(piece);
                // "1. " is a piece of its own, "1) " begins one.
                if !sentence.is_empty() {
                    sentences.push(sentence.to_owned());
                }
            }
        }
    }
    (sentences, numbers)
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
        let split = |text| super::split(text).0;
        assert_eq!(split(text), sentences);
        let italian = "Il sig. Rossi saluta il Prof. Bianchi. Poi la sig.ra Verdi esce.";
        assert_eq!(split(italian), ["Il sig. Rossi saluta il Prof. Bianchi. ", "Poi la sig.ra Verdi esce."]);
        assert_eq!(split("It took 5 ms. She saw the dr. Mr."), ["It took 5 ms. ", "She saw the dr. ", "Mr."]);
        assert_eq!(split("Two programs. Ann slept."), ["Two programs. ", "Ann slept."]);
        assert!(split(" ... ").is_empty());
    }

    #[test]
    fn numbers_before_sentences_are_removed_and_others_stay() {
        let sentences = ["Rosa took the cup at 5. ", "Rosa dropped it."];
        for [first, second] in [["1.", "2."], ["7)", "8)"]] {
            let text = format!("{first} Rosa took the cup at 5. {second} Rosa dropped it.");
            assert_eq!(split(&text), (sentences.map(str::to_owned).to_vec(), 2));
        }
        assert_eq!(split("Rosa ate 1.5 pies at 5."), (vec!["Rosa ate 1.5 pies at 5.".to_owned()], 0));
    }
}
