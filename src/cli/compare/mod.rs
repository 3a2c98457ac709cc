//! `tiered compare`: compares finished runs on the pairs that all of them were evaluated on.

use super::format::{Format, FormatArgs};
use super::output::{print, shown};
use crate::analysis::decoding;
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Reached;
use crate::report::comparison::{Compared, Comparison, SectionData, System, once_each};
use crate::schema;
use answers::SetAnswers;
pub(super) use predictor::run_folder;
use predictor::{Predictor, answers, sets, warn_of_readings, warn_of_seen, with_others};
use row::RecipeRow;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

mod answers;
mod predictor;
mod row;

/// How many differing pairs the text lists without `--all`.
const LISTED: usize = 20;
/// The word for the highest tier that a pair reaches.
const TIERS: [&str; 4] = ["wrong", "accurate", "consistent", "verifiable"];

/// Compare finished runs: scores, paired tests, and the pairs where they differ
///
/// Uses every evaluation (`tiered eval`) that all of the runs have. Each run is compared with the first. A file of
/// predictions, such as a language model's (`tiered llm score --predictions`), or of tiers (`tiered score --tiers`)
/// takes part in the evaluations of the same pairs.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Run folders, made by `tiered train`, or files of predictions (predictions.jsonl) or of tiers
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    runs: Vec<PathBuf>,
    /// Only this evaluation, by its name in the run folders; may be repeated [default: all that the runs share]
    #[arg(long = "evaluation", value_name = "NAME")]
    evaluations: Vec<String>,
    /// How to choose the sentences in conflict: threshold (the papers'), pair (the most likely sentence pair) or
    /// contrast [default: show threshold and pair]
    #[arg(long, value_enum)]
    decode: Option<Decode>,
    /// Which states to predict: argmax (the most likely class), 0.7 (nontrivial states of probability 0.7 or more),
    /// 0.7+top1 (the same, and where none at the conflict reaches it, the most probable one) or single (one attribute
    /// of one entity at the conflict); may be repeated [default: argmax]
    #[arg(long, value_name = "HOW")]
    states: Vec<StateDecode>,
    /// Runs that differ only in an ending -seedN of a name are the seeds of one row: means over seeds, and paired tests
    /// over all of them. A name without such an ending is seed 0. All rows need the same seeds
    #[arg(long)]
    seeds: bool,
    /// List all pairs on which the runs differ, not only the first 20
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    format: FormatArgs,
}

/// The output as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    comparison: &'a Comparison,
    differing: &'a [Differing],
}

/// The pairs of a set on which the runs reach different tiers, for one decoding.
#[derive(Serialize)]
struct Differing {
    set: String,
    decoding: String,
    pairs: usize,
    differ: Vec<DifferingPair>,
}

#[derive(Serialize)]
struct DifferingPair {
    id: String,
    kind: String,
    /// For each run, the highest tier that it reaches.
    tiers: Vec<&'static str>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let systems = args.runs.iter().map(|run| Predictor::open(run)).collect::<Result<Vec<_>>>()?;
    let names = args.runs.iter().map(|run| run.display().to_string()).collect::<Vec<_>>();
    let real: Vec<_> = args.runs.iter().map(|run| run.canonicalize().unwrap_or_else(|_| run.clone())).collect();
    if let Some(twice) = (1..real.len()).find(|&i| real[..i].contains(&real[i])) {
        return Err(Error::new(ErrorKind::Usage, format!("{}: named twice; name different runs", names[twice])));
    }
    let rows = if args.seeds { RecipeRow::of_recipes(&names)? } else { RecipeRow::of_runs(&names) };
    let (mut sections, mut differing) = (Vec::new(), Vec::new());
    let sets = sets(&args.evaluations, &systems)?;
    for set in &sets {
        let answers = answers(&systems, set).map_err(|error| with_others(error, &systems, &sets, set))?;
        warn_of_seen(&systems, set);
        warn_of_readings(&systems, set);
        for (conflicts, states) in decodings(args) {
            let decoding = decoding(conflicts, states);
            let reached = answers.iter().zip(&systems).map(|(answers, system)| {
                answers.reached(conflicts, states).map_err(|problem| system.lacks(set, &problem))
            });
            let outcomes = reached.collect::<Result<Vec<Reached>>>()?;
            differing.push(differing_pairs(set, &decoding, &answers[0], &outcomes));
            let system = |row: &RecipeRow| System {
                name: row.name.clone(),
                by_seed: row.runs.iter().map(|(&seed, &run)| (seed, outcomes[run].clone())).collect(),
                missing: Vec::new(),
                published: None,
            };
            sections.push(SectionData {
                set: set.clone(),
                decoding,
                pairs: Some(answers[0].set()),
                systems: rows.iter().map(system).collect(),
                published: Vec::new(),
            });
        }
    }
    let comparison = Comparison::new("Runs", sections, &Compared::WithFirst);
    let comparison = if args.seeds { comparison } else { comparison.of_single_runs() };
    let text = match args.format.format {
        Format::Json => schema::document(&Answer { comparison: &comparison, differing: &differing }),
        format => shown(&comparison, format),
    };
    print(&text)?;
    if args.format.format == Format::Text {
        print(&listing(&names, &differing, if args.all { usize::MAX } else { LISTED }))?;
    }
    Ok(())
}

