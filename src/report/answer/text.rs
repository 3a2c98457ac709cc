//! The answer of a model in words, for the terminal.

use super::{Answer, ConflictSentence, StateAnswer, StoryChoice, Verdict};
use crate::attribute::Side;
use crate::decode::Decode;
use crate::prediction::CONFLICT_THRESHOLD;
use crate::report::words;

/// Below this probability the text says that one choice is only slightly more likely than the other.
const CLEARLY: f32 = 0.6;
/// States below this probability are marked as uncertain.
const LIKELY: f32 = 0.5;

impl Answer {
    /// For the terminal: the choice, the sentences in conflict, the states that explain it, and the entities if they
    /// were found.
    pub fn to_text(&self) -> String {
        let mut text = match (self.plausible, self.single_story) {
            (Some(choice), _) => choice.to_text(),
            (None, Some(verdict)) => verdict.to_text(),
            _ if self.conflict_detected => "A conflict is detected.\n".to_owned(),
            _ => "No conflict is detected.\n".to_owned(),
        };
        text += &self.conflict_text();
        text += &self.states_text();
        text + &self.found_text()
    }

    fn conflict_text(&self) -> String {
        if self.conflict.is_empty() && self.decode != Decode::Threshold && self.single_story.is_none() {
            return "No two sentences of one story have a conflict probability above 0.\n".to_owned();
        }
        if self.conflict.is_empty() {
            return format!(
                "No sentence reaches a conflict probability of {CONFLICT_THRESHOLD}; {}.\n",
                self.most_probable()
            );
        }
        let title = match (self.names_the_conflict(), self.conflict_detected) {
            (true, _) => "Sentences in conflict:",
            (false, true) => "The most likely sentence pair (neither sentence reaches 0.5):",
            (false, false) => "The most likely sentence pair (no conflict probability reaches 0.5):",
        };
        let line = |sentence: &ConflictSentence| {
            let ConflictSentence { story, sentence, text, conflict_prob } = sentence;
            let story = if self.stories.len() > 1 { format!("story {}, ", story + 1) } else { String::new() };
            let conflict_prob = in_words(*conflict_prob);
            format!("  {story}sentence {}: \"{text}\" (conflict probability {conflict_prob})\n", sentence + 1)
        };
        let about = |name: &String| format!("The conflict is about {}.\n", words::noun(name, self.language));
        let about = self.subject.as_ref().map_or(String::new(), about);
        format!("\n{title}\n{}{about}", self.conflict.iter().map(line).collect::<String>())
    }

    /// Whether a sentence that is shown is in conflict. By `contrast` it may be one that is not shown.
    fn names_the_conflict(&self) -> bool {
        self.conflict.iter().any(|sentence| sentence.conflict_prob >= CONFLICT_THRESHOLD)
    }

    /// The largest conflict probability and its sentence, in words.
    fn most_probable(&self) -> String {
        let sentences = self.stories.iter().enumerate().flat_map(|(s, story)| {
            story.sentences.iter().enumerate().map(move |(n, sentence)| (s + 1, n + 1, sentence.conflict_prob))
        });
        let (story, sentence, conflict_prob) = sentences.max_by(|a, b| a.2.total_cmp(&b.2)).unwrap_or((1, 1, 0.));
        let story = if self.stories.len() > 1 { format!("story {story}, ") } else { String::new() };
        format!("the largest is {}, at {story}sentence {sentence}{}", in_words(conflict_prob), self.advice())
    }

    /// How to see a sentence pair where none is shown. `pair` and `contrast` show one if there is any.
    fn advice(&self) -> &'static str {
        match self.decode {
            Decode::Threshold => " (--decode pair shows the most likely sentence pair)",
            Decode::Pair | Decode::Contrast => "",
        }
    }

    fn states_text(&self) -> String {
        if self.conflict.is_empty() {
            return String::new();
        }
        let doubted = self.plausible.map_or(0, |choice| 1 - choice.story);
        if self.conflict.iter().filter(|sentence| sentence.story == doubted).count() < 2 {
            let story = if self.plausible.is_some() { "the implausible story" } else { "the story" };
            return format!(
                "\nNo two sentences of {story} are predicted to conflict, so no states are shown{}.\n",
                self.advice()
            );
        }
        if self.states.is_empty() {
            return "\nNo state is predicted at the conflict.\n".to_owned();
        }
        let lines: String = self.states.iter().map(StateAnswer::line).collect();
        let title = match self.names_the_conflict() {
            true => "States that explain the conflict",
            false => "States predicted at these sentences",
        };
        format!("\n{title}:\n{lines}")
    }
}

/// With two decimals. A probability below the threshold is not rounded up to it.
fn in_words(conflict_prob: f32) -> String {
    let shown =
        if conflict_prob < CONFLICT_THRESHOLD { conflict_prob.min(CONFLICT_THRESHOLD - 0.01) } else { conflict_prob };
    format!("{shown:.2}")
}

impl StoryChoice {
    fn to_text(self) -> String {
        let StoryChoice { story, probability } = self;
        let choice = match probability < CLEARLY {
            true => {
                format!("Story {} is only slightly more likely to be plausible than story {}", story + 1, 2 - story)
            }
            false => format!("Story {} is plausible", story + 1),
        };
        format!("{choice} (probability {:.1}%).\n", 100. * probability)
    }
}

impl Verdict {
    pub(super) fn to_text(self) -> String {
        let Verdict { plausible, probability } = self;
        let [class, other] = if plausible { ["plausible", "implausible"] } else { ["implausible", "plausible"] };
        let verdict = match probability < CLEARLY {
            true => format!("only slightly more likely {class} than {other}"),
            false => class.to_owned(),
        };
        format!("The story is {verdict} (probability {:.1}%).\n", 100. * probability)
    }
}

impl StateAnswer {
    fn line(&self) -> String {
        let uncertain = self.probability.filter(|&probability| probability < LIKELY);
        let mark =
            uncertain.map_or(String::new(), |p| format!(" (uncertain: probability {:.1}%)", (100. * p).min(49.9)));
        let when = if self.side == Side::Effect { "after" } else { "before" };
        format!("  {when} sentence {}: {}{mark}\n", self.sentence + 1, self.words)
    }
}
