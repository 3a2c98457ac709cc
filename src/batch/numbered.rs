//! Numbers the distinct inputs of stories, and tokenizes each once.

use super::index::{InputNumber, SentencePlace, SequenceNumber, StoryNumber};
use super::input::{Input, InputText};
use crate::data::{Entity, Story};
use crate::error::Result;
use crate::tokenizer::{InputTokenizer, TokenSequence};
use std::collections::HashMap;
use std::hash::Hash;

/// Distinct items, numbered in the order of their first occurrence.
pub struct Distinct<T> {
    numbers: HashMap<T, usize>,
    pub items: Vec<T>,
}

impl<T: Clone + Eq + Hash> Distinct<T> {
    pub fn new() -> Self {
        Distinct { numbers: HashMap::new(), items: Vec::new() }
    }

    pub fn number(&mut self, item: T) -> usize {
        *self.numbers.entry(item).or_insert_with_key(|item| {
            self.items.push(item.clone());
            self.items.len() - 1
        })
    }
}

/// Inputs of which it is known only which texts they are read from.
pub struct NumberedInputs {
    text: InputText,
    /// An entity, and the sentences that are encoded with it.
    sequences: Distinct<(String, Vec<String>)>,
    /// The sequence, the sentence in it and, if an input is identified by its place, that.
    inputs: Distinct<(SequenceNumber, usize, Option<SentencePlace>)>,
}

impl NumberedInputs {
    /// The padding has the first number.
    pub fn new(text: InputText) -> Self {
        let mut numbered = NumberedInputs { text, sequences: Distinct::new(), inputs: Distinct::new() };
        numbered.number_one("", &[String::new()], 0, None);
        numbered
    }

    /// The numbers of a story's inputs, `[entity][sentence]`. `around`: the story, if it identifies them.
    pub fn number(&mut self, story: &Story, around: Option<StoryNumber>) -> Vec<Vec<InputNumber>> {
        let all = &story.sentences;
        let mut row = |entity: &Entity| {
            let named = |n: usize| {
                let place = around.map(|story| SentencePlace { story, sentence: n });
                match self.text {
                    InputText::Sentence => self.number_one(&entity.name, &all[n..=n], 0, place),
                    InputText::Story => self.number_one(&entity.name, all, n, place),
                }
            };
            (0..all.len()).map(named).collect()
        };
        story.entities.iter().map(&mut row).collect()
    }

    fn number_one(&mut self, entity: &str, text: &[String], n: usize, place: Option<SentencePlace>) -> InputNumber {
        let sequence = SequenceNumber(self.sequences.number((entity.to_owned(), text.to_vec())));
        InputNumber(self.inputs.number((sequence, n, place)))
    }

    /// The token sequences, and which tokens of them each input reads.
    pub fn tokenize(self, tokenizer: &InputTokenizer) -> Result<(Vec<TokenSequence>, Vec<Input>)> {
        let (sequences, inputs) = (self.sequences.items, self.inputs.items);
        match self.text {
            InputText::Sentence => {
                let texts = sequences.into_iter().map(|(entity, sentence)| (entity, sentence.concat())).collect();
                let first = |(sequence, _, place)| Input { sequence, read: vec![0], place };
                Ok((tokenizer.encode(texts)?, inputs.into_iter().map(first).collect()))
            }
            InputText::Story => {
                let stories = tokenizer.encode_entities_in_stories(&sequences)?;
                let of_sentence = |(sequence, n, place): (SequenceNumber, usize, _)| Input {
                    sequence,
                    read: stories[sequence.0].tokens_of(n),
                    place,
                };
                let inputs = inputs.into_iter().map(of_sentence).collect();
                Ok((stories.into_iter().map(|story| story.tokens).collect(), inputs))
            }
        }
    }
}
