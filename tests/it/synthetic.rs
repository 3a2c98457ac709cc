//! The story maker: its tables, its files, and that its stories conflict as they say.

use crate::support::{send, stderr, text, tiered};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use tiered::attribute::Attribute;
use tiered::data::{Entity, Kind, Story, StoryFile, of_kind, pairs, read_file};
use tiered::language::Language;
use tiered::synthetic::{Kinds, Order, Style, World, make_stories};

fn order(language: Language, pairs: usize, seed: u64) -> Order {
    Order { language, style: language.style(), pairs, seed, kinds: Kinds::Both, split: "train".to_owned() }
}

fn made(order: &Order) -> Vec<u8> {
    let mut bytes = Vec::new();
    make_stories(&World::load().unwrap(), order, &mut bytes).unwrap();
    bytes
}

fn read(order: &Order) -> (StoryFile, Value) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("made.json");
    std::fs::write(&path, made(order)).unwrap();
    (read_file(&path).unwrap(), serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap())
}

/// The stories of the one split.
fn stories(file: &StoryFile) -> &[Story] {
    file.splits.first().map(|(_, stories)| stories.as_slice()).unwrap()
}

#[test]
fn the_tables_are_as_large_as_the_docs_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = std::fs::read_to_string(root.join("docs/stories.md")).unwrap();
    for (table, what) in [("actions", "actions"), ("things", "things"), ("places", "locations")] {
        let text = std::fs::read_to_string(root.join(format!("data/world/{table}.toml"))).unwrap();
        let entries = toml::from_str::<toml::Table>(&text).unwrap().len();
        let row = format!("| `{table}.toml` | {entries} {what}");
        assert!(docs.contains(&row), "docs/stories.md has no row {row:?}");
    }
}

#[test]
fn the_same_seed_makes_the_same_bytes() {
    for language in [Language::English, Language::Italian] {
        let first = made(&order(language, 20, 5));
        assert_eq!(first, made(&order(language, 20, 5)));
        assert_ne!(first, made(&order(language, 20, 6)));
    }
}

/// `make sample` writes them.
#[test]
fn the_sample_stories_are_those_made_now() {
    for (name, language, pairs, seed, split) in [
        ("en", Language::English, 160, 0, "train"),
        ("en-dev", Language::English, 40, 1, "dev"),
        ("it", Language::Italian, 80, 0, "test"),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/sample/{name}.json"));
        let now = made(&Order { split: split.to_owned(), ..order(language, pairs, seed) });
        assert!(std::fs::read(path).unwrap() == now, "data/sample/{name}.json is out of date; run `make sample`");
    }
}

#[test]
fn more_pairs_begin_with_the_same_stories() {
    let written = |pairs| String::from_utf8(made(&order(Language::English, pairs, 5))).unwrap();
    for (more, fewer) in [(12, 8), (8, 7)] {
        let (longer, shorter) = (written(more), written(fewer));
        assert!(longer.starts_with(shorter.trim_end_matches("\n}}\n")), "{fewer} of {more}");
    }
}

#[test]
fn ten_thousand_stories_are_clean() {
    for language in [Language::English, Language::Italian] {
        let (file, _) = read(&order(language, 6_700, 1));
        assert!(stories(&file).len() >= 10_000);
        assert!(file.findings.is_empty(), "{}", file.findings[0]);
    }
}

#[test]
fn there_are_as_many_pairs_as_asked_for_of_each_kind() {
    let count = |kinds, pairs_asked| {
        let mut order = order(Language::Italian, pairs_asked, 2);
        order.kinds = kinds;
        let pairs = pairs(stories(&read(&order).0), 0);
        assert_eq!(pairs.len(), pairs_asked);
        Kind::ALL.map(|kind| of_kind(pairs.clone(), kind).len())
    };
    assert_eq!(count(Kinds::Both, 31), [16, 15]);
    assert_eq!(count(Kinds::Cloze, 7), [7, 0]);
    assert_eq!(count(Kinds::Order, 7), [0, 7]);
}

#[test]
fn a_cloze_story_differs_in_one_sentence_and_an_order_story_in_two() {
    let (file, _) = read(&order(Language::English, 300, 3));
    for pair in pairs(stories(&file), 0) {
        let (plausible, broken) = (&pair.plausible_story().sentences, &pair.implausible_story().sentences);
        let differing: Vec<_> = (0..broken.len()).filter(|&i| plausible[i] != broken[i]).collect();
        let (conflict, id) = (pair.conflict, &pair.id);
        match pair.kind {
            Kind::Cloze => {
                assert_eq!(differing.len(), 1, "{id}");
                let is_new = [conflict.evidence, conflict.breakpoint].contains(&differing[0]);
                assert!(is_new, "{id}: the new sentence is not in the conflict");
            }
            Kind::Order => {
                let [i, j] = differing[..] else { panic!("{id}: {differing:?} differ") };
                assert!(plausible[i] == broken[j] && plausible[j] == broken[i], "{id}");
            }
        }
    }
}

