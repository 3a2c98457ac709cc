//! A set of pairs, with every input tokenized once.

use super::index::{InputNumber, SentencePlace, StoryNumber};
use super::tokens::Tokens;
use crate::attribute::{Attribute, SIDE_CLASSES};
use crate::data::{Classes, Entity, Pair, Story};
use crate::durable::sha256;
use crate::error::{Error, Result};
use crate::tokenizer::{InputTokenizer, StoryInput, TokenSequence};
use std::collections::{BTreeSet, HashMap};

/// Pairs, and the tokens of each distinct (entity, sentence) input.
pub struct Corpus {
    /// Every method that takes the indices of pairs means positions in this list.
    pub pairs: Vec<Pair>,
    /// Each distinct input, by its number. The first is the padding.
    inputs: Vec<TokenSequence>,
    /// With [`WholeStories::AroundInputs`]: the sentence where each input stands; the padding stands nowhere.
    places: Vec<Option<SentencePlace>>,
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

/// What is encoded in addition to the (entity, sentence) inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WholeStories {
    /// Nothing: the model reads (entity, sentence) inputs only.
    Unread,
    /// Every distinct story.
    Read,
    /// Every distinct story. An input is identified by its story and sentence too.
    AroundInputs,
}

impl Corpus {
    /// Tokenizes all pairs and, if the model reads them, whole stories.
    ///
    /// # Errors
    /// `Data` if an input is longer than `max_tokens` (the encoder's positions): nothing is truncated silently.
    pub fn new(pairs: Vec<Pair>, tokenizer: &InputTokenizer, max_tokens: usize, whole: WholeStories) -> Result<Self> {
        let mut stories = Distinct::new();
        let mut number_story = |story: &Story| StoryNumber(stories.number(story.sentences.clone()));
        let story_numbers: Vec<[StoryNumber; 2]> = match whole {
            WholeStories::Unread => Vec::new(),
            _ => pairs.iter().map(|pair| pair.stories.each_ref().map(&mut number_story)).collect(),
        };
        let mut inputs = Distinct::new();
        inputs.number((String::new(), String::new(), None));
        let around = |pair: usize, s: usize| (whole == WholeStories::AroundInputs).then(|| story_numbers[pair][s]);
        let mut number = |pair: usize, s: usize| number_inputs(&mut inputs, &pairs[pair].stories[s], around(pair, s));
        let cells = (0..pairs.len()).map(|pair| [number(pair, 0), number(pair, 1)]).collect();
        let places = match whole {
            WholeStories::AroundInputs => inputs.items.iter().map(|(_, _, place)| *place).collect(),
            _ => Vec::new(),
        };
        let texts = inputs.items.into_iter().map(|(entity, sentence, _)| (entity, sentence)).collect();
        let inputs = tokenizer.encode(texts)?;
        let stories = tokenizer.encode_stories(&stories.items)?;
        let corpus = Corpus { pairs, inputs, places, cells, stories, story_numbers };
        corpus.check_lengths(max_tokens)?;
        Ok(corpus)
    }

    /// The pairs with these indices, as a corpus of their own.
    pub fn subset(&self, pairs: &[usize]) -> Self {
        let numbers = pairs.iter().filter_map(|&pair| self.story_numbers.get(pair));
        Corpus {
            pairs: pairs.iter().map(|&pair| self.pairs[pair].clone()).collect(),
            inputs: self.inputs.clone(),
            places: self.places.clone(),
            cells: pairs.iter().map(|&pair| self.cells[pair].clone()).collect(),
            stories: self.stories.clone(),
            story_numbers: numbers.copied().collect(),
        }
    }

    /// The tokens of an input.
    pub(super) fn input(&self, InputNumber(number): InputNumber) -> &TokenSequence {
        &self.inputs[number]
    }

    /// A distinct story, as one input.
    pub(super) fn story(&self, StoryNumber(number): StoryNumber) -> &StoryInput {
        &self.stories[number]
    }

    /// Whether an input is identified by its sentence too, so that its place in its story is known.
    pub(super) fn tells_places_apart(&self) -> bool {
        !self.places.is_empty()
    }

    /// The sentence where an input stands; `None` for the padding, or if places are not told apart.
    pub(super) fn place(&self, InputNumber(number): InputNumber) -> Option<SentencePlace> {
        self.places.get(number).copied().flatten()
    }

