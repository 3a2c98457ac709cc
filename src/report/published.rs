//! Published scores, to stand beside ours: beside those of the same pairs only.

use crate::durable;
use crate::error::{Error, Result};
use crate::metrics::{KindShares, Share};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A set of pairs for which scores are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PublishedSet {
    /// The validation split of TRIP.
    TripDev,
    /// The test split of TRIP.
    TripTest,
    /// The cloze pairs of GITA.
    GitaCloze,
    /// The order pairs of GITA.
    GitaOrder,
    /// The stories of GITA, one by one.
    GitaStories,
}

use PublishedSet::{GitaCloze, GitaOrder, GitaStories, TripDev, TripTest};

/// Set, number of pairs, and SHA-256 of their sorted ids, one a line; no hash where only the number is known. Half of TRIP's test
/// split is the "dev" of the file that the results of this repository come from (docs/results.md).
const PAIRS: &[(PublishedSet, usize, Option<&str>)] = &[
    (TripDev, 322, Some("a71a1dc3848c1009f99f2894774f65167357911db758f23aaceaae4c0b71c9e1")),
    (TripDev, 173, Some("fe20f475befd863aa1af9d4aeb8879a37295cb0e2712542a9e17feb3412b9632")),
    (TripTest, 351, None),
    (TripTest, 173, Some("fe20f475befd863aa1af9d4aeb8879a37295cb0e2712542a9e17feb3412b9632")),
    (GitaCloze, 117, Some("5806891eaa3b8d6d219176da3d5d3f9214801e1819edc2194b94a4d4bcbba518")),
    (GitaOrder, 122, Some("d1baff599cb201e5b52f0054b528eb3a8ee0df4ccf7cb88f128e4e23ba6d5628")),
    // The published predictions have "0-O0" twice, lack "83-O0", and call the second "98" "98-O0".
    (GitaOrder, 122, Some("835ef097f68a5169c3ca4e81ab6b8c0b47af9c9fe597a60db8f4e9ce3a196ef3")),
    (GitaStories, 239, Some("5adbd19a4a38ab985097ec29d384d9eaa1d150fda7a2ad195f88ee023e3e0b1a")),
];

impl PublishedSet {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Whether these are the ids of its pairs, in any order.
    ///
    /// # Errors
    /// `Data` if they are not.
    pub fn check<'a>(self, ids: impl Iterator<Item = &'a str>) -> Result<()> {
        let mut ids: Vec<&str> = ids.collect();
        ids.sort_unstable();
        let hash = durable::sha256(ids.join("\n").as_bytes());
        let of_set = || PAIRS.iter().filter(|(set, ..)| *set == self);
        if of_set().any(|&(_, pairs, known)| pairs == ids.len() && known.is_none_or(|known| known == hash)) {
            return Ok(());
        }
        let mut numbers: Vec<String> = of_set().map(|(_, pairs, _)| pairs.to_string()).collect();
        numbers.dedup();
        Err(Error::data(format!(
            "--published {}: scores are published for {} pairs of certain ids, and these {} are others; leave it out",
            self.name(),
            numbers.join(" or "),
            ids.len()
        )))
    }
}

/// One system's published scores, between 0 and 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedRow {
    /// The system and where its scores are published.
    pub system: String,
    /// Tier 1.
    pub accuracy: f64,
    /// Tier 2.
    pub consistency: f64,
    /// Tier 3.
    pub verifiability: f64,
}

impl PublishedRow {
    /// Of accuracy, consistency and verifiability in percent, as papers give them.
    pub fn from_percent(system: impl Into<String>, scores: [f64; 3]) -> Self {
        let [accuracy, consistency, verifiability] = scores.map(fraction);
        PublishedRow { system: system.into(), accuracy, consistency, verifiability }
    }
}

/// Of a percentage with up to four decimals: the number nearest to its hundredth, so that 75.2 becomes 0.752.
fn fraction(percent: f64) -> f64 {
    (1e4 * percent).round() / 1e6
}

/// System, set, then accuracy, consistency and verifiability in percent, as they are published.
const ROWS: &[(&str, PublishedSet, [f64; 3])] = &[
    ("random (TRIP table 2)", TripDev, [47.8, 11.3, 0.0]),
    ("BERT-large, without story choice (TRIP table 2)", TripDev, [73.9, 28.0, 9.0]),
    ("RoBERTa-large, without story choice (TRIP table 2)", TripDev, [73.6, 22.4, 10.6]),
    ("DeBERTa-base, without story choice (TRIP table 2)", TripDev, [75.8, 24.8, 7.5]),
    ("RoBERTa-large, all losses (TRIP table 2)", TripDev, [75.2, 6.8, 0.9]),
    ("RoBERTa-large, without conflict detection (TRIP table 2)", TripDev, [49.7, 0.0, 0.0]),
    ("RoBERTa-large, without states (TRIP table 2)", TripDev, [71.4, 2.5, 0.0]),
    ("random (TRIP table 3)", TripTest, [49.5, 10.7, 0.0]),
    ("BERT-large, without story choice (TRIP table 3)", TripTest, [70.9, 21.9, 8.3]),
    ("RoBERTa-large, without story choice (TRIP table 3)", TripTest, [72.9, 19.1, 9.1]),
    ("DeBERTa-base, without story choice (TRIP table 3)", TripTest, [72.9, 22.2, 6.6]),
    ("XLM-R (GITA table 4)", GitaCloze, [72.6, 19.6, 2.5]),
    ("XLM-R (GITA table 4)", GitaOrder, [58.1, 1.6, 0.8]),
];

