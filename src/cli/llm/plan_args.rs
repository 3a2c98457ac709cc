//! Which questions are asked: the arguments that `tiered llm eval` and `tiered llm prompt` share.

use crate::data::{Pair, pairs};
use crate::durable::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::llm::har::har_shots;
use crate::llm::{
    AskedStory, ChatTemplate, MOST_SHOTS, Plan, PromptStyle, Protocol, ShotSource, StorySet, Wording, read_stories_of,
};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The flag for errors about the file of the shots.
const SHOTS_SPLIT: &str = "--shots-split";

/// The stories, and how a question about one is put.
#[derive(clap::Args)]
pub(super) struct PlanArgs {
    /// Story file: GITA4CALAMITA.jsonl, or a file in the format of TRIP and GITA
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// Split of the story file, if it has several
    #[arg(long, value_name = "NAME")]
    pub split: Option<String>,
    /// Render a chat with this template: tokenizer_config.json, or a file of Jinja [default: plain text]
    #[arg(long, value_name = "FILE")]
    pub chat_template: Option<PathBuf>,
    /// How many other stories to draw and show with their answers [default: 3, or those that --shot names]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=5))]
    pub shots: Option<u8>,
    /// Draw the shots by this seed [default: 1234, the protocol's]
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// A story to show before every question, by its id; may be repeated [default: other stories for each question,
    /// drawn from those asked in the same tier]. By protocol har, a pair [default: HAR's four, which need TRIP's full
    /// training split]
    #[arg(long = "shot", value_name = "ID")]
    shot: Vec<String>,
    /// Take the shots from this split [default: the one asked about; by protocol har, train]
    #[arg(long, value_name = "NAME")]
    shots_split: Option<String>,
    /// Take the shots from this story file [default: that of --data]
    #[arg(long, value_name = "FILE")]
    shots_data: Option<PathBuf>,
    /// Name the options in the other order ("false or true"); by protocol har, show the second story of a pair first
    #[arg(long)]
    pub swapped: bool,
    /// Score options without a blank in front. Chats have none before a shot's answer, but the protocol puts one
    #[arg(long)]
    pub no_blank: bool,
}

impl PlanArgs {
    /// The plan of a protocol other than har, as far as these arguments say.
    ///
    /// # Errors
    /// Those of the template; `Data` if there is no such shot.
    pub fn plan(&self, protocol: Protocol, set: &StorySet) -> Result<Plan> {
        let style = match &self.chat_template {
            Some(path) => PromptStyle::Chat(ChatTemplate::read(path)?),
            None => PromptStyle::Plain,
        };
        if self.shots.is_some() && self.names_shots() {
            let message = "--shots: is the number of shots that are drawn; with --shot every story named is shown";
            return Err(Error::new(ErrorKind::Usage, message));
        }
        if self.seed.is_some() && (self.names_shots() || self.shots == Some(0)) {
            return Err(Error::new(ErrorKind::Usage, "--seed: no shots are drawn; leave it out"));
        }
        let source = self.source(protocol, set)?;
        let mut plan = Plan::new(protocol, style);
        if let ShotSource::Fixed(shots) = &source {
            plan.shots = shots.len();
        }
        plan.shots = self.shots.map_or(plan.shots, usize::from);
        plan.source = source;
        plan.seed = self.seed.unwrap_or(plan.seed);
        plan.wording = if self.swapped { Wording::FalseOrTrue } else { Wording::TrueOrFalse };
        plan.leading_blank = !self.no_blank;
        Ok(plan)
    }

