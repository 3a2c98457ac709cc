//! Published scores, to stand beside ours.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A set of pairs for which scores are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PublishedSet {
    /// The validation partition of TRIP.
    TripDev,
    /// The test partition of TRIP.
    TripTest,
    /// The cloze pairs of GITA.
    GitaCloze,
    /// The order pairs of GITA.
    GitaOrder,
}

/// One system's published scores, in percent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// The system and where its scores are published.
    pub system: String,
    pub accuracy: f64,
    pub consistency: f64,
    pub verifiability: f64,
}

use PublishedSet::{GitaCloze, GitaOrder, TripDev, TripTest};

/// System, set, then accuracy, consistency and verifiability.
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
    ("Llama-3.1-70B-Instruct, 3-shot, story by story", GitaCloze, [99.1, 82.6, 25.2]),
    ("Llama-3.1-70B-Instruct, 3-shot, story by story", GitaOrder, [98.4, 54.6, 11.6]),
    ("Gemma-2-27B-Instruct, 3-shot, story by story", GitaCloze, [80.0, 56.5, 35.7]),
    ("Gemma-2-27B-Instruct, 3-shot, story by story", GitaOrder, [54.9, 19.8, 10.7]),
];

/// The published scores on one set.
pub fn published(set: PublishedSet) -> Vec<PublishedRow> {
    let of_set = ROWS.iter().filter(|(_, of, _)| *of == set);
    of_set
        .map(|&(system, _, [accuracy, consistency, verifiability])| PublishedRow {
            system: system.to_owned(),
            accuracy,
            consistency,
            verifiability,
        })
        .collect()
}
