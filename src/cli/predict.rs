//! `tiered predict`: one or two stories -> which is plausible, what conflicts, and why.

use super::doubts::{doubts, require_judgeable};
use super::output::{print, warn_unless_ended};
use super::pairs::split;
use crate::config::Config;
use crate::data::{self, Pair, Sentences, Typed, read_plain, split_names};
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{RunFolder, TrainedRun, Which};
use crate::machine::DeviceChoice;
use crate::outside::{self, MAX_BATCH, MAX_PLAIN};
use crate::prediction::PairPrediction;
use crate::report::Answer;
use crate::say::aside;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

/// Say which of two stories is plausible, which sentences conflict and why
///
/// Stories are text, one sentence a line with a blank line between two stories, or JSON:
/// {"stories": [{"sentences": [...], "entities": [...]}, ...]} or one such object. A story in text may begin with a
/// line `entities: a, b`. Lines that begin with # are left out, and so are bullets and numbers that all lines of a story
/// have. Stories and sentences are numbered from 1 in what is printed.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A run folder, made by `tiered train`
    run: PathBuf,
    /// The stories; "-", or nothing, for standard input
    #[arg(conflicts_with = "pair")]
    file: Option<PathBuf>,
    /// The people and things in the stories, separated by commas or semicolons
    #[arg(long, value_name = "NAMES", conflicts_with = "pair")]
    entities: Option<String>,
    /// Divide what has several sentences in one line
    #[arg(long, conflicts_with = "pair")]
    split_sentences: bool,
    /// Take a pair from a story file instead: the id of its implausible story
    #[arg(long, value_name = "ID", requires = "data")]
    pair: Option<String>,
    /// The story file of the pair
    #[arg(long, value_name = "FILE", requires = "pair")]
    data: Option<PathBuf>,
    /// The partition of the pair [default: test, or the only one of the file]
    #[arg(long, requires = "data")]
    split: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Answer many questions: a line of the file is the JSON of one or two stories, a line of JSON comes back for each
    #[arg(long, conflicts_with = "pair")]
    batch: bool,
    /// Which weights of the run
    #[arg(long, value_enum, default_value_t = Which::Best)]
    weights: Which,
    /// Where to compute: auto, cpu or cuda:N [default: as in training]
    #[arg(long)]
    device: Option<DeviceChoice>,
    /// How to decide which sentences conflict [default: what the run's detector is made for, as in `tiered eval`]
    #[arg(long, value_enum)]
    decode: Option<Decode>,
    /// Which states to assert: the most likely ones (argmax), those from a probability on (0.7), or these and the surest
    /// one that explains the conflict (0.7,surest) [default: as chosen on dev, else argmax]
    #[arg(long, value_name = "HOW")]
    states: Option<StateDecode>,
}

/// What is asked about.
struct Question {
    pair: Pair,
    /// Whether the pair is one story beside itself, since what is said about a story alone does not depend on the other.
    alone: bool,
    /// Where the stories are from.
    source: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    // A wrong folder is said before anything else.
    warn_unless_ended(&RunFolder::open(&args.run)?);
    let (questions, lines) =
        if args.batch { batch(args)?.into_iter().unzip() } else { (vec![question(args)?], vec![1]) };
    let run = TrainedRun::open(&args.run, args.weights, args.device.as_ref())?;
    if questions.iter().any(|question| question.alone) {
        run.require_alone()?;
    }
    let source = questions.first().map(|question| question.source.clone()).unwrap_or_default();
    let (pairs, alone): (Vec<Pair>, Vec<bool>) = questions.into_iter().map(|q| (q.pair, q.alone)).unzip();
    let evaluation = run.evaluate(pairs, |_| ()).map_err(|error| error.about(source))?;
    for ((prediction, alone), line) in evaluation.predictions.into_iter().zip(alone).zip(lines) {
        let answer = answer(&run, prediction, alone, args)?;
        print(&match (args.batch, args.json) {
            (true, _) => answer.to_json_line(line),
            (false, true) => answer.to_json(),
            (false, false) => answer.to_text(),
        })?;
    }
    Ok(())
}

fn answer(run: &TrainedRun, mut prediction: PairPrediction, alone: bool, args: &Args) -> Result<Answer> {
    if alone {
        let refused = || Error::new(ErrorKind::Internal, "a run that judges stories alone did not");
        for story in &mut prediction.stories {
            *story = story.alone().ok_or_else(refused)?;
        }
    }
    let decode = args.decode.unwrap_or_else(|| run.own_decode());
    let prediction = run.decoded(prediction, decode, args.states);
    let answer = if alone { Answer::of_story } else { Answer::of_pair };
    Ok(answer(&prediction, decode))
}

