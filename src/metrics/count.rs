//! Shares, and confusion counts with their macro-F1.

use serde::{Deserialize, Serialize};

/// `count` of `total`, with an interval if the story groups are known ([`super::StoryGroups`]). JSON also has the
/// fraction, which is ignored when read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "ShareRecord", from = "ShareRecord")]
pub struct Share {
    /// How many items are so.
    pub count: u64,
    /// How many items there are; the share of 0 items is undefined.
    pub total: u64,
    /// The 95 % interval, between 0 and 1.
    pub interval: Option<[f64; 2]>,
}

impl Share {
    /// A share without an interval.
    pub const fn new(count: u64, total: u64) -> Self {
        Share { count, total, interval: None }
    }

    /// Between 0 and 1; undefined for a total of 0.
    pub fn fraction(self) -> Option<f64> {
        (self.total > 0).then(|| self.count as f64 / self.total as f64)
    }

    /// Between 0 and 100; undefined for a total of 0.
    pub fn percent(self) -> Option<f64> {
        (self.total > 0).then(|| 100. * self.count as f64 / self.total as f64)
    }

    /// The bounds of the interval between 0 and 100.
    pub fn percent_interval(self) -> Option<[f64; 2]> {
        self.interval.map(|bounds| bounds.map(percent_of))
    }
}

/// A value between 0 and 1 in percent, exact where that has few digits: 100 times 51/80 is a little below 63.75.
pub fn percent_of(value: f64) -> f64 {
    (1e12 * value).round() / 1e10
}

/// The JSON form of [`Share`].
#[derive(Serialize, Deserialize)]
struct ShareRecord {
    count: u64,
    total: u64,
    #[serde(default)]
    fraction: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    interval_95: Option<[f64; 2]>,
}

impl From<Share> for ShareRecord {
    fn from(share: Share) -> Self {
        let Share { count, total, interval } = share;
        ShareRecord { count, total, fraction: share.fraction(), interval_95: interval }
    }
}

impl From<ShareRecord> for Share {
    fn from(record: ShareRecord) -> Self {
        Share { count: record.count, total: record.total, interval: record.interval_95 }
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
    /// Nothing counted yet, for classes from 0 to `classes` - 1.
    pub fn new(classes: usize) -> Self {
        Confusion { classes, counts: vec![0; classes * classes] }
    }

    /// Counts one prediction.
    ///
    /// # Panics
    /// If a class is too large; readers of predictions check classes.
    pub fn add(&mut self, gold: u8, predicted: u8) {
        assert!((predicted as usize) < self.classes, "class {predicted} of {}", self.classes);
        self.counts[gold as usize * self.classes + predicted as usize] += 1;
    }

    /// The mean F1 of the classes that occur in gold or predictions, like scikit-learn's `f1_score(average="macro")`;
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

    #[test]
    fn percent_of_a_fraction_is_that_of_its_count() {
        for (total, count) in
            [80, 117, 160, 173].into_iter().flat_map(|total| (0..=total).map(move |count| (total, count)))
        {
            let share = Share::new(count, total);
            let [of_fraction, of_count] = [percent_of(share.fraction().unwrap()), share.percent().unwrap()];
            assert_eq!(format!("{of_fraction:.1}"), format!("{of_count:.1}"), "{count} of {total}");
        }
    }

    #[test]
    fn an_empty_share_is_undefined() {
        let empty = Share::new(0, 0);
        assert_eq!((empty.fraction(), empty.percent()), (None, None));
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
        let share = Share { interval: Some([0.125, 0.5]), ..Share::new(1, 4) };
        let text = serde_json::to_string(&share).unwrap();
        assert_eq!(text, r#"{"count":1,"total":4,"fraction":0.25,"interval_95":[0.125,0.5]}"#);
        assert_eq!(serde_json::from_str::<Share>(&text).unwrap(), share);
        let text = serde_json::to_string(&Share::default()).unwrap();
        assert_eq!(text, r#"{"count":0,"total":0,"fraction":null}"#);
        assert_eq!(serde_json::from_str::<Share>(&text).unwrap(), Share::default());
    }
}