/// Attributes whose labels tell what an action needs: where one is to blame, the labels must show the contradiction.
/// (`functional` and `pieces` are not among them: annotators note that something works only by their default label.)
const SHOWN: [Attribute; 4] = [Attribute::Exist, Attribute::Power, Attribute::Running, Attribute::Conscious];

/// What labels alone say about the conflicts of a story: for each entity and attribute of [`SHOWN`], every sentence
/// that needs (precondition) the opposite of what the last one to say anything left behind (its effect, or if that is
/// unknown its precondition). Knows nothing of the simulator.
fn contradictions(story: &Story) -> Vec<(usize, usize, String, Attribute)> {
    let mut found = Vec::new();
    for entity in &story.entities {
        for attribute in SHOWN {
            found.extend(
                contradictions_of(entity, attribute).into_iter().map(|(e, b)| (e, b, entity.name.clone(), attribute)),
            );
        }
    }
    found
}

fn contradictions_of(entity: &Entity, attribute: Attribute) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut known: Option<(u8, usize)> = None;
    for sentence in (0..entity.labelled.len()).filter(|&sentence| entity.is_annotated(sentence)) {
        let (before, after) =
            (entity.preconditions[sentence][attribute.index()], entity.effects[sentence][attribute.index()]);
        if let Some((_, since)) = known.filter(|&(class, _)| before > 0 && class != before) {
            found.push((since, sentence));
        }
        let said = if after > 0 { after } else { before };
        // Of what is given away or stolen, annotators say that its location is gone, not that it does not exist.
        let is_gone = entity.effects[sentence][Attribute::Location.index()] == 1;
        if attribute == Attribute::Exist && is_gone {
            known = None;
        } else if said > 0 {
            known = Some((said, sentence));
        }
    }
    found
}

#[test]
fn labels_contradict_each_other_where_a_story_says_so_and_nowhere_else() {
    for language in [Language::English, Language::Italian] {
        let (file, json) = read(&order(language, 2_000, 4));
        let mut shown = 0;
        for story in stories(&file) {
            let contradictions = contradictions(story);
            let Some(conflict) = story.conflict else {
                assert!(contradictions.is_empty(), "{}: plausible, but {contradictions:?}", story.id);
                continue;
            };
            for (evidence, breakpoint, name, attribute) in &contradictions {
                let is_it = *evidence <= conflict.evidence && *breakpoint == conflict.breakpoint;
                assert!(is_it, "{}: {name} {attribute} contradicts {evidence} at {breakpoint}", story.id);
            }
            shown += usize::from(causes_are_shown(&json["train"][&story.id], story, &contradictions));
        }
        assert!(shown > 500, "only {shown} conflicts could be checked");
    }
}

/// Whether the story's cause is one that labels show. Panics if it is, but they do not.
fn causes_are_shown(json: &Value, story: &Story, contradictions: &[(usize, usize, String, Attribute)]) -> bool {
    let conflict = story.conflict.unwrap();
    // What is out of reach is labelled as being there, and a broken arm not at all.
    let hidden = |action: &Value| ["out_of_reach", "break_arm"].contains(&action.as_str().unwrap());
    if json["actions"][conflict.evidence].as_array().unwrap().iter().any(hidden) {
        return false;
    }
    let causes: Vec<(String, Attribute)> = serde_json::from_value(json["cause"].clone()).unwrap();
    let is_shown = |(name, attribute): &&(String, Attribute)| {
        let entity = story.entities.iter().find(|entity| entity.name == *name);
        let both = |e: &Entity| e.is_annotated(conflict.evidence) && e.is_annotated(conflict.breakpoint);
        let is_gone = |e: &Entity| e.effects[conflict.evidence][Attribute::Location.index()] == 1;
        SHOWN.contains(attribute) && entity.is_some_and(|e| both(e) && !is_gone(e))
    };
    let mut shown = causes.iter().filter(is_shown).peekable();
    let any = shown.peek().is_some();
    for (name, attribute) in shown {
        let expected = (conflict.evidence, conflict.breakpoint, name.clone(), *attribute);
        assert!(contradictions.contains(&expected), "{}: {expected:?} not in {contradictions:?}", story.id);
    }
    any
}

#[test]
fn distances_and_lengths_are_varied() {
    let (file, _) = read(&order(Language::English, 2_000, 9));
    let mut distances = BTreeMap::new();
    for conflict in stories(&file).iter().filter_map(|story| story.conflict) {
        *distances.entry(conflict.breakpoint - conflict.evidence).or_insert(0) += 1;
    }
    assert!((1..=4).all(|distance| distances.contains_key(&distance)), "{distances:?}");
    let five = stories(&file).iter().filter(|story| story.sentences.len() == 5).count();
    assert!(five * 10 > stories(&file).len() * 7 && five < stories(&file).len());
}

/// The share of conflicts between neighbours, and of sentences that tell of two actions.
fn manner(order: &Order) -> [f64; 2] {
    let (file, json) = read(order);
    let share = |of: Vec<bool>| of.iter().filter(|&&is_so| is_so).count() as f64 / of.len() as f64;
    let conflicts = stories(&file).iter().filter_map(|story| story.conflict);
    let actions = stories(&file).iter().flat_map(|story| json["train"][&story.id]["actions"].as_array().unwrap());
    [
        share(conflicts.map(|conflict| conflict.breakpoint - conflict.evidence == 1).collect()),
        share(actions.map(|actions| actions.as_array().unwrap().len() == 2).collect()),
    ]
}

