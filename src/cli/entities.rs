//! `tiered data entities`: finds the entities of stories, and measures how many of the listed ones it finds.

use super::format::{Format, FormatArgs};
use super::input::read_input;
use super::output::print;
use crate::data::{Sentences, Severity, Story, StoryFile, checking, is_story_file, read_file, read_plain};
use crate::entities::{EntityScores, FoundStory, MatchScores, find};
use crate::error::{Error, ErrorKind, Result};
use crate::language::Language;
use crate::report::{INTERVALS, Table, share};
use crate::say::{aside, counted};
use crate::schema;
use crate::untrusted::{self, MAX_PLAIN};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// How many stories the text lists without `--verbose`.
const LISTED: usize = 10;

/// What the table's rows are.
const NOTES: &str =
    "Exact: the same name in lower case, without articles. Head: the same head noun (\"red cup\" and \"cup\").";

/// Find the people and things of stories, and measure recall and precision where stories list them
///
/// FILE is a story file (its name ends in .json), or stories as `tiered predict` reads them: text, or JSON with a list
/// `sentences` or `stories`. The list of a story is its own list of entities, or the entities that its states name.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A story file, or stories as text; "-" for text from standard input
    file: PathBuf,
    /// Only the stories of this split [default: of all splits]
    #[arg(long)]
    split: Option<String>,
    /// The language of the stories [default: of each story of a story file, of a text as a whole, by the function words]
    #[arg(long, value_enum)]
    lang: Option<Language>,
    #[command(flatten)]
    format: FormatArgs,
    /// List all stories, not only the first 10; JSON always has all
    #[arg(long, short)]
    verbose: bool,
}

/// The output as JSON.
#[derive(Serialize)]
struct FoundEntities<'a> {
    file: String,
    /// `None` if no story lists its entities.
    scores: Option<&'a EntityScores>,
    stories: &'a [FoundStory],
}

pub(super) fn run(args: &Args) -> Result<()> {
    let is_json = args.file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let stories = if is_json && !is_typed(&args.file) { of_story_file(args)? } else { of_text(args)? };
    let scores = EntityScores::of(&stories);
    let format = args.format.format;
    let output = match (format, format.of_tables(), &scores) {
        (_, None, scores) => {
            let (file, scores) = (args.file.display().to_string(), scores.as_ref());
            schema::document(&FoundEntities { file, scores, stories: &stories })
        }
        (Format::Text, ..) => to_text(&stories, scores.as_ref(), args.verbose),
        (_, Some(format), Some(scores)) => format(&table(scores)),
        (_, Some(_), None) => {
            let message = "no story lists its entities, so there is nothing to put into a table";
            return Err(Error::data(format!("{}: {message}; use --format text or json", args.file.display())));
        }
    };
    print(&output)
}

/// Whether the file has stories as `tiered predict` reads them: JSON with a list "sentences" or "stories".
fn is_typed(file: &Path) -> bool {
    let bytes = untrusted::read_regular(file, MAX_PLAIN).unwrap_or_default(); // larger ones are story files
    let text = untrusted::text(&bytes).unwrap_or_default();
    let fields: HashMap<String, &RawValue> = serde_json::from_str(text).unwrap_or_default();
    ["sentences", "stories"].iter().any(|&name| fields.get(name).is_some_and(|value| value.get().starts_with('[')))
}

fn of_story_file(args: &Args) -> Result<Vec<FoundStory>> {
    let file: StoryFile = read_file(&args.file)?;
    if let Some(split) = &args.split {
        file.split(split)?;
    }
    let mut groups = BTreeMap::new();
    let splits = file.splits.iter().filter(|(name, _)| args.split.as_ref().is_none_or(|split| split == name));
    let stories = splits.flat_map(|(split, stories)| stories.iter().map(move |story| (split.as_str(), story)));
    let found: Vec<_> = stories
        .map(|(split, story)| {
            let next = groups.len() as i64;
            let group = *groups.entry((split, story.group)).or_insert(next);
            let language = args.lang.unwrap_or_else(|| Language::of(&story.sentences));
            let found = find(&story.sentences, language);
            FoundStory::new((split, &story.id, group), language, found, Some(names(story)))
        })
        .collect();
    let (path, checking) = (file.path.display(), checking(&file.path));
    if found.is_empty() {
        return Err(Error::data(format!("{path}: no story can be used; {checking} says more")));
    }
    if file.count(Severity::Error) > 0 {
        aside!("warning: {path}: some stories can't be used; {checking} lists them");
    }
    Ok(found)
}

fn of_text(args: &Args) -> Result<Vec<FoundStory>> {
    if args.split.is_some() {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("{}: text has no splits; leave out --split", args.file.display()),
        ));
    }
    let (text, source) = read_input(Some(&args.file), MAX_PLAIN)?;
    if is_story_file(&text) {
        return Err(Error::data(format!("{source}: is a story file; name a file whose name ends in .json")));
    }
    // What is found is shown, even nothing; as a rule a story needs an entity.
    let any = |_: &[String]| vec!["any".to_owned()];
    let typed = read_plain(&text, &source, &[], Sentences::AsGiven, &any)?;
    if let Some(words) = typed.left_out.words() {
        aside!("{source}: {words}");
    }
    let language = args.lang.unwrap_or_else(|| Language::of(typed.stories.iter().flat_map(|story| &story.sentences)));
    let stories = typed.stories.iter().zip(&typed.found).zip(0..);
    Ok(stories
        .map(|((story, &is_found), group)| {
            let found = find(&story.sentences, language);
            let given = (!is_found).then(|| names(story));
            FoundStory::new(("text", &story.id, group), language, found, given)
        })
        .collect())
}

fn names(story: &Story) -> Vec<String> {
    story.entities.iter().map(|entity| entity.name.clone()).collect()
}

/// The stories, each with what was found; then the table.
fn to_text(stories: &[FoundStory], scores: Option<&EntityScores>, verbose: bool) -> String {
    let shown = if verbose { stories.len() } else { LISTED.min(stories.len()) };
    let mut text: String = stories[..shown].iter().map(lines).collect();
    if shown < stories.len() {
        text += &format!("and {} more: --verbose\n", counted((stories.len() - shown) as u64, "story"));
    }
    let Some(scores) = scores else { return text };
    let count = counted(scores.stories as u64, "story");
    text + &format!("\n{count} with a list of entities\n\n{}\n{NOTES}\n{INTERVALS}\n", table(scores).to_text())
}

fn lines(story: &FoundStory) -> String {
    let line = |title: &str, names: &[String]| match names.is_empty() {
        true => String::new(),
        false => format!("  {title}: {}\n", names.join(", ")),
    };
    let found = if story.found.is_empty() { "nothing".to_owned() } else { story.found.join(", ") };
    let place = format!("{}/{}: {found}\n", story.split, story.story);
    place + &line("not found", &story.missed) + &line("not in the list", &story.extra)
}

fn table(scores: &EntityScores) -> Table {
    let interval = "95 % interval";
    let mut table =
        Table::new(["match".to_owned(), format!("recall (%) [{interval}]"), format!("precision (%) [{interval}]")]);
    for (name, MatchScores { recall, precision }) in [("exact", &scores.exact), ("head", &scores.head)] {
        table.push([name.to_owned(), share(recall), share(precision)]);
    }
    table
}
