//! What answers without a model score: a table without them flatters.

use crate::llm::options::options;
use crate::llm::story::{AskedStory, GoldStates, StoryKind};
use crate::llm::tier::Tier;
use crate::report::{KindScores, PublishedStoryRow};

/// Always the first option: every story is implausible, "0 and 1" conflict, "power" is the state. A server that gives
/// every option the same score does that.
pub fn always_first(stories: &[AskedStory]) -> PublishedStoryRow {
    let chance = |tier: Tier, story: &AskedStory| {
        let first = options(tier, story.sentences.len()).into_iter().next();
        f64::from(u8::from(first.is_some_and(|option| story.is_right(tier, &option))))
    };
    row("always implausible, always the first option (no model)", stories, &chance)
}

/// Every option with the same probability: the expected scores.
pub fn by_chance(stories: &[AskedStory]) -> PublishedStoryRow {
    let chance = |tier: Tier, story: &AskedStory| {
        let options = options(tier, story.sentences.len());
        let right = options.iter().filter(|option| story.is_right(tier, option)).count();
        right as f64 / options.len().max(1) as f64
    };
    row("by chance (no model)", stories, &chance)
}

/// The probability of being right in a tier, if it is asked.
type Chance<'a> = &'a dyn Fn(Tier, &AskedStory) -> f64;

fn row(system: &str, stories: &[AskedStory], chance: Chance) -> PublishedStoryRow {
    let [accuracy, consistency, verifiability] = Tier::ALL.map(|tier| scores(stories, tier, chance));
    PublishedStoryRow { system: system.to_owned(), accuracy, consistency, verifiability }
}

/// Nothing in tier 3 if an implausible story does not tell which states are right.
fn scores(stories: &[AskedStory], tier: Tier, chance: Chance) -> KindScores {
    let is_unknown = |story: &AskedStory| !story.plausible && story.states == GoldStates::Unknown;
    if tier == Tier::State && stories.iter().any(is_unknown) {
        return KindScores { overall: None, cloze: None, order: None, plausible: None };
    }
    let reached = |story: &AskedStory| -> f64 {
        Tier::ALL.iter().filter(|&&other| other <= tier).map(|&tier| chance(tier, story)).product()
    };
    let counts = |story: &&AskedStory| tier == Tier::Story || !story.plausible;
    let of = |kind: Option<StoryKind>| {
        let of_kind = stories.iter().filter(counts).filter(|story| kind.is_none_or(|kind| story.kind == kind));
        let reached: Vec<f64> = of_kind.map(reached).collect();
        (!reached.is_empty()).then(|| reached.iter().sum::<f64>() / reached.len() as f64)
    };
    KindScores {
        overall: of(None),
        cloze: of(Some(StoryKind::Cloze)),
        order: of(Some(StoryKind::Order)),
        plausible: of(Some(StoryKind::Plausible)).filter(|_| tier == Tier::Story),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Of two sentences in conflict.
    fn cloze_story(states: Option<&str>) -> AskedStory {
        let doc = json!({
            "story_id": 1, "example_id": "1-C0", "plausible": false, "sentences": ["One.", "Two."], "breakpoint": 1,
            "confl_sents": [0], "states": states,
        });
        AskedStory::from_doc(0, &doc).unwrap()
    }

    #[test]
    fn without_gold_states_verifiability_is_not_known() {
        let of = |stories: &[AskedStory]| [always_first(stories), by_chance(stories)].map(|row| row.verifiability);
        let [first, chance] = of(&[cloze_story(Some("power"))]);
        assert_eq!((first.overall, chance.cloze), (Some(1.), Some(0.5 / 14.)));
        for row in of(&[cloze_story(Some("power")), cloze_story(None)]) {
            assert_eq!((row.overall, row.cloze, row.order), (None, None, None), "and not 0");
        }
        assert_eq!(by_chance(&[cloze_story(None)]).consistency.overall, Some(0.5));
    }

    #[test]
    fn of_no_stories_nothing_is_known() {
        let story = cloze_story(None);
        let KindScores { overall, cloze, order, plausible } = by_chance(&[story]).accuracy;
        assert_eq!((overall, cloze, order, plausible), (Some(0.5), Some(0.5), None, None));
        assert_eq!(always_first(&[]).verifiability.overall, None);
    }
}
