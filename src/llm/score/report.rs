//! Scores of language models, beside baselines and published rows.

use super::agreement::Agreement;
use super::baseline::{always_first, by_chance};
use super::figures::{TierTally, story_figures};
use super::link::{Linked, link};
use super::pairs::PairFigures;
use crate::durable::sha256;
use crate::error::{Error, Result};
use crate::llm::record::Records;
use crate::llm::story::{AskedStory, StoryKind};
use crate::llm::tier::{Protocol, Tier};
use crate::metrics::KindShares;
use crate::report::PublishedStoryRow;
use serde::{Deserialize, Serialize};

/// Models that were asked about the same stories by the same protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreReport {
    /// The protocol by which all models were asked.
    pub protocol: Protocol,
    /// Whether only stories were asked about that the tier before got right.
    pub cascade: bool,
    /// The stories that the models were asked about.
    pub stories: StoryCounts,
    /// In the order of their records.
    pub models: Vec<ModelScores>,
    /// Answers without a model, on these stories.
    pub baselines: Vec<PublishedStoryRow>,
    /// Scores to compare with, measured in the same way.
    pub published: Vec<PublishedStoryRow>,
    /// Scores that were measured in another way, to be read apart.
    pub calamita_leaderboard: Vec<CalamitaRow>,
    /// With the answers of a run whose options were named in the other order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
}

/// The denominators. An implausible story without a kind counts in `plausible` too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoryCounts {
    /// All stories asked in tier 1.
    pub all: u64,
    /// Implausible by their label.
    pub implausible: u64,
    /// Stories with the letter C.
    pub cloze: u64,
    /// Stories with the letter O.
    pub order: u64,
    /// Stories without one of these letters, whatever their label.
    pub plausible: u64,
}

/// One model's figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelScores {
    /// The model's name, as its records tell it.
    pub model: String,
    /// What differs from the protocol.
    pub departures: Vec<String>,
    /// What must stand beside the figures, such as too few shots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Of all stories; the other two are of the implausible ones.
    pub accuracy: KindShares,
    /// `null` if the file of tier 2 is missing and no other tells it.
    pub consistency: Option<KindShares>,
    /// `null` if the file of tier 3 is missing.
    pub verifiability: Option<KindShares>,
    /// `null` if no implausible story has a plausible one.
    pub pairs: Option<PairFigures>,
    /// What happened in each tier that has a file.
    pub tiers: Vec<TierTally>,
}

/// A row of the CALAMITA leaderboard: prompts plain even for instruct models, kinds by `type`, consistency and
/// verifiability of 239 stories, survivors looked up by `example_id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalamitaRow {
    /// The model, as the leaderboard names it.
    pub system: String,
    /// Tier 1, between 0 and 1.
    pub accuracy: f64,
    /// Tier 2, between 0 and 1.
    pub consistency: f64,
    /// Tier 3, between 0 and 1.
    pub verifiability: f64,
}

/// The CALAMITA leaderboard on GITA4CALAMITA (arXiv 2512.04759), as it prints its scores.
const CALAMITA: [(&str, [f64; 3]); 4] = [
    ("Minerva-7B-instruct-v1.0", [0.38, 0.02, 0.00]),
    ("LLaMAntino-3-ANITA-8B-Inst-DPO-ITA", [0.59, 0.18, 0.08]),
    ("Llama-3.1-8B-Instruct", [0.72, 0.29, 0.14]),
    ("Llama-3.1-70B-Instruct", [0.88, 0.65, 0.36]),
];

/// SHA-256 of the 356 stories of GITA4CALAMITA's official file ([`stories_sha256`]). GITA's own file has as many stories of
/// each kind, with other texts and answers.
const OFFICIAL: &str = "21323d12c8b5e8ec4bcea9efc6ffba2e3b3943035450a8262bff7e24a7a902ec";

/// Why figures that need ranks are not known.
const WORDS: &str = "pairs can't be ranked (–), because answers in words have no log-probabilities";
const NO_MARGINS: &str = "pairs can't be ranked (–), because no story has a known log-probability of both \"true\" and \
                          \"false\"";

/// The rows of the CALAMITA leaderboard.
pub fn calamita_leaderboard() -> Vec<CalamitaRow> {
    let row = |(system, [accuracy, consistency, verifiability]): (&str, [f64; 3])| CalamitaRow {
        system: system.to_owned(),
        accuracy,
        consistency,
        verifiability,
    };
    CALAMITA.into_iter().map(row).collect()
}

