//! Pairs ranked by the margin of "true" over "false": what a model would choose if it saw both stories of a pair,
//! whatever its bias to one of the words.

use super::link::Linked;
use crate::data::{Kind, first_by_group};
use crate::llm::story::AskedStory;
use crate::llm::tier::Tier;
use crate::metrics::{Share, StoryGroups};
use serde::{Deserialize, Serialize};

/// An implausible story of tier 1 with the plausible one of its group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedPair {
    /// Places in tier 1.
    pub plausible: usize,
    /// The same for the implausible story.
    pub implausible: usize,
    /// How the implausible story was made.
    pub kind: Kind,
    /// The plausible story's margin less the implausible one's; `None` where one of them is not known, or both are the
    /// same infinity.
    pub difference: Option<f64>,
}

/// How many pairs are ranked rightly, where a tie counts half.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RankShare {
    /// Pairs whose plausible story has the larger margin.
    pub right: u64,
    /// Pairs whose margins are equal.
    pub tied: u64,
    /// All pairs, those with an unknown margin too.
    pub total: u64,
    /// Between 0 and 1; `null` if there are no pairs.
    pub fraction: Option<f64>,
    /// The 95 % interval of `fraction`, between 0 and 1; absent if there are no pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_95: Option<[f64; 2]>,
}

/// Of all pairs and by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RankShares<T> {
    /// All pairs.
    pub overall: T,
    /// Pairs in which one sentence was replaced.
    pub cloze: T,
    /// Pairs in which two sentences were swapped.
    pub order: T,
}

/// The tiers of pairs. *Gated*: shares of all pairs in which the tiers before are right too. *Ungated*: shares of all
/// pairs in which this tier's answer is right, whatever the tiers before said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairFigures {
    /// Pairs that are ranked rightly: tier 1 of pairs. `null` if no story has a margin, so that nothing can be ranked.
    pub accuracy: Option<RankShares<RankShare>>,
    /// Only if every implausible story was asked about in tier 2. A tied pair does not pass the gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later: Option<LaterFigures>,
    /// Pairs with a margin that is not known; they count as wrong. `null` if nothing can be ranked.
    pub undecided: Option<u64>,
    /// Implausible stories without a plausible one in their group; they are in no pair.
    pub unpaired: u64,
}

/// Consistency and verifiability of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LaterFigures {
    /// Ranked rightly, and right in tier 2. `null` if nothing can be ranked.
    pub consistency_gated: Option<RankShares<Share>>,
    /// Right in tier 2.
    pub consistency_ungated: RankShares<Share>,
    /// Ranked rightly, and right in tiers 2 and 3. `null` if nothing can be ranked, or tier 3 was not asked.
    pub verifiability_gated: Option<RankShares<Share>>,
    /// Right in tier 3. `null` if it was not asked.
    pub verifiability_ungated: Option<RankShares<Share>>,
}

/// Every implausible story with the first plausible story of its group.
pub fn ranked_pairs(linked: &Linked) -> Vec<RankedPair> {
    let plausible = linked.stories.iter().enumerate().filter(|(_, story)| story.plausible);
    let first = first_by_group(plausible.map(|(place, story)| (story.group, place)));
    let pair = |(implausible, story): (usize, &AskedStory)| {
        let &plausible = first.get(&story.group)?;
        let difference = linked.margins[plausible].zip(linked.margins[implausible]).map(|(a, b)| a - b);
        let difference = difference.filter(|difference| !difference.is_nan());
        Some(RankedPair { plausible, implausible, kind: kind(story, &linked.stories[plausible]), difference })
    };
    linked.stories.iter().enumerate().filter(|(_, story)| !story.plausible).filter_map(pair).collect()
}

/// By `type`; where that is null, the same sentences in another order make an order story.
fn kind(story: &AskedStory, plausible: &AskedStory) -> Kind {
    let sorted = |story: &AskedStory| {
        let mut sentences = story.sentences.clone();
        sentences.sort_unstable();
        sentences
    };
    story.made.unwrap_or_else(|| if sorted(story) == sorted(plausible) { Kind::Order } else { Kind::Cloze })
}

