//! Puts the tiers of a model's records together: the same story is the same `doc`, never the same `example_id`.

use crate::error::{Error, Result};
use crate::llm::choice::Choice;
use crate::llm::record::{Records, SampleRecord};
use crate::llm::scorer::are_all_zero;
use crate::llm::story::AskedStory;
use crate::llm::tier::{Protocol, Tier};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};

/// A model's answers, story by story.
#[derive(Debug, Clone, PartialEq)]
pub struct Linked {
    /// The model's name, as its records tell it.
    pub model: String,
    /// The protocol of all its records.
    pub protocol: Protocol,
    /// Whether only stories were asked about that the tier before got right.
    pub cascade: bool,
    /// Whether the answers are words, not likelihoods.
    pub said: bool,
    /// All stories of tier 1, in its order.
    pub stories: Vec<AskedStory>,
    /// For each tier, for each story: whether the answer was right; `None` where it was not asked.
    pub right: [Vec<Option<bool>>; 3],
    /// Whether a tier's figure is known: its file is there, or a later one tells it, or nothing was left to ask.
    pub known: [bool; 3],
    /// For each story of tier 1, the margin of "true" over "false"; `None` where a score is not known exactly.
    pub margins: Vec<Option<f64>>,
}

impl Linked {
    /// Whether any story has a margin. Answers in words have none.
    pub fn has_margins(&self) -> bool {
        self.margins.iter().any(Option::is_some)
    }

    /// Whether a story reached a tier: its answer there and in all tiers before is right.
    pub fn reached(&self, tier: Tier, story: usize) -> bool {
        Tier::ALL.iter().filter(|&&other| other <= tier).all(|&tier| self.is_right(tier, story))
    }

    /// Whether two models were asked about the same stories in the same order.
    pub fn has_same_stories(&self, other: &Linked) -> bool {
        let docs = |linked: &'_ Linked| linked.stories.iter().map(|story| story.doc.clone()).collect::<Vec<_>>();
        docs(self) == docs(other)
    }

    /// The stories that a tier asks about: all in tier 1, then the implausible ones, in a cascade those that were right
    /// in the tier before. `None` if that is not known.
    pub fn asked(&self, tier: Tier) -> Option<Vec<usize>> {
        let before = Tier::ALL.into_iter().rfind(|other| *other < tier);
        let is_known = before.is_none_or(|before| !self.cascade || self.known[before as usize]);
        let is_asked = |&story: &usize| match before {
            None => true,
            Some(before) => !self.stories[story].plausible && (!self.cascade || self.is_right(before, story)),
        };
        is_known.then(|| (0..self.stories.len()).filter(is_asked).collect())
    }

    /// Whether the answer in this tier is right, whatever the other tiers say.
    pub fn is_right(&self, tier: Tier, story: usize) -> bool {
        self.right[tier as usize][story] == Some(true)
    }
}

/// Links the tiers of one model.
///
/// # Errors
/// `Data` if tier 1 is missing; if the options of a story all score exactly 0, or every story of a tier is tied; if a later tier has a story that tier 1 has not, that is plausible, or, in a cascade,
/// that the tier before did not get right; or if it lacks one that it must have.
pub fn link(records: &Records) -> Result<Linked> {
    let about = |error: Error| error.about(records.folder.display());
    let first = records.tiers.get(&Tier::Story).ok_or_else(|| {
        about(Error::data("tier 1 (samples_story_class_*.jsonl) is missing; every figure is a share of its stories"))
    })?;
    let setting = |sample: &SampleRecord| (sample.protocol, sample.cascade, sample.is_said());
    let (protocol, cascade, said) = first.first().map_or((Protocol::Gita4calamita, true, false), setting);
    if records.tiers.values().flatten().any(|sample| setting(sample) != (protocol, cascade, said)) {
        return Err(about(Error::data("its tiers are of different protocols; score the files of one run")));
    }
    records.tiers.values().try_for_each(|samples| require_scores(samples)).map_err(about)?;
    let stories: Vec<AskedStory> = first.iter().map(|sample| sample.story.clone()).collect();
    let mut linked = Linked {
        model: records.model.clone(),
        protocol,
        cascade,
        said,
        margins: first.iter().map(SampleRecord::margin).collect(),
        right: [
            first.iter().map(|s| Some(s.is_right())).collect(),
            vec![None; stories.len()],
            vec![None; stories.len()],
        ],
        known: [true, false, false],
        stories,
    };
    for tier in [Tier::Conflict, Tier::State] {
        add(&mut linked, tier, records.tiers.get(&tier)).map_err(about)?;
    }
    Ok(linked)
}

