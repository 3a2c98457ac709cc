//! Scores a submission against its data set: accuracy, as the benchmark's `eval.py` computes it.

use super::dataset::PiqaSet;
use super::prompt::prompts_sha256;
use super::submission::{PiqaProtocol, Submission};
use crate::error::{Error, Result};
use crate::metrics::{Resamples, Share};
use serde::Serialize;
use serde_json::Value;

/// What a submission scored.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoredSubmission {
    /// As the submission names it.
    pub system: String,
    /// The name of the data set: "piqa-sl".
    pub set: String,
    /// How the predictions were made, as far as the submission says.
    pub protocol: PiqaProtocol,
    /// The share of predictions equal to the label; the interval is a bootstrap over items.
    pub accuracy: Share,
    /// Predictions that are neither 0 nor 1. They are wrong.
    pub unanswered: usize,
    /// Entries of `predictions` after the first, which the benchmark does not read.
    pub ignored_sets: usize,
}

/// Scores the first entry of a submission.
///
/// # Errors
/// `Data` if there are not as many predictions as items, an item has no label, or one of our submissions was made from
/// other items.
pub fn score(submission: &Submission, dataset: &PiqaSet) -> Result<ScoredSubmission> {
    let of_set = submission.first();
    let (predictions, items) = (of_set.predictions.len(), dataset.items.len());
    if predictions != items {
        let file = dataset.path.display();
        return Err(Error::data(format!("{predictions} predictions, and {file} {items} items; it needs one an item")));
    }
    if submission.tiered.as_ref().is_some_and(|making| making.prompts_sha256 != prompts_sha256(&dataset.items)) {
        let file = dataset.path.display();
        return Err(Error::data(format!(
            "was made from other items than those of {file}; name the folder of its data"
        )));
    }
    let mut right = Vec::with_capacity(items);
    for (number, (item, prediction)) in dataset.items.iter().zip(&of_set.predictions).enumerate() {
        let Some(label) = item.label else {
            let (file, set) = (dataset.path.display(), &dataset.name);
            return Err(Error::data(format!(
                "{file}: item {number} has no label; put all labels into it, or into {set}-labels.lst beside it"
            )));
        };
        right.push(answer(prediction) == Some(label));
    }
    Ok(ScoredSubmission {
        system: submission.system.clone(),
        set: dataset.name.clone(),
        protocol: submission.protocol(),
        accuracy: share(&right),
        unanswered: of_set.predictions.iter().filter(|prediction| answer(prediction).is_none()).count(),
        ignored_sets: submission.predictions.len() - 1,
    })
}

/// A prediction that can be right. Text is none, as in the benchmark: "1" differs from 1.
fn answer(prediction: &Value) -> Option<u8> {
    [0, 1].into_iter().find(|&answer| prediction.as_f64() == Some(f64::from(answer)))
}

/// Of the items that are right; every item is a group of its own.
fn share(right: &[bool]) -> Share {
    let parts: Vec<f64> = right.iter().map(|&is_right| f64::from(u8::from(is_right))).collect();
    let count = right.iter().filter(|&&is_right| is_right).count() as u64;
    let interval = Resamples::of_groups(right.len()).interval(&parts, &vec![1.; right.len()]);
    Share { interval, ..Share::new(count, right.len() as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::piqa::Item;
    use crate::llm::piqa::submission::Making;
    use crate::schema::SchemaVersion;

    fn dataset(labels: &[Option<u8>]) -> PiqaSet {
        let item = |&label: &Option<u8>| Item { situation: "s".into(), solutions: ["a".into(), "b".into()], label };
        let items = labels.iter().map(item).collect();
        PiqaSet { name: "piqa-hr".into(), path: "data/piqa-hr.jsonl".into(), sha256: "aa".into(), items }
    }

    fn theirs(predictions: &str) -> Submission {
        let text = format!(
            r#"{{"system": "x", "predictions": [{{"test": "piqa-hr", "predictions": {predictions}}}, {{"test": "piqa-sl", "predictions": []}}]}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn accuracy_is_the_share_of_predictions_equal_to_the_label() {
        let dataset = dataset(&[0, 1, 0, 1, 1, 0].map(Some));
        let scored = score(&theirs(r#"[0, 1, 1, 2, "1", 0.0]"#), &dataset).unwrap();
        assert_eq!((scored.accuracy.count, scored.accuracy.total, scored.unanswered), (3, 6, 2));
        assert_eq!((scored.protocol, scored.ignored_sets), (PiqaProtocol::Answer, 1));
        let [low, high] = scored.accuracy.interval.unwrap();
        assert!(low < 0.5 && 0.5 < high, "{low} {high}");
    }

    #[test]
    fn wrong_counts_and_missing_labels_are_refused() {
        let said = |predictions, labels: &[_]| score(&theirs(predictions), &dataset(labels)).unwrap_err().message;
        assert_eq!(said("[0]", &[Some(0); 2]), "1 predictions, and data/piqa-hr.jsonl 2 items; it needs one an item");
        assert!(
            said("[0, 1]", &[Some(0), None])
                .contains("item 1 has no label; put all labels into it, or into piqa-hr-labels.lst beside it")
        );
    }

    #[test]
    fn ours_are_of_the_very_items_they_were_made_from() {
        let dataset = dataset(&[Some(0)]);
        let of = |prompts_sha256: String| {
            let making = Making {
                schema_version: SchemaVersion,
                protocol: PiqaProtocol::LikelihoodSum,
                data_sha256: String::new(),
                prompts_sha256,
                unanswered: 0,
                ties: 0,
                left_out: Vec::new(),
            };
            score(&Submission::new("x", "piqa-hr", &[Some(0)], making), &dataset)
        };
        assert_eq!(of(prompts_sha256(&dataset.items)).unwrap().accuracy.count, 1);
        assert!(of("other".into()).unwrap_err().message.contains("was made from other items"));
    }
}
