//! Makes the submissions of a model for a data set: from its answers in words, or from log-likelihoods.

use super::answer::read_answer;
use super::dataset::PiqaSet;
use super::likelihood::{Normalisation, RankedItem, likelihoods};
use super::prompt::prompts_sha256;
use super::submission::{Making, PiqaProtocol, Submission};
use crate::error::{Error, Result};
use crate::llm::Scorer;
use crate::schema::SchemaVersion;

/// The submission that a model's answers to the benchmark's prompts make ([`ask`](super::ask)).
pub fn by_answers(dataset: &PiqaSet, system: &str, texts: &[String]) -> Submission {
    let answers: Vec<Option<u8>> = texts.iter().map(|text| read_answer(text)).collect();
    let making = making(dataset, PiqaProtocol::Answer, &answers, 0);
    Submission::new(system, &dataset.name, &answers, making)
}

/// Ranks the solutions by their likelihood: by its sum, and by character.
///
/// # Errors
/// Those of [`likelihoods`]; `Data` if all items of several are tied, which no real model does.
pub fn by_likelihood(
    dataset: &PiqaSet,
    system: &str,
    scorer: &dyn Scorer,
    concurrency: usize,
    done: &(dyn Fn() + Sync),
) -> Result<[Submission; 2]> {
    let scored = likelihoods(dataset, scorer, concurrency, done)?;
    let submission = |normalisation, protocol| {
        let ranks: Vec<RankedItem> = scored.iter().map(|likelihood| likelihood.rank(normalisation)).collect();
        let ties = ranks.iter().filter(|&&rank| rank == RankedItem::Tied).count();
        if ties == ranks.len() && ties > 1 {
            let why = "the server finds both solutions of every item equally likely, so it scores nothing";
            return Err(Error::data(format!("{}: {why}; choose another way of scoring", dataset.name)));
        }
        let predictions: Vec<Option<u8>> = ranks.into_iter().map(RankedItem::prediction).collect();
        let making = making(dataset, protocol, &predictions, ties);
        Ok(Submission::new(system, &dataset.name, &predictions, making))
    };
    Ok([
        submission(Normalisation::Sum, PiqaProtocol::LikelihoodSum)?,
        submission(Normalisation::PerCharacter, PiqaProtocol::LikelihoodPerCharacter)?,
    ])
}

fn making(dataset: &PiqaSet, protocol: PiqaProtocol, predictions: &[Option<u8>], ties: usize) -> Making {
    Making {
        schema_version: SchemaVersion,
        protocol,
        data_sha256: dataset.sha256.clone(),
        prompts_sha256: prompts_sha256(&dataset.items),
        unanswered: predictions.iter().filter(|prediction| prediction.is_none()).count(),
        ties,
        left_out: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::piqa::{Item, score};
    use crate::llm::{OptionScore, Request};
    use serde_json::json;

    /// Finds what has an "a" unlikely, each character the same.
    struct Model;

    impl Scorer for Model {
        fn score(&self, request: &Request<'_>) -> Result<Vec<OptionScore>> {
            let each = |text: &String| if text.contains('a') { -2. } else { -1. };
            let logprob = |text: &String| each(text) * (text.chars().count() - 1) as f64;
            let exact = |text| OptionScore::Exact { logprob: logprob(text), is_greedy: false };
            Ok(request.continuations.iter().map(exact).collect())
        }
    }

    fn dataset(solutions: &[[&str; 2]]) -> PiqaSet {
        let item = |solutions: &[&str; 2]| Item {
            situation: "x".into(),
            solutions: solutions.map(str::to_owned),
            label: Some(1),
        };
        let items = solutions.iter().map(item).collect();
        PiqaSet { name: "piqa-x".into(), path: "piqa-x.jsonl".into(), sha256: "dd".into(), items }
    }

    #[test]
    fn answers_become_a_submission_that_can_be_scored() {
        let dataset = dataset(&[["p", "q"], ["r", "s"], ["t", "u"]]);
        let texts = ["Hm.", "{\"answer\": 1}", "{\"answer\": 1}"].map(str::to_owned);
        let submission = by_answers(&dataset, "m", &texts);
        assert_eq!(submission.first().predictions, [json!(2), json!(1), json!(1)]);
        let making = submission.tiered.as_ref().unwrap();
        assert_eq!((making.unanswered, making.ties, making.data_sha256.as_str()), (1, 0, "dd"));
        assert_eq!(score(&submission, &dataset).unwrap().accuracy.count, 2);
    }

    #[test]
    fn sum_and_characters_are_two_systems() {
        let dataset = dataset(&[["bbbbb", "aa"], ["bb", "bb"], ["b", "bb"]]);
        let [sum, per_character] = by_likelihood(&dataset, "m", &Model, 1, &|| {}).unwrap();
        assert_eq!(
            (sum.system.as_str(), per_character.system.as_str()),
            ("m-likelihood-sum", "m-likelihood-per-character")
        );
        assert_eq!(sum.first().predictions, [json!(1), json!(0), json!(0)]);
        assert_eq!(per_character.first().predictions, [json!(0), json!(0), json!(0)]);
        assert_eq!([sum, per_character].map(|s| s.tiered.unwrap().ties), [1, 2]);
    }

    #[test]
    fn a_server_for_which_everything_ties_is_refused() {
        let all = dataset(&[["b", "b"], ["bb", "cc"]]);
        let said = by_likelihood(&all, "m", &Model, 1, &|| {}).unwrap_err().message;
        assert!(said.starts_with("piqa-x: the server finds both solutions of every item equally likely"), "{said}");
    }
}
