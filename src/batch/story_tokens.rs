//! Where the sentences of whole stories are among the tokens of a batch.

use super::corpus::Corpus;
use super::index::{DistinctStory, ReadIndex, SentenceIndex, SentencePlace, StoryNumber, index_tensor};
use super::packed::Packed;
use tch::Tensor;

/// The tokens of the sentences of S distinct stories. Each story is encoded as one input.
pub struct StoryTokens {
    /// S.
    pub distinct: i64,
    /// Indices among the O read tokens: those of the stories' tokens, without special tokens.
    pub token: Tensor,
    /// The sentence of each of these tokens, as N·story + sentence.
    pub sentence: Tensor,
    /// `[2B]` which of the S distinct stories each story of the batch is.
    pub of_story: Tensor,
    /// `[U]` the sentence in which each input stands, as N·story + sentence; 0 for the padding input. Only if an input
    /// is identified by its sentence too.
    pub of_input: Option<Tensor>,
}

impl StoryTokens {
    /// `stories`: the 2B stories of the batch. `sentences`: N.
    pub(super) fn new(corpus: &Corpus, packed: &Packed, stories: &[StoryNumber], sentences: usize) -> Self {
        let index = |DistinctStory(story), sentence| SentenceIndex(story * sentences + sentence);
        let (mut token, mut sentence) = (Vec::new(), Vec::new());
        for &(story, ReadIndex(first)) in &packed.stories {
            for (t, &n) in corpus.story(story).sentences.iter().flatten().enumerate() {
                token.push(ReadIndex(first + t));
                sentence.push(index(packed.distinct(story), n));
            }
        }
        let at = |SentencePlace { story, sentence }| index(packed.distinct(story), sentence);
        let of_input = corpus.tells_places_apart().then(|| {
            let places = packed.inputs.iter().map(|&(input, _)| corpus.input(input).place);
            index_tensor(places.map(|place| place.map_or(SentenceIndex(0), at)))
        });
        StoryTokens {
            distinct: packed.stories.len() as i64,
            token: index_tensor(token),
            sentence: index_tensor(sentence),
            of_story: index_tensor(stories.iter().map(|&story| packed.distinct(story))),
            of_input,
        }
    }

    pub(super) fn all_tensors(&mut self) -> Vec<&mut Tensor> {
        let StoryTokens { distinct: _, token, sentence, of_story, of_input } = self;
        [token, sentence, of_story].into_iter().chain(of_input).collect()
    }
}
