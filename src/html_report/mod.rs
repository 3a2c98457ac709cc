//! One HTML page about runs: scores, curves, the figures of an analysis, and every pair with its predictions. The page
//! contains its style and script, opens from disk and loads nothing from the network. The templates (`templates/`)
//! escape all text of story files.

mod browse;
mod chart;
mod compared;
mod curves;
mod difference;
mod figures;
mod language_model;
mod listing;
mod names;
mod read;
mod reasons;
mod said;
mod same_sets;
mod scores;
mod story;

use crate::analysis::TierReached;
use crate::attribute::Attribute;
use crate::durable::sha256;
use crate::error::{Error, ErrorKind, Result};
use askama::Template;
use browse::PairView;
use chart::Figure;
use compared::{ComparedView, compared};
use figures::{AnalysisView, analysis};
use listing::Listing;
use names::{distinct, letter};
use read::ReportedRun;
use same_sets::name_sets;
use scores::{Headline, SetScores, headlines, scores};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Template)]
#[template(path = "page/page.html")]
struct Page<'a> {
    title: String,
    version: &'a str,
    style: &'a str,
    script: &'a str,
    /// Only scripts with this nonce run. A script inside a story does not have it.
    nonce: String,
    runs: Vec<RunView>,
    headlines: Vec<Headline>,
    scores: Vec<SetScores>,
    compared: Vec<ComparedView>,
    curves: Vec<Figure>,
    analyses: Vec<AnalysisView>,
    /// The values that the filters offer: the names of sets, kinds, tiers, attributes.
    sets: Vec<String>,
    kinds: Vec<String>,
    tiers: [&'static str; 4],
    attributes: Vec<Attribute>,
    /// The number of pairs on which several runs were evaluated.
    shared: usize,
    /// The number of those on which runs reach different tiers.
    differing: usize,
    pairs: Vec<PairView>,
}

/// A run, as the page introduces it.
struct RunView {
    /// The letter that stands for the run, for example in curves.
    letter: String,
    name: String,
    colour: usize,
    facts: String,
}

/// The page about these folders: trained runs, and language models that were asked about pairs. One that is named twice is
/// shown once.
///
/// # Errors
/// `MissingInput` if one is no such folder; `Data` or `Config` if a file in it was not written by `tiered`; `Io`.
pub fn page(folders: &[PathBuf]) -> Result<String> {
    let mut seen = BTreeSet::new();
    let is_new = |folder: &&PathBuf| seen.insert(folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf()));
    let mut runs: Vec<ReportedRun> = folders.iter().filter(is_new).map(|folder| read(folder)).collect::<Result<_>>()?;
    name_sets(&mut runs);
    let listing = Listing::new(&runs);
    let with_pairs = runs.iter().flat_map(|run| &run.sets).filter(|set| !set.predictions.is_empty());
    let sets = distinct(with_pairs.map(|set| set.name.clone()));
    let pairs: Vec<_> = listing.pairs.iter().map(|pair| PairView::new(pair, &sets, &runs)).collect();
    let page = Page {
        title: runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>().join(", "),
        version: env!("CARGO_PKG_VERSION"),
        style: include_str!("../../templates/page/page.css"),
        script: concat!(
            include_str!("../../templates/page/theme.js"),
            include_str!("../../templates/page/scroll.js"),
            include_str!("../../templates/page/figures.js"),
            include_str!("../../templates/page/pairs.js"),
        ),
        nonce: nonce(&runs),
        runs: runs.iter().enumerate().map(|(i, run)| RunView::new(i, run)).collect(),
        headlines: headlines(&runs),
        scores: scores(&runs),
        compared: compared(&runs),
        curves: curves::curves(&runs)?,
        analyses: analysis(&runs, &listing)?,
        sets,
        kinds: distinct(pairs.iter().map(|pair| pair.kind.clone())),
        tiers: TierReached::ALL.map(TierReached::name),
        attributes: distinct(pairs.iter().flat_map(|pair| pair.attributes.clone())),
        shared: pairs.iter().filter(|pair| pair.answers.len() > 1).count(),
        differing: pairs.iter().filter(|pair| pair.differs()).count(),
        pairs,
    };
    page.render().map_err(|error| Error::new(ErrorKind::Internal, format!("the page can't be rendered: {error}")))
}

fn read(folder: &Path) -> Result<ReportedRun> {
    match language_model::read(folder)? {
        Some(run) => Ok(run),
        None if folder.join("journal.jsonl").is_file() => Err(Error::data(format!(
            "{}: has no predictions.jsonl, which `tiered llm eval` writes at its end by protocol pairs (all three \
             tiers, by log-probabilities) and by protocol har, about stories with states of entities; ask the model so",
            folder.display()
        ))),
        None => ReportedRun::read(folder),
    }
}

impl RunView {
    fn new(number: usize, run: &ReportedRun) -> Self {
        RunView {
            letter: letter(number),
            name: run.name.clone(),
            colour: chart::colour(number),
            facts: run.facts.clone(),
        }
    }
}

/// A nonce computed from everything shown, so that the author of a story could not know it.
fn nonce(runs: &[ReportedRun]) -> String {
    let shown = |run: &ReportedRun| {
        format!("{}{:?}", run.name, run.sets.iter().map(|set| &set.predictions).collect::<Vec<_>>())
    };
    sha256(runs.iter().map(shown).collect::<String>().as_bytes())
}
