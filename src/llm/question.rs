//! The questions of a tier: a prompt and the continuations to score, for each story.

use super::options::options;
use super::plan::{Plan, ShotSource};
use super::prompt::prompt;
use super::shots::draw_shots;
use super::story::AskedStory;
use super::tier::{Protocol, Tier};
use crate::error::{Error, Result};
use crate::say::counted;

/// One question about one story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The tier that asks, which decides about prompt and options.
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
    pub fn new(tier: Tier, (index, story): (usize, &AskedStory), prompt: String, plan: &Plan) -> Self {
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
    stories: &[AskedStory],
    plan: &Plan,
    tier: Tier,
    asked: &[usize],
) -> Result<(Vec<Question>, Option<String>)> {
    if let Some(&story) = asked.iter().find(|&&index| tier > Tier::Story && stories[index].conflict.is_none()) {
        return Err(no_conflict(&stories[story]));
    }
    let (shots, remark) = shots(stories, plan, tier, asked);
    let question = |(&index, shots): (&usize, Vec<&AskedStory>)| {
        let story = &stories[index];
        let prompt = prompt(&plan.style, tier, plan.wording, &shots, story)?;
        Ok(Question::new(tier, (index, story), prompt, plan))
    };
    Ok((asked.iter().zip(shots).map(question).collect::<Result<_>>()?, remark))
}

/// The error of an implausible story that tiers 2 and 3 can't be asked about.
pub(super) fn no_conflict(story: &AskedStory) -> Error {
    let problem = "is implausible, but names no sentences in conflict, which tier 2 needs; add its `confl_sents` and \
                   `breakpoint`, leave it out, or ask about tier 1 only";
    Error::data(format!("{}: {problem}", story.name()))
}

/// The shots of each story, and a remark if some story has too few.
fn shots<'a>(
    stories: &'a [AskedStory],
    plan: &'a Plan,
    tier: Tier,
    asked: &[usize],
) -> (Vec<Vec<&'a AskedStory>>, Option<String>) {
    let (shots, why) = match &plan.source {
        ShotSource::Fixed(fixed) => {
            let why = "because a story is not its own shot, and plausible ones are shots of tier 1 only".to_owned();
            (asked.iter().map(|&index| fixed_shots(fixed, plan.shots, tier, &stories[index])).collect(), why)
        }
        source => {
            let pool = pool(source, stories, plan.protocol, tier, asked);
            let place = |&index: &usize| place(source, &pool, &stories[index]);
            let places: Vec<Option<usize>> = asked.iter().map(place).collect();
            let drawn = draw_shots(&places, pool.len(), plan.shots, plan.seed);
            let shots = drawn.into_iter().map(|places| places.into_iter().map(|place| pool[place]).collect());
            (shots.collect::<Vec<Vec<&AskedStory>>>(), format!("because its pool has {}", counted(pool.len(), "story")))
        }
    };
    let fewest = shots.iter().map(Vec::len).min().unwrap_or(plan.shots);
    let remark = (fewest < plan.shots)
        .then(|| format!("{tier}: before some stories only {fewest} of {} shots, {why}", plan.shots));
    (shots, remark)
}

/// The stories that shots are drawn from.
fn pool<'a>(
    source: &'a ShotSource,
    stories: &'a [AskedStory],
    protocol: Protocol,
    tier: Tier,
    asked: &[usize],
) -> Vec<&'a AskedStory> {
    let pool: Vec<&AskedStory> = match source {
        ShotSource::Other(others) => others.iter().filter(|story| tier == Tier::Story || !story.plausible).collect(),
        _ => asked.iter().map(|&index| &stories[index]).collect(),
    };
    // By `trip` and `pairs` a story may lack an answer (no state of its conflict is an option), and so may other stories.
    match (protocol, source) {
        (Protocol::Gita4calamita, ShotSource::Own) => pool,
        _ => pool.into_iter().filter(|story| story.answer(tier).is_some()).collect(),
    }
}

/// The place of a story in the pool. In the stories asked, the row names it; other files may have the same story.
fn place(source: &ShotSource, pool: &[&AskedStory], story: &AskedStory) -> Option<usize> {
    match source {
        ShotSource::Other(_) => pool.iter().position(|shot| shot.sentences == story.sentences),
        _ => pool.iter().position(|shot| std::ptr::eq(*shot, story)),
    }
}

fn fixed_shots<'a>(fixed: &'a [AskedStory], most: usize, tier: Tier, story: &AskedStory) -> Vec<&'a AskedStory> {
    let usable = |shot: &&AskedStory| tier == Tier::Story || !shot.plausible && shot.answer(tier).is_some();
    let is_other = |shot: &&AskedStory| shot.sentences != story.sentences;
    fixed.iter().filter(usable).filter(is_other).take(most).collect()
}
