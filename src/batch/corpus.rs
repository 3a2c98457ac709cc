//! A set of pairs, with every input tokenized once.

use super::index::{InputNumber, SequenceNumber, StoryNumber};
use super::input::{Input, InputText, Reads, WholeStories};
use super::numbered::{Distinct, NumberedInputs};
use super::tokens::Tokens;
use crate::attribute::{Attribute, SIDE_CLASSES};
use crate::data::{Classes, Entity, Pair, Story};
use crate::durable::sha256;
use crate::error::{Error, Result};
use crate::tokenizer::{InputTokenizer, StoryInput, TokenSequence};
use std::collections::BTreeSet;

/// Pairs, and the tokens of each distinct input of an entity and a sentence.
pub struct Corpus {
    /// Every method that takes the indices of pairs means positions in this list.
    pub pairs: Vec<Pair>,
    /// Each distinct token sequence from which inputs are read, by its number.
    sequences: Vec<TokenSequence>,
    /// Each distinct input, by its number. The first is the padding.
    inputs: Vec<Input>,
    /// `[pair][story][entity][sentence]`
    pub(super) cells: Vec<[Vec<Vec<InputNumber>>; 2]>,
    /// Each distinct story, as one input, by its number.
    stories: Vec<StoryInput>,
    /// `[pair][story]`; empty if the model does not read whole stories.
    story_numbers: Vec<[StoryNumber; 2]>,
}

/// How often each label occurs in the cells of a corpus, smoothed so that no frequency is 0 or 1.
pub struct ClassFrequencies {
    /// `[66]`
    pub preconditions: Vec<f32>,
    /// `[66]`
    pub effects: Vec<f32>,
    /// The share of cells that take part in a conflict.
    pub conflicts: f32,
}

impl Corpus {
    /// Tokenizes all pairs and, if the model reads them, whole stories.
    ///
    /// # Errors
    /// `Data` if an input is longer than `max_tokens` (the encoder's positions): nothing is truncated silently.
    pub fn new(pairs: Vec<Pair>, tokenizer: &InputTokenizer, max_tokens: usize, reads: Reads) -> Result<Self> {
        let mut stories = Distinct::new();
        let mut number_story = |story: &Story| StoryNumber(stories.number(story.sentences.clone()));
        let story_numbers: Vec<[StoryNumber; 2]> = match reads.stories {
            WholeStories::Unread => Vec::new(),
            _ => pairs.iter().map(|pair| pair.stories.each_ref().map(&mut number_story)).collect(),
        };
        let mut inputs = NumberedInputs::new(reads.input_text);
        let around =
            |pair: usize, s: usize| (reads.stories == WholeStories::AroundInputs).then(|| story_numbers[pair][s]);
        let mut number = |pair: usize, s: usize| inputs.number(&pairs[pair].stories[s], around(pair, s));
        let cells = (0..pairs.len()).map(|pair| [number(pair, 0), number(pair, 1)]).collect();
        let (sequences, inputs) = inputs.tokenize(tokenizer)?;
        let stories = tokenizer.encode_stories(&stories.items)?;
        let corpus = Corpus { pairs, sequences, inputs, cells, stories, story_numbers };
        corpus.check_lengths(max_tokens, reads)?;
        Ok(corpus)
    }

    /// The pairs with these indices, as a corpus of their own.
    pub fn subset(&self, pairs: &[usize]) -> Self {
        let numbers = pairs.iter().filter_map(|&pair| self.story_numbers.get(pair));
        Corpus {
            pairs: pairs.iter().map(|&pair| self.pairs[pair].clone()).collect(),
            sequences: self.sequences.clone(),
            inputs: self.inputs.clone(),
            cells: pairs.iter().map(|&pair| self.cells[pair].clone()).collect(),
            stories: self.stories.clone(),
            story_numbers: numbers.copied().collect(),
        }
    }

    /// An input.
    pub(super) fn input(&self, InputNumber(number): InputNumber) -> &Input {
        &self.inputs[number]
    }