/// A question a line, with the number of the line; blank lines are passed over.
fn batch(args: &Args) -> Result<Vec<(Question, usize)>> {
    let (text, source) = read_input(args.file.as_deref(), MAX_BATCH)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let questions = lines.map(|(i, line)| {
        let source = format!("{source}, line {}", i + 1);
        if !line.trim_start().starts_with('{') {
            let problem = "must be a JSON object, {\"stories\": [...]} or {\"sentences\": [...]}";
            return Err(Error::data(format!("{source}: {problem}")));
        }
        typed_question(args, line, source).map(|question| (question, i + 1))
    });
    let questions: Vec<_> = questions.collect::<Result<_>>()?;
    match questions.is_empty() {
        true => Err(Error::data(format!("{source}: holds no questions; give one a line"))),
        false => Ok(questions),
    }
}

fn question(args: &Args) -> Result<Question> {
    if let (Some(id), Some(file)) = (&args.pair, &args.data) {
        // The run's seed, so that the stories come in the order in which `tiered eval` records them.
        let seed = Config::open(&RunFolder::open(&args.run)?.config_file(), &[])?.seed;
        let pair = pair_of_file(file, args.split.as_deref(), id, seed)?;
        return Ok(Question { pair, alone: false, source: file.display().to_string() });
    }
    let (text, source) = read_input(args.file.as_deref(), MAX_PLAIN)?;
    typed_question(args, &text, source)
}

/// About one or two stories as a person types them.
fn typed_question(args: &Args, text: &str, source: String) -> Result<Question> {
    let entities = args.entities.as_deref().map(split_names).unwrap_or_default();
    let sentences = if args.split_sentences { Sentences::Split } else { Sentences::AsGiven };
    let Typed { stories: typed, left_out } = read_plain(text, &source, &entities, sentences)?;
    if let Some(words) = left_out.words() {
        aside!("{source}: {words}");
    }
    let stories = match typed.as_slice() {
        [story] => [story.clone(), story.clone()],
        [first, second] => [first.clone(), second.clone()],
        many => {
            let count = many.len();
            return Err(Error::data(format!(
                "{source}: holds {count} stories, and at most two can be compared; a blank line begins a new story (a \
                 title is left out if its line begins with #)"
            )));
        }
    };
    require_judgeable(&typed, &source)?;
    for doubt in doubts(&typed) {
        aside!("warning: {source}: {doubt}");
    }
    if let ([story], false) = (typed.as_slice(), text.trim_start().starts_with('{')) {
        aside!("{source}: read as one story of {} sentences; a blank line begins a second one", story.sentences.len());
    }
    Ok(Question { pair: Pair::unlabelled(stories), alone: typed.len() == 1, source })
}

fn pair_of_file(path: &Path, partition: Option<&str>, id: &str, seed: u64) -> Result<Pair> {
    let file = data::read_file(path)?;
    let partition = split(&file, partition)?;
    let mut pairs = data::pairs(file.partition(&partition)?, seed);
    let position = pairs.iter().position(|pair| pair.id == id).ok_or_else(|| {
        let examples: Vec<_> = pairs.iter().take(3).map(|pair| pair.id.as_str()).collect();
        let shown = if examples.is_empty() {
            "it has no pairs".into()
        } else {
            format!("ids are {}, ...", examples.join(", "))
        };
        Error::data(format!("{}: partition {partition:?} has no pair {id:?}; {shown}", path.display()))
    })?;
    Ok(pairs.swap_remove(position))
}

/// The text and what to call it in errors.
fn read_input(file: Option<&Path>, most: u64) -> Result<(String, String)> {
    let (bytes, source) = match file.filter(|file| *file != Path::new("-")) {
        Some(path) => {
            let bytes = outside::read(path, most).map_err(|error| match error.kind() {
                std::io::ErrorKind::FileTooLarge => Error::data(format!("{}: {error}", path.display())),
                _ => Error::reading(path, &error),
            })?;
            (bytes, path.display().to_string())
        }
        None => (read_standard_input(most)?, "standard input".to_owned()),
    };
    let text = outside::text(&bytes).map_err(|problem| Error::data(format!("{source}: {problem}")))?;
    Ok((text.to_owned(), source))
}

fn read_standard_input(most: u64) -> Result<Vec<u8>> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        aside!("reading stories from the terminal, one sentence a line; end with Ctrl-D");
    }
    let mut bytes = Vec::new();
    let read = stdin.lock().take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::reading(Path::new("standard input"), &error))?;
    if bytes.len() as u64 > most {
        return Err(Error::data(format!("standard input: more than {} MiB of stories", most >> 20)));
    }
    Ok(bytes)
}
