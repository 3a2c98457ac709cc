//! What a language model was asked about a pair, and said.

use crate::llm::{Said, Tier};
use crate::prediction::PairPrediction;

pub struct SaidView {
    /// "Is story 1 plausible?"
    pub question: String,
    pub answer: String,
    pub is_right: Option<bool>,
    pub prompt: String,
    /// Each option with its log-probability, where that is known.
    pub options: Vec<(String, String)>,
}

/// The questions about a pair or one of its stories, story by story, in the order of the tiers.
pub fn said(all: &[Said], prediction: &PairPrediction) -> Vec<SaidView> {
    let stories = prediction.stories.iter().enumerate();
    let of_story = stories.flat_map(|(s, story)| {
        all.iter().filter(|said| said.id == story.id).map(move |said| SaidView::new(said, s + 1))
    });
    of_story.collect()
}

impl SaidView {
    /// `story` is the number of the story on the page.
    fn new(said: &Said, story: usize) -> Self {
        let question = match (said.tier, said.of_pair) {
            (Tier::Story, false) => format!("Is story {story} plausible?"),
            (Tier::Conflict, false) => format!("Which sentences of story {story} conflict (counted from 0)?"),
            (Tier::State, false) => format!("Which physical state is the cause in story {story}?"),
            (Tier::Story, true) => "Which story is more plausible?".to_owned(),
            (Tier::Conflict, true) => "Which sentences of the other story conflict?".to_owned(),
            (Tier::State, true) => "Which entity, or which state of it?".to_owned(),
        };
        let logprob = |logprob: Option<f64>| logprob.map_or("–".to_owned(), |logprob| format!("{logprob:.3}"));
        SaidView {
            question,
            answer: said.chosen.clone().unwrap_or_else(|| "undecided".to_owned()),
            is_right: said.is_right,
            prompt: said.prompt.clone(),
            options: said.options.iter().map(|option| (option.text.clone(), logprob(option.logprob))).collect(),
        }
    }
}