    /// The tokens of a sequence.
    pub(super) fn sequence(&self, SequenceNumber(number): SequenceNumber) -> &TokenSequence {
        &self.sequences[number]
    }

    /// The tokens that are encoded for an input.
    pub(super) fn tokens_of(&self, input: InputNumber) -> &TokenSequence {
        self.sequence(self.input(input).sequence)
    }

    /// A distinct story, as one input.
    pub(super) fn story(&self, StoryNumber(number): StoryNumber) -> &StoryInput {
        &self.stories[number]
    }

    /// Whether an input is identified by its sentence too, so that its place in its story is known.
    pub(super) fn tells_places_apart(&self) -> bool {
        self.inputs.iter().any(|input| input.place.is_some())
    }

    /// The two stories of each of these pairs; empty if the model does not read whole stories.
    pub(super) fn story_numbers(&self, pairs: &[usize]) -> Vec<StoryNumber> {
        pairs.iter().filter_map(|&pair| self.story_numbers.get(pair)).flatten().copied().collect()
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// The index of each pair.
    pub fn every_pair(&self) -> Vec<usize> {
        (0..self.len()).collect()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The number of sentences of the longest story.
    pub fn max_sentences(&self) -> usize {
        self.stories().map(|story| story.sentences.len()).max().unwrap_or(0)
    }

    /// The largest number of entities of a story.
    pub fn max_entities(&self) -> usize {
        self.stories().map(|story| story.entities.len()).max().unwrap_or(0)
    }

    /// Every token id that occurs, sorted. Training on this corpus changes no other rows of the embedding table.
    pub fn token_ids(&self) -> Vec<i64> {
        self.all_sequences().flat_map(|input| &input.ids).copied().collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Refuses the id of the padding as a token, where positions start after that: Hugging Face gives such a token no
    /// position of its own.
    ///
    /// # Errors
    /// `Config`.
    pub fn check_padding(&self, padding: Option<i64>) -> Result<()> {
        match padding.filter(|id| self.all_sequences().any(|input| input.ids.contains(id))) {
            Some(id) => Err(Error::config(format!(
                "the tokenizer produces a token with the encoder's pad_token_id, {id}; use the tokenizer.json and the \
                 config.json of the same model, or take the name of the padding token, such as <pad>, out of the stories"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses token ids that an encoder with `vocabulary` word embeddings lacks, and token types that it lacks, if it
    /// uses types.
    ///
    /// # Errors
    /// `Config`.
    pub fn check_tokens(&self, vocabulary: i64, types: Option<i64>) -> Result<()> {
        let highest =
            |of: fn(&TokenSequence) -> &Vec<i64>| self.all_sequences().flat_map(of).max().copied().unwrap_or(0);
        let (id, kind) = (highest(|input| &input.ids), highest(|input| &input.types));
        let wrong = match types {
            _ if id >= vocabulary => format!("token id {id}, but the encoder's vocab_size is {vocabulary}"),
            Some(types) if kind >= types => {
                format!("token type {kind}, but the encoder's type_vocab_size is {types}")
            }
            _ => return Ok(()),
        };
        let advice = "use the tokenizer.json and the config.json of the same model";
        Err(Error::config(format!("the tokenizer produces {wrong}; {advice}")))
    }

    /// Numbers of all (entity, sentence) inputs, the shorter ones first. Inputs of the same length are ordered by their
    /// tokens only, so the order of the pairs does not matter.
    pub fn by_length(&self) -> Vec<InputNumber> {
        let mut order: Vec<InputNumber> = (0..self.inputs.len()).map(InputNumber).collect();
        order.sort_by_key(|&input| {
            let TokenSequence { ids, types, .. } = self.tokens_of(input);
            (ids.len(), ids, types)
        });
        order
    }

    /// The (entity, sentence) inputs with these numbers, the shorter ones first.
    pub fn tokens(&self, inputs: &[InputNumber]) -> Tokens {
        Tokens::pack(inputs.iter().map(|&input| self.tokens_of(input)))
    }

    /// SHA-256 of the tokens of all (entity, sentence) inputs, in the order of [`Corpus::by_length`].
    pub fn sha256_of_inputs(&self) -> String {
        let mut bytes = Vec::new();
        for input in self.by_length().into_iter().map(|input| self.tokens_of(input)) {
            for numbers in [&input.ids, &input.types] {
                bytes.extend((numbers.len() as u64).to_le_bytes());
                bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            }
        }
        sha256(&bytes)
    }

    /// Every token sequence of the corpus.
    fn all_sequences(&self) -> impl Iterator<Item = &TokenSequence> {
        self.sequences.iter().chain(self.stories.iter().map(|story| &story.tokens))
    }

    /// Label frequencies over all (entity, sentence) cells of all stories without a teacher.
    pub fn class_frequencies(&self) -> ClassFrequencies {
        let stories = || self.pairs.iter().filter(|pair| pair.soft.is_none()).flat_map(|pair| &pair.stories);
        let entities = || stories().flat_map(|story| &story.entities);
        let side = |of: fn(&Entity) -> &Vec<Classes>| side_frequencies(entities().flat_map(of));
        let cells: usize = entities().map(|entity| entity.labelled.len()).sum();
        let targets = stories().flat_map(|story| story.entities.iter().filter_map(|e| story.conflict_target(e)));
        ClassFrequencies {
            preconditions: side(|entity| &entity.preconditions),
            effects: side(|entity| &entity.effects),
            conflicts: (2 * targets.count() + 1) as f32 / (cells + 2) as f32,
        }
    }

    fn stories(&self) -> impl Iterator<Item = &Story> {
        self.pairs.iter().flat_map(|pair| &pair.stories)
    }

    fn check_lengths(&self, max_tokens: usize, reads: Reads) -> Result<()> {
        let context = match reads.stories {
            WholeStories::AroundInputs => "model.state_context",
            WholeStories::Read | WholeStories::Unread => "model.detector.context",
        };
        let shorter = match reads.input_text {
            InputText::Sentence => format!("{context} = \"sentence\""),
            InputText::Story => format!("model.input_text = \"sentence\" and {context} = \"sentence\""),
        };
        for (pair, numbers) in self.pairs.iter().zip(&self.story_numbers) {
            for (story, &number) in pair.stories.iter().zip(numbers) {
                let tokens = self.story(number).tokens.len();
                if tokens > max_tokens {
                    return Err(Error::data(format!(
                        "story {}: as one input it has {tokens} tokens, but the encoder has {max_tokens} positions; \
                         shorten it, or train with {shorter}",
                        story.id
                    )));
                }
            }
        }
        for (pair, cells) in self.pairs.iter().zip(&self.cells) {
            for (story, rows) in pair.stories.iter().zip(cells) {
                for (entity, row) in story.entities.iter().zip(rows) {
                    for (n, &input) in row.iter().enumerate() {
                        let tokens = self.tokens_of(input).len();
                        if tokens > max_tokens {
                            let (place, remedy) = match reads.input_text {
                                InputText::Sentence => (format!(", sentence {}", n + 1), "shorten the sentence"),
                                InputText::Story => {
                                    (String::new(), "shorten it, or train with model.input_text = \"sentence\"")
                                }
                            };
                            return Err(Error::data(format!(
                                "story {}{place}: with entity \"{}\" it has {tokens} tokens, but the encoder has \
                                 {max_tokens} positions; {remedy}",
                                story.id, entity.name
                            )));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// `[66]`. One is added to every count.
fn side_frequencies<'a>(cells: impl Iterator<Item = &'a Classes>) -> Vec<f32> {
    let mut counts = [1.; SIDE_CLASSES];
    let mut slots_seen = 0;
    for classes in cells {
        slots_seen += 1;
        for (attribute, &class) in Attribute::ALL.iter().zip(classes) {
            counts[attribute.offset() + usize::from(class)] += 1.;
        }
    }
    let total = |attribute: &Attribute| (slots_seen + attribute.classes()) as f32;
    let totals = Attribute::ALL.iter().flat_map(|a| std::iter::repeat_n(total(a), a.classes()));
    counts.iter().zip(totals).map(|(count, total)| count / total).collect()
}
