//! How often a model answers the same when the options, or the stories, come in the other order: an answer that turns
//! with the order says little about the story.

use super::link::Linked;
use super::pairs::{RankedPair, ranked_pairs};
use crate::error::{Error, Result};
use crate::llm::plan::OTHER_ORDER;
use crate::llm::record::{Records, SampleRecord};
use crate::llm::tier::Tier;
use crate::metrics::{Share, StoryGroups, Tiered};
use crate::prediction::LabelledPair;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::Path;

/// Two runs of one model on the same stories, whose prompts differ in the order of the options or of the stories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// The model that was run twice.
    pub model: String,
    /// Stories that are judged alike, by the sign of the margin. Unknown margins agree with nothing. `None` if both
    /// stories of a pair stand in one prompt, or a run has no margins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stories: Option<Share>,
    /// Pairs that are ranked alike. Ties and unknown margins agree with nothing. `None` if a run has no margins.
    pub pairs: Option<Share>,
    /// Pairs ranked rightly both times. `None` if a run has no margins.
    pub both_right: Option<Share>,
}

/// What to do where two runs can't be compared.
const REMEDY: &str = "name two runs of one model by one protocol, one with `tiered llm eval --swapped` and one without";

/// What records tell of how they were asked, but for the order of the options.
const HOW: [&str; 8] =
    ["shots", "shots_sha256", "seed", "leading_blank", "style", "chat_template_sha256", "way", "bos_seen"];

/// Refuses runs that are not one model's, by one protocol, in both orders and else asked alike.
///
/// # Errors
/// `Data`, with what they have in common or not.
pub fn require_both_orders(first: &Records, second: &Records) -> Result<()> {
    let samples = |records: &'_ Records| records.tiers.get(&Tier::Story).cloned().unwrap_or_default();
    let [ours, theirs] = [samples(first), samples(second)];
    let protocol = |samples: &[SampleRecord]| samples.first().map(|sample| sample.protocol);
    // Without a `results` file a model is called as its folder.
    let models = [&first.facts.model, &second.facts.model];
    let problem = match [first, second].map(is_swapped) {
        _ if protocol(&ours) != protocol(&theirs) => Some("was asked by another protocol than"),
        _ if models.iter().all(|model| !model.is_empty()) && models[0] != models[1] => Some("is of another model than"),
        [Some(one), Some(other)] => (one == other).then_some("names the options in the same order as"),
        // Where a run does not tell its order, its prompts do.
        _ if ours.iter().map(|sample| &sample.prompt).eq(theirs.iter().map(|sample| &sample.prompt)) => {
            Some("has the same prompts as")
        }
        _ => None,
    };
    if let Some(problem) = problem {
        return Err(not_both_orders(&first.folder, &second.folder, problem));
    }
    let how = [first, second].map(|records| {
        let facts = records.facts.facts.iter().filter(|(field, _)| HOW.contains(&field.as_str()));
        facts.map(|(field, value)| (field.clone(), value.clone())).collect::<Map<_, _>>()
    });
    require_asked_alike(&first.folder, &second.folder, how.each_ref())
}

/// Refuses runs that tell of the same setting, and not the same of it.
///
/// # Errors
/// `Data`, with the first such setting.
pub fn require_asked_alike(first: &Path, second: &Path, [ours, theirs]: [&Map<String, Value>; 2]) -> Result<()> {
    let differs = |(field, value): &(&String, &Value)| theirs.get(*field).is_some_and(|other| other != *value);
    let Some((field, _)) = ours.iter().find(differs) else { return Ok(()) };
    let problem = format!("--swapped: differs in more than the order from {}: {field}", first.display());
    let remedy = "name two runs of one command, with `tiered llm eval --swapped` and without";
    Err(Error::data(format!("{problem}; {remedy}")).about(second.display()))
}

/// The error of a run that is not the first one in the other order.
pub fn not_both_orders(first: &Path, second: &Path, problem: &str) -> Error {
    Error::data(format!("--swapped: {problem} {}; {REMEDY}", first.display())).about(second.display())
}

/// Whether a run's options were named in the other order, if its records tell.
fn is_swapped(records: &Records) -> Option<bool> {
    let departures = records.facts.facts.get("departures")?.as_array()?;
    Some(departures.iter().any(|departure| departure == OTHER_ORDER))
}

