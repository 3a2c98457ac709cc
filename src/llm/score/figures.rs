//! The ten figures of GITA4CALAMITA (table 3), by story.

use super::link::Linked;
use crate::llm::choice::Choice;
use crate::llm::record::SampleRecord;
use crate::llm::story::{AskedStory, StoryKind};
use crate::llm::tier::Tier;
use crate::metrics::{KindShares, Share, StoryGroups};
use serde::{Deserialize, Serialize};

/// What happened in a tier, beside how many were right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TierTally {
    /// The tier that is counted.
    pub tier: Tier,
    /// Stories asked about.
    pub asked: u64,
    /// Stories whose right option was chosen.
    pub right: u64,
    /// The highest score was that of several options; the first of them counts.
    pub ties: u64,
    /// An option of which only a bound was known may have been the best; counts as not right.
    pub undecided: u64,
    /// An answer in words that is none of the options; counts as not right.
    pub invalid: u64,
    /// Stories of which no option is right.
    pub without_right_option: u64,
}

impl TierTally {
    /// Counts the recorded answers of a tier.
    pub fn of(tier: Tier, samples: &[SampleRecord]) -> Self {
        let count =
            |is_so: &dyn Fn(&SampleRecord) -> bool| samples.iter().filter(|sample| is_so(sample)).count() as u64;
        TierTally {
            tier,
            asked: samples.len() as u64,
            right: count(&SampleRecord::is_right),
            ties: count(&|sample| sample.choice.is_tied()),
            undecided: count(&|sample| sample.choice == Choice::Undecided),
            invalid: count(&|sample| sample.choice == Choice::Invalid),
            without_right_option: count(&SampleRecord::has_no_right_option),
        }
    }
}

/// Accuracy, consistency and verifiability; `None` where a tier's figure is not known. Kinds are those of
/// [`AskedStory::kind`].
/// All denominators are those of all stories: consistency and verifiability are shares of the implausible ones.
pub fn story_figures(linked: &Linked) -> [Option<KindShares>; 3] {
    let groups = StoryGroups::of_numbers(linked.stories.iter().map(|story| story.group));
    Tier::ALL.map(|tier| linked.known[tier as usize].then(|| figures(linked, &groups, tier)))
}

fn figures(linked: &Linked, groups: &StoryGroups, tier: Tier) -> KindShares {
    let of = |counts: &dyn Fn(&AskedStory) -> bool| -> Share {
        let stories = linked.stories.iter().enumerate().filter(|(_, story)| counts(story));
        groups.share(stories.map(|(place, story)| (story.group, linked.reached(tier, place))))
    };
    let counts = |story: &AskedStory| tier == Tier::Story || !story.plausible;
    KindShares {
        overall: of(&counts),
        cloze: of(&|story| counts(story) && story.kind == StoryKind::Cloze),
        order: of(&|story| counts(story) && story.kind == StoryKind::Order),
        plausible: (tier == Tier::Story).then(|| of(&|story| story.kind == StoryKind::Plausible)),
    }
}
