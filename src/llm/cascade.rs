//! Asks the tiers one after another: a tier's stories, and the pool of its shots, depend on the whole tier before.

use super::choice::Choice;
use super::parallel::in_parallel;
use super::plan::Plan;
use super::question::{Question, questions};
use super::scorer::{OptionScore, Request, Scorer, are_all_zero};
use super::story::AskedStory;
use super::tier::{Protocol, Tier};
use crate::error::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A question with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionAnswer {
    /// What was asked.
    pub question: Question,
    /// One for each option.
    pub scores: Vec<OptionScore>,
    /// The outcome that follows from the scores.
    pub choice: Choice,
}

/// All answers of a tier, in the order of the stories.
#[derive(Debug, Clone, PartialEq)]
pub struct TierAnswers {
    /// The tier that was asked.
    pub tier: Tier,
    /// One for each story that the tier asked about.
    pub answers: Vec<QuestionAnswer>,
    /// What must stand beside the figures: too few shots.
    pub remarks: Vec<String>,
}

/// How far a tier is: for a progress bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedQuestion {
    /// The tier in which a story was just answered; by protocol har always the first.
    pub tier: Tier,
    /// Stories (by protocol har, pairs) answered, including this one.
    pub done: usize,
    /// Stories or pairs asked in this tier.
    pub total: usize,
}

/// Told after every story; several threads may tell at once.
pub type OnStep<'a> = &'a (dyn Fn(AskedQuestion) + Sync);

impl QuestionAnswer {
    /// The option chosen, if one was.
    pub fn chosen(&self) -> Option<&str> {
        self.choice.index().map(|index| self.question.options[index].as_str())
    }

    /// Whether the right option was chosen. An undecided or invalid answer is not right.
    pub fn is_right(&self, story: &AskedStory) -> bool {
        self.chosen().is_some_and(|option| story.is_right(self.question.tier, option))
    }
}

/// Asks all tiers up to the plan's last.
///
/// # Errors
/// Those of the scorer, and those of [`questions`]; `Data` if a story's options all score exactly 0 or every story of a
/// tier is tied, which a server does that does not score what it is asked; `Internal` for protocol `har`, which has
/// [`ask_har`](super::har::ask_har).
pub fn ask(stories: &[AskedStory], plan: &Plan, scorer: &dyn Scorer, on_step: OnStep) -> Result<Vec<TierAnswers>> {
    if plan.protocol == Protocol::Har {
        return Err(Error::new(ErrorKind::Internal, "protocol har asks about pairs, not about single stories"));
    }
    let mut tiers: Vec<TierAnswers> = Vec::new();
    for tier in Tier::ALL.into_iter().filter(|tier| *tier <= plan.last) {
        let asked = stories_of(stories, plan, tier, tiers.last());
        let (questions, remark) = questions(stories, plan, tier, &asked)?;
        let answers = ask_all(questions, plan.concurrency, scorer, on_step)?;
        tiers.push(TierAnswers { tier, answers, remarks: remark.into_iter().collect() });
    }
    Ok(tiers)
}

/// The indices of the stories to ask about in a tier. In a cascade: in tier 1 all, then the implausible ones that the
/// tier before got right.
pub fn stories_of(stories: &[AskedStory], plan: &Plan, tier: Tier, before: Option<&TierAnswers>) -> Vec<usize> {
    let implausible = |&index: &usize| !stories[index].plausible;
    match before {
        _ if tier == Tier::Story => (0..stories.len()).collect(),
        Some(before) if plan.cascade => {
            let right = before.answers.iter().filter(|answer| answer.is_right(&stories[answer.question.story]));
            right.map(|answer| answer.question.story).filter(implausible).collect()
        }
        _ => (0..stories.len()).filter(implausible).collect(),
    }
}

/// Asks questions of one tier, several at once. The answers are in the order of the questions.
///
/// # Errors
/// Like [`ask`]. After an error no new question is asked; of several errors, that of the earliest question is returned.
pub fn ask_all(
    questions: Vec<Question>,
    concurrency: usize,
    scorer: &dyn Scorer,
    on_step: OnStep,
) -> Result<Vec<QuestionAnswer>> {
    let done = AtomicUsize::new(0);
    let answers = in_parallel(questions.len(), concurrency, &|place| {
        let answer = ask_one(&questions[place], scorer)?;
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        on_step(AskedQuestion { tier: questions[place].tier, done, total: questions.len() });
        Ok(answer)
    })?;
    require_not_all_tied(answers.iter())?;
    Ok(answers)
}

/// Asks one question.
///
/// # Errors
/// Those of the scorer; `Data` if its scores are none.
pub(super) fn ask_one(question: &Question, scorer: &dyn Scorer) -> Result<QuestionAnswer> {
    let (prompt, continuations) = question.asked();
    let scores = scorer.score(&Request { name: &question.name, prompt, continuations: &continuations })?;
    check(question, &scores)?;
    Ok(QuestionAnswer { question: question.clone(), choice: Choice::of(&scores), scores })
}

/// Refuses scores that are none.
fn check(question: &Question, scores: &[OptionScore]) -> Result<()> {
    let name = &question.name;
    let (found, expected) = (scores.len(), question.options.len());
    if found != expected {
        return Err(Error::new(ErrorKind::Internal, format!("{name}: {found} scores for {expected} options")));
    }
    let logprobs = scores.iter().filter_map(|score| score.at_most());
    if let Some(wrong) = logprobs.into_iter().find(|score| score.is_nan() || *score > 0.) {
        return Err(Error::data(format!("{name}: the server gave {wrong} as a log-probability; it must be at most 0")));
    }
    if are_all_zero(scores) {
        let remedy = "the server does not score what it is asked; choose another way to ask it";
        return Err(Error::data(format!("{name}: every option has log-probability 0: {remedy}")));
    }
    Ok(())
}

/// Refuses a tier of several stories in which every story is tied.
pub(super) fn require_not_all_tied<'a>(answers: impl Iterator<Item = &'a QuestionAnswer> + Clone) -> Result<()> {
    if !Choice::are_all_tied(answers.clone().map(|answer| answer.choice)) {
        return Ok(());
    }
    let tier = answers.map(|answer| answer.question.tier).next().unwrap_or(Tier::Story);
    Err(Error::data(format!(
        "{}: every story's options are tied, so that the first one always wins: the server does not score what it is \
         asked; choose another way to ask it",
        tier
    )))
}
