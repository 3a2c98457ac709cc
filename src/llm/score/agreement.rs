//! How often a model answers the same when the options are named in the other order: an answer that turns with the
//! order says little about the story.

use super::link::Linked;
use super::pairs::{Ranked, ranked_pairs};
use crate::error::{Error, Result};
use crate::metrics::{Share, StoryGroups};
use serde::{Deserialize, Serialize};

/// Two runs of one model on the same stories, whose prompts differ in the order of the options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    pub model: String,
    /// Stories that are judged alike, by the sign of the margin. Unknown margins agree with nothing.
    pub stories: Share,
    /// Pairs that are ranked alike. Ties and unknown margins agree with nothing.
    pub pairs: Share,
    /// Pairs ranked rightly both times.
    pub both_right: Share,
}

/// Compares two runs.
///
/// # Errors
/// `Data` if they were asked about other stories.
pub fn agreement(first: &Linked, second: &Linked) -> Result<Agreement> {
    let docs = |linked: &Linked| linked.stories.iter().map(|story| story.doc.clone()).collect::<Vec<_>>();
    if docs(first) != docs(second) {
        let problem = "the two runs were asked about other stories; agreement needs the same";
        return Err(Error::data(format!("{}: {problem}", second.model)));
    }
    let groups = StoryGroups::of_numbers(first.stories.iter().map(|story| story.group));
    let sign = |margin: Option<f64>| margin.filter(|margin| *margin != 0.).map(f64::is_sign_positive);
    let alike = |a: Option<f64>, b: Option<f64>| sign(a).is_some() && sign(a) == sign(b);
    let stories = first.stories.iter().zip(first.margins.iter().zip(&second.margins));
    let stories = groups.share(stories.map(|(story, (&a, &b))| (story.group, alike(a, b))));
    let pairs: Vec<(Ranked, Ranked)> = ranked_pairs(first).into_iter().zip(ranked_pairs(second)).collect();
    let share = |is_so: &dyn Fn(&Ranked, &Ranked) -> bool| {
        groups.share(pairs.iter().map(|(a, b)| (first.stories[a.implausible].group, is_so(a, b))))
    };
    let right = |pair: &Ranked| sign(pair.difference) == Some(true);
    Ok(Agreement {
        model: first.model.clone(),
        stories,
        pairs: share(&|a, b| alike(a.difference, b.difference)),
        both_right: share(&|a, b| right(a) && right(b)),
    })
}