/// Scores the records of one or more models.
///
/// # Errors
/// `Data` if the records of a model contradict each other ([`link`]), or two models were asked about other stories or
/// by another protocol.
pub fn score(records: &[Records]) -> Result<ScoreReport> {
    let linked: Vec<Linked> = records.iter().map(link).collect::<Result<_>>()?;
    let first = linked.first().ok_or_else(|| Error::data("there are no records"))?;
    for (other, records) in linked.iter().zip(records) {
        let differs = match () {
            () if (other.protocol, other.cascade) != (first.protocol, first.cascade) => "by another protocol",
            () if other.said != first.said => "in another way (in words, or by likelihood)",
            () if !other.has_same_stories(first) => "about other stories",
            () => continue,
        };
        let problem = format!("was asked {differs} than {}; score the two apart", first.model);
        return Err(Error::data(problem).about(records.folder.display()));
    }
    Ok(ScoreReport {
        protocol: first.protocol,
        cascade: first.cascade,
        stories: StoryCounts::of(&first.stories),
        baselines: vec![always_first(&first.stories), by_chance(&first.stories)],
        models: linked.iter().zip(records).map(|(linked, records)| ModelScores::of(linked, records)).collect(),
        published: Vec::new(),
        calamita_leaderboard: Vec::new(),
        agreement: None,
    })
}

impl StoryCounts {
    /// Counts stories by their label and by the letters of their ids.
    pub fn of(stories: &[AskedStory]) -> Self {
        let count = |is_so: &dyn Fn(&AskedStory) -> bool| stories.iter().filter(|story| is_so(story)).count() as u64;
        StoryCounts {
            all: stories.len() as u64,
            implausible: count(&|story| !story.plausible),
            cloze: count(&|story| story.kind == StoryKind::Cloze),
            order: count(&|story| story.kind == StoryKind::Order),
            plausible: count(&|story| story.kind == StoryKind::Plausible),
        }
    }
}

impl ModelScores {
    fn of(linked: &Linked, records: &Records) -> Self {
        let [accuracy, consistency, verifiability] = story_figures(linked);
        let departures = records.facts.facts.get("departures").and_then(serde_json::Value::as_array);
        let departures = departures.into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned));
        let pairs = PairFigures::of(linked);
        let is_unranked = pairs.as_ref().is_some_and(|pairs| pairs.accuracy.is_none());
        let why = is_unranked.then(|| if linked.said { WORDS } else { NO_MARGINS }.to_owned());
        let tally = |tier: Tier| records.tiers.get(&tier).map(|samples| TierTally::of(tier, samples));
        ModelScores {
            model: linked.model.clone(),
            departures: departures.collect(),
            remarks: records.remarks.iter().cloned().chain(why).collect(),
            accuracy: accuracy.unwrap_or_default(),
            consistency,
            verifiability,
            pairs,
            tiers: Tier::ALL.into_iter().filter_map(tally).collect(),
        }
    }

    /// The model, and what differs from the protocol.
    pub fn name(&self) -> String {
        match self.departures.is_empty() {
            true => self.model.clone(),
            false => format!("{} ({})", self.model, self.departures.join("; ")),
        }
    }
}

impl ScoreReport {
    /// Adds the rows of table 3 of GITA4CALAMITA beside the scores of these records.
    ///
    /// # Errors
    /// `Data` if they are of other stories, or another protocol.
    pub fn with_published(mut self, records: &[Records], rows: Vec<PublishedStoryRow>) -> Result<Self> {
        let departs = self.models.iter().any(|model| !model.departures.is_empty());
        let is_other = |records: &Records| stories_sha256(records) != OFFICIAL;
        let is_protocol = (self.protocol, self.cascade) == (Protocol::Gita4calamita, true);
        if departs || !is_protocol || records.iter().any(is_other) {
            return Err(Error::data(
                "--published gita-stories: the scores are published for the 356 stories of the official \
                 GITA4CALAMITA.jsonl (GITA_test.json has other texts and answers) by the protocol gita4calamita and \
                 nothing else, and these answers are others; leave --published out",
            ));
        }
        self.published = rows;
        Ok(self)
    }
}

/// SHA-256 of the stories of tier 1: name, right answers and sentences, each on a line, then an empty line.
fn stories_sha256(records: &Records) -> String {
    let text = |story: &AskedStory| {
        let answers = Tier::ALL.map(|tier| story.answer(tier).unwrap_or_default());
        format!("{}\n{}\n{}\n\n", story.id, answers.join("\n"), story.sentences.join("\n"))
    };
    let stories = records.tiers.get(&Tier::Story).into_iter().flatten();
    sha256(stories.map(|sample| text(&sample.story)).collect::<String>().as_bytes())
}
