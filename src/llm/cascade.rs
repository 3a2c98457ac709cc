//! Asks the tiers one after another: a tier's stories, and the pool of its shots, depend on the whole tier before.

use super::choice::Choice;
use super::plan::Plan;
use super::question::{Question, questions};
use super::scorer::{OptionScore, Request, Scorer};
use super::story::Story;
use super::tier::Tier;
use crate::error::{Error, ErrorKind, Result};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A question with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub question: Question,
    /// One for each option.
    pub scores: Vec<OptionScore>,
    pub choice: Choice,
}

/// All answers of a tier, in the order of the stories.
#[derive(Debug, Clone, PartialEq)]
pub struct TierAnswers {
    pub tier: Tier,
    pub answers: Vec<Answer>,
    /// What must stand beside the figures: too few shots.
    pub remarks: Vec<String>,
}

/// How far a tier is: for a progress bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub tier: Tier,
    /// Stories answered, including this one.
    pub done: usize,
    /// Stories asked in this tier.
    pub total: usize,
}

/// Told after every story; several threads may tell at once.
pub type OnStep<'a> = &'a (dyn Fn(Step) + Sync);

impl Answer {
    /// The option chosen, if one was.
    pub fn chosen(&self) -> Option<&str> {
        self.choice.index().map(|index| self.question.options[index].as_str())
    }

    /// Whether the right option was chosen. An undecided or invalid answer is not right.
    pub fn is_right(&self, story: &Story) -> bool {
        self.chosen().is_some_and(|option| story.is_right(self.question.tier, option))
    }
}

/// Asks all tiers up to the plan's last.
///
/// # Errors
/// Those of the scorer, and those of [`questions`]; `Data` if a story's options all score exactly 0 or every story of a
/// tier is tied, which a server does that does not score what it is asked.
pub fn ask(stories: &[Story], plan: &Plan, scorer: &dyn Scorer, on_step: OnStep) -> Result<Vec<TierAnswers>> {
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
pub fn stories_of(stories: &[Story], plan: &Plan, tier: Tier, before: Option<&TierAnswers>) -> Vec<usize> {
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
) -> Result<Vec<Answer>> {
    let (next, done, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let answers: Mutex<Vec<Option<Result<Answer>>>> = Mutex::new(questions.iter().map(|_| None).collect());
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(question) = questions.get(place) else { break };
            let answer = ask_one(question, scorer);
            if answer.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            answers.lock().expect("no thread panicked")[place] = Some(answer);
            let done = 1 + done.fetch_add(1, Ordering::Relaxed);
            on_step(Step { tier: question.tier, done, total: questions.len() });
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..concurrency.clamp(1, questions.len().max(1)) {
            scope.spawn(work);
        }
    });
    let answers = answers.into_inner().expect("no thread panicked").into_iter().flatten();
    let answers: Vec<Answer> = answers.collect::<Result<_>>()?;
    require_not_all_tied(&answers)?;
    Ok(answers)
}

fn ask_one(question: &Question, scorer: &dyn Scorer) -> Result<Answer> {
    let (prompt, continuations) = question.asked();
    let scores = scorer.score(&Request { name: &question.name, prompt, continuations: &continuations })?;
    check(question, &scores)?;
    Ok(Answer { question: question.clone(), choice: Choice::of(&scores), scores })
}

/// Refuses scores that are none.
fn check(question: &Question, scores: &[OptionScore]) -> Result<()> {
    let name = &question.name;
    let (found, expected) = (scores.len(), question.options.len());
    if found != expected {
        return Err(Error::new(ErrorKind::Internal, format!("{name}: {found} scores for {expected} options")));
    }
    let logprob = |score: &OptionScore| match score {
        OptionScore::Exact { logprob, .. } => Some(*logprob),
        OptionScore::AtMost(bound) => Some(*bound),
        OptionScore::Said(_) => None,
    };
    if let Some(wrong) = scores.iter().filter_map(logprob).find(|score| !(*score <= 0.)) {
        return Err(Error::data(format!("{name}: the server gave {wrong} as a log-probability; it must be at most 0")));
    }
    if scores.iter().all(|score| matches!(score, OptionScore::Exact { logprob: 0., .. })) {
        let remedy = "the server does not score what it is asked; choose another way to ask it";
        return Err(Error::data(format!("{name}: every option has log-probability 0: {remedy}")));
    }
    Ok(())
}

/// Refuses a tier of several stories in which every story is tied.
fn require_not_all_tied(answers: &[Answer]) -> Result<()> {
    if answers.len() < 2 || !answers.iter().all(|answer| answer.choice.is_tied()) {
        return Ok(());
    }
    Err(Error::data(format!(
        "{}: every story's options are tied, so that the first one always wins: the server does not score what it is \
         asked; choose another way to ask it",
        answers[0].question.tier
    )))
}
