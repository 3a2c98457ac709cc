//! From the predictions that cells left to one comparison.

use super::file::{ConflictChoice, EvaluationSet, StateChoice};
use super::{Cell, Study};
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{Which, own_decode};
use crate::metrics::{PairSet, Reached, reached};
use crate::prediction::{PairPrediction, read_predictions};
use crate::report::comparison::{Compared, Comparison, SectionData, System};
use crate::report::{PublishedRow, published};
use std::collections::BTreeMap;

/// What of a study is shown.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Evaluation sets by name; all where empty.
    pub sets: Vec<String>,
    /// Those of the study file where empty.
    pub decode: Vec<ConflictChoice>,
    pub states: Vec<StateChoice>,
}

/// A way of decoding predictions.
type Decoding = (ConflictChoice, StateChoice);

/// Cells that differ in their seed only, by the name of their row.
type Rows<'a> = Vec<(String, Vec<&'a Cell>)>;

/// What a cell reaches on a set, by decoding.
struct CellOutcomes {
    pairs: PairSet,
    by_decoding: Vec<Reached>,
}

impl Study {
    /// The cells that differ in their seed only, in the order of their first ones.
    pub fn rows(&self) -> Rows<'_> {
        let mut rows: Rows = Vec::new();
        for cell in &self.cells {
            let name = cell.row_name();
            match rows.iter_mut().find(|(row, _)| *row == name) {
                Some((_, cells)) => cells.push(cell),
                None => rows.push((name, vec![cell])),
            }
        }
        rows
    }

    /// Reads what the cells that are evaluated predicted; the others are missing.
    ///
    /// # Errors
    /// `Usage` if a set is asked for that there is not; `Data` if predictions can't be read, or cells were evaluated on
    /// different pairs.
    pub fn compare(&self, selection: &Selection, compared: &Compared) -> Result<Comparison> {
        let decodings = self.decodings(selection);
        let mut sections = Vec::new();
        for set in self.sets(selection)? {
            sections.extend(self.sections(set, &decodings)?);
        }
        Ok(Comparison::new(&self.file.name, sections, compared))
    }

    fn sets(&self, selection: &Selection) -> Result<Vec<&EvaluationSet>> {
        let all = &self.file.evaluate;
        let named = |name: &String| {
            all.iter().find(|set| set.name == *name).ok_or_else(|| {
                let names: Vec<&str> = all.iter().map(|set| set.name.as_str()).collect();
                Error::new(
                    ErrorKind::Usage,
                    format!("--evaluation {name}: the study's evaluations are {}", names.join(", ")),
                )
            })
        };
        if selection.sets.is_empty() { Ok(all.iter().collect()) } else { selection.sets.iter().map(named).collect() }
    }

    fn decodings(&self, selection: &Selection) -> Vec<Decoding> {
        let conflicts = if selection.decode.is_empty() { &self.file.decode } else { &selection.decode };
        let states = if selection.states.is_empty() { &self.file.states } else { &selection.states };
        conflicts.iter().flat_map(|&conflict| states.iter().map(move |&state| (conflict, state))).collect()
    }

    /// One for each decoding.
    fn sections(&self, set: &EvaluationSet, decodings: &[Decoding]) -> Result<Vec<SectionData>> {
        let rows = self.rows();
        let mut pairs: Option<PairSet> = None;
        let mut outcomes = BTreeMap::new();
        for cell in rows.iter().flat_map(|(_, cells)| cells) {
            let Some(cell_outcomes) = self.outcomes(cell, set, decodings)? else { continue };
            if pairs.get_or_insert_with(|| cell_outcomes.pairs.clone()) != &cell_outcomes.pairs {
                let folder = self.place(cell).evaluation(set);
                return Err(Error::data(format!(
                    "{}: its pairs are not those that other cells were evaluated on; remove it, and run the study again",
                    folder.display()
                )));
            }
            outcomes.insert(cell.number, cell_outcomes.by_decoding);
        }
        let section = |(i, decoding): (usize, &Decoding)| {
            let system = |(name, cells): &(String, Vec<&Cell>)| {
                let (done, missing): (Vec<&Cell>, Vec<&Cell>) =
                    cells.iter().copied().partition(|cell| outcomes.contains_key(&cell.number));
                System {
                    name: if name.is_empty() { self.file.name.clone() } else { name.clone() },
                    by_seed: done.iter().map(|cell| (cell.config.seed, outcomes[&cell.number][i].clone())).collect(),
                    missing: missing.iter().map(|cell| cell.config.seed).collect(),
                    published: self.published(cells[0], set),
                }
            };
            SectionData {
                set: set.name.clone(),
                decoding: decoding_name(*decoding),
                pairs: pairs.clone(),
                systems: rows.iter().map(system).collect(),
                published: set.beside.map(published).unwrap_or_default(),
            }
        };
        Ok(decodings.iter().enumerate().map(section).collect())
    }

    /// What is published of a row.
    fn published(&self, cell: &Cell, set: &EvaluationSet) -> Option<PublishedRow> {
        let is_of = |row: &BTreeMap<String, String>| row.iter().all(|(axis, value)| cell.has(axis, value));
        let found = self.file.published.iter().find(|published| published.set == set.name && is_of(&published.row));
        found.map(|published| published.as_row())
    }

    /// `None` if the cell is not evaluated on the set.
    fn outcomes(&self, cell: &Cell, set: &EvaluationSet, decodings: &[Decoding]) -> Result<Option<CellOutcomes>> {
        let place = self.place(cell);
        if !place.is_trained(cell)? || !place.is_evaluated(set, None) {
            return Ok(None);
        }
        let predictions = read_predictions(&place.evaluation(set).join("predictions.jsonl"))?.pairs;
        let tuned = place.folder()?.tuned(Which::Best)?.map(|tuned| tuned.states).unwrap_or_default();
        let decoded = |&(conflict, state): &Decoding| {
            let conflict = match conflict {
                ConflictChoice::Threshold => Decode::Threshold,
                ConflictChoice::Pair => Decode::Pair,
                ConflictChoice::Contrast => Decode::Contrast,
                ConflictChoice::Own => own_decode(&cell.config),
            };
            let states = if state == StateChoice::Tuned { tuned } else { StateDecode::Argmax };
            let decoded =
                |p: &PairPrediction| states.apply_to(PairPrediction { conflict: conflict.conflict(p), ..p.clone() });
            reached(predictions.iter().map(decoded))
        };
        let by_decoding = decodings.iter().map(decoded).collect();
        Ok(Some(CellOutcomes { pairs: PairSet::of(&predictions), by_decoding }))
    }
}