/// Refuses the answers of a tier that are none: every option of a story has log-probability 0, or every story is tied.
fn require_scores(samples: &[SampleRecord]) -> Result<()> {
    const REMEDY: &str = "the server did not score what it was asked; ask again with another --way";
    if let Some(none) = samples.iter().find(|sample| are_all_zero(&sample.scores)) {
        let name = none.story.name();
        return Err(Error::data(format!("{}, {name}: every option has log-probability 0: {REMEDY}", none.tier)));
    }
    match samples.first() {
        Some(first) if Choice::are_all_tied(samples.iter().map(|sample| sample.choice)) => Err(Error::data(format!(
            "{}: every story's options are tied, so that the first one always wins: {REMEDY}",
            first.tier
        ))),
        _ => Ok(()),
    }
}

/// Adds the answers of a later tier, or what their absence tells.
fn add(linked: &mut Linked, tier: Tier, samples: Option<&Vec<SampleRecord>>) -> Result<()> {
    let (this, before) = (tier as usize, tier as usize - 1);
    let due = linked.asked(tier);
    let Some(samples) = samples else {
        // Nothing was left to ask.
        linked.known[this] = linked.cascade && due.is_some_and(|due| due.is_empty());
        return Ok(());
    };
    let likely = due.clone().or_else(|| linked.asked(Tier::ALL[before]));
    let asked = places(&linked.stories, tier, likely.as_deref(), samples)?;
    for (sample, &story) in samples.iter().zip(&asked) {
        require_askable(linked, tier, story)?;
        linked.right[this][story] = Some(sample.is_right());
    }
    match due {
        None => {
            // Tier 2's file is missing: tier 3 asked exactly the stories that were right there.
            let due_before = linked.asked(Tier::ALL[before]).unwrap_or_default();
            let right = |story: usize| due_before.contains(&story).then(|| asked.contains(&story));
            linked.right[before] = (0..linked.stories.len()).map(right).collect();
            linked.known[before] = true;
        }
        Some(due) => require_whole(linked, tier, &due, &asked)?,
    }
    linked.known[this] = linked.known[before];
    Ok(())
}

fn require_whole(linked: &Linked, tier: Tier, due: &[usize], asked: &[usize]) -> Result<()> {
    let Some(&missing) = due.iter().find(|story| !asked.contains(story)) else { return Ok(()) };
    let name = linked.stories[missing].name();
    let counts = format!("{tier} has {} stories, and {} are due", asked.len(), due.len());
    Err(Error::data(format!("{counts}: {name} is missing; a tier that isn't whole has no figure")))
}

fn require_askable(linked: &Linked, tier: Tier, story: usize) -> Result<()> {
    let name = linked.stories[story].name();
    if linked.stories[story].plausible {
        return Err(Error::data(format!("{tier} has {name}, which is plausible; it asks implausible stories only")));
    }
    let earlier = Tier::ALL.into_iter().filter(|other| *other < tier && linked.known[*other as usize]);
    match earlier.into_iter().find(|&other| !linked.is_right(other, story)) {
        Some(wrong) if linked.cascade => {
            let remedy = "the files are of different runs; score those of one run";
            Err(Error::data(format!("{tier} has {name}, which {wrong} did not get right: {remedy}")))
        }
        _ => Ok(()),
    }
}

/// For each sample of a later tier, the story of tier 1 with the same `doc`; of several the first one that is `due`.
fn places(stories: &[AskedStory], tier: Tier, due: Option<&[usize]>, samples: &[SampleRecord]) -> Result<Vec<usize>> {
    let mut by_doc: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
    for (place, story) in stories.iter().enumerate() {
        by_doc.entry(canonical(&story.doc)).or_default().push_back(place);
    }
    let place = |sample: &SampleRecord| {
        let places = by_doc.get_mut(&canonical(&sample.story.doc));
        let is_due = |place: &usize| due.is_none_or(|due| due.contains(place));
        let next = |places: &mut VecDeque<usize>| places.remove(places.iter().position(is_due).unwrap_or(0));
        places.and_then(next).ok_or_else(|| {
            let name = sample.story.name();
            Error::data(format!("{tier} has {name}, which tier 1 has not, or not as often; score the files of one run"))
        })
    };
    samples.iter().map(place).collect()
}

/// A story as text that does not depend on the order of its fields.
fn canonical(doc: &Value) -> String {
    let mut fields: Vec<String> =
        doc.as_object().into_iter().flatten().map(|(name, value)| format!("{name:?}: {value}")).collect();
    fields.sort_unstable();
    fields.join("\n")
}
