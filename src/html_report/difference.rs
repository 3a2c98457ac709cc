//! Finds where the two stories of a pair differ.

/// A part of a sentence.
#[derive(Debug, PartialEq)]
pub struct TextPart {
    pub text: String,
    pub differs: bool,
}

/// Sentences with more words than this are compared as a whole.
const MAX_WORDS: usize = 200;

/// The parts of each sentence of both stories. A sentence that both stories have in the same order is one part that
/// does not differ.
pub fn differences(stories: [&[String]; 2]) -> [Vec<Vec<TextPart>>; 2] {
    let is_common = common(stories[0], stories[1]);
    let of_story = |s: usize| {
        let own = stories[s].iter().enumerate();
        let parts = own.map(|(n, text)| {
            let replaced = stories[1 - s].get(n).filter(|_| !is_common[1 - s][n]);
            match (is_common[s][n], replaced) {
                (true, _) => vec![TextPart { text: text.clone(), differs: false }],
                (false, Some(other)) => parts(text, other),
                (false, None) => vec![TextPart { text: text.clone(), differs: true }],
            }
        });
        parts.collect()
    };
    [of_story(0), of_story(1)]
}

/// Splits a sentence into words that the other sentence also has and words that it does not have.
fn parts(text: &str, other: &str) -> Vec<TextPart> {
    let [words, others] = [text, other].map(|text| text.split_inclusive(char::is_whitespace).collect::<Vec<_>>());
    if words.len().max(others.len()) > MAX_WORDS {
        return vec![TextPart { text: text.to_owned(), differs: true }];
    }
    let trimmed = |words: &[&str]| words.iter().map(|word| word.trim().to_lowercase()).collect::<Vec<_>>();
    let [is_common, _] = common(&trimmed(&words), &trimmed(&others));
    let mut parts: Vec<TextPart> = Vec::new();
    for (word, is_common) in words.into_iter().zip(is_common) {
        match parts.last_mut().filter(|part| part.differs != is_common) {
            Some(part) => part.text.push_str(word),
            None => parts.push(TextPart { text: word.to_owned(), differs: !is_common }),
        }
    }
    parts
}

/// For each item of both lists, whether it is in a longest common subsequence.
fn common<T: PartialEq>(a: &[T], b: &[T]) -> [Vec<bool>; 2] {
    let mut longest = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i][j] =
                if a[i] == b[j] { longest[i + 1][j + 1] + 1 } else { longest[i + 1][j].max(longest[i][j + 1]) };
        }
    }
    let mut is_common = [vec![false; a.len()], vec![false; b.len()]];
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            (is_common[0][i], is_common[1][j]) = (true, true);
            (i, j) = (i + 1, j + 1);
        } else if longest[i + 1][j] >= longest[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    is_common
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(a: &[&str], b: &[&str]) -> [Vec<String>; 2] {
        let [a, b] = [a, b].map(|story| story.iter().map(|&text| text.to_owned()).collect::<Vec<_>>());
        let marks = |part: &TextPart| if part.differs { format!("[{}]", part.text) } else { part.text.clone() };
        differences([&a, &b]).map(|story| story.iter().map(|parts| parts.iter().map(marks).collect()).collect())
    }

    #[test]
    fn a_replaced_sentence_differs_in_words() {
        let [first, second] = marked(&["Mia woke.", "Mia opened the box."], &["Mia woke.", "Mia shut the box."]);
        assert_eq!(first, ["Mia woke.", "Mia [opened ]the box."]);
        assert_eq!(second, ["Mia woke.", "Mia [shut ]the box."]);
    }

    #[test]
    fn a_moved_sentence_differs_as_a_whole() {
        let [first, second] = marked(&["One.", "Two.", "Three."], &["Two.", "Three.", "One."]);
        assert_eq!(first, ["[One.]", "Two.", "Three."]);
        assert_eq!(second, ["Two.", "Three.", "[One.]"]);
    }
}