fn decoding_name((conflict, state): Decoding) -> String {
    let conflict = match conflict {
        ConflictChoice::Threshold => "threshold",
        ConflictChoice::Pair => "pair",
        ConflictChoice::Contrast => "contrast",
        ConflictChoice::Own => "each detector's own way",
    };
    let state = match state {
        StateChoice::Argmax => "argmax",
        StateChoice::Tuned => "as tuned on dev",
    };
    format!("{conflict}, states {state}")
}

/// Reads `A,B` pairs of rows, each by number or by name; every row with the first where there are none.
///
/// # Errors
/// `Usage` if there is no such row.
pub fn compared(asked: &[String], rows: &[String]) -> Result<Compared> {
    let usage = |message: String| Error::new(ErrorKind::Usage, message);
    let number = |asked: &str| {
        let asked = asked.trim();
        let by_number = asked.parse().ok().filter(|number| (1..=rows.len()).contains(number));
        let found = by_number.or_else(|| rows.iter().position(|row| row == asked).map(|i| i + 1));
        found.ok_or_else(|| {
            let list: Vec<String> = rows.iter().enumerate().map(|(i, row)| format!("\n  {} {row}", i + 1)).collect();
            usage(format!("--compare: there is no row {asked:?}; the rows are:{}", list.concat()))
        })
    };
    let pair = |text: &String| {
        let (first, second) = text
            .split_once(',')
            .ok_or_else(|| usage(format!("--compare {text}: must be two rows, e.g. --compare 1,3")))?;
        Ok([number(first)?, number(second)?])
    };
    match asked {
        [] => Ok(Compared::WithFirst),
        asked => Ok(Compared::Rows(asked.iter().map(pair).collect::<Result<_>>()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_named_by_number_or_by_name() {
        let rows = ["paper / all".to_owned(), "joint / all".to_owned()];
        let read = |asked: &str| compared(&[asked.to_owned()], &rows);
        assert_eq!(read("2,1").unwrap(), Compared::Rows(vec![[2, 1]]));
        assert_eq!(read("joint / all, 1").unwrap(), Compared::Rows(vec![[2, 1]]));
        assert_eq!(compared(&[], &rows).unwrap(), Compared::WithFirst);
        for wrong in ["1", "1,3", "0,1", "1,paper"] {
            assert_eq!(read(wrong).unwrap_err().kind, ErrorKind::Usage, "{wrong}");
        }
    }
}
