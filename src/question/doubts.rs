//! Checks typed stories before they are judged: refuses those that can't be judged, and warns of likely slips.

use crate::data::{Story, split_sentences};
use crate::entities::normalized;
use crate::error::{Error, Result};
use std::collections::BTreeSet;
use unicode_segmentation::UnicodeSegmentation;

/// A word of at least this Jaro-Winkler similarity (0 to 1) is suggested for a name that occurs in no sentence.
const SIMILAR: f64 = 0.8;
/// At most so many letters may differ at the end of two forms of a word: "potato" and "potatoes", "porta" and "porte".
const ENDING: usize = 2;
/// At least so many letters are shared by two forms of a word.
const STEM: usize = 3;
/// Longer words, in bytes, are no likely slips of others: comparing them all would take long.
const LONGEST: usize = 80;
/// A word is suggested from at most so many different ones.
const MOST_WORDS: usize = 1000;

/// Refuses stories that can't be judged.
///
/// # Errors
/// `Data`, with the remedy.
pub fn require_judgeable(stories: &[Story], source: &str) -> Result<()> {
    if let Some(story) = stories.iter().find(|story| story.sentences.len() < 2) {
        return Err(Error::data(format!(
            "{source}: story {} was read as one sentence, and a conflict needs two; write one sentence a line \
             (--split-sentences splits a paragraph)",
            story.id
        )));
    }
    match stories {
        [first, second] if first.sentences == second.sentences => {
            Err(Error::data(format!("{source}: the two stories are the same; change one of them")))
        }
        _ => Ok(()),
    }
}

/// Warnings of likely slips.
pub fn doubts(stories: &[Story]) -> Vec<String> {
    let of_story = |story| {
        let first = list(story).or_else(|| title(story));
        first.into_iter().chain(long_sentences(story)).chain(strange_entities(story)).collect()
    };
    stories.iter().flat_map::<Vec<_>, _>(of_story).collect()
}

/// Warns of a first line that is almost a list of entities.
fn list(story: &Story) -> Option<String> {
    let is_list = story.sentences.first()?.unicode_words().next()?.eq_ignore_ascii_case("entities");
    let advice = "write `entities: a, b` (in JSON a list \"entities\")";
    is_list.then(|| format!("story {}, sentence 1 looks like a list of entities; {advice}", story.id))
}

/// Warns of a first line with at most two words that does not end like a sentence.
fn title(story: &Story) -> Option<String> {
    let first = story.sentences.first()?;
    let is_title = first.unicode_words().count() <= 2 && first.ends_with(|c: char| c == ':' || c.is_alphanumeric());
    let advice = "leave it out, or begin its line with #";
    is_title.then(|| format!("story {}, sentence 1 looks like a title ({first:?}); {advice}", story.id))
}

fn long_sentences(story: &Story) -> impl Iterator<Item = String> {
    story.sentences.iter().enumerate().filter_map(|(i, sentence)| {
        let parts = split_sentences(sentence).0.len();
        let advice = "write one sentence a line (--split-sentences splits a paragraph)";
        (parts > 1).then(|| format!("story {}, sentence {} looks like {parts} sentences; {advice}", story.id, i + 1))
    })
}

/// Warns of entities with a word that occurs in no sentence, in any form.
fn strange_entities(story: &Story) -> impl Iterator<Item = String> {
    let text = story.sentences.join(" ").to_lowercase();
    let in_text: BTreeSet<String> = words(&text).map(str::to_owned).collect();
    story.entities.iter().filter_map(move |entity| {
        let name = normalized(&entity.name);
        let missing = words(&name).find(|word| !in_text.iter().any(|other| is_form(word, other)))?;
        let advice = meant(missing, &in_text).map_or(String::new(), |word| format!("; did you mean {word:?}?"));
        Some(format!("story {}: {:?} is in no sentence{advice}", story.id, entity.name))
    })
}

