//! The rows of a comparison: each a run, or the seeds of a recipe.

use crate::error::{Error, ErrorKind, Result};
use std::collections::BTreeMap;

/// A row.
#[derive(Debug, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    /// Seed -> index of the run.
    pub(super) runs: BTreeMap<u64, usize>,
}

impl Row {
    /// A row for each run. All have the same seed, whatever it is, so that their predictions of a pair are compared.
    pub(super) fn of_runs(names: &[String]) -> Vec<Row> {
        let row = |(run, name): (usize, &String)| Row { name: name.clone(), runs: BTreeMap::from([(0, run)]) };
        names.iter().enumerate().map(row).collect()
    }

    /// A row for all runs whose names differ only in their seeds.
    ///
    /// # Errors
    /// `Usage` if two runs of a row have the same seed, or there is only one row.
    pub(super) fn of_recipes(names: &[String]) -> Result<Vec<Row>> {
        let mut rows: Vec<Row> = Vec::new();
        for (run, name) in names.iter().enumerate() {
            let (recipe, seed) = recipe_and_seed(name);
            let at = rows.iter().position(|row| row.name == recipe).unwrap_or_else(|| {
                rows.push(Row { name: recipe, runs: BTreeMap::new() });
                rows.len() - 1
            });
            if let Some(other) = rows[at].runs.insert(seed, run) {
                let problem = format!("--seeds: {} and {name} are both seed {seed} of one row", names[other]);
                return Err(Error::new(ErrorKind::Usage, format!("{problem}; leave out one of them")));
            }
        }
        if let [row] = rows.as_slice() {
            let problem = format!("--seeds: all of these are seeds of {}", row.name);
            return Err(Error::new(ErrorKind::Usage, format!("{problem}; name those of another recipe too")));
        }
        Ok(rows)
    }
}

/// The name without the ending `-seedN` of its folders and its file (before the extension), and N: 0 if there is none.
fn recipe_and_seed(name: &str) -> (String, u64) {
    let mut seed = 0;
    let recipe = |part: &str| {
        let Some((recipe, rest)) = part.rsplit_once("-seed") else { return part.to_owned() };
        let digits = rest.find('.').map_or(rest, |dot| &rest[..dot]);
        let Ok(of_part) = digits.parse() else { return part.to_owned() };
        seed = of_part;
        format!("{recipe}{}", &rest[digits.len()..])
    };
    (name.split('/').map(recipe).collect::<Vec<_>>().join("/"), seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn runs_that_differ_in_their_seed_are_one_row() {
        let rows = Row::of_recipes(&names(&["runs/a-seed2", "runs/b", "runs/a", "runs/b-seed1"])).unwrap();
        let row = |name: &str, runs: [(u64, usize); 2]| Row { name: name.to_owned(), runs: runs.into() };
        assert_eq!(rows, [row("runs/a", [(0, 2), (2, 0)]), row("runs/b", [(0, 1), (1, 3)])]);
        let files = Row::of_recipes(&names(&["a-seed1/eval/x/predictions.jsonl", "b-seedling/p.jsonl"])).unwrap();
        assert_eq!(files[0], Row { name: "a/eval/x/predictions.jsonl".to_owned(), runs: [(1, 0)].into() });
        assert_eq!(files[1].name, "b-seedling/p.jsonl");
        assert_eq!(recipe_and_seed("llm-seed12.jsonl"), ("llm.jsonl".to_owned(), 12));
    }

    #[test]
    fn a_seed_twice_and_a_single_recipe_are_refused() {
        let twice = Row::of_recipes(&names(&["a", "a-seed0", "b"])).unwrap_err();
        assert!(twice.message.contains("a and a-seed0 are both seed 0"), "{twice}");
        let one = Row::of_recipes(&names(&["a", "a-seed1"])).unwrap_err();
        assert!(one.message.contains("seeds of a;"), "{one}");
    }
}