/// Compares two runs.
///
/// # Errors
/// `Data` if they were asked about other stories.
pub fn agreement(first: &Linked, second: &Linked) -> Result<Agreement> {
    if !first.has_same_stories(second) {
        let problem = "the two runs were asked about other stories; agreement needs the same";
        return Err(Error::data(format!("{}: {problem}", second.model)));
    }
    if !first.has_margins() || !second.has_margins() {
        return Ok(Agreement { model: first.model.clone(), stories: None, pairs: None, both_right: None });
    }
    let groups = StoryGroups::of_numbers(first.stories.iter().map(|story| story.group));
    let sign = |margin: Option<f64>| margin.filter(|margin| *margin != 0.).map(f64::is_sign_positive);
    let alike = |a: Option<f64>, b: Option<f64>| sign(a).is_some() && sign(a) == sign(b);
    let stories = first.stories.iter().zip(first.margins.iter().zip(&second.margins));
    let stories = groups.share(stories.map(|(story, (&a, &b))| (story.group, alike(a, b))));
    let pairs: Vec<(RankedPair, RankedPair)> = ranked_pairs(first).into_iter().zip(ranked_pairs(second)).collect();
    let share = |is_so: &dyn Fn(&RankedPair, &RankedPair) -> bool| {
        groups.share(pairs.iter().map(|(a, b)| (first.stories[a.implausible].group, is_so(a, b))))
    };
    let right = |pair: &RankedPair| sign(pair.difference) == Some(true);
    Ok(Agreement {
        model: first.model.clone(),
        stories: Some(stories),
        pairs: Some(share(&|a, b| alike(a.difference, b.difference))),
        both_right: Some(share(&|a, b| right(a) && right(b))),
    })
}

/// Compares two runs by protocol har, of which one showed the second story of every pair first. The stories of a
/// prediction stand in the order of the pair, whatever order they were shown in.
///
/// # Errors
/// `Data` if they were asked about other pairs.
pub fn agreement_of_pairs(model: &str, first: &[LabelledPair], second: &[LabelledPair]) -> Result<Agreement> {
    let asked = |predictions: &[LabelledPair]| {
        let told = |pair: &LabelledPair| {
            (pair.id.clone(), pair.prediction.stories.each_ref().map(|story| story.sentences.clone()))
        };
        predictions.iter().map(told).collect::<Vec<_>>()
    };
    if asked(first) != asked(second) {
        let problem = "the two runs were asked about other pairs; agreement needs the same";
        return Err(Error::data(format!("{model}: {problem}")));
    }
    let groups = StoryGroups::of(first);
    let share = |is_so: &dyn Fn(&LabelledPair, &LabelledPair) -> bool| {
        groups.share(first.iter().zip(second).map(|(a, b)| (a.group, is_so(a, b))))
    };
    // An undecided answer is recorded as the wrong story with probability 0.5.
    let is_decided = |pair: &LabelledPair| {
        let [first, second] = pair.prediction.story_probs;
        first != second
    };
    let alike = share(&|a, b| is_decided(a) && is_decided(b) && a.prediction.plausible == b.prediction.plausible);
    Ok(Agreement {
        model: model.to_owned(),
        stories: None,
        pairs: Some(alike),
        both_right: Some(share(&|a, b| a.is_accurate() && b.is_accurate())),
    })
}

#[cfg(test)]
mod tests {
    use super::super::pairs::tests::linked;
    use super::*;

    #[test]
    fn runs_without_margins_have_no_agreement() {
        let (words, scored) = (linked([None; 4]), linked([Some(1.), Some(-1.), Some(1.), Some(-1.)]));
        for (first, second) in [(&words, &words), (&scored, &words), (&words, &scored)] {
            let agreement = agreement(first, second).unwrap();
            assert_eq!((agreement.stories, agreement.pairs, agreement.both_right), (None, None, None));
            let table = agreement.table().to_text();
            assert!(table.contains("stories alike") && table.matches('–').count() == 3, "{table}");
        }
        let known = agreement(&scored, &scored).unwrap();
        assert_eq!(known.stories.unwrap().count, 4);
        assert_eq!(known.pairs.unwrap().count, 2);
    }
}