impl PairFigures {
    /// `None` if no story has a counterpart.
    pub fn of(linked: &Linked) -> Option<Self> {
        let (pairs, has_ranks) = (ranked_pairs(linked), linked.has_margins());
        let groups = StoryGroups::of_numbers(linked.stories.iter().map(|story| story.group));
        let group = |pair: &RankedPair| linked.stories[pair.implausible].group;
        let rank = |pairs: &[&RankedPair]| rank(pairs, &groups, &group);
        let share = |is_so: &dyn Fn(&RankedPair) -> bool| {
            by_kind(&pairs, |pairs| groups.share(pairs.iter().map(|pair| (group(pair), is_so(pair)))))
        };
        let is_right = |tier: Tier, pair: &RankedPair| linked.is_right(tier, pair.implausible);
        let is_ranked = |pair: &RankedPair| pair.difference.is_some_and(|difference| difference > 0.);
        let consistent = |pair: &RankedPair| is_ranked(pair) && is_right(Tier::Conflict, pair);
        let verifiable = |pair: &RankedPair| is_right(Tier::State, pair);
        let has_states = linked.known[Tier::State as usize];
        let later = (!linked.cascade && linked.known[Tier::Conflict as usize]).then(|| LaterFigures {
            consistency_gated: has_ranks.then(|| share(&consistent)),
            consistency_ungated: share(&|pair| is_right(Tier::Conflict, pair)),
            verifiability_gated: (has_ranks && has_states).then(|| share(&|pair| consistent(pair) && verifiable(pair))),
            verifiability_ungated: has_states.then(|| share(&verifiable)),
        });
        let undecided = pairs.iter().filter(|pair| pair.difference.is_none()).count() as u64;
        let implausible = linked.stories.iter().filter(|story| !story.plausible).count();
        (!pairs.is_empty()).then(|| PairFigures {
            accuracy: has_ranks.then(|| by_kind(&pairs, rank)),
            later,
            undecided: has_ranks.then_some(undecided),
            unpaired: (implausible - pairs.len()) as u64,
        })
    }
}

fn by_kind<T>(pairs: &[RankedPair], of: impl Fn(&[&RankedPair]) -> T) -> RankShares<T> {
    let of_kind = |kind| of(&pairs.iter().filter(|pair| pair.kind == kind).collect::<Vec<_>>());
    RankShares {
        overall: of(&pairs.iter().collect::<Vec<_>>()),
        cloze: of_kind(Kind::Cloze),
        order: of_kind(Kind::Order),
    }
}

fn rank(pairs: &[&RankedPair], groups: &StoryGroups, group: &dyn Fn(&RankedPair) -> i64) -> RankShare {
    let halves = |pair: &RankedPair| match pair.difference {
        Some(difference) if difference > 0. => 2,
        Some(0.) => 1,
        _ => 0,
    };
    let share = groups.share_of_counts(pairs.iter().map(|pair| (group(pair), halves(pair), 2)));
    let count = |wanted: u64| pairs.iter().filter(|pair| halves(pair) == wanted).count() as u64;
    RankShare {
        right: count(2),
        tied: count(1),
        total: pairs.len() as u64,
        fraction: share.fraction(),
        interval_95: share.interval,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::llm::tier::Protocol;
    use serde_json::json;

    /// Two pairs, each the plausible story first, by a model that is right in tiers 2 and 3.
    pub fn linked(margins: [Option<f64>; 4]) -> Linked {
        let story = |row: usize| {
            let (group, plausible) = (row / 2, row.is_multiple_of(2));
            let id = if plausible { group.to_string() } else { format!("{group}-C0") };
            let sentences = [format!("Story {row}."), "Then.".to_owned()];
            let doc = json!({
                "story_id": group, "example_id": id, "plausible": plausible, "sentences": sentences, "breakpoint": -1,
            });
            AskedStory::from_doc(row, &doc).unwrap()
        };
        Linked {
            model: "model".to_owned(),
            protocol: Protocol::Pairs,
            cascade: false,
            said: false,
            stories: (0..4).map(story).collect(),
            right: [(); 3].map(|()| vec![Some(true); 4]),
            known: [true; 3],
            margins: margins.to_vec(),
        }
    }

    #[test]
    fn without_any_margin_nothing_is_ranked() {
        let figures = PairFigures::of(&linked([None; 4])).unwrap();
        let later = figures.later.unwrap();
        assert_eq!((figures.accuracy, figures.undecided), (None, None));
        assert_eq!((later.consistency_gated, later.verifiability_gated), (None, None));
        let ungated = later.verifiability_ungated.unwrap().overall;
        assert_eq!((ungated.count, ungated.total), (2, 2), "needs no rank");
    }

    #[test]
    fn beside_others_an_unknown_margin_counts_as_wrong() {
        let figures = PairFigures::of(&linked([Some(1.), Some(-1.), None, None])).unwrap();
        let accuracy = figures.accuracy.unwrap().overall;
        assert_eq!((accuracy.right, accuracy.total, figures.undecided), (1, 2, Some(1)));
        assert_eq!(figures.later.unwrap().consistency_gated.unwrap().overall.count, 1);
    }

    #[test]
    fn equal_infinite_margins_rank_nothing() {
        let lowest = Some(f64::NEG_INFINITY);
        let figures = PairFigures::of(&linked([lowest, lowest, Some(1.), lowest])).unwrap();
        let accuracy = figures.accuracy.unwrap().overall;
        assert_eq!((accuracy.right, accuracy.tied, figures.undecided), (1, 0, Some(1)));
    }

    #[test]
    fn without_tier_3_there_is_consistency_and_no_verifiability() {
        let of_two = Linked { known: [true, true, false], ..linked([Some(1.), Some(-1.), Some(1.), Some(-1.)]) };
        let later = PairFigures::of(&of_two).unwrap().later.unwrap();
        assert_eq!((later.consistency_gated.unwrap().overall.count, later.consistency_ungated.overall.count), (2, 2));
        assert_eq!((later.verifiability_gated, later.verifiability_ungated), (None, None));
    }
}
