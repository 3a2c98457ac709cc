//! `tiered llm score`: scores recorded answers of language models.

use crate::cli::format::{Format, FormatArgs};
use crate::cli::out_file::{OutFile, Replacing};
use crate::cli::output::print;
use crate::error::{Error, ErrorKind, Result};
use crate::llm::record::{Records, find_records};
use crate::llm::score::{
    ConvertedPairs, agreement, agreement_of_pairs, calamita_leaderboard, link, not_both_orders, pair_predictions,
    require_asked_alike, require_both_orders, score,
};
use crate::llm::server::Settled;
use crate::llm::{Protocol, QUESTIONS, read_stories};
use crate::prediction::{LabelledPair, read_predictions, write_lines};
use crate::report::published_models;
use crate::say::{aside, counted};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Score recorded answers of language models, tier by tier
///
/// Reads samples_*.jsonl as lm-evaluation-harness and `tiered llm eval` write them, one file a tier, or folders of
/// them; the files of one folder are one model's. Files of later tiers may be missing. Everything is computed from the
/// stories and the log-probabilities; what a file claims to be right is not used.
#[derive(clap::Args)]
pub(in crate::cli) struct Args {
    /// Files of samples, or folders that contain them
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Print published scores below; may be repeated
    #[arg(long, value_enum, value_name = "SET")]
    published: Vec<Published>,
    /// The same model's answers to the same questions in the other order (`tiered llm eval --swapped`): print how often
    /// they agree. Of protocol har, this is all that is printed; `tiered score DIR/predictions.jsonl` has the scores
    #[arg(long, value_name = "PATH")]
    swapped: Option<PathBuf>,
    /// Write the answers of protocol pairs as predictions.jsonl to this file, for `tiered score`; needs --data
    #[arg(long, value_name = "FILE", requires = "data")]
    predictions: Option<PathBuf>,
    /// The story file that was asked about, with states of entities (for --predictions)
    #[arg(long, value_name = "FILE", requires = "predictions")]
    data: Option<PathBuf>,
    /// Its split, if it has several
    #[arg(long, value_name = "NAME", requires = "data")]
    split: Option<String>,
    #[command(flatten)]
    replacing: Replacing,
    #[command(flatten)]
    format: FormatArgs,
}

/// Published scores of language models on GITA4CALAMITA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Published {
    /// Table 3 of GITA4CALAMITA: the same protocol
    GitaStories,
    /// The CALAMITA leaderboard: another protocol, in a table of its own
    Calamita,
}

pub(super) fn run(args: &Args) -> Result<()> {
    if let Some([first, second]) = har_folders(args) {
        if args.predictions.is_some() || !args.published.is_empty() {
            let message = "--swapped: of two runs by protocol har only the agreement is printed; leave out --predictions \
                           and --published";
            return Err(Error::new(ErrorKind::Usage, message));
        }
        return print(&har_agreement(args, first, second)?);
    }
    let records = find_records(&args.paths)?;
    let swapped = args.swapped.as_ref().map(|path| find_records(std::slice::from_ref(path))).transpose()?;
    let read = records.iter().chain(swapped.iter().flatten());
    let inputs: Vec<&PathBuf> = read.flat_map(|records| &records.files).chain(&args.data).collect();
    let out = args.predictions.as_deref().map(|path| OutFile::beside(&inputs, path, args.replacing)).transpose()?;
    let mut report = score(&records)?;
    if args.published.contains(&Published::GitaStories) {
        report = report.with_published(&records, published_models())?;
    }
    if args.published.contains(&Published::Calamita) {
        report.calamita_leaderboard = calamita_leaderboard();
    }
    if let Some(swapped) = &swapped {
        let [first, second] = [only(&records, "--swapped")?, only(swapped, "--swapped")?];
        require_both_orders(first, second)?;
        report.agreement = Some(agreement(&link(first)?, &link(second)?)?);
    }
    if let Some(out) = &out {
        let predictions = predictions(args, only(&records, "--predictions")?)?;
        out.write(|file| write_lines(file, out.path(), &predictions))?;
    }
    if out.is_some_and(|out| out.is_standard_output()) {
        return Ok(());
    }
    let text = match (args.format.format, args.format.format.of_tables()) {
        (Format::Text, _) => report.to_text(),
        (Format::Markdown, _) => report.to_markdown(),
        (_, Some(format)) => report.in_tables(format),
        (_, None) => report.to_json(),
    };
    print(&text)
}

