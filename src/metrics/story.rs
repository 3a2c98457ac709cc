//! The tiers of stories judged one by one (Pensa et al., "GITA4CALAMITA", 2024, table 3): accuracy over all stories,
//! consistency and verifiability over the implausible ones.

use super::count::Share;
use crate::prediction::StoryJudgement;
use serde::{Deserialize, Serialize};

/// One tier by the kind of story.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindShares {
    pub overall: Share,
    pub cloze: Share,
    pub order: Share,
    /// Of accuracy only: a plausible story has no conflict to find.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plausible: Option<Share>,
}

impl KindShares {
    pub fn accuracy(judgements: &[StoryJudgement]) -> Self {
        let plausible = share(judgements, |j| j.kind == "plausible", StoryJudgement::is_accurate);
        let overall = share(judgements, |_| true, StoryJudgement::is_accurate);
        KindShares {
            plausible: Some(plausible),
            overall,
            ..Self::of_implausible(judgements, StoryJudgement::is_accurate)
        }
    }

    pub fn consistency(judgements: &[StoryJudgement]) -> Self {
        Self::of_implausible(judgements, StoryJudgement::is_consistent)
    }

    pub fn verifiability(judgements: &[StoryJudgement]) -> Self {
        Self::of_implausible(judgements, StoryJudgement::is_verifiable)
    }

    fn of_implausible(judgements: &[StoryJudgement], reached: fn(&StoryJudgement) -> bool) -> Self {
        KindShares {
            overall: share(judgements, |j| j.gold_conflict.is_some(), reached),
            cloze: share(judgements, |j| j.kind == "cloze", reached),
            order: share(judgements, |j| j.kind == "order", reached),
            plausible: None,
        }
    }
}

/// How many of the stories that count reach a tier.
fn share(
    judgements: &[StoryJudgement],
    counts: impl Fn(&StoryJudgement) -> bool,
    reached: fn(&StoryJudgement) -> bool,
) -> Share {
    let of_kind: Vec<_> = judgements.iter().filter(|&judgement| counts(judgement)).collect();
    Share { count: of_kind.iter().filter(|judgement| reached(judgement)).count() as u64, total: of_kind.len() as u64 }
}
