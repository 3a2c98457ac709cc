//! The rows of a comparison: each a run, or the seeds of a recipe.

use crate::error::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// A row.
#[derive(Debug, PartialEq)]
pub(super) struct RecipeRow {
    pub(super) name: String,
    /// Seed -> index of the run.
    pub(super) runs: BTreeMap<u64, usize>,
}

impl RecipeRow {
    /// A row for each run. All have the same seed, whatever it is, so that their predictions of a pair are compared.
    pub(super) fn of_runs(names: &[String]) -> Vec<RecipeRow> {
        let row = |(run, name): (usize, &String)| RecipeRow { name: name.clone(), runs: BTreeMap::from([(0, run)]) };
        names.iter().enumerate().map(row).collect()
    }

    /// A row for all runs whose names differ only in their seeds.
    ///
    /// # Errors
    /// `Usage` if two runs of a row have the same seed, there is only one row, or rows have different seeds: only those
    /// that they share could be compared.
    pub(super) fn of_recipes(names: &[String]) -> Result<Vec<RecipeRow>> {
        let mut rows: Vec<RecipeRow> = Vec::new();
        for (run, name) in names.iter().enumerate() {
            let (recipe, seed) = recipe_and_seed(name);
            let at = rows.iter().position(|row| row.name == recipe).unwrap_or_else(|| {
                rows.push(RecipeRow { name: recipe, runs: BTreeMap::new() });
                rows.len() - 1
            });
            if let Some(other) = rows[at].runs.insert(seed, run) {
                let problem = format!("--seeds: {} and {name} are both seed {seed} of one row", names[other]);
                return Err(Error::new(ErrorKind::Usage, format!("{problem}; leave out one of them")));
            }
        }
        let (first, others) = rows.split_first().expect("there is a run");
        if others.is_empty() {
            let problem = format!("--seeds: all of these are seeds of {}", first.name);
            return Err(Error::new(ErrorKind::Usage, format!("{problem}; name those of another recipe too")));
        }
        if let Some(other) = others.iter().find(|row| !row.runs.keys().eq(first.runs.keys())) {
            let [of_first, of_other] =
                [first, other].map(|row| row.runs.keys().map(u64::to_string).collect::<Vec<_>>().join(", "));
            let problem = format!("{} has seeds {of_first}, {} has {of_other}", first.name, other.name);
            return Err(Error::new(ErrorKind::Usage, format!("--seeds: {problem}; name the same seeds of each")));
        }
        Ok(rows)
    }
}

/// The name without the ending `-seedN` of its folders and its file (before the extension), and N: 0 if there is none.
fn recipe_and_seed(name: &str) -> (String, u64) {
    let mut seed = 0;
    let recipe = |part: Component| {
        let part = part.as_os_str().to_string_lossy();
        let Some((recipe, rest)) = part.rsplit_once("-seed") else { return part.into_owned() };
        let digits = rest.find('.').map_or(rest, |dot| &rest[..dot]);
        let Ok(of_part) = digits.parse() else { return part.into_owned() };
        seed = of_part;
        format!("{recipe}{}", &rest[digits.len()..])
    };
    let parts = Path::new(name).components().filter(|part| *part != Component::CurDir).map(recipe);
    let recipe: PathBuf = parts.collect();
    (recipe.display().to_string(), seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn runs_that_differ_in_their_seed_are_one_row() {
        let rows = RecipeRow::of_recipes(&names(&["runs/a-seed1", "runs/b", "./runs/a/", "runs/b-seed1"])).unwrap();
        let row = |name: &str, runs: [(u64, usize); 2]| RecipeRow { name: name.to_owned(), runs: runs.into() };
        assert_eq!(rows, [row("runs/a", [(0, 2), (1, 0)]), row("runs/b", [(0, 1), (1, 3)])]);
        for (name, recipe, seed) in [
            ("/r/a-seed12/eval/x/predictions.jsonl", "/r/a/eval/x/predictions.jsonl", 12),
            ("llm-seed3.jsonl", "llm.jsonl", 3),
            ("../b-seedling/p.jsonl", "../b-seedling/p.jsonl", 0),
        ] {
            assert_eq!(recipe_and_seed(name), (recipe.to_owned(), seed));
        }
    }

    #[test]
    fn rows_that_can_t_be_compared_seed_by_seed_are_refused() {
        for (runs, problem) in [
            (["a", "a-seed0", "b"], "a and a-seed0 are both seed 0"),
            (["a", "a-seed1", "./a-seed2"], "seeds of a;"),
            (["a-seed1", "b-seed1", "b-seed2"], "a has seeds 1, b has 1, 2"),
        ] {
            let said = RecipeRow::of_recipes(&names(&runs)).unwrap_err();
            assert!(said.message.contains(problem), "{said}");
        }
    }
}
