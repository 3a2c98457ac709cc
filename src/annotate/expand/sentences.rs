//! Sentences: corrected, replaced, inserted, removed and moved.

use super::super::change::{Change, MarkedConflict, SentenceId};
use super::super::message::EditProblem;
use super::super::refusal::EditRefusal;
use super::{Expansion, Outcome, tidy};
use crate::attribute::Attribute;
use crate::untrusted::MAX_SENTENCES;

impl Expansion<'_> {
    pub(super) fn correct(&mut self, sentence: SentenceId, text: &str) -> Outcome {
        self.position(sentence)?;
        let text = Some(tidy(text)?);
        self.set(Change::Text { sentence, text });
        Ok(())
    }

    pub(super) fn replace(&mut self, sentence: SentenceId, text: &str) -> Outcome {
        let position = self.position(sentence)?;
        if self.draft()?.kind.is_none() {
            return Err(EditProblem::ReplacedInPlausible.into());
        }
        let new = self.new_sentence(text)?;
        self.put_in_place(position, new)
    }

    fn new_sentence(&mut self, text: &str) -> Result<SentenceId, EditRefusal> {
        let (sentence, text) = (self.group.next_sentence(), Some(tidy(text)?));
        self.set(Change::Text { sentence, text });
        Ok(sentence)
    }

    fn put_in_place(&mut self, position: usize, sentence: SentenceId) -> Outcome {
        let mut sentences = self.draft()?.sentences.clone();
        let old = std::mem::replace(&mut sentences[position], sentence);
        self.merge(Change::Order { story: self.story.clone(), sentences });
        // A conflict that was marked stays marked at this position, in every pass: all have the same sentences.
        let moved = |id| if id == old { sentence } else { id };
        let story = self.story.clone();
        let marked = self.group.answers.iter().filter_map(|(pass, answers)| {
            let &MarkedConflict { evidence, breakpoint } = answers.conflicts.get(&story)?;
            let conflict = Some(MarkedConflict { evidence: moved(evidence), breakpoint: moved(breakpoint) });
            Some((pass.clone(), Change::Conflict { story: story.clone(), conflict }))
        });
        let marked: Vec<_> = marked.collect();
        marked.into_iter().for_each(|(pass, conflict)| self.merge_answer(&pass, conflict));
        Ok(())
    }

    pub(super) fn insert(&mut self, after: Option<SentenceId>, text: &str) -> Outcome {
        let own = after.map(|after| self.position(after)).transpose()?;
        let sentence = self.new_sentence(text)?;
        for story in self.followers()? {
            let mut sentences = self.group.stories[&story].sentences.clone();
            let anchor = after.and_then(|after| sentences.iter().position(|&other| other == after));
            // A version that replaced the sentence before it has another one at its position.
            let at = anchor.or(own).map_or(0, |before| (before + 1).min(sentences.len()));
            if sentences.len() == MAX_SENTENCES {
                return Err(EditProblem::ManySentences.into());
            }
            sentences.insert(at, sentence);
            self.merge(Change::Order { story, sentences });
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, sentence: SentenceId) -> Outcome {
        self.position(sentence)?;
        for story in self.followers()? {
            let mut sentences = self.group.stories[&story].sentences.clone();
            sentences.retain(|&other| other != sentence);
            self.merge(Change::Order { story, sentences });
        }
        Ok(())
    }

    pub(super) fn move_after(&mut self, sentence: SentenceId, after: Option<SentenceId>) -> Outcome {
        self.position(sentence)?;
        let mut sentences = self.draft()?.sentences.clone();
        if after != Some(sentence) {
            let to = after.map(|after| self.position(after)).transpose()?;
            let from = self.position(sentence)?;
            let moved = sentences.remove(from);
            // What stands after the removed sentence is one place nearer to the beginning.
            sentences.insert(to.map_or(0, |to| if to > from { to } else { to + 1 }), moved);
        }
        self.set(Change::Order { story: self.story.clone(), sentences });
        Ok(())
    }

    pub(super) fn swap(&mut self, [one, other]: [SentenceId; 2]) -> Outcome {
        let (first, second) = (self.position(one)?, self.position(other)?);
        let mut sentences = self.draft()?.sentences.clone();
        sentences.swap(first, second);
        self.set(Change::Order { story: self.story.clone(), sentences });
        Ok(())
    }

    pub(super) fn own(&mut self, sentence: SentenceId) -> Outcome {
        let position = self.position(sentence)?;
        if self.draft()?.kind.is_none() {
            return Err(EditProblem::OwnInPlausible.into());
        }
        let text = self.group.text(sentence).to_owned();
        let copy = self.new_sentence(&text)?;
        self.put_in_place(position, copy)?;
        self.copy_labels(sentence, copy);
        Ok(())
    }

    /// Gives a sentence the labels of another one, in every pass.
    fn copy_labels(&mut self, from: SentenceId, to: SentenceId) {
        let mut copied = Vec::new();
        for (pass, answers) in &self.group.answers {
            for (&(entity, _), labels) in answers.labels.iter().filter(|((_, of), _)| *of == from) {
                for attribute in Attribute::ALL {
                    if let label @ Some(_) = labels[attribute.index()] {
                        copied.push((pass.clone(), Change::Label { entity, sentence: to, attribute, label }));
                    }
                }
            }
        }
        copied.into_iter().for_each(|(pass, label)| self.merge_answer(&pass, label));
    }
}
