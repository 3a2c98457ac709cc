//! Chooses the steps to measure.

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::Trial;
use crate::train::{MixtureComponent, order};

/// The number of pairs to measure at each size, if the number of steps is not given.
const PAIRS: usize = 48;

/// Steps of the first epoch, evenly spread over the number of tokens, so that a few represent all.
pub struct TimedSample {
    pub pairs_per_step: usize,
    /// The steps, each a list of pairs by their index, from the fewest tokens to the most.
    pub steps: Vec<Vec<usize>>,
    /// The average over the whole epoch.
    pub tokens_per_pair: f64,
}

impl TimedSample {
    /// # Errors
    /// `Usage` if there are fewer pairs than a step needs.
    pub fn new(trial: &Trial, pairs_per_step: usize, steps: Option<usize>) -> Result<Self> {
        let mut epoch = order::steps(
            &|pair| trial.train.corpus.pairs[pair].group,
            &[MixtureComponent::all(trial.train.corpus.len())],
            pairs_per_step,
            trial.config.seed,
            1,
        );
        epoch.retain(|pairs| pairs.len() == pairs_per_step); // the last may have fewer
        if epoch.is_empty() {
            let message = format!(
                "--pairs-per-step {pairs_per_step}: there are only {} pairs to train on; give a smaller number",
                trial.train.corpus.len()
            );
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let mut sized: Vec<(usize, Vec<usize>)> =
            epoch.into_iter().map(|pairs| (trial.train.corpus.unique_tokens(&pairs), pairs)).collect();
        let tokens: usize = sized.iter().map(|(tokens, _)| tokens).sum();
        let tokens_per_pair = tokens as f64 / (sized.len() * pairs_per_step) as f64;
        sized.sort_unstable();
        let wanted = steps.unwrap_or_else(|| (PAIRS / pairs_per_step).clamp(3, 8)).min(sized.len());
        let steps = spread(sized.len(), wanted).map(|i| sized[i].1.clone()).collect();
        Ok(TimedSample { pairs_per_step, steps, tokens_per_pair })
    }

    pub fn pairs(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().flatten().copied()
    }
}

/// The middles of `count` equal parts of `0..len`.
fn spread(len: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |i| (2 * i + 1) * len / (2 * count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_takes_the_middles_of_equal_parts() {
        assert_eq!(spread(10, 1).collect::<Vec<_>>(), [5]);
        assert_eq!(spread(12, 3).collect::<Vec<_>>(), [2, 6, 10]);
        assert_eq!(spread(4, 4).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}