/// The published scores on one set.
pub fn published(set: PublishedSet) -> Vec<PublishedRow> {
    let of_set = ROWS.iter().filter(|(_, of, _)| *of == set);
    of_set.map(|&(system, _, scores)| PublishedRow::from_percent(system, scores)).collect()
}

/// One system's published scores of stories judged one by one, between 0 and 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedStoryRow {
    /// The system, and where its scores are published if they are.
    pub system: String,
    /// Tier 1, of all stories.
    pub accuracy: KindScores,
    /// Tier 2, of the implausible stories.
    pub consistency: KindScores,
    /// Tier 3, of the implausible stories.
    pub verifiability: KindScores,
}

/// One tier by the kind of story; all are `None` where stories don't tell what is right in it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KindScores {
    /// All stories that the tier is about; `None` if there are none.
    pub overall: Option<f64>,
    /// Stories in which one sentence was replaced; `None` if there are none.
    pub cloze: Option<f64>,
    /// Stories in which two sentences were swapped; `None` if there are none.
    pub order: Option<f64>,
    /// `None` in tiers 2 and 3, which are about implausible stories, and if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plausible: Option<f64>,
}

/// A system with its accuracy, consistency and verifiability.
type Table3Row = (&'static str, [f64; 4], [f64; 3], [f64; 3]);

/// Table 3 of GITA4CALAMITA, 3-shot: system; accuracy overall, cloze, order, plausible; consistency and verifiability
/// overall, cloze, order.
const STORY_ROWS: &[Table3Row] = &[
    ("Gemma-2-9B", [58.43, 80.00, 76.23, 19.33], [11.76, 9.57, 14.05], [1.68, 1.74, 1.65]),
    ("Gemma-2-9B-Instruct", [72.75, 80.87, 54.10, 84.03], [33.61, 53.91, 14.88], [16.39, 26.96, 6.61]),
    ("Gemma-2-27B", [45.22, 27.83, 27.87, 79.83], [6.30, 5.22, 7.44], [1.68, 0.00, 3.31]),
    ("Gemma-2-27B-Instruct", [74.16, 80.00, 54.92, 88.24], [37.39, 56.52, 19.83], [22.69, 35.65, 10.74]),
    ("Llama-3.1-8B", [60.96, 70.43, 60.66, 52.10], [26.47, 33.04, 20.66], [11.34, 13.04, 9.92]),
    ("Llama-3.1-8B-Instruct", [77.25, 93.91, 90.16, 47.90], [37.39, 53.91, 22.31], [10.50, 16.52, 4.96]),
    ("Llama-3.1-70B-Instruct", [74.16, 99.13, 98.36, 25.21], [68.07, 82.61, 54.55], [18.07, 25.22, 11.57]),
];

impl PublishedStoryRow {
    /// What calling every story implausible scores on the stories of these accuracy, consistency and verifiability. It
    /// names no conflict, so that nothing is consistent.
    pub fn always_implausible([accuracy, consistency, verifiability]: [&KindShares; 3]) -> Self {
        let KindShares { overall, cloze, order, plausible } = *accuracy;
        let right = |count, of: Share| Share::new(count, of.total).fraction();
        let none = |tier: &KindShares| KindScores {
            overall: right(0, tier.overall),
            cloze: right(0, tier.cloze),
            order: right(0, tier.order),
            plausible: None,
        };
        PublishedStoryRow {
            system: "always implausible (no model)".to_owned(),
            accuracy: KindScores {
                overall: right(cloze.total + order.total, overall),
                cloze: right(cloze.total, cloze),
                order: right(order.total, order),
                plausible: plausible.and_then(|of| right(0, of)),
            },
            consistency: none(consistency),
            verifiability: none(verifiability),
        }
    }
}

/// The scores published for language models on GITA, story by story.
pub fn published_models() -> Vec<PublishedStoryRow> {
    let implausible = |scores: [f64; 3]| {
        let [overall, cloze, order] = scores.map(fraction).map(Some);
        KindScores { overall, cloze, order, plausible: None }
    };
    let accuracy = |scores: [f64; 4]| {
        let [overall, cloze, order, plausible] = scores.map(fraction).map(Some);
        KindScores { overall, cloze, order, plausible }
    };
    let row = |&(system, of_all, consistency, verifiability): &Table3Row| PublishedStoryRow {
        system: format!("{system} (GITA4CALAMITA table 3)"),
        accuracy: accuracy(of_all),
        consistency: implausible(consistency),
        verifiability: implausible(verifiability),
    };
    STORY_ROWS.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_story_is_called_implausible() {
        let of = |total| Share::new(1, total);
        let accuracy = KindShares { overall: of(16), cloze: of(3), order: of(5), plausible: Some(of(8)) };
        let consistency = KindShares { overall: of(8), cloze: of(3), order: of(0), plausible: None };
        let row = PublishedStoryRow::always_implausible([&accuracy, &consistency, &KindShares::default()]);
        let (all, none) = (Some(1.), Some(0.));
        assert_eq!(row.accuracy, KindScores { overall: Some(0.5), cloze: all, order: all, plausible: none });
        assert_eq!(row.consistency, KindScores { overall: none, cloze: none, order: None, plausible: None });
        assert_eq!(row.verifiability, KindScores { overall: None, cloze: None, order: None, plausible: None });
    }
}
