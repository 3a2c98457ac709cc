//! The pairs on the page. Evaluations of one run may overlap, such as `all` and `cloze` of one file, and several runs
//! may be evaluated on the same set. Every pair is listed once for each way to read it, with one answer of each run.

use super::read::{EvaluatedSet, ReportedRun};
use crate::prediction::LabelledPair;
use std::collections::HashMap;

/// A pair, with the answer of each run that was evaluated on it, in the order of the runs.
pub struct ListedPair<'a> {
    pub answers: Vec<RunAnswer<'a>>,
}

/// The answer of one run.
pub struct RunAnswer<'a> {
    pub run: usize,
    /// The evaluations that contain the pair, as indices into the sets of the run. The first one's prediction is shown.
    pub sets: Vec<usize>,
    pub set: &'a EvaluatedSet,
    pub pair: &'a LabelledPair,
}

/// The pairs, in the order in which they are shown.
pub struct Listing<'a> {
    pub pairs: Vec<ListedPair<'a>>,
    /// The number of each pair on the page.
    numbers: HashMap<(String, PairKey<'a>), usize>,
}

/// Id, gold conflict, sentences of the implausible and of the plausible story.
pub type PairKey<'a> = (&'a str, [usize; 2], [&'a [String]; 2]);

/// Two pairs are the same if their keys are. The key ignores the order of the stories, which depends on a run's seed.
pub fn key(pair: &LabelledPair) -> PairKey<'_> {
    let stories = [pair.implausible_story(), pair.plausible_story()];
    (&pair.id, pair.gold.conflict, stories.map(|story| story.prediction.sentences.as_slice()))
}

/// Whether both are predictions about the same pairs in the same order.
pub fn has_same_pairs(first: &[LabelledPair], other: &[LabelledPair]) -> bool {
    first.iter().map(key).eq(other.iter().map(key))
        && first.iter().zip(other).all(|(one, other)| one.asks_the_same(other))
}

impl<'a> Listing<'a> {
    pub fn new(runs: &'a [ReportedRun]) -> Self {
        let mut listing = Listing { pairs: Vec::new(), numbers: HashMap::new() };
        for (r, run) in runs.iter().enumerate() {
            for (s, set) in run.sets.iter().enumerate() {
                for pair in &set.predictions {
                    listing.add(r, s, set, pair);
                }
            }
        }
        listing
    }

    fn add(&mut self, run: usize, s: usize, set: &'a EvaluatedSet, pair: &'a LabelledPair) {
        let next = self.pairs.len();
        let number = *self.numbers.entry((set.way_to_read(), key(pair))).or_insert(next);
        if number == next {
            self.pairs.push(ListedPair { answers: Vec::new() });
        }
        let answers = &mut self.pairs[number].answers;
        match answers.iter_mut().find(|answer| answer.run == run) {
            Some(answer) => answer.sets.push(s),
            None => answers.push(RunAnswer { run, sets: vec![s], set, pair }),
        }
    }

    /// The number of a pair of a set on the page.
    pub fn number(&self, set: &EvaluatedSet, pair: &LabelledPair) -> Option<usize> {
        self.numbers.get(&(set.way_to_read(), key(pair))).copied()
    }

    /// Another set of the run that contains all pairs of this set, read in the same way. Of equal sets it is the first.
    pub fn whole_of(&self, run: usize, set: usize) -> Option<usize> {
        let answers = || self.pairs.iter().flat_map(|pair| &pair.answers);
        let sets = || answers().filter(move |answer| answer.run == run).map(|answer| &answer.sets);
        let count = |set| sets().filter(|sets| sets.contains(&set)).count();
        let others = sets().flatten().copied().filter(|&other| other != set).collect::<std::collections::BTreeSet<_>>();
        let is_whole = |&other: &usize| {
            let has_all = sets().filter(|sets| sets.contains(&set)).all(|sets| sets.contains(&other));
            has_all && (count(other) > count(set) || other < set)
        };
        others.into_iter().find(is_whole)
    }
}
