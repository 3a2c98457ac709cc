//! How far two annotators agree beyond chance.
//!
//! Both coefficients need only the number of units, how many have the same label twice, and how often each annotator
//! gave each label. So they are resampled by adding up these counts.

use super::bootstrap::percentile_interval;
use super::count::Share;
use super::groups::StoryGroups;
use crate::attribute::MAX_LABEL;
use serde::Serialize;
use std::collections::BTreeMap;

/// How many labels there are at most.
const LABELS: usize = MAX_LABEL as usize + 1;

/// One thing that both annotators were to label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelledUnit {
    /// Its story group.
    pub group: i64,
    /// The label of each annotator, 0 to 8; `None` where the annotator gave none.
    pub labels: [Option<u8>; 2],
    /// Whether a label reports something, by either annotator: it is not the default.
    pub is_nontrivial: bool,
}

/// The counts of units with two labels: how many have the same label twice, then how often the first annotator gave
/// each label, then how often the second did. They are whole numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelCounts([f64; 1 + 2 * LABELS]);

impl LabelCounts {
    /// Of pairs of labels.
    ///
    /// # Panics
    /// If a label is above 8.
    pub fn of(labels: impl IntoIterator<Item = [u8; 2]>) -> Self {
        let mut counts = LabelCounts([0.; 1 + 2 * LABELS]);
        labels.into_iter().for_each(|labels| counts.add(labels));
        counts
    }

    fn add(&mut self, [first, second]: [u8; 2]) {
        assert!(first <= MAX_LABEL && second <= MAX_LABEL, "labels {first} and {second}");
        self.0[0] += f64::from(u8::from(first == second));
        self.0[1 + usize::from(first)] += 1.;
        self.0[1 + LABELS + usize::from(second)] += 1.;
    }

    /// How many units have the same label twice, and for each label how often either annotator gave it.
    fn parts(&self) -> (f64, impl Iterator<Item = (f64, f64)>) {
        let (first, second) = self.0[1..].split_at(LABELS);
        (self.0[0], first.iter().copied().zip(second.iter().copied()))
    }

    /// Cohen's kappa: (p_o - p_e) / (1 - p_e), where p_o is the share of units with the same label twice, and p_e the
    /// share that there would be by chance: the sum over labels of (share of the first annotator's labels) · (share of
    /// the second's). `None` without units, and where both annotators gave one and the same label only (0/0). From J.
    /// Cohen, "A coefficient of agreement for nominal scales", 1960.
    pub fn cohen_kappa(&self) -> Option<f64> {
        let (same, labels) = self.parts();
        let (units, by_chance) = labels.fold((0., 0.), |sums, (a, b)| (sums.0 + a, sums.1 + a * b));
        let most = units * units;
        (by_chance < most).then(|| (units * same - by_chance) / (most - by_chance))
    }

    /// Krippendorff's alpha for nominal labels: 1 - D_o / D_e. D_o is the share of units with two different labels. D_e
    /// is that of all pairs of the n labels of these units, whoever gave them: (n² - sum over labels of n_c²) / (n (n -
    /// 1)). A unit with one label only does not count. `None` without units, and where all labels are the same (0/0).
    /// From K. Krippendorff, "Computing Krippendorff's alpha-reliability", 2011.
    pub fn krippendorff_alpha(&self) -> Option<f64> {
        let (same, labels) = self.parts();
        let (n, squares) = labels.fold((0., 0.), |sums, (a, b)| (sums.0 + a + b, sums.1 + (a + b) * (a + b)));
        let different = n - 2. * same;
        (squares < n * n).then(|| 1. - (n - 1.) * different / (n * n - squares))
    }
}

/// A coefficient of agreement: 1 is perfect, 0 what chance would give.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coefficient {
    /// From -1 to 1.
    pub value: f64,
    /// The 95 % interval; `None` where resampling tells nothing. All resamples have the same value then, or the
    /// coefficient is undefined in more than one of 20, because too few story groups have a second label.
    pub interval_95: Option<[f64; 2]>,
}

/// How far two annotators agree on some units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LabelAgreement {
    /// Units that only the first annotator labelled, and only the second.
    pub only: [u64; 2],
    /// Of the units that both labelled, those with the same label twice.
    pub agreed: Share,
    /// The same of those units to which either gave a nontrivial label.
    pub agreed_nontrivial: Share,
    /// Cohen's kappa.
    pub kappa: Option<Coefficient>,
    /// Krippendorff's alpha.
    pub alpha: Option<Coefficient>,
}

