//! The questions of a tier: a prompt and the continuations to score, for each story.

use super::options::options;
use super::plan::{Plan, ShotSource};
use super::prompt::prompt;
use super::shots::{draw_shots, is_short};
use super::story::Story;
use super::tier::{Protocol, Tier};
use crate::error::{Error, Result};

/// One question about one story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub tier: Tier,
    /// The index of the story.
    pub story: usize,
    /// "tier 2, row 54 (98)", for messages.
    pub name: String,
    /// As rendered, white space at its end too.
    pub prompt: String,
    /// In the order in which ties are settled.
    pub options: Vec<String>,
    /// Each option with the blank before it, if there is one.
    pub continuations: Vec<String>,
}

impl Question {
    /// A question about a story, with continuations for its options.
    pub fn new(tier: Tier, (index, story): (usize, &Story), prompt: String, plan: &Plan) -> Self {
        let options = options(tier, story.sentences.len());
        let blank = if plan.leading_blank { " " } else { "" };
        let continuations = options.iter().map(|option| format!("{blank}{option}")).collect();
        Question { tier, story: index, name: format!("{tier}, {}", story.name()), prompt, options, continuations }
    }

    /// What is sent: the prompt without white space at its end, and the continuations with that in front.
    pub fn asked(&self) -> (&str, Vec<String>) {
        let prompt = self.prompt.trim_end();
        let moved = &self.prompt[prompt.len()..];
        (prompt, self.continuations.iter().map(|continuation| format!("{moved}{continuation}")).collect())
    }
}

/// The questions of a tier about these stories (indices, in order), and a remark if the pool of shots was too small.
///
/// # Errors
/// `Data` if a story or a shot lacks what the tier asks for; `Config` if the template fails.
pub fn questions(
    stories: &[Story],
    plan: &Plan,
    tier: Tier,
    asked: &[usize],
) -> Result<(Vec<Question>, Option<String>)> {
    if let Some(&story) = asked.iter().find(|&&index| tier > Tier::Story && stories[index].conflict.is_none()) {
        let problem = "is implausible, but names no sentences in conflict, which tier 2 needs; add its `confl_sents` and \
                       `breakpoint`, or leave it out";
        return Err(Error::data(format!("{}: {problem}", stories[story].name())));
    }
    let (shots, remark) = shots(stories, plan, tier, asked);
    let question = |(&index, shots): (&usize, Vec<&Story>)| {
        let story = &stories[index];
        let prompt = prompt(&plan.style, tier, plan.wording, &shots, story)?;
        Ok(Question::new(tier, (index, story), prompt, plan))
    };
    Ok((asked.iter().zip(shots).map(question).collect::<Result<_>>()?, remark))
}

/// The shots of each story, and a remark if there were too few.
fn shots<'a>(
    stories: &'a [Story],
    plan: &'a Plan,
    tier: Tier,
    asked: &[usize],
) -> (Vec<Vec<&'a Story>>, Option<String>) {
    let pool: Vec<&Story> = match &plan.source {
        ShotSource::Own => asked.iter().map(|&index| &stories[index]).collect(),
        ShotSource::Other(others) => others.iter().filter(|story| tier == Tier::Story || !story.plausible).collect(),
        ShotSource::Fixed(fixed) => {
            let usable = |story: &&Story| tier == Tier::Story || !story.plausible && story.answer(tier).is_some();
            let shots = |&index: &usize| {
                let is_other = |shot: &&Story| shot.sentences != stories[index].sentences;
                fixed.iter().filter(usable).filter(is_other).take(plan.shots).collect()
            };
            return (asked.iter().map(shots).collect(), None);
        }
    };
    // Only by `trip` and `pairs` may a story lack an answer: no state of its conflict is an option.
    let pool: Vec<&Story> = match plan.protocol {
        Protocol::Gita4calamita => pool,
        _ => pool.into_iter().filter(|story| story.answer(tier).is_some()).collect(),
    };
    let place = |&index: &usize| pool.iter().position(|shot| std::ptr::eq(*shot, &raw const stories[index]));
    let places: Vec<Option<usize>> = asked.iter().map(place).collect();
    let drawn = draw_shots(&places, pool.len(), plan.shots, plan.seed);
    let remark = (is_short(pool.len(), plan.shots) && !asked.is_empty())
        .then(|| format!("{tier}: fewer than {} shots, because its pool has {} stories", plan.shots, pool.len()));
    (drawn.into_iter().map(|places| places.into_iter().map(|place| pool[place]).collect()).collect(), remark)
}
