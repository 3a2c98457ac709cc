//! How well the probability of the story choice matches its accuracy (Guo et al., "On Calibration of Modern Neural
//! Networks", ICML 2017).

use super::count::{Share, mean};
use super::groups::StoryGroups;
use super::tiered::Tiered;
use crate::prediction::LabelledPair;
use serde::{Deserialize, Serialize};

/// Bins of equal width between 0 and 1, as in the paper. With two stories, the confidence is never in the lower half.
pub const CALIBRATION_BINS: usize = 15;

/// The smallest probability whose logarithm is taken, because a recorded one can be 0.
const SMALLEST: f64 = 1e-30;

/// How well probabilities match outcomes. Undefined if there are no pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The scores are divided by it before the softmax.
    pub temperature: f64,
    /// The mean of minus the logarithm of the gold story's probability; `None` too if such a probability is 0, as of systems
    /// that have none.
    pub nll: Option<f64>,
    /// Expected calibration error over [`CALIBRATION_BINS`] bins, between 0 and 1: the mean, over pairs, of the
    /// difference between confidence and accuracy in the pair's bin.
    pub ece: Option<f64>,
}

impl Calibration {
    /// For recorded predictions; their probabilities have temperature 1.
    pub fn of(predictions: &[LabelledPair], temperature: f64) -> Self {
        let probs = |pair: &LabelledPair| tempered(pair.prediction.story_probs, temperature);
        let choice = |pair: &LabelledPair| (probs(pair)[pair.prediction.plausible], pair.is_accurate());
        let choices: Vec<(f64, bool)> = predictions.iter().map(choice).collect();
        let has_zero = predictions.iter().any(|pair| pair.prediction.story_probs[pair.gold.plausible] == 0.);
        Calibration {
            temperature,
            nll: bounded_nll(predictions, temperature).filter(|_| !has_zero),
            ece: expected_calibration_error(&choices),
        }
    }
}

/// The mean of minus the logarithm of the gold story's probability, where 0 counts as [`SMALLEST`]: by it temperatures can be
/// compared whatever the probabilities are. `None` if there are no pairs.
pub fn bounded_nll(predictions: &[LabelledPair], temperature: f64) -> Option<f64> {
    let nll = |pair: &LabelledPair| negative_log(pair.prediction.story_probs, pair.gold.plausible, temperature);
    mean(&predictions.iter().map(nll).collect::<Vec<_>>())
}

/// The choices whose confidence is in one bin of a reliability diagram.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ConfidenceBin {
    /// The lower bound of the bin, between 0 and 1.
    pub from: f64,
    /// The upper bound of the bin.
    pub to: f64,
    /// The mean confidence of its pairs.
    pub confidence: f64,
    /// The share of its pairs whose story was chosen correctly.
    pub right: Share,
}

/// The bins of [`Calibration::ece`] that contain a pair, by confidence.
pub fn confidence_bins(predictions: &[LabelledPair], temperature: f64, groups: &StoryGroups) -> Vec<ConfidenceBin> {
    let mut bins = [const { Vec::new() }; CALIBRATION_BINS];
    for pair in predictions {
        let confidence = tempered(pair.prediction.story_probs, temperature)[pair.prediction.plausible];
        bins[bin(confidence)].push((confidence, pair));
    }
    let edge = |i: usize| i as f64 / CALIBRATION_BINS as f64;
    let filled = bins.into_iter().enumerate().filter(|(_, pairs)| !pairs.is_empty());
    let bin = |(i, pairs): (usize, Vec<(f64, &LabelledPair)>)| ConfidenceBin {
        from: edge(i),
        to: edge(i + 1),
        confidence: pairs.iter().map(|(confidence, _)| confidence).sum::<f64>() / pairs.len() as f64,
        right: groups.share_of_pairs(pairs.into_iter().map(|(_, pair)| pair), LabelledPair::is_accurate),
    };
    filled.map(bin).collect()
}

/// The number of the bin of a confidence.
fn bin(confidence: f64) -> usize {
    ((confidence * CALIBRATION_BINS as f64) as usize).min(CALIBRATION_BINS - 1)
}

/// Probabilities after dividing the scores behind them by a temperature: p^(1/T), normalised.
pub fn tempered(probs: [f32; 2], temperature: f64) -> [f64; 2] {
    let [first, second] = scores(probs, temperature);
    [1. / (1. + (second - first).exp()), 1. / (1. + (first - second).exp())]
}

/// Minus the logarithm of one of the tempered probabilities, which may be too small for a number of its own.
fn negative_log(probs: [f32; 2], of: usize, temperature: f64) -> f64 {
    let scores = scores(probs, temperature);
    let (this, other) = (scores[of], scores[1 - of]);
    this.max(other) - this + (-(this - other).abs()).exp().ln_1p()
}

fn scores(probs: [f32; 2], temperature: f64) -> [f64; 2] {
    probs.map(|p| f64::from(p).max(SMALLEST).ln() / temperature)
}

/// Computed from (confidence, whether the choice was correct).
fn expected_calibration_error(choices: &[(f64, bool)]) -> Option<f64> {
    let mut gaps = [0.; CALIBRATION_BINS];
    for &(confidence, right) in choices {
        gaps[bin(confidence)] += f64::from(u8::from(right)) - confidence;
    }
    let sum: f64 = gaps.iter().map(|gap| gap.abs()).sum();
    (!choices.is_empty()).then(|| sum / choices.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_the_mean_gap_of_the_bins() {
        assert_eq!(expected_calibration_error(&[]), None);
        // Two bins: 0.61 and 0.65 (one of two correct), and 0.95 (correct).
        let error = expected_calibration_error(&[(0.61, true), (0.65, false), (0.95, true)]).unwrap();
        assert!((error - ((0.61 + 0.65 - 1.) + 0.05) / 3.).abs() < 1e-12);
        let of_bin = expected_calibration_error(&[(1., true), (1., false)]).unwrap();
        assert!((of_bin - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_temperature_divides_the_scores() {
        let close = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).abs() < 1e-6 && (a[1] - b[1]).abs() < 1e-6;
        assert!(close(tempered([0.2, 0.8], 1.), [0.2, 0.8]));
        assert!(close(tempered([0.2, 0.8], 0.5), [0.04 / 0.68, 0.64 / 0.68]));
        assert!(close(tempered([0., 1.], 1.), [0., 1.]));
        // However small it is, in either place.
        let small = f64::from(1e-18_f32);
        assert!(((tempered([1e-18, 1.], 1.)[0] - small) / small).abs() < 1e-6);
        assert!(((tempered([1., 1e-18], 1.)[1] - small) / small).abs() < 1e-6);
        for temperature in [1., 0.05] {
            let expected = -small.ln() / temperature;
            for (probs, of) in [([1e-18, 1.], 0), ([1., 1e-18], 1)] {
                assert!((negative_log(probs, of, temperature) - expected).abs() < 1e-6);
                assert!(negative_log(probs, 1 - of, temperature) < 1e-12);
            }
        }
        assert!((negative_log([0.2, 0.8], 0, 1.) + 0.2f64.ln()).abs() < 1e-6);
    }
}
