//! Which option a model chose.

use super::scorer::OptionScore;

/// The outcome of one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The option with the highest score. On a tie the earlier one is chosen, and `tied` is set.
    Option {
        /// From 0, in the order of the options.
        index: usize,
        /// Whether a later option has the same score.
        tied: bool,
    },
    /// An option of which only a bound is known may be the best one.
    Undecided,
    /// The model answered in words, and with none of the options.
    Invalid,
}

impl Choice {
    /// By the highest score; ties go to the earlier option.
    pub fn of(scores: &[OptionScore]) -> Self {
        if let Some(said) = said(scores) {
            return said.map_or(Choice::Invalid, |index| Choice::Option { index, tied: false });
        }
        let best =
            |(best, tied): (Option<(usize, f64)>, bool), (index, score): (usize, &OptionScore)| match (best, score) {
                (None, OptionScore::Exact { logprob, .. }) => (Some((index, *logprob)), false),
                (Some((_, highest)), OptionScore::Exact { logprob, .. }) if *logprob > highest => {
                    (Some((index, *logprob)), false)
                }
                (Some((_, highest)), OptionScore::Exact { logprob, .. }) if *logprob == highest => (best, true),
                _ => (best, tied),
            };
        let (Some((index, highest)), tied) = scores.iter().enumerate().fold((None, false), best) else {
            return Choice::Undecided;
        };
        let may_be_better = |score: &OptionScore| matches!(score, OptionScore::AtMost(bound) if *bound >= highest);
        if scores.iter().any(may_be_better) { Choice::Undecided } else { Choice::Option { index, tied } }
    }

    /// The index of the option chosen, if one was.
    pub fn index(self) -> Option<usize> {
        match self {
            Choice::Option { index, .. } => Some(index),
            _ => None,
        }
    }

    /// Whether these are several choices, each of them tied: the first option always wins.
    pub fn are_all_tied(choices: impl Iterator<Item = Self> + Clone) -> bool {
        choices.clone().count() > 1 && choices.into_iter().all(Choice::is_tied)
    }

    /// Whether the option chosen shares the highest score with a later one.
    pub fn is_tied(self) -> bool {
        matches!(self, Choice::Option { tied: true, .. })
    }
}

/// If the model answered in words: the option that it said, if it is one.
fn said(scores: &[OptionScore]) -> Option<Option<usize>> {
    let is_said = |score: &OptionScore| matches!(score, OptionScore::Said(_));
    let all = !scores.is_empty() && scores.iter().all(is_said);
    all.then(|| scores.iter().position(|score| *score == OptionScore::Said(true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(logprob: f64) -> OptionScore {
        OptionScore::Exact { logprob, is_greedy: false }
    }

    #[test]
    fn the_highest_wins_and_ties_go_to_the_earlier() {
        let chosen = |logprobs: &[f64]| Choice::of(&logprobs.iter().map(|&logprob| exact(logprob)).collect::<Vec<_>>());
        assert_eq!(chosen(&[-2., -1., -3.]), Choice::Option { index: 1, tied: false });
        assert_eq!(chosen(&[-2., -1., -1.]), Choice::Option { index: 1, tied: true });
        assert_eq!(chosen(&[-2., -2., -1.]), Choice::Option { index: 2, tied: false });
        assert_eq!(chosen(&[f64::MIN, -1.]).index(), Some(1), "the lowest float ranks last");
    }

    #[test]
    fn a_bound_that_may_be_higher_leaves_it_undecided() {
        assert_eq!(Choice::of(&[exact(-2.), OptionScore::AtMost(-3.)]).index(), Some(0));
        assert_eq!(Choice::of(&[exact(-2.), OptionScore::AtMost(-1.)]), Choice::Undecided);
        assert_eq!(Choice::of(&[exact(-2.), OptionScore::AtMost(-2.)]), Choice::Undecided);
        assert_eq!(Choice::of(&[OptionScore::AtMost(-2.), OptionScore::AtMost(-1.)]), Choice::Undecided);
    }

    #[test]
    fn an_answer_in_words_is_an_option_or_invalid() {
        let said = |answers: [bool; 2]| Choice::of(&answers.map(OptionScore::Said));
        assert_eq!(said([false, true]), Choice::Option { index: 1, tied: false });
        assert_eq!(said([false, false]), Choice::Invalid);
    }
}
