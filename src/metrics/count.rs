//! Shares with their confidence intervals, and confusion counts with their macro-F1.

use serde::{Deserialize, Serialize};

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// `count` of `total`. In JSON with its percentage and 95 % interval, which are ignored when read back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "ShareRecord", from = "ShareRecord")]
pub struct Share {
    pub count: u64,
    pub total: u64,
}

impl Share {
    /// Between 0 and 100; undefined for a total of 0.
    pub fn percent(self) -> Option<f64> {
        (self.total > 0).then(|| 100.0 * self.count as f64 / self.total as f64)
    }

    /// The 95 % Wilson score interval, in percent; undefined for a total of 0.
    pub fn interval(self) -> Option<[f64; 2]> {
        let total = self.total as f64;
        let share = self.percent()? / 100.0;
        let centre = share + Z * Z / (2.0 * total);
        let spread = Z * (share * (1.0 - share) / total + Z * Z / (4.0 * total * total)).sqrt();
        let bound = |value: f64| (100.0 * value / (1.0 + Z * Z / total)).clamp(0.0, 100.0);
        Some([bound(centre - spread), bound(centre + spread)])
    }
}

/// [`Share`] as it is written.
#[derive(Serialize, Deserialize)]
struct ShareRecord {
    count: u64,
    total: u64,
    #[serde(default)]
    percent: Option<f64>,
    #[serde(default)]
    interval_95: Option<[f64; 2]>,
}

impl From<Share> for ShareRecord {
    fn from(share: Share) -> Self {
        let Share { count, total } = share;
        ShareRecord { count, total, percent: share.percent(), interval_95: share.interval() }
    }
}

impl From<ShareRecord> for Share {
    fn from(record: ShareRecord) -> Self {
        Share { count: record.count, total: record.total }
    }
}

/// How often each class was predicted for each gold class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confusion {
    classes: usize,
    /// `[gold][predicted]`, row by row.
    counts: Vec<u64>,
}

impl Confusion {
    pub fn new(classes: usize) -> Self {
        Confusion { classes, counts: vec![0; classes * classes] }
    }

    /// Counts one prediction.
    ///
    /// # Panics
    /// If a class is not below the number of classes; readers of predictions check.
    pub fn add(&mut self, gold: u8, predicted: u8) {
        assert!((predicted as usize) < self.classes, "class {predicted} of {}", self.classes);
        self.counts[gold as usize * self.classes + predicted as usize] += 1;
    }

    /// Mean F1 over the classes that occur in gold or predictions, as scikit-learn's `f1_score(average="macro")`;
    /// undefined if nothing was counted.
    pub fn macro_f1(&self) -> Option<f64> {
        let f1s: Vec<_> = (0..self.classes).filter_map(|class| self.f1(class)).collect();
        mean(&f1s)
    }

    /// F1 of one class; `None` if it occurs neither in gold nor in predictions.
    fn f1(&self, class: usize) -> Option<f64> {
        let at = |gold: usize, predicted: usize| self.counts[gold * self.classes + predicted];
        let gold: u64 = (0..self.classes).map(|predicted| at(class, predicted)).sum();
        let predicted: u64 = (0..self.classes).map(|gold| at(gold, class)).sum();
        (gold + predicted > 0).then(|| 2.0 * at(class, class) as f64 / (gold + predicted) as f64)
    }
}

/// `None` for no values.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(actual: Option<[f64; 2]>, expected: [f64; 2]) -> bool {
        let actual = actual.unwrap();
        (actual[0] - expected[0]).abs() < 5e-3 && (actual[1] - expected[1]).abs() < 5e-3
    }

    /// Values of `scipy.stats.binomtest(count, total).proportion_ci(method="wilson")`, the examples of Newcombe (1998).
    #[test]
    fn wilson_intervals_are_those_of_scipy() {
        for (count, total, bounds) in
            [(81, 263, [25.53, 36.62]), (15, 148, [6.24, 16.05]), (0, 20, [0.0, 16.11]), (1, 29, [0.61, 17.18])]
        {
            assert!(close(Share { count, total }.interval(), bounds), "{count} of {total}");
        }
    }

    #[test]
    fn an_empty_share_is_undefined() {
        let empty = Share { count: 0, total: 0 };
        assert_eq!((empty.percent(), empty.interval()), (None, None));
        assert_eq!(Confusion::new(3).macro_f1(), None);
    }

    #[test]
    fn absent_classes_do_not_count() {
        let mut confusion = Confusion::new(9);
        confusion.add(0, 0);
        confusion.add(2, 0);
        assert_eq!(confusion.macro_f1(), Some((2.0 / 3.0) / 2.0));
    }

    #[test]
    fn shares_survive_json() {
        let share = Share { count: 85, total: 117 };
        assert_eq!(serde_json::from_str::<Share>(&serde_json::to_string(&share).unwrap()).unwrap(), share);
    }
}
