//! `tiered predict`: says of one or two stories which is plausible, which sentences conflict and why.

use super::follow::{follow, open_input};
use super::format::TextFormatArgs;
use super::input::read_input;
use super::output::{print, warn_unless_ended};
use super::pairs::split_name;
use crate::config::Config;
use crate::data::{self, OF_STORY_FILES, Pair, Sentences, Severity, split_names};
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{CheckpointKind, RunFolder, TrainedRun};
use crate::language::Language;
use crate::machine::{self, ComputeChoice};
use crate::question::{Decoding, Judged, PairQuestion, TextOptions, judge};
use crate::say::aside;
use crate::untrusted::{self, MAX_BATCH, MAX_PLAIN};
use std::io;
use std::path::{Path, PathBuf};

/// Say which of two stories is plausible, which sentences conflict and why
///
/// The input is text or JSON. Text has one sentence a line and a blank line between two stories. A story in text may
/// begin with a line `entities: a, b`. The list of the first story is also that of a second one without a list. Where
/// none are named, they are found in the sentences. Lines that begin with # are left out. Bullets and numbers are
/// removed if all lines of a story have them. JSON is {"stories": [{"sentences": [...], "entities": [...]}, ...]}, or
/// one object of that list. Stories and sentences are numbered from 1 in text and from 0 in JSON.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A run folder, made by `tiered train`
    run: PathBuf,
    /// The file of the stories; "-" or no file for standard input
    #[arg(conflicts_with = "pair")]
    file: Option<PathBuf>,
    /// The people and things in the stories, separated by commas or semicolons, instead of the stories' own lists
    /// [default: those of the lists, else those found in the sentences]
    #[arg(long, value_name = "NAMES", conflicts_with = "pair")]
    entities: Option<String>,
    /// The language in which people and things are found and states are named [default: by the function words]
    #[arg(long, value_enum, conflicts_with = "pair")]
    lang: Option<Language>,
    /// Split lines that contain several sentences
    #[arg(long, conflicts_with = "pair")]
    split_sentences: bool,
    /// Predict a pair of the story file --data: the id of its implausible story
    #[arg(long, value_name = "ID", requires = "data")]
    pair: Option<String>,
    /// The story file of the pair
    #[arg(long, value_name = "FILE", requires = "pair")]
    data: Option<PathBuf>,
    /// The split of the pair [default: test, or the file's only split]
    #[arg(long, requires = "data")]
    split: Option<String>,
    #[command(flatten)]
    format: TextFormatArgs,
    /// Answer many questions: each line of the file is JSON of one or two stories, each answer is a line of JSON
    #[arg(long, conflicts_with = "pair")]
    batch: bool,
    /// Keep the model loaded, and answer each line as it comes; lines and answers as with --batch. A line without an
    /// answer gives {"line": N, "error": "..."}
    #[arg(long, conflicts_with_all = ["pair", "batch"])]
    follow: bool,
    /// Which weights of the run to use
    #[arg(long, value_enum, default_value_t = CheckpointKind::Best)]
    weights: CheckpointKind,
    #[command(flatten)]
    compute: ComputeChoice,
    /// Read the stories also without their first sentence, without their second one, and so on, and take the mean
    /// (test-time augmentation). It takes four to six times as long for stories of five sentences
    #[arg(long)]
    augment: bool,
    /// How to choose the sentences in conflict: threshold (the papers'), pair (the most likely sentence pair) or
    /// contrast [default: threshold for the paper's detector, pair for the joint one]
    #[arg(long, value_enum)]
    decode: Option<Decode>,
    /// Which states to predict: argmax (the most likely class), 0.7 (nontrivial states of probability 0.7 or more),
    /// 0.7+top1 (the same, and where none at the conflict reaches it, the most probable one) or single (one attribute
    /// of one entity at the conflict) [default: the choice made on dev, else argmax]
    #[arg(long, value_name = "HOW")]
    states: Option<StateDecode>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    machine::share_memory();
    if (args.batch || args.follow) && args.format.must_be_text() {
        let message = "--batch and --follow answer in lines of JSON; leave out --format text";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    if args.entities.as_deref().is_some_and(|names| split_names(names).is_empty()) {
        return Err(Error::new(ErrorKind::Usage, "--entities names no entity; name some, or leave it out"));
    }
    // A wrong run folder is reported before the input is read.
    warn_unless_ended(&RunFolder::open(&args.run)?);
    if args.follow {
        let run = TrainedRun::open(&args.run, args.weights, &args.compute)?;
        let input = open_input(args.file.as_deref())?;
        let source = args.file.as_deref().unwrap_or(Path::new("standard input"));
        follow(input, source, |line, number| answer_line(&run, args, line, number))?;
        keep_to_the_end(run);
        return Ok(());
    }
    let (questions, lines) =
        if args.batch { batch(args)?.into_iter().unzip() } else { (vec![question(args)?], vec![0]) };
    let run = TrainedRun::open(&args.run, args.weights, &args.compute)?;
    for (Judged { answer, .. }, line) in judge(&run, questions, decoding(args))?.into_iter().zip(lines) {
        print(&match (args.batch, args.format.is_json()) {
            (true, _) => answer.to_json_line(line),
            (false, true) => answer.to_json(),
            (false, false) => answer.to_text(),
        })?;
    }
    keep_to_the_end(run);
    Ok(())
}

