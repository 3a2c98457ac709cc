//! Asks about pairs in HAR's way: story, sentences, then an entity and its state for each of the two sentences.

use super::text::{CONFLICT, LETTERS, after, after_question, before, before_question, first_prompt, states_of};
use crate::attribute::{Attribute, Side};
use crate::data::{Pair, Story};
use crate::error::Result;
use crate::llm::cascade::{AskedQuestion, OnStep, QuestionAnswer, ask_one, require_not_all_tied};
use crate::llm::parallel::in_parallel;
use crate::llm::question::Question;
use crate::llm::scorer::Scorer;
use crate::llm::tier::Tier;
use crate::prediction::{EntityPrediction, LabelledPair, PairPrediction, StoryPrediction};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a model answered about a pair.
#[derive(Debug, Clone, PartialEq)]
pub struct HarAnswer {
    /// For `tiered score`: the stories in the order of the pair, whatever order they were shown in.
    pub pair: LabelledPair,
    /// All questions with their answers, in the order in which they were asked. They end early if an answer is
    /// undecided.
    pub steps: Vec<QuestionAnswer>,
}

/// Asks about every pair, several at once. With `swapped`, the second story of a pair is shown first.
///
/// # Errors
/// Those of the scorer; `Data` if an example has no states at its conflict, or the stories of every pair are tied.
pub fn ask_har(
    pairs: &[Pair],
    shots: &[Pair],
    swapped: bool,
    concurrency: usize,
    scorer: &dyn Scorer,
    on_step: OnStep,
) -> Result<Vec<HarAnswer>> {
    let done = AtomicUsize::new(0);
    let answers = in_parallel(pairs.len(), concurrency, &|place| {
        let answer = ask_about(&pairs[place], place, shots, swapped, scorer)?;
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        on_step(AskedQuestion { tier: Tier::Story, done, total: pairs.len() });
        Ok(answer)
    })?;
    require_not_all_tied(answers.iter().filter_map(|answer| answer.steps.first()))?;
    Ok(answers)
}

/// The text so far, and what was asked.
struct Dialogue<'a> {
    scorer: &'a dyn Scorer,
    pair: &'a Pair,
    place: usize,
    text: String,
    steps: Vec<QuestionAnswer>,
}

impl Dialogue<'_> {
    /// Lets the model choose how the text goes on, and goes on so. `None` if it is undecided.
    fn choose(&mut self, tier: Tier, options: Vec<String>) -> Result<Option<usize>> {
        let question = Question {
            tier,
            story: self.place,
            name: format!("{tier}, pair {}", self.pair.id),
            prompt: self.text.clone(),
            continuations: options.clone(),
            options,
        };
        let answer = ask_one(&question, self.scorer)?;
        let chosen = answer.choice.index();
        self.text.push_str(answer.chosen().unwrap_or_default());
        self.steps.push(answer);
        Ok(chosen)
    }
}

fn ask_about(pair: &Pair, place: usize, shots: &[Pair], swapped: bool, scorer: &dyn Scorer) -> Result<HarAnswer> {
    let shown: [usize; 2] = if swapped { [1, 0] } else { [0, 1] };
    let text = first_prompt(shots, pair, shown)?;
    let mut dialogue = Dialogue { scorer, pair, place, text, steps: Vec::new() };
    let mut prediction = nothing_predicted(pair);
    answer(&mut dialogue, shown, &mut prediction)?;
    Ok(HarAnswer { pair: LabelledPair::new(pair, prediction), steps: dialogue.steps })
}

/// Fills in the prediction tier by tier, as far as the answers are decided: of two states, both or none.
fn answer(dialogue: &mut Dialogue, shown: [usize; 2], prediction: &mut PairPrediction) -> Result<()> {
    let letters = LETTERS.map(|letter| format!(" {letter}")).to_vec();
    let Some(place) = dialogue.choose(Tier::Story, letters)? else { return Ok(()) };
    let (plausible, implausible) = (shown[place], shown[1 - place]);
    prediction.plausible = plausible;
    prediction.story_probs = [0, 1].map(|story| f32::from(u8::from(story == plausible)));
    dialogue.text.push_str(&format!(" is more plausible.\nIn Story {}, sentences", LETTERS[1 - place]));
    let story = dialogue.pair.stories[implausible].clone();
    let sentence_pairs: Vec<[usize; 2]> =
        (0..story.sentences.len()).flat_map(|i| (i + 1..story.sentences.len()).map(move |j| [i, j])).collect();
    let options = sentence_pairs.iter().map(|[i, j]| format!(" {} and {}", i + 1, j + 1)).collect();
    let Some(chosen) = dialogue.choose(Tier::Conflict, options)? else { return Ok(()) };
    let [first, second] = sentence_pairs[chosen];
    prediction.conflict = vec![first, second];
    let predicted = &mut prediction.stories[implausible];
    for entity in &mut predicted.entities {
        entity.conflict_probs[first] = 1.;
        entity.conflict_probs[second] = 1.;
    }
    dialogue.text.push_str(CONFLICT);
    let asked = [(Side::Effect, first), (Side::Precondition, second)];
    let mut states = Vec::new();
    for (side, sentence) in asked {
        let Some(state) = state(dialogue, &story, side, sentence)? else { return Ok(()) };
        states.push(state);
    }
    for ((side, sentence), (entity, attribute, class)) in asked.into_iter().zip(states) {
        predicted.entities[entity].side_mut(side).classes[sentence][attribute.index()] = class;
    }
    Ok(())
}

/// Asks for an entity of a sentence and its state: the entity's number, the attribute and its class.
fn state(
    dialogue: &mut Dialogue,
    story: &Story,
    side: Side,
    sentence: usize,
) -> Result<Option<(usize, Attribute, u8)>> {
    let (opening, question): (String, fn(&str) -> String) = match side {
        Side::Effect => (after(story, sentence), after_question),
        Side::Precondition => (before(story, sentence), before_question),
    };
    dialogue.text.push_str(&format!("For sentence {}:\n{opening}", sentence + 1));
    let entities = story.entities.iter().map(|entity| question(&entity.name)).collect();
    let Some(entity) = dialogue.choose(Tier::State, entities)? else { return Ok(None) };
    let states = states_of(&story.entities[entity].name);
    let options = states.iter().map(|(text, ..)| format!(" {text}")).collect();
    let Some(state) = dialogue.choose(Tier::State, options)? else { return Ok(None) };
    dialogue.text.push_str(".\n");
    let (_, attribute, class) = states[state];
    Ok(Some((entity, attribute, class)))
}

/// The wrong story: what an undecided answer counts as.
fn nothing_predicted(pair: &Pair) -> PairPrediction {
    let stories = pair.stories.each_ref().map(no_states);
    PairPrediction { plausible: 1 - pair.plausible, story_probs: [0.5; 2], conflict: Vec::new(), stories }
}

fn no_states(story: &Story) -> StoryPrediction {
    let no_conflict = vec![0.; story.sentences.len()];
    let entities = story.entities.iter();
    let entities = entities.map(|entity| EntityPrediction::without_states(&entity.name, no_conflict.clone()));
    StoryPrediction {
        id: story.id.clone(),
        sentences: story.sentences.clone(),
        sentence_pairs: Vec::new(),
        subjects: Vec::new(),
        no_conflict: None,
        entities: entities.collect(),
    }
}