/// The word of the text that is most similar to the missing one, if it is similar enough.
fn meant<'a>(missing: &str, in_text: &'a BTreeSet<String>) -> Option<&'a str> {
    if missing.len() > LONGEST {
        return None;
    }
    let near = in_text.iter().filter(|word| word.len() <= LONGEST).take(MOST_WORDS);
    let similar = near.map(|word| (strsim::jaro_winkler(missing, word), word.as_str()));
    let similar = similar.filter(|(similarity, _)| *similarity >= SIMILAR);
    similar.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, word)| word)
}

/// The words of a text. An article with an apostrophe is a word ("l'acqua").
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.unicode_words().flat_map(|word| word.split(['\'', '’']))
}

/// Whether two words differ only in their endings.
fn is_form(a: &str, b: &str) -> bool {
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let longest = a.chars().count().max(b.chars().count());
    shared == longest || (shared >= STEM && shared + ENDING >= longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Sentences, read_plain};

    fn stories(text: &str) -> Vec<Story> {
        read_plain(text, "input", &[], Sentences::AsGiven, &|_| Vec::new()).unwrap().stories
    }

    #[test]
    fn what_cant_be_judged_is_refused() {
        let refused = |text: &str| require_judgeable(&stories(text), "input").map_err(|error| error.message);
        assert!(refused("entities: cup\nOne.\nTwo.").is_ok());
        assert!(refused("entities: cup\nOne. Two.").unwrap_err().contains("story 1 was read as one sentence"));
        let same = "entities: cup\nOne.\nTwo.\n\nentities: cup\nOne.\nTwo.";
        assert!(refused(same).unwrap_err().contains("the two stories are the same"));
    }

    /// To compare them would take long.
    #[test]
    fn long_words_are_no_slips() {
        let word =
            |n: usize| format!("{}{}", "abcdefghij".repeat(10), format!("{n:b}").replace('0', "k").replace('1', "l"));
        let names: Vec<String> = (5000..5128).map(word).collect();
        let sentence = |n: usize| (n * 150..n * 150 + 150).map(word).collect::<Vec<_>>().join(" ");
        let text = format!("entities: {}\n{}.\n{}.", names.join(", "), sentence(0), sentence(1));
        let said = doubts(&stories(&text));
        assert_eq!(said.len(), names.len());
        assert!(said.iter().all(|doubt| doubt.ends_with("is in no sentence")), "{}", said[0]);
    }

    #[test]
    fn titles_of_people_end_no_sentence() {
        let said = doubts(&stories("entities: Hill, Bianchi\nMr. Hill ate.\nIl sig. Bianchi mangia. He slept."));
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("story 1, sentence 2 looks like 2 sentences"), "{}", said[0]);
    }

    #[test]
    fn titles_are_doubted() {
        let said = doubts(&stories("entities: Mia\nStory 1:\nMia slept.\n\nMia slept.\nMia woke up"));
        let advice = "leave it out, or begin its line with #";
        assert_eq!(said, [format!("story 1, sentence 1 looks like a title (\"Story 1:\"); {advice}")]);
    }

    #[test]
    fn what_is_almost_a_list_of_entities_is_doubted() {
        let said = doubts(&stories("entities: Mia\nEntities = Mia\nMia slept.\n\nMia slept.\nMia woke up."));
        let advice = "write `entities: a, b` (in JSON a list \"entities\")";
        assert_eq!(said, [format!("story 1, sentence 1 looks like a list of entities; {advice}")]);
    }

    #[test]
    fn slips_are_said_and_forms_of_a_word_are_none() {
        let said = doubts(&stories(
            "entities: ketle, potato, Mia, acqua, cups, an apple\nMia boiled potatoes. Then she ate.\nApple pie, \
             kettle, l'acqua.",
        ));
        assert_eq!(
            said,
            [
                "story 1, sentence 1 looks like 2 sentences; write one sentence a line (--split-sentences splits a \
                 paragraph)",
                "story 1: \"ketle\" is in no sentence; did you mean \"kettle\"?",
                "story 1: \"cups\" is in no sentence",
            ]
        );
    }
}