/// Leaves it to the end of the process to free a run's memory: piece by piece a multilingual tokenizer takes 0.2 s.
fn keep_to_the_end(run: TrainedRun) {
    std::mem::forget(run);
}

fn decoding(args: &Args) -> Decoding {
    Decoding { conflicts: args.decode, states: args.states, augment: args.augment, language: args.lang }
}

/// One question per line, with the line's number from 0.
fn batch(args: &Args) -> Result<Vec<(PairQuestion, usize)>> {
    let (text, source) = read_input(args.file.as_deref(), MAX_BATCH)?;
    let question = |(number, line)| {
        let question = json_question(args, line, format!("{source}, line {number}"))?;
        Ok((question, number - 1))
    };
    let questions: Vec<_> = untrusted::lines(&text).map(question).collect::<Result<_>>()?;
    match questions.is_empty() {
        true => Err(Error::data(format!("{source}: contains no questions; write one on each line"))),
        false => Ok(questions),
    }
}

fn json_question(args: &Args, line: &str, source: String) -> Result<PairQuestion> {
    if !line.trim_start().starts_with('{') {
        let problem = "is no JSON object; write {\"stories\": [...]} or {\"sentences\": [...]}";
        return Err(Error::data(format!("{source}: {problem}")));
    }
    typed_question(args, line, source)
}

/// The answer to one line of `--follow`.
fn answer_line(run: &TrainedRun, args: &Args, line: &str, number: usize) -> Result<String> {
    let question = json_question(args, line, format!("line {}", number + 1))?;
    let refused = || Error::new(ErrorKind::Internal, "a pair was evaluated to no prediction");
    let judged = judge(run, vec![question], decoding(args))?.into_iter().next().ok_or_else(refused)?;
    Ok(judged.answer.to_json_line(number))
}

fn question(args: &Args) -> Result<PairQuestion> {
    if let (Some(id), Some(file)) = (&args.pair, &args.data) {
        // With the run's seed, the stories come in the same order as in `tiered eval`.
        let seed = Config::open(&RunFolder::open(&args.run)?.config_file(), &[])?.seed;
        let pair = pair_of_file(file, args.split.as_deref(), id, seed)?;
        return Ok(PairQuestion::of_pair(pair, file.display().to_string()));
    }
    let (text, source) = read_input(args.file.as_deref(), MAX_PLAIN).map_err(about_large_files)?;
    typed_question(args, &text, source)
}

/// A file that is too large for typed stories is probably a story file.
fn about_large_files(error: Error) -> Error {
    let cause = error.source.as_ref().and_then(|source| source.downcast_ref::<io::Error>());
    match cause.is_some_and(|cause| cause.kind() == io::ErrorKind::FileTooLarge) {
        true => Error { message: format!("{}; {OF_STORY_FILES}", error.message), ..error },
        false => error,
    }
}

/// A question from text or JSON that a person typed.
fn typed_question(args: &Args, text: &str, source: String) -> Result<PairQuestion> {
    let reading = TextOptions {
        entities: args.entities.as_deref().map(split_names).unwrap_or_default(),
        sentences: if args.split_sentences { Sentences::Split } else { Sentences::AsGiven },
        language: args.lang,
    };
    let question = PairQuestion::typed(text, source, &reading)?;
    let source = &question.source;
    if let Some(words) = &question.left_out {
        aside!("{source}: {words}");
    }
    for doubt in &question.doubts {
        aside!("warning: {source}: {doubt}");
    }
    if question.single_story && !text.trim_start().starts_with('{') {
        let sentences = question.pair.stories[0].sentences.len();
        aside!("{source}: read as one story of {sentences} sentences; a blank line begins a second one");
    }
    Ok(question)
}

fn pair_of_file(path: &Path, split: Option<&str>, id: &str, seed: u64) -> Result<Pair> {
    let file = data::read_file(path)?;
    let split = split_name(&file, split)?;
    let mut pairs = data::pairs(file.split(&split)?, seed);
    let position = pairs.iter().position(|pair| pair.id == id).ok_or_else(|| {
        let errors = || file.findings.iter().filter(|finding| finding.severity == Severity::Error);
        if let Some(error) = errors().find(|error| error.split == split && error.story == id) {
            return Error::data(format!("{error}; so no pair has this story"));
        }
        let examples: Vec<_> = pairs.iter().take(3).map(|pair| pair.id.as_str()).collect();
        let shown = match &examples[..] {
            [] => "it has no pairs".into(),
            _ => format!("its ids are {}, ...", examples.join(", ")),
        };
        let left_out = match errors().count() {
            0 => String::new(),
            count => format!("; {} lists why stories can't be used (errors: {count})", data::checking(path)),
        };
        let path = path.display();
        Error::data(format!("{path}: split {split:?} has no pair {id:?}; {shown}{left_out}"))
    })?;
    Ok(pairs.swap_remove(position))
}