    fn source(&self, protocol: Protocol, set: &StorySet) -> Result<ShotSource> {
        if !self.names_shots() && self.shots_data.is_none() && self.shots_split.is_none() {
            return Ok(ShotSource::Own);
        }
        let split = match &self.shots_data {
            None => self.shots_split.as_deref().or(self.split.as_deref()),
            Some(_) => self.shots_split.as_deref(),
        };
        let others = read_stories_of(self.shots_data(), protocol, split, SHOTS_SPLIT)?;
        if self.shot.len() > MOST_SHOTS {
            return Err(Error::new(ErrorKind::Usage, format!("--shot: at most {MOST_SHOTS} are shown")));
        }
        if self.names_shots() {
            let shots: Result<Vec<AskedStory>> = self.shot.iter().map(|id| only(&others.stories, id)).collect();
            return shots.map(ShotSource::Fixed).map_err(|error| error.about(self.shots_data().display()));
        }
        let is_own = (&others.sha256, &others.split) == (&set.sha256, &set.split);
        Ok(if is_own { ShotSource::Own } else { ShotSource::Other(others.stories) })
    }

    fn shots_data(&self) -> &Path {
        self.shots_data.as_deref().unwrap_or(&self.data)
    }

    /// The pairs that protocol har shows.
    ///
    /// # Errors
    /// Those of the file; `Data` if a pair is missing.
    pub fn har_shots(&self) -> Result<Vec<Pair>> {
        let split = self.shots_split.as_deref().unwrap_or("train");
        let set = read_stories_of(self.shots_data(), Protocol::Har, Some(split), SHOTS_SPLIT)?;
        har_shots(&pairs(&set.checked, 0), &self.shot).map_err(|error| error.about(self.shots_data().display()))
    }

    /// Whether stories or pairs are named to be shown.
    pub fn names_shots(&self) -> bool {
        !self.shot.is_empty()
    }

    /// The pairs that protocol har asks about.
    ///
    /// # Errors
    /// `Usage` if an argument is of other protocols, or the file has no states of entities.
    pub fn har_pairs(&self, set: &StorySet) -> Result<Vec<Pair>> {
        let usage = |why: &str| Err(Error::new(ErrorKind::Usage, format!("{}: {why}", self.data.display())));
        if self.chat_template.is_some() || self.shots.is_some() || self.seed.is_some() || self.no_blank {
            return usage(
                "protocol har is plain text with the pairs that --shot names: no --chat-template, --shots, --seed or \
                 --no-blank",
            );
        }
        if set.checked.is_empty() || set.checked.iter().any(|story| !story.has_states) {
            return usage("protocol har needs states of the entities of every story, as in the files of TRIP and GITA");
        }
        Ok(pairs(&set.checked, 0))
    }

    /// What a run must keep to when it goes on, for `run.json`.
    pub fn settled(&self, plan: &Plan) -> Map<String, Value> {
        let (style, template) = match &plan.style {
            PromptStyle::Plain => ("plain", Value::Null),
            PromptStyle::Chat(template) => ("chat", json!(template.sha256())),
        };
        let (shots_from, shots) = match &plan.source {
            ShotSource::Own => (Value::Null, None),
            ShotSource::Fixed(shots) => (json!(shots.iter().map(|shot| &shot.id).collect::<Vec<_>>()), Some(shots)),
            ShotSource::Other(stories) => (json!({"split": self.shots_split, "stories": stories.len()}), Some(stories)),
        };
        let docs =
            |stories: &Vec<AskedStory>| stories.iter().map(|story| format!("{}\n", story.doc)).collect::<String>();
        let settled = json!({
            "style": style, "chat_template_sha256": template, "shots": plan.shots, "shots_from": shots_from,
            "shots_sha256": shots.map(|shots| sha256(docs(shots).as_bytes())), "seed": plan.seed, "swapped": self.swapped, "leading_blank": plan.leading_blank,
        });
        settled.as_object().cloned().unwrap_or_default()
    }
}

/// The only story of this id. Ids occur twice in the official file.
fn only(stories: &[AskedStory], id: &str) -> Result<AskedStory> {
    let mut found = stories.iter().filter(|story| story.id == *id);
    match (found.next(), found.next()) {
        (Some(story), None) => Ok(story.clone()),
        (None, _) => Err(Error::data(format!("--shot {id}: there is no such story"))),
        _ => Err(Error::data(format!("--shot {id}: several stories have this id; show another one"))),
    }
}
