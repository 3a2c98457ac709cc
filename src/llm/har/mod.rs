//! HAR's in-context protocol for TRIP (Zhang et al., "From Heuristic to Analytic", EMNLP 2023, "ICL-HAR"): both stories
//! of a pair in one prompt, after four worked examples, and the tiers one after another in one text, each after the
//! model's own answers to those before.
//!
//! Its authors' program lets the model write and reads its text; here every step is a choice among options by
//! likelihood, which is ours. The sentences in conflict have their names from 1, states their names from HAR. The
//! authors also show examples of single states before the four; we don't. The figures are those of trained systems:
//! [`HarAnswer`] is a prediction about a pair, and `tiered score` scores it.

mod ask;
mod text;

pub use ask::{HarAnswer, ask_har};
pub use text::{demonstration, first_prompt, told};

use crate::data::{Kind, Pair};
use crate::error::{Error, Result};

/// The four pairs that HAR shows, by their places among the cloze pairs of TRIP's full training split, from 0.
pub const SHOTS: [usize; 4] = [588, 107, 51, 311];

/// The pairs to show: those with these ids, or HAR's four if none are named.
///
/// # Errors
/// `Data` if a pair is missing; HAR's own need TRIP's full training split.
pub fn har_shots(pairs: &[Pair], ids: &[String]) -> Result<Vec<Pair>> {
    if ids.is_empty() {
        let cloze: Vec<&Pair> = pairs.iter().filter(|pair| pair.kind == Kind::Cloze).collect();
        let shots: Option<Vec<Pair>> =
            SHOTS.iter().map(|&place| cloze.get(place).map(|pair| (*pair).clone())).collect();
        return shots.ok_or_else(|| {
            let most = SHOTS.iter().max().expect("four") + 1;
            Error::data(format!(
                "HAR's four examples are pairs {SHOTS:?} of TRIP's full training split, and this split has {} of the \
                 {most} pairs needed; name four pairs of it with --shot ID",
                cloze.len()
            ))
        });
    }
    let find = |id: &String| {
        let found = pairs.iter().find(|pair| pair.id == *id).cloned();
        found.ok_or_else(|| Error::data(format!("--shot {id}: the split has no such pair")))
    };
    ids.iter().map(find).collect()
}
