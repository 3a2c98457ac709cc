//! Folds: the story groups, divided for cross-validation.

use crate::seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of several folds. A story group is in the same fold in every file, so that none of its versions (reordered
/// ones, those of another split) is on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Fold {
    /// Leave out the pairs of this fold of the story groups, in every source of `data.train` and `data.dev`.
    #[schemars(range(min = 1), extend("x-resume" = "refused", "x-default" = "none"))]
    pub fold: u32,
    /// How many folds there are.
    #[schemars(range(min = 2), extend("x-resume" = "refused", "x-default" = "required with a fold"))]
    pub of: u32,
}

impl Fold {
    /// All folds of so many.
    pub fn all(of: u32) -> impl Iterator<Item = Self> {
        (1..=of).map(move |fold| Fold { fold, of })
    }

    /// Whether there is such a fold.
    pub const fn exists(self) -> bool {
        self.of >= 2 && self.fold >= 1 && self.fold <= self.of
    }

    /// Whether the story group is in the fold: [`seed::key`] of "fold GROUP", modulo the number of folds. So folds are
    /// of about the same size, whatever the file.
    pub fn contains(self, group: i64) -> bool {
        seed::key(0, &format!("fold {group}"), 0) % u64::from(self.of) == u64::from(self.fold - 1)
    }
}

impl std::fmt::Display for Fold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.fold, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_is_in_one_fold_and_folds_are_about_as_large() {
        let mut sizes = [0; 5];
        for group in 0..1000 {
            let of: Vec<Fold> = Fold::all(5).filter(|fold| fold.contains(group)).collect();
            let [fold] = of.as_slice() else { panic!("group {group} is in {of:?}") };
            sizes[fold.fold as usize - 1] += 1;
        }
        assert!(sizes.iter().all(|size| (160..=240).contains(size)), "{sizes:?}");
    }

    #[test]
    fn folds_are_the_same_in_every_version() {
        let of = |group: i64| Fold::all(5).find(|fold| fold.contains(group)).unwrap().fold;
        assert_eq!((0..12).map(of).collect::<Vec<_>>(), [2, 2, 2, 2, 4, 1, 3, 5, 5, 2, 1, 5]);
        assert_eq!(of(-1), 3);
    }
}
