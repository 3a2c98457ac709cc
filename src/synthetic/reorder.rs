//! Reorders plausible stories that people wrote and labelled, if their labels prove the conflict.
//!
//! The rule is that of synthetic stories, with labels instead of actions. What a sentence presupposes or makes is known
//! from then on. A precondition that contradicts what is known is a conflict; its evidence is the last sentence that
//! said otherwise. The two location attributes describe events, not states, and are left out.

use super::file::{MadeStory, Writer};
use crate::attribute::Attribute;
use crate::data::{Conflict, Entity, Story};
use crate::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// Conflicts, each with the entities and attributes that cause it.
type Conflicts = BTreeMap<(usize, usize), BTreeSet<(String, Attribute)>>;

/// Writes the first plausible story of every group if it can be reordered, and all order stories from swapping two of its
/// sentences: those with exactly one conflict, if the original story has none. Returns the number of order stories.
///
/// # Errors
/// `Data` if there are no order stories; `Io`, without a file name, if `output` fails.
pub fn reorder_stories(stories: &[Story], split: &str, output: &mut dyn Write) -> Result<usize> {
    let mut writer = Writer::begin(output, split)?;
    let mut count = 0;
    let mut groups = BTreeSet::new();
    let plausible = stories.iter().filter(|story| story.conflict.is_none() && groups.insert(story.group));
    let plausible: Vec<&Story> = plausible.collect();
    for &story in &plausible {
        let swapped = swapped(story);
        if !swapped.is_empty() {
            writer.write(story.group, 0, &MadeStory::reordered(story, &BTreeSet::new()))?;
        }
        for (number, (story, cause)) in swapped.iter().enumerate() {
            writer.write(story.group, number, &MadeStory::reordered(story, cause))?;
        }
        count += swapped.len();
    }
    writer.finish()?;
    match count {
        0 => Err(Error::data(format!("no order story can be made of split {split:?}: {}", why_none(&plausible)))),
        _ => Ok(count),
    }
}

/// Why no order story can be made of these plausible stories, and what to do.
fn why_none(plausible: &[&Story]) -> String {
    let labelled: Vec<&Story> = plausible.iter().copied().filter(|story| story.has_states).collect();
    let own = |story: &&Story| conflicts(story, &(0..story.sentences.len()).collect::<Vec<_>>()).pop_first();
    let own: Vec<_> = labelled.iter().filter_map(own).collect();
    match own.first() {
        _ if plausible.is_empty() => "it has no plausible story; name another split".into(),
        _ if labelled.is_empty() => "no plausible story has state labels; label them, or name another file".into(),
        Some(((evidence, breakpoint), cause)) if own.len() == labelled.len() => {
            let cause: Vec<_> = cause.iter().map(|(name, attribute)| format!("{name:?}, {attribute}")).collect();
            format!(
                "in the order as written, the labels of every labelled plausible story contradict each other, as in \
                 story {:?}, sentences {} and {} ({}); correct the labels",
                labelled[0].id,
                evidence + 1,
                breakpoint + 1,
                cause.join("; ")
            )
        }
        _ => "whichever two sentences are swapped, the labels show no single conflict; name other stories".into(),
    }
}

/// The order stories from a plausible one, with their causes.
fn swapped(story: &Story) -> Vec<(Story, BTreeSet<(String, Attribute)>)> {
    let n = story.sentences.len();
    let as_it_was: Vec<usize> = (0..n).collect();
    if !conflicts(story, &as_it_was).is_empty() {
        return Vec::new();
    }
    let swaps = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let changed = swaps.filter(|&(i, j)| story.sentences[i] != story.sentences[j]);
    let broken = changed.filter_map(|(i, j)| {
        let mut order = as_it_was.clone();
        order.swap(i, j);
        let mut conflicts = conflicts(story, &order).into_iter();
        let ((evidence, breakpoint), cause) = conflicts.next().filter(|_| conflicts.len() == 0)?;
        Some((story.reordered(&order, Conflict { evidence, breakpoint }), cause))
    });
    broken.collect()
}

fn conflicts(story: &Story, order: &[usize]) -> Conflicts {
    let mut conflicts = Conflicts::new();
    let states = Attribute::ALL.into_iter().filter(|a| !matches!(a, Attribute::HLocation | Attribute::Location));
    for (entity, attribute) in story.entities.iter().flat_map(|entity| states.clone().map(move |a| (entity, a))) {
        let mut known: Option<(u8, usize)> = None;
        for (n, &sentence) in order.iter().enumerate() {
            let [before, after] = classes(entity, attribute, sentence);
            if let Some((_, evidence)) = known.filter(|&(state, _)| before != UNKNOWN && before != state) {
                conflicts.entry((evidence, n)).or_default().insert((entity.name.clone(), attribute));
            }
            known = match (before, after) {
                (UNKNOWN, UNKNOWN) => known,
                (_, UNKNOWN) => None,
                (_, after) => Some((after, n)),
            };
        }
    }
    conflicts
}

const UNKNOWN: u8 = 0;

/// The precondition and the effect.
fn classes(entity: &Entity, attribute: Attribute, sentence: usize) -> [u8; 2] {
    [&entity.preconditions, &entity.effects].map(|side| side[sentence][attribute.index()])
}