/// Both folders, if they are of protocol har.
fn har_folders(args: &Args) -> Option<[&Path; 2]> {
    let [first] = &args.paths[..] else { return None };
    let folders = [first, args.swapped.as_ref()?];
    folders.iter().all(|folder| folder.join(QUESTIONS).is_file()).then(|| folders.map(PathBuf::as_path))
}

fn har_agreement(args: &Args, first: &Path, second: &Path) -> Result<String> {
    require_both_orders_of_pairs(first, second)?;
    let read = |folder: &Path| read_predictions(&folder.join("predictions.jsonl")).map(|read| read.pairs);
    let agreement = agreement_of_pairs(&first.display().to_string(), &read(first)?, &read(second)?)?;
    let format = args.format.format.of_tables();
    Ok(format.map_or_else(|| agreement.to_json(), |format| format(&agreement.table())))
}

/// What may differ between two runs by protocol har that are asked in both orders: the order and the words for it, where
/// the file lies, and a limit, because the number of pairs is compared.
const MAY_DIFFER: [&str; 4] = ["swapped", "departures", "data", "limit"];

/// Refuses runs by protocol har that are not one model's, asked alike but with either story of every pair first.
fn require_both_orders_of_pairs(first: &Path, second: &Path) -> Result<()> {
    let settled = |folder: &Path| {
        let problem = "has no run.json, which tells the model and the order; name a folder that `tiered llm eval` made";
        Settled::read(folder)?.ok_or_else(|| Error::data(problem).about(folder.display()))
    };
    let (ours, theirs) = (settled(first)?, settled(second)?);
    let is_swapped = |settled: &Settled| settled.asked.get("swapped").and_then(Value::as_bool).unwrap_or(false);
    if ours.server.model != theirs.server.model {
        return Err(not_both_orders(first, second, "is of another model than"));
    }
    if is_swapped(&ours) == is_swapped(&theirs) {
        return Err(not_both_orders(first, second, "shows the stories of a pair in the same order as"));
    }
    let asked = [ours, theirs].map(|mut settled| {
        settled.asked.retain(|field, _| !MAY_DIFFER.contains(&field.as_str()));
        settled.asked.insert("way".to_owned(), json!(settled.way));
        settled.asked.insert("bos".to_owned(), json!(settled.bos));
        settled.asked
    });
    require_asked_alike(first, second, asked.each_ref())
}

/// The only model, for a flag that is about one.
fn only<'a>(records: &'a [Records], flag: &str) -> Result<&'a Records> {
    match records {
        [records] => Ok(records),
        _ => Err(Error::new(ErrorKind::Usage, format!("{flag}: is about one model; name the files of one"))),
    }
}

fn predictions(args: &Args, records: &Records) -> Result<Vec<LabelledPair>> {
    let data = args.data.as_deref().expect("clap requires it");
    let set = read_stories(data, Protocol::Pairs, args.split.as_deref())?;
    if set.checked.is_empty() {
        let problem =
            "has no states of entities, which predictions.jsonl needs; name the file in the format of TRIP and GITA";
        return Err(Error::data(problem).about(data.display()));
    }
    let ConvertedPairs { predictions, left_out } = pair_predictions(records, &link(records)?, &set.checked)?;
    if predictions.is_empty() {
        let problem = "has no pair of the story file; name the file and split that were asked about";
        return Err(Error::data(problem).about(records.folder.display()));
    }
    if left_out > 0 {
        aside!("warning: {}: not asked about, and so left out: {}", data.display(), counted(left_out, "pair"));
    }
    Ok(predictions)
}
