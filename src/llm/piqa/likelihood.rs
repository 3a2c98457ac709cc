//! Ranks the two solutions by how likely a model finds each after the situation. Ours; the benchmark asks in words.

use super::dataset::{Item, PiqaSet};
use crate::error::{Error, Result};
use crate::llm::parallel::in_parallel;
use crate::llm::{OptionScore, Request, Scorer};

/// What a log-likelihood is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalisation {
    /// Nothing: the sum over the solution's tokens. It favours short solutions.
    Sum,
    /// The solution's characters, without the blank before it.
    PerCharacter,
}

/// The scores of an item's two solutions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likelihood {
    scores: [OptionScore; 2],
    characters: [usize; 2],
}

/// Which solution is the likelier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankedItem {
    /// This solution, 0 or 1, is the likelier one.
    Clear(u8),
    /// Equally likely: solution 0 is taken.
    Tied,
    /// A score is only known to be at most something, and that does not suffice.
    Undecided,
}

impl RankedItem {
    /// 0 or 1; `None` if undecided.
    pub fn prediction(self) -> Option<u8> {
        match self {
            RankedItem::Clear(solution) => Some(solution),
            RankedItem::Tied => Some(0),
            RankedItem::Undecided => None,
        }
    }
}

impl Likelihood {
    /// Compares the two scores, each divided as `normalisation` says.
    pub fn rank(&self, normalisation: Normalisation) -> RankedItem {
        let divided = |solution: usize, logprob: f64| match normalisation {
            Normalisation::Sum => logprob,
            Normalisation::PerCharacter => logprob / self.characters[solution] as f64,
        };
        match self.scores {
            [OptionScore::Exact { logprob: first, .. }, OptionScore::Exact { logprob: second, .. }] => {
                let (first, second) = (divided(0, first), divided(1, second));
                match first == second {
                    true => RankedItem::Tied,
                    false => RankedItem::Clear(u8::from(second > first)),
                }
            }
            [OptionScore::Exact { logprob, .. }, OptionScore::AtMost(most)]
                if divided(0, logprob) > divided(1, most) =>
            {
                RankedItem::Clear(0)
            }
            [OptionScore::AtMost(most), OptionScore::Exact { logprob, .. }]
                if divided(1, logprob) > divided(0, most) =>
            {
                RankedItem::Clear(1)
            }
            _ => RankedItem::Undecided,
        }
    }
}