    /// The two stories of each of these pairs; empty if the model does not read whole stories.
    pub(super) fn story_numbers(&self, pairs: &[usize]) -> Vec<StoryNumber> {
        pairs.iter().filter_map(|&pair| self.story_numbers.get(pair)).flatten().copied().collect()
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
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
        self.sequences().flat_map(|input| &input.ids).copied().collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Refuses token ids that an encoder with `vocabulary` word embeddings lacks, and token types that it lacks, if it
    /// uses types.
    ///
    /// # Errors
    /// `Config`.
    pub fn check_tokens(&self, vocabulary: i64, types: Option<i64>) -> Result<()> {
        let highest = |of: fn(&TokenSequence) -> &Vec<i64>| self.sequences().flat_map(of).max().copied().unwrap_or(0);
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
            let TokenSequence { ids, types, .. } = self.input(input);
            (ids.len(), ids, types)
        });
        order
    }

    /// The (entity, sentence) inputs with these numbers, the shorter ones first.
    pub fn tokens(&self, inputs: &[InputNumber]) -> Tokens {
        Tokens::pack(inputs.iter().map(|&input| self.input(input)))
    }

    /// SHA-256 of the tokens of all (entity, sentence) inputs, in the order of [`Corpus::by_length`].
    pub fn sha256_of_inputs(&self) -> String {
        let mut bytes = Vec::new();
        for input in self.by_length().into_iter().map(|input| self.input(input)) {
            for numbers in [&input.ids, &input.types] {
                bytes.extend((numbers.len() as u64).to_le_bytes());
                bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            }
        }
        sha256(&bytes)
    }

    /// Every token sequence of the corpus.
    fn sequences(&self) -> impl Iterator<Item = &TokenSequence> {
        self.inputs.iter().chain(self.stories.iter().map(|story| &story.tokens))
    }

    /// Label frequencies over all (entity, sentence) cells of all stories.
    pub fn class_frequencies(&self) -> ClassFrequencies {
        let entities = || self.stories().flat_map(|story| &story.entities);
        let side = |of: fn(&Entity) -> &Vec<Classes>| side_frequencies(entities().flat_map(of));
        let cells: usize = entities().map(|entity| entity.labelled.len()).sum();
        let targets = self.stories().flat_map(|story| story.entities.iter().filter_map(|e| story.conflict_target(e)));
        ClassFrequencies {
            preconditions: side(|entity| &entity.preconditions),
            effects: side(|entity| &entity.effects),
            conflicts: (2 * targets.count() + 1) as f32 / (cells + 2) as f32,
        }
    }

    fn stories(&self) -> impl Iterator<Item = &Story> {
        self.pairs.iter().flat_map(|pair| &pair.stories)
    }

    fn check_lengths(&self, max_tokens: usize) -> Result<()> {
        for (pair, numbers) in self.pairs.iter().zip(&self.story_numbers) {
            for (story, &number) in pair.stories.iter().zip(numbers) {
                let tokens = self.story(number).tokens.len();
                if tokens > max_tokens {
                    return Err(Error::data(format!(
                        "story {}: as one input it has {tokens} tokens, but the encoder has {max_tokens} positions; \
                         shorten it, or use model.detector.context = \"sentence\"",
                        story.id
                    )));
                }
            }
        }
        for (pair, cells) in self.pairs.iter().zip(&self.cells) {
            for (story, rows) in pair.stories.iter().zip(cells) {
                for (entity, row) in story.entities.iter().zip(rows) {
                    for (n, &input) in row.iter().enumerate() {
                        let tokens = self.input(input).len();
                        if tokens > max_tokens {
                            return Err(Error::data(format!(
                                "story {}, sentence {}: with entity \"{}\" it has {tokens} tokens, but the encoder has \
                                 {max_tokens} positions; shorten the sentence",
                                story.id,
                                n + 1,
                                entity.name
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

/// Numbers distinct items in the order of their first occurrence.
struct Distinct<T> {
    numbers: HashMap<T, usize>,
    items: Vec<T>,
}

impl<T: Clone + Eq + std::hash::Hash> Distinct<T> {
    fn new() -> Self {
        Distinct { numbers: HashMap::new(), items: Vec::new() }
    }

    fn number(&mut self, item: T) -> usize {
        *self.numbers.entry(item).or_insert_with_key(|item| {
            self.items.push(item.clone());
            self.items.len() - 1
        })
    }
}

/// An entity and a sentence; if an input is identified by its place, also that.
type Named = (String, String, Option<SentencePlace>);

/// `[entity][sentence]`
fn number_inputs(inputs: &mut Distinct<Named>, story: &Story, around: Option<StoryNumber>) -> Vec<Vec<InputNumber>> {
    let row = |entity: &Entity| {
        let sentences = story.sentences.iter().enumerate();
        let named = |(n, sentence): (usize, &String)| {
            let place = around.map(|story| SentencePlace { story, sentence: n });
            InputNumber(inputs.number((entity.name.clone(), sentence.clone(), place)))
        };
        sentences.map(named).collect()
    };
    story.entities.iter().map(row).collect()
}
