//! What a model is asked about a story: its sentences and entities, beside those of its plausible story.

use super::change::{EntityId, SentenceId};
use super::group::{Draft, Group};
use super::mention::Mentions;
use super::message::EditProblem;
use super::refusal::EditRefusal;
use super::stories::Stories;
use crate::data::{Pair, Story};
use crate::language::Language;

/// A story to be judged, with the ids of what is in it, so that it can be answered while others edit.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalQuestion {
    /// The key of the story.
    pub story: String,
    pub(super) sentences: Vec<SentenceId>,
    pub(super) entities: Vec<(EntityId, bool)>,
    /// Entities (by position) that are named in a sentence (by position).
    pub(super) named: Vec<(usize, usize)>,
    pub(super) is_version: bool,
    /// The plausible story, then the one that is asked about; of a plausible story the same twice.
    pub(super) texts: [StoryText; 2],
}

/// What a model reads of a story.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct StoryText {
    pub sentences: Vec<String>,
    pub entities: Vec<String>,
}

impl Stories {
    /// The question about a story.
    ///
    /// # Errors
    /// `gone` if there is no such story; `data` if it has no sentences or no entities yet.
    pub fn question(&self, key: &str) -> Result<ProposalQuestion, EditRefusal> {
        let group = &self.groups[&self.number_of(key)?];
        let draft = &group.stories[key];
        let gone = || EditProblem::PlausibleIsGone { story: key.to_owned() };
        let (plausible_key, plausible) = group.present().find(|(_, draft)| draft.kind.is_none()).ok_or_else(gone)?;
        let texts = [plausible, draft].map(|draft| text(group, draft));
        let lacks = |text: &StoryText| text.sentences.is_empty() || text.entities.is_empty();
        match &texts {
            [_, own] if lacks(own) => return Err(EditProblem::NothingToPropose.into()),
            [plausible, _] if lacks(plausible) => {
                return Err(EditProblem::PlausibleLacks { plausible: plausible_key.to_owned() }.into());
            }
            _ => {}
        }
        let mentions = Mentions::of(group, draft);
        let entities: Vec<_> = group.entities_of(draft).map(|(entity, is)| (entity, is.person)).collect();
        let cells = (0..draft.sentences.len()).flat_map(|n| (0..entities.len()).map(move |e| (e, n)));
        Ok(ProposalQuestion {
            story: key.to_owned(),
            sentences: draft.sentences.clone(),
            named: cells.filter(|&(e, n)| mentions.contains(n, entities[e].0)).collect(),
            entities,
            is_version: draft.kind.is_some(),
            texts,
        })
    }

    /// The questions about all stories that a model can read.
    pub fn questions(&self) -> Vec<ProposalQuestion> {
        let keys = self.groups.values().flat_map(|group| group.present()).map(|(key, _)| key);
        keys.filter_map(|key| self.question(key).ok()).collect()
    }
}

fn text(group: &Group, draft: &Draft) -> StoryText {
    StoryText {
        sentences: group.sentences_of(draft),
        entities: group.entities_of(draft).map(|(_, is)| is.name.clone()).collect(),
    }
}

impl ProposalQuestion {
    /// The pair that a model predicts.
    pub(super) fn pair(&self) -> Pair {
        Pair::unlabelled(self.texts.clone().map(|text| Story::unlabelled(&self.story, text.sentences, text.entities)))
    }

    /// The language of the story.
    pub fn language(&self) -> Language {
        Language::of(&self.texts[1].sentences)
    }
}