/// Scores both solutions of every item, `concurrency` items at the same time, and calls `done` after each.
///
/// # Errors
/// Those of the scorer; `Data` if it gives scores that can't be log-probabilities, or 0 to everything.
pub fn likelihoods(
    dataset: &PiqaSet,
    scorer: &dyn Scorer,
    concurrency: usize,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Likelihood>> {
    in_parallel(dataset.items.len(), concurrency, &|number| {
        let scored = likelihood(&format!("{}, item {number}", dataset.name), &dataset.items[number], scorer)?;
        done();
        Ok(scored)
    })
}

fn likelihood(name: &str, item: &Item, scorer: &dyn Scorer) -> Result<Likelihood> {
    // White space at the end of a prompt would be tokens of its own: it moves to the front of the continuations.
    let prompt = item.situation.trim_end();
    let blank = if prompt.len() < item.situation.len() { &item.situation[prompt.len()..] } else { " " };
    let continuations = item.solutions.each_ref().map(|solution| format!("{blank}{}", solution.trim()));
    let scores = scorer.score(&Request { name, prompt, continuations: &continuations })?;
    let scores: [OptionScore; 2] = scores
        .try_into()
        .map_err(|scores: Vec<_>| Error::data(format!("{name}: the server scored {} of 2 solutions", scores.len())))?;
    if scores.iter().any(|score| matches!(score, OptionScore::Said(_))) {
        return Err(Error::data(format!("{name}: the server answers in words; a likelihood needs log-probabilities")));
    }
    let values = scores.map(|score| match score {
        OptionScore::Exact { logprob, .. } => logprob,
        OptionScore::AtMost(most) => most,
        OptionScore::Said(_) => f64::NAN,
    });
    if let Some(value) = values.iter().find(|value| !value.is_finite() || **value > 0.) {
        return Err(Error::data(format!("{name}: {value} is no log-probability; the server's answers can't be used")));
    }
    if values == [0.; 2] {
        let why = "the server gives log-probability 0 to both solutions, so it scores nothing (is `echo` ignored?)";
        return Err(Error::data(format!("{name}: {why}; choose another way of scoring")));
    }
    let characters = item.solutions.each_ref().map(|solution| solution.trim().chars().count());
    Ok(Likelihood { scores, characters })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn exact(logprob: f64) -> OptionScore {
        OptionScore::Exact { logprob, is_greedy: false }
    }

    fn ranks(scores: [OptionScore; 2], characters: [usize; 2]) -> [RankedItem; 2] {
        let likelihood = Likelihood { scores, characters };
        [Normalisation::Sum, Normalisation::PerCharacter].map(|normalisation| likelihood.rank(normalisation))
    }

    #[test]
    fn the_likelier_solution_depends_on_what_is_divided_by() {
        assert_eq!(ranks([exact(-6.), exact(-8.)], [3, 8]), [RankedItem::Clear(0), RankedItem::Clear(1)]);
        assert_eq!(ranks([exact(-6.), exact(-6.)], [3, 6]), [RankedItem::Tied, RankedItem::Clear(1)]);
        assert_eq!(ranks([exact(-6.), exact(-3.)], [6, 3]), [RankedItem::Clear(1), RankedItem::Tied]);
    }

    #[test]
    fn a_bound_decides_only_where_it_suffices() {
        assert_eq!(ranks([exact(-6.), OptionScore::AtMost(-7.)], [3, 3]), [RankedItem::Clear(0); 2]);
        assert_eq!(
            ranks([OptionScore::AtMost(-7.), exact(-8.)], [3, 8]),
            [RankedItem::Undecided, RankedItem::Clear(1)]
        );
        assert_eq!(ranks([OptionScore::AtMost(-7.), OptionScore::AtMost(-9.)], [3, 3]), [RankedItem::Undecided; 2]);
        assert_eq!(ranks([exact(-7.), OptionScore::AtMost(-7.)], [3, 3]), [RankedItem::Undecided; 2]);
        assert_eq!(
            [RankedItem::Clear(1), RankedItem::Tied, RankedItem::Undecided].map(RankedItem::prediction),
            [Some(1), Some(0), None]
        );
    }

    /// Name, prompt and continuations of every request.
    type Asked = Vec<(String, String, Vec<String>)>;

    /// Gives these scores, and keeps what was asked.
    struct Given(Vec<OptionScore>, Mutex<Asked>);

    impl Scorer for Given {
        fn score(&self, request: &Request<'_>) -> Result<Vec<OptionScore>> {
            let asked = (request.name.to_owned(), request.prompt.to_owned(), request.continuations.to_vec());
            self.1.lock().unwrap().push(asked);
            Ok(self.0.clone())
        }
    }

    fn of(situation: &str, scores: &[OptionScore]) -> (Result<Vec<Likelihood>>, Asked) {
        let solutions = ["Pihni vanjo.".into(), "Še.".into()];
        let items = vec![Item { situation: situation.into(), solutions, label: None }];
        let dataset = PiqaSet { name: "piqa-sl".into(), path: "x".into(), sha256: String::new(), items };
        let scorer = Given(scores.to_vec(), Mutex::default());
        let scored = likelihoods(&dataset, &scorer, 1, &|| {});
        (scored, scorer.1.into_inner().unwrap())
    }

    #[test]
    fn a_solution_follows_its_situation_after_one_blank() {
        let (scored, asked) = of("Juha je vroča.", &[exact(-6.), exact(-8.)]);
        assert_eq!(scored.unwrap(), [Likelihood { scores: [exact(-6.), exact(-8.)], characters: [12, 3] }]);
        let continuations = [" Pihni vanjo.", " Še."].map(str::to_owned).to_vec();
        assert_eq!(asked, [("piqa-sl, item 0".to_owned(), "Juha je vroča.".to_owned(), continuations)]);
        let (_, asked) = of("Juha:\n", &[exact(-6.), exact(-8.)]);
        assert_eq!((asked[0].1.as_str(), asked[0].2[1].as_str()), ("Juha:", "\nŠe."));
    }

    #[test]
    fn what_can_not_be_a_score_is_refused() {
        let said = |scores: &[OptionScore]| of("Juha.", scores).0.unwrap_err().message;
        assert!(said(&[exact(0.), exact(0.)]).contains("gives log-probability 0 to both"));
        assert!(said(&[exact(-1.), exact(f64::NAN)]).contains("NaN is no log-probability"));
        assert!(said(&[exact(0.5), exact(-1.)]).contains("0.5 is no log-probability"));
        assert!(said(&[OptionScore::AtMost(f64::NEG_INFINITY), exact(-1.)]).contains("-inf is no log-probability"));
        assert!(said(&[OptionScore::Said(true), OptionScore::Said(false)]).contains("answers in words"));
        assert!(said(&[exact(-1.)]).contains("piqa-sl, item 0: the server scored 1 of 2 solutions"));
    }
}