/// The decodings to show.
fn decodings(args: &Args) -> Vec<(Decode, StateDecode)> {
    let conflicts = args.decode.map_or(Decode::REPORTED.to_vec(), |decode| vec![decode]);
    let states = if args.states.is_empty() { &vec![StateDecode::Argmax] } else { &args.states };
    once_each(states.iter().flat_map(|&states| conflicts.iter().map(move |&conflicts| (conflicts, states))))
}

fn differing_pairs(set: &str, decoding: &str, answers: &SetAnswers, outcomes: &[Reached]) -> Differing {
    let pairs = answers.pairs();
    // A set in which some pairs have no state labels has no verifiability.
    let known = if answers.set().has_states() { 3 } else { 2 };
    let differ = pairs.iter().enumerate().filter_map(|(i, &(id, kind))| {
        let tiers: Vec<&str> = outcomes
            .iter()
            .map(|of_run| TIERS[of_run[i][..known].iter().take_while(|&&reached| reached).count()])
            .collect();
        let differ = tiers.iter().any(|tier| *tier != tiers[0]);
        differ.then(|| DifferingPair { id: id.to_owned(), kind: kind.to_owned(), tiers })
    });
    Differing { set: set.to_owned(), decoding: decoding.to_owned(), pairs: pairs.len(), differ: differ.collect() }
}

/// The pairs on which the runs differ, best tier first. More than two runs go by numbers: their paths would fill the page.
fn listing(runs: &[String], differing: &[Differing], most: usize) -> String {
    let numbers: Vec<String> = (1..=runs.len()).map(|number| number.to_string()).collect();
    let mut text = String::new();
    let named = if runs.len() > 2 { &numbers } else { runs };
    if runs.len() > 2 {
        text += "\nRuns by number:\n";
        numbers.iter().zip(runs).for_each(|(number, run)| text += &format!("  {number}  {run}\n"));
    }
    for Differing { set, decoding, pairs, differ } in differing {
        let _ = writeln!(text, "\n{set}, {decoding}: the runs differ on {} of {pairs} pairs", differ.len());
        for pair in differ.iter().take(most) {
            let of_tier = |tier: &&str| {
                let reach = named.iter().zip(&pair.tiers).filter(|(_, reached)| *reached == tier);
                let names: Vec<&str> = reach.map(|(name, _)| name.as_str()).collect();
                (!names.is_empty()).then(|| format!("{tier} ({})", names.join(", ")))
            };
            let tiers: Vec<String> = TIERS.iter().rev().filter_map(of_tier).collect();
            let _ = writeln!(text, "  {}: {}", pair.id, tiers.join(", "));
        }
        if differ.len() > most {
            let _ = writeln!(text, "  and {} more (--all)", differ.len() - most);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(runs: &[&str], tiers: &[&'static str]) -> String {
        let pair = |id: &str| DifferingPair { id: id.into(), kind: "cloze".into(), tiers: tiers.to_vec() };
        let differing = Differing {
            set: "dev".into(),
            decoding: "pair".into(),
            pairs: 9,
            differ: vec![pair("1-C0"), pair("2-C0")],
        };
        listing(&runs.iter().map(ToString::to_string).collect::<Vec<_>>(), &[differing], 1)
    }

    #[test]
    fn two_runs_are_listed_by_name_and_more_by_number() {
        let two = listed(&["runs/a", "runs/b"], &["wrong", "consistent"]);
        let title = "\ndev, pair: the runs differ on 2 of 9 pairs\n";
        assert_eq!(two, format!("{title}  1-C0: consistent (runs/b), wrong (runs/a)\n  and 1 more (--all)\n"));
        let three = listed(&["a", "b", "c"], &["accurate", "wrong", "accurate"]);
        let numbers = "\nRuns by number:\n  1  a\n  2  b\n  3  c\n";
        assert_eq!(three, format!("{numbers}{title}  1-C0: accurate (1, 3), wrong (2)\n  and 1 more (--all)\n"));
    }
}
