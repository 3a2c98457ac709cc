//! Stories: made and removed.

use super::super::change::{Change, SentenceId};
use super::super::message::EditProblem;
use super::super::refusal::EditRefusal;
use super::{Expansion, Outcome, tidy};
use crate::data::Kind;
use crate::untrusted::MAX_SENTENCES;

impl Expansion<'_> {
    pub(super) fn add_story(&mut self, sentences: &[String]) -> Outcome {
        if !self.group.stories.is_empty() || !self.steps.is_empty() {
            return Err(EditRefusal::data("a new story has a group of its own; send `add_story` first, and no story"));
        }
        if sentences.len() > MAX_SENTENCES {
            return Err(EditProblem::ManySentences.into());
        }
        let mut order = Vec::new();
        for text in sentences {
            let (sentence, text) = (self.group.next_sentence(), Some(tidy(text)?));
            self.set(Change::Text { sentence, text });
            order.push(sentence);
        }
        self.story = self.number.to_string();
        self.begin(None, order);
        Ok(())
    }

    /// Makes the story with these sentences.
    fn begin(&mut self, kind: Option<Kind>, sentences: Vec<SentenceId>) {
        let story = self.story.clone();
        self.set(Change::Story { story: story.clone(), kind, exists: true });
        self.set(Change::Order { story, sentences });
    }

    pub(super) fn version(
        &mut self,
        kind: Kind,
        sentence: Option<SentenceId>,
        text: Option<&str>,
        swap: Option<[SentenceId; 2]>,
    ) -> Outcome {
        self.draft()?;
        self.story = self.number.to_string();
        let plausible = self.draft()?.clone();
        self.story = self.free_key(kind);
        self.begin(Some(kind), plausible.sentences);
        for entity in plausible.entities {
            self.set(Change::Member { story: self.story.clone(), entity, is: true });
        }
        match (kind, sentence, text, swap) {
            (Kind::Cloze, Some(sentence), Some(text), None) => self.replace(sentence, text),
            (Kind::Order, None, None, Some(sentences)) => self.swap(sentences),
            (Kind::Cloze, ..) => Err(EditRefusal::data("a cloze version needs `sentence` and its new `text`")),
            (Kind::Order, ..) => Err(EditRefusal::data("an order version needs `swap`: two sentences")),
        }
    }

    /// "3-C0" or the next one that was never used.
    fn free_key(&self, kind: Kind) -> String {
        let letter = if kind == Kind::Cloze { 'C' } else { 'O' };
        let key = |number| format!("{}-{letter}{number}", self.number);
        let used = (0..).map(key).take_while(|key| self.group.stories.contains_key(key)).count();
        key(used)
    }

    pub(super) fn remove_story(&mut self) -> Outcome {
        for story in self.followers()? {
            let kind = self.group.stories.get(&story).and_then(|draft| draft.kind);
            self.set(Change::Story { story, kind, exists: false });
        }
        Ok(())
    }
}
