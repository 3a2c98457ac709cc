//! The tiers of single stories (Pensa et al., "GITA4CALAMITA", 2024, table 3): accuracy over all stories, consistency
//! and verifiability over the implausible ones.

use super::count::Share;
use super::groups::StoryGroups;
use super::tiered::Tiered;
use crate::prediction::StoryJudgement;
use serde::{Deserialize, Serialize};

/// One tier, by kind of story.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct KindShares {
    /// All stories that the tier is about.
    pub overall: Share,
    /// Implausible stories in which one sentence was replaced.
    pub cloze: Share,
    /// Implausible stories in which two sentences were swapped.
    pub order: Share,
    /// For accuracy only: a plausible story has no conflict to find.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plausible: Option<Share>,
}

impl KindShares {
    /// Tier 1, over all stories.
    pub fn accuracy(judgements: &[StoryJudgement], groups: &StoryGroups) -> Self {
        let plausible = share(judgements, groups, |j| j.kind == "plausible", StoryJudgement::is_accurate);
        let overall = share(judgements, groups, |_| true, StoryJudgement::is_accurate);
        KindShares {
            plausible: Some(plausible),
            overall,
            ..Self::of_implausible(judgements, groups, StoryJudgement::is_accurate)
        }
    }

    /// Tier 2, over the implausible stories.
    pub fn consistency(judgements: &[StoryJudgement], groups: &StoryGroups) -> Self {
        Self::of_implausible(judgements, groups, StoryJudgement::is_consistent)
    }

    /// Tier 3, over the implausible stories.
    pub fn verifiability(judgements: &[StoryJudgement], groups: &StoryGroups) -> Self {
        Self::of_implausible(judgements, groups, StoryJudgement::is_verifiable)
    }

    fn of_implausible(
        judgements: &[StoryJudgement],
        groups: &StoryGroups,
        reached: fn(&StoryJudgement) -> bool,
    ) -> Self {
        KindShares {
            overall: share(judgements, groups, |j| j.gold_conflict.is_some(), reached),
            cloze: share(judgements, groups, |j| j.kind == "cloze", reached),
            order: share(judgements, groups, |j| j.kind == "order", reached),
            plausible: None,
        }
    }
}

/// The share of the stories of one kind that reach a tier.
fn share(
    judgements: &[StoryJudgement],
    groups: &StoryGroups,
    counts: impl Fn(&StoryJudgement) -> bool,
    reached: fn(&StoryJudgement) -> bool,
) -> Share {
    let of_kind = judgements.iter().filter(|&judgement| counts(judgement));
    groups.share(of_kind.map(|judgement| (judgement.group, reached(judgement))))
}