#[test]
fn english_stories_can_be_told_in_the_manner_of_either_set() {
    let trip = order(Language::English, 1_000, 9);
    let [neighbours, compounds] = manner(&trip);
    let [more_neighbours, fewer_compounds] = manner(&Order { style: Style::Gita, ..trip });
    assert!(more_neighbours > neighbours + 0.05, "{neighbours} {more_neighbours}");
    assert!(fewer_compounds * 2.0 < compounds, "{compounds} {fewer_compounds}");
}

/// The English phrases of `data/world/details.toml`: those that begin a sentence, and those that end one.
fn details() -> (Vec<String>, Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/world/details.toml");
    let table: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let begins = |detail: &&toml::Value| detail.get("begins").is_some();
    let (begins, ends): (Vec<_>, Vec<_>) = table["details"].as_array().unwrap().iter().partition(begins);
    let texts = |details: Vec<&toml::Value>| details.iter().map(|d| d["en"].as_str().unwrap().to_owned()).collect();
    (texts(begins), texts(ends))
}

#[test]
fn some_sentences_have_details_and_no_story_begins_with_then() {
    let (file, _) = read(&order(Language::English, 1_000, 9));
    let (begins, ends) = details();
    let has_begun = |sentence: &String| begins.iter().any(|detail| sentence.starts_with(&format!("{detail} ")));
    let has_ended = |sentence: &String| ends.iter().any(|detail| sentence.ends_with(&format!(" {detail}.")));
    let share = |is: &dyn Fn(&String) -> bool| {
        let sentences = || stories(&file).iter().flat_map(|story| &story.sentences);
        sentences().filter(|sentence| is(sentence)).count() as f64 / sentences().count() as f64
    };
    let (begun, ended) = (share(&has_begun), share(&has_ended));
    assert!((0.01..0.3).contains(&begun) && (0.1..0.4).contains(&ended), "{begun} {ended}");
    assert!(!stories(&file).iter().any(|story| has_begun(&story.sentences[0])));
}

fn run(out: &Path, extra: &[&str]) -> std::process::Output {
    let mut arguments = vec!["data", "synthesize", "--lang", "it", "--pairs", "4", "--output", text(out)];
    arguments.extend(extra);
    tiered(arguments)
}

#[test]
fn the_command_writes_a_file_that_the_checker_passes() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("made.json");
    let output = run(&out, &["--seed", "3", "--kind", "order", "--split", "dev"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let file = read_file(&out).unwrap();
    assert_eq!((file.splits[0].0.as_str(), stories(&file).len(), file.findings.len()), ("dev", 8, 0));
    assert!(stories(&file).iter().all(|story| story.kind != Some(Kind::Cloze)));
    let check = tiered(["data", "check", text(&out)]);
    assert_eq!(check.status.code(), Some(0));
}

#[test]
fn the_command_tells_stories_in_the_style_asked_for() {
    let asked = ["data", "synthesize", "--lang", "en", "--pairs", "4", "--output", "-"];
    let written = |style: &[&str]| tiered(asked.iter().chain(style).copied()).stdout;
    let trip = order(Language::English, 4, 0);
    assert!(written(&[]) == made(&trip) && written(&["--style", "trip"]) == made(&trip));
    assert!(written(&["--style", "gita"]) == made(&Order { style: Style::Gita, ..trip }));
}

#[test]
fn what_cannot_be_made_is_refused_with_its_exit_code() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let output = run(&file, &[]);
    assert_eq!(output.status.code(), Some(73));
    assert!(stderr(&output).contains("--force") && std::fs::read(&file).unwrap() == b"mine");
    assert!(run(&file, &["--force"]).status.success());
    assert!(String::from_utf8(run(Path::new("-"), &[]).stdout).unwrap().starts_with("{\"train\""));
    let output = run(&file.join("made.json"), &[]);
    assert_eq!(output.status.code(), Some(73));
    assert!(stderr(&output).contains("made.json"), "{}", stderr(&output));
    let none = tiered(["data", "synthesize", "--lang", "it", "--pairs", "0", "--output", "made.json"]);
    assert_eq!(none.status.code(), Some(2));
    let unknown = tiered(["data", "synthesize", "--lang", "fr", "--pairs", "1", "--output", "made.json"]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn a_signal_leaves_no_unfinished_file() {
    let directory = TempDir::new().unwrap();
    let names = || std::fs::read_dir(directory.path()).unwrap().count();
    let out = directory.path().join("made.json");
    let arguments = ["data", "synthesize", "--lang", "en", "--pairs", "10000000", "--output", text(&out)];
    let mut child = Command::new(env!("CARGO_BIN_EXE_tiered")).args(arguments).spawn().unwrap();
    while child.try_wait().unwrap().is_none() && names() == 0 {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    send("TERM", &child);
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM), "as other commands end");
    assert_eq!(names(), 0);
}