impl LabelAgreement {
    /// Of these units, with intervals over the story groups.
    ///
    /// # Panics
    /// If a unit's group does not exist, or a label is above 8.
    pub fn of(units: &[LabelledUnit], groups: &StoryGroups) -> Self {
        let labelled = || units.iter().filter_map(|unit| Some((unit, both(unit)?)));
        let mut by_group = BTreeMap::new();
        for (unit, labels) in labelled() {
            by_group.entry(unit.group).or_insert(LabelCounts::of([])).add(labels);
        }
        let counts = LabelCounts::of(labelled().map(|(_, labels)| labels));
        let resampled = groups.resampled(by_group.into_iter().map(|(group, counts)| (group, counts.0)));
        let resampled: Vec<_> = resampled.into_iter().map(LabelCounts).collect();
        let coefficient = |of: fn(&LabelCounts) -> Option<f64>| {
            let interval_95 = || interval(&resampled.iter().map(of).collect::<Vec<_>>());
            of(&counts).map(|value| Coefficient { value, interval_95: interval_95() })
        };
        let is_same = |(unit, [first, second]): (&LabelledUnit, [u8; 2])| (unit.group, first == second);
        let only = |i: usize| units.iter().filter(move |unit| unit.labels[i].is_some() && unit.labels[1 - i].is_none());
        LabelAgreement {
            only: [0, 1].map(|i| only(i).count() as u64),
            agreed: groups.share(labelled().map(is_same)),
            agreed_nontrivial: groups.share(labelled().filter(|(unit, _)| unit.is_nontrivial).map(is_same)),
            kappa: coefficient(LabelCounts::cohen_kappa),
            alpha: coefficient(LabelCounts::krippendorff_alpha),
        }
    }
}

/// The labels of a unit that both annotators labelled.
fn both(unit: &LabelledUnit) -> Option<[u8; 2]> {
    let [first, second] = unit.labels;
    Some([first?, second?])
}

/// The 95 % interval of a coefficient over resamples; see [`Coefficient::interval_95`].
fn interval(resampled: &[Option<f64>]) -> Option<[f64; 2]> {
    let values: Vec<f64> = resampled.iter().flatten().copied().collect();
    let first = values.first()?;
    let is_mostly_defined = 20 * values.len() >= 19 * resampled.len();
    let is_varied = values.iter().any(|value| (value - first).abs() > 1e-9);
    (is_mostly_defined && is_varied).then(|| percentile_interval(&values))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coefficients(labels: &[[u8; 2]]) -> [Option<f64>; 2] {
        let counts = LabelCounts::of(labels.iter().copied());
        [counts.cohen_kappa(), counts.krippendorff_alpha()]
    }

    #[test]
    fn few_units_are_counted_by_hand() {
        // p_o = 3/4; p_e = 1/2 · 3/4 + 1/2 · 1/4 = 1/2. D_o = 1/4; D_e = (64 - 25 - 9) / 56 = 30/56.
        let [kappa, alpha] = coefficients(&[[0, 0], [0, 0], [1, 0], [1, 1]]);
        assert_eq!(kappa, Some(0.5));
        assert!((alpha.unwrap() - (1. - 14. / 30.)).abs() < 1e-15);
        assert_eq!(coefficients(&[[0, 1], [1, 0]]), [Some(-1.), Some(-0.5)]);
    }

    #[test]
    fn without_two_labels_agreement_is_undefined() {
        assert_eq!(coefficients(&[]), [None; 2]);
        assert_eq!(coefficients(&[[2, 2], [2, 2]]), [None; 2]);
        assert_eq!(coefficients(&[[2, 3]]), [Some(0.); 2]);
        assert_eq!(coefficients(&[[2, 2], [3, 3]]), [Some(1.); 2]);
    }

    fn agreement(units: &[LabelledUnit]) -> LabelAgreement {
        LabelAgreement::of(units, &StoryGroups::of_numbers(units.iter().map(|unit| unit.group)))
    }

    #[test]
    fn a_missing_label_counts_for_neither() {
        let unit = |group, labels| LabelledUnit { group, labels, is_nontrivial: labels != [Some(0); 2] };
        let both = [[0, 0], [4, 4], [4, 0], [0, 0]].map(|labels| labels.map(Some));
        let units: Vec<_> = (0..4).map(|i| unit(i, both[i as usize])).collect();
        let more =
            [&units[..], &[unit(0, [Some(3), None]), unit(3, [None, Some(3)]), unit(3, [None, Some(0)])]].concat();
        let (without, with) = (agreement(&units), agreement(&more));
        assert_eq!((without.only, with.only), ([0, 0], [1, 2]));
        assert_eq!(LabelAgreement { only: [0, 0], ..with }, without);
        assert_eq!((with.agreed.count, with.agreed.total), (3, 4));
        assert_eq!((with.agreed_nontrivial.count, with.agreed_nontrivial.total), (1, 2));
    }

    #[test]
    fn where_resampling_tells_nothing_there_is_no_interval() {
        let units = |labels: &[[u8; 2]]| -> Vec<_> {
            let unit = |(group, &labels): (usize, &[u8; 2])| LabelledUnit {
                group: group as i64,
                labels: labels.map(Some),
                is_nontrivial: labels != [0, 0],
            };
            labels.iter().enumerate().map(unit).collect()
        };
        let all_agree = agreement(&units(&[[0, 0], [1, 1], [0, 0], [1, 1], [0, 0], [1, 1]]));
        assert_eq!(all_agree.kappa, Some(Coefficient { value: 1., interval_95: None }));
        let second_label_in_one_group = agreement(&units(&[[0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [1, 1], [0, 0]]));
        assert_eq!(second_label_in_one_group.alpha, Some(Coefficient { value: 1., interval_95: None }));
        let rare = [None, None, Some(0.5), Some(0.6)];
        let frequent = [Some(0.5), Some(0.6)].repeat(10);
        assert_eq!(interval(&rare), None);
        assert_eq!(interval(&frequent), percentile_interval(&[0.5, 0.6].repeat(10)));
    }
}
