//! Files of tiers: how far each pair came, without any text of the stories. Such a file may be kept and passed on where the
//! stories may not, and later systems can still be tested against it, pair by pair.

use super::TierReached;
use crate::attribute::Side;
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::PairSet;
use crate::prediction::{LabelledEntity, LabelledPair, LabelledStory, distinct_lines};
use crate::schema;
use crate::untrusted::{self, json_line_error, sha256};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// A line of a file of tiers: one pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairTiers {
    /// Id of the implausible story.
    pub id: String,
    /// Number of the plausible story.
    pub group: i64,
    /// "cloze" or "order".
    pub kind: String,
    /// A digest of the sentences of both stories and of the gold conflict: pairs of one digest ask the same.
    pub stories: String,
    /// A digest of the gold states of each entity of each story, by a digest of its name; `None` if a story has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<BTreeMap<String, String>>,
    /// By the [name](decoding) of the decoding.
    pub tiers: BTreeMap<String, TierReached>,
}

/// The name of a decoding of conflicts and states: "pair, states argmax".
pub fn decoding(conflicts: Decode, states: StateDecode) -> String {
    format!("{}, states {states}", conflicts.name())
}

impl PairTiers {
    /// The tiers that a prediction reaches by these decodings. Its `predicted` states must be those of argmax, as in
    /// recorded predictions.
    pub fn of(pair: &LabelledPair, decodings: &[(Decode, StateDecode)]) -> Self {
        let tier = |&(conflicts, states): &(Decode, StateDecode)| {
            let decoded = states.apply_to(conflicts.apply_to(pair.clone()));
            (decoding(conflicts, states), TierReached::of(&decoded))
        };
        PairTiers { tiers: decodings.iter().map(tier).collect(), ..Self::asked(pair) }
    }

    /// What is asked, without tiers.
    pub fn asked(pair: &LabelledPair) -> Self {
        let stories = [pair.plausible_story(), pair.implausible_story()];
        let sentences = stories.map(|story| &story.prediction.sentences);
        PairTiers {
            id: pair.id.clone(),
            group: pair.group,
            kind: pair.kind.clone(),
            stories: digest(&(sentences, pair.gold.conflict), 16),
            states: pair.has_gold_states().then(|| stories.iter().enumerate().flat_map(gold_states).collect()),
            tiers: BTreeMap::new(),
        }
    }

    /// The tier that it reaches by the decoding of this name.
    pub fn tier(&self, decoding: &str) -> Option<TierReached> {
        self.tiers.get(decoding).copied()
    }

    /// Whether the answers to two pairs can be compared, as [`LabelledPair::asks_the_same`] says.
    pub fn asks_the_same(&self, other: &PairTiers) -> bool {
        let no_states = BTreeMap::new();
        let [these, those] = [self, other].map(|pair| pair.states.as_ref().unwrap_or(&no_states));
        self.stories == other.stories
            && these.iter().all(|(name, states)| those.get(name).is_none_or(|other| other == states))
    }
}

/// The pairs of these lines, in their order.
pub fn pair_set(pairs: &[PairTiers]) -> PairSet {
    let set = PairSet::new(pairs.iter().map(|pair| (pair.id.clone(), pair.group)));
    if pairs.iter().all(|pair| pair.states.is_some()) { set } else { set.without_states() }
}

/// The digest of (story, name) and that of the gold states of each entity of a story: 0 is the plausible one.
fn gold_states((story, labelled): (usize, &LabelledStory<'_>)) -> Vec<(String, String)> {
    let of_entity = |entity: LabelledEntity| {
        let gold = Side::BOTH.map(|side| entity.gold.side(side));
        (digest(&(story, &entity.prediction.name), 8), digest(&gold, 8))
    };
    labelled.entities().map(of_entity).collect()
}

/// The first hexadecimal digits of the SHA-256 of the JSON.
fn digest(asked: &impl Serialize, digits: usize) -> String {
    let text = serde_json::to_vec(asked).expect("text and numbers");
    sha256(&text)[..digits].to_owned()
}

/// Writes lines of tiers into an open file. `path` is named in errors.
///
/// # Errors
/// `Io` if writing fails.
pub fn write_tiers(file: &mut dyn Write, path: &Path, pairs: &[PairTiers]) -> Result<()> {
    for pair in pairs {
        let line = schema::to_string(pair).map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
        writeln!(file, "{line}").map_err(|error| Error::writing(path, &error))?;
    }
    Ok(())
}

/// Reads the bytes of a file of tiers; `None` if its first line is not one of tiers. `path` is named in errors.
///
/// # Errors
/// `Data`, with the line, if its content is invalid or a pair is in it twice.
pub fn parse_tiers(path: &Path, bytes: &[u8]) -> Option<Result<Vec<PairTiers>>> {
    let text = untrusted::text(bytes).ok()?;
    let (_, first) = untrusted::lines(text).next()?;
    serde_json::from_str::<TiersHead>(first).ok()?;
    let parsed = parse_lines(text);
    Some(parsed.map_err(|problem| Error::data(format!("{}: {problem}", path.display()))))
}

/// What only a line of tiers has.
#[derive(Deserialize)]
struct TiersHead {
    #[serde(rename = "tiers")]
    _tiers: IgnoredAny,
}

fn parse_lines(text: &str) -> Result<Vec<PairTiers>, String> {
    let parse = |line: &str| schema::from_str(line).map_err(|error| json_line_error(&error));
    distinct_lines(text, parse, |pair: &PairTiers| (pair.id.clone(), pair.stories.clone()))
}
