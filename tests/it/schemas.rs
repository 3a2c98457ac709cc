//! What the program writes keeps to the schemas of `docs/schemas/`, and is read with more fields than there are, but not
//! of a newer version.

use crate::annotate::rig::{ADA, BO, By, Rig as AnnotationRig};
use crate::llm::{pairs_of_two_tiers, recorded_pairs, said_pairs};
use crate::llm_piqa;
use crate::llm_server::mock::{Speaks, setup, without_temperature};
use crate::support::{clean_file, copy_folder, stderr, stdout, text, tiered, write};
use crate::tiny::Tiny;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;
use tiered::annotate::Direction;
use tiered::llm::{StorySet, Wording};

/// Real documents by the name of their schema.
type Documents = BTreeMap<&'static str, Vec<Value>>;

const STORIES: &str = "entities: Mia, drawer\nMia shut the drawer.\nMia looked into the drawer.\n\n\
                       entities: Mia, drawer\nMia opened the drawer.\nMia looked into the drawer.\n";

fn said(output: &Output) -> String {
    assert!(matches!(output.status.code(), Some(0 | 65)), "{}", stderr(output));
    stdout(output)
}

fn read(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    values(&text, path.extension().is_some_and(|extension| extension == "jsonl"))
}

/// Of a document, or of one a line.
fn values(text: &str, is_lines: bool) -> Vec<Value> {
    let parts = if is_lines { text.lines().collect() } else { vec![text] };
    let values: Vec<Value> = parts.into_iter().map(|part| serde_json::from_str(part).unwrap()).collect();
    assert!(!values.is_empty());
    values
}

struct Rig {
    tiny: Tiny,
    run: PathBuf,
    documents: Documents,
}

fn rig() -> &'static Rig {
    static RIG: OnceLock<Rig> = OnceLock::new();
    RIG.get_or_init(|| {
        let tiny = Tiny::new();
        let joint = ["model.detector.kind=joint", "model.detector.entities=true", "loss.single_story=0.5"];
        let joint = joint.into_iter().flat_map(|key| ["--set", key]).collect::<Vec<_>>();
        let run = tiny.trained("run", &joint);
        let mut documents = of_run(&tiny, &run);
        documents.extend(of_commands(&tiny, &run));
        documents.extend(of_sweep(&tiny));
        documents.extend(of_language_models());
        documents.insert("annotation", of_annotation());
        Rig { tiny, run, documents }
    })
}

/// The files of a run folder and of its export.
fn of_run(tiny: &Tiny, run: &Path) -> Documents {
    let (stories, export) = (tiny.stories(), tiny.path("export"));
    said(&tiered(["eval", text(run), "--data", text(&stories), "--split", "train", "--unit", "story"]));
    let unseen = tiny.path("unseen.json");
    std::fs::write(&unseen, std::fs::read_to_string(&stories).unwrap() + "\n").unwrap();
    said(&tiered(["eval", text(run), "--data", text(&unseen), "--split", "dev"]));
    said(&tiered(["model", "export", text(run), "--output", text(&export)]));
    let [other, average] = ["second", "average"].map(|name| tiny.path(name));
    copy_folder(run, &other);
    said(&tiered(["model", "average", text(run), text(&other), "--output", text(&average)]));
    let checkpoints = std::fs::read_dir(run.join("checkpoints")).unwrap().map(|entry| entry.unwrap().path());
    let checkpoint = checkpoints.into_iter().max().unwrap();
    let evaluation = |file: &str| run.join("eval/stories-train-all").join(file);
    let tiers = tiny.path("tiers.jsonl");
    said(&tiered(["score", text(&evaluation("predictions.jsonl")), "--tiers", text(&tiers)]));
    [
        ("run", run.join("run.json")),
        ("model", run.join("model.json")),
        ("origin", run.join("origin.json")),
        ("decode", run.join("best/decode.json")),
        ("scoring", run.join("scorings.jsonl")),
        ("epoch", run.join("metrics.jsonl")),
        ("event", run.join("events.jsonl")),
        ("manifest", checkpoint.join("manifest.json")),
        ("state", checkpoint.join("state.json")),
        ("prediction", evaluation("predictions.jsonl")),
        ("tiers", tiers),
        ("report", evaluation("report.json")),
        ("stories", evaluation("stories.json")),
        ("weights", evaluation("weights.json")),
        ("export", export.join("tiered.json")),
        ("average", average.join("average.json")),
    ]
    .map(|(schema, path)| (schema, read(&path)))
    .into()
}

/// What commands print.
fn of_commands(tiny: &Tiny, run: &Path) -> Documents {
    let directory = tempfile::TempDir::new().unwrap();
    let (stories, other) = (tiny.stories(), tiny.trained("other", &[]));
    let [bench, reference] = ["bench.json", "reference"].map(|name| tiny.path(name));
    let typed = write(&directory, "typed.txt", STORIES);
    let question = json!({"sentences": ["Mia shut the drawer.", "Mia looked into it."], "entities": ["Mia"]});
    let batch = write(&directory, "batch.jsonl", &format!("{question}\n\n{question}\n"));
    let mut faulty = clean_file();
    faulty["test"]["1-C0"]["states"][1]["open"][0][1] = json!(9);
    let faulty = write(&directory, "faulty.json", &faulty.to_string());
    let config = tiny.config();
    let measured = ["--pairs-per-step", "2", "--steps", "3", "--seconds", "0"];
    let written = ["--output", text(&bench), "--reference", text(&reference)];
    said(&tiered(["bench", "--config", text(&config)].into_iter().chain(measured).chain(written)));
    let json = |arguments: &[&str]| said(&tiered(arguments.iter().copied().chain(["--format", "json"])));
    let split = ["--data", text(&stories), "--split", "train"];
    let documents = |text: &str| values(text, false);
    let mut answers = documents(&json(&["predict", text(run), text(&typed)]));
    answers.extend(values(&said(&tiered(["predict", text(run), "--batch", text(&batch)])), true));
    [
        ("analysis", documents(&json(&[&["report", "text", text(run)], &split[..]].concat()))),
        (
            "annotators",
            documents(&json(&["data", "agreement", "tests/cmd/annotator-a.json", "tests/cmd/annotator-b.json"])),
        ),
        ("answer", answers),
        ("bench", read(&bench)),
        ("entities", documents(&json(&["data", "entities", "data/sample/en-dev.json"]))),
        ("compare", documents(&json(&["compare", text(run), text(&other)]))),
        ("comparison", documents(&json(&[&["baseline"], &split[..]].concat()))),
        ("doctor", documents(&json(&["doctor"]))),
        ("llm-scores", llm_scores()),
        ("finding", values(&json(&["data", "check", text(&faulty)]), true)),
        ("reference", read(&reference.join("pairs.json"))),
        ("stats", documents(&json(&["data", "stats", text(&stories)]))),
    ]
    .into()
}

/// Scores of a language model by likelihood and in words, with all that the command can print.
fn llm_scores() -> Vec<Value> {
    let scores = |record: fn(&Path, Wording) -> StorySet| {
        let folders = [Wording::TrueOrFalse, Wording::FalseOrTrue].map(|wording| {
            let folder = tempfile::TempDir::new().unwrap();
            record(folder.path(), wording);
            folder
        });
        let [first, second] = folders.each_ref().map(|folder| text(folder.path()));
        let more = ["--swapped", second, "--published", "calamita", "--format", "json"];
        values(&said(&tiered(["llm", "score", first].into_iter().chain(more))), false).remove(0)
    };
    vec![scores(recorded_pairs), scores(said_pairs), scores(pairs_of_two_tiers)]
}

/// The folders of a language model on a server, by all protocols and with what differs from them, and what is printed
/// of them.
fn of_language_models() -> Documents {
    let server = without_temperature(setup(Speaks::LlamaCpp));
    let (folder, sets) = (tempfile::TempDir::new().unwrap(), llm_piqa::data());
    let stories = write(&folder, "stories.json", &clean_file().to_string());
    let others = write(&folder, "others.json", &format!("{}\n", clean_file()));
    let set = sets.path().join("piqa-sl.jsonl");
    let llm = |arguments: &[&[&str]]| said(&tiered([&["llm"][..], &arguments.concat()[..]].concat()));
    let run = |name: &str, asked: &[&str], more: &[&str]| {
        let output = folder.path().join(name);
        let model = ["--server", &server.url, "--model", "toy", "--output", text(&output)];
        llm(&[asked, more, &model]);
        output
    };
    let pairs = ["eval", "--data", text(&stories), "--protocol", "pairs"];
    let har = ["eval", "--data", text(&stories), "--protocol", "har", "--shot", "1-C0", "--shots-split", "test"];
    let piqa = ["piqa", "eval", "--data", text(&set)];
    let of_stories = [
        run("pairs", &pairs, &[]),
        run("others", &pairs, &["--shots-data", text(&others), "--limit", "2", "--way", "top"]),
        run("fixed", &pairs, &["--shot", "1", "--tiers", "1", "--way", "said"]),
        run("har", &har, &[]),
        run("swapped", &har, &["--swapped"]),
    ];
    let of_piqa = [run("words", &piqa, &[]), run("likelihood", &piqa, &["--likelihood"])];
    let [_, _, _, har, swapped] = of_stories.each_ref().map(|run| text(run));
    let [words, likelihood] = of_piqa.each_ref().map(|run| text(run));
    let files = |runs: &[PathBuf], file: &str| runs.iter().flat_map(|run| read(&run.join(file))).collect::<Vec<_>>();
    let printed = |arguments: &[&str]| values(&llm(&[arguments, &["--format", "json"]]), false);
    let whole = llm_piqa::of_items(100);
    let answered = llm_piqa::submission(&whole, "submission-a.json", "a", &json!([1].repeat(100)));
    let [few, hundred] = [&sets, &whole].map(|sets| ["--data", text(sets.path())]);
    let published = ["--published", "south-slavic-piqa"];
    let scores = [&["piqa", "score", words, likelihood][..], &few].concat();
    let beside = [&["piqa", "score", text(&answered)][..], &hundred, &published].concat();
    let both = [&of_stories[..], &of_piqa[..]].concat();
    [
        ("agreement", printed(&["score", har, "--swapped", swapped])),
        ("llm-journal", files(&both, "journal.jsonl")),
        ("llm-question", files(&of_stories[3..], "questions.jsonl")),
        ("llm-results", files(&of_stories, "results.json")),
        ("llm-run", files(&both, "run.json")),
        ("piqa-answer", files(&of_piqa[..1], "answers-toy-piqa-sl.jsonl")),
        ("piqa-prompt", values(&llm(&[&["piqa", "prompt", "--data", text(&set), "--format", "json"]]), true)),
        ("piqa-scores", [printed(&scores), printed(&beside)].concat()),
    ]
    .into()
}

/// The journal of a project in which every kind of edit was made.
fn of_annotation() -> Vec<Value> {
    let mut project = AnnotationRig::new();
    project.with_versions();
    project.ada("1", json!([{"op": "location", "text": "attic"}, {"op": "done", "done": true}]));
    project.ada("1-C0", json!([{"op": "conflict", "evidence": null, "breakpoint": null}]));
    project.go(&ADA, Direction::Undo).unwrap();
    project.go(&ADA, Direction::Redo).unwrap();
    let label = json!([{"op": "labels", "entity": 2, "sentence": 2, "values": {"open": 2}}]);
    project.send(&By { pass: "second", ..BO }, "1-C0", label).unwrap();
    project.ada("1-C0", json!([{"op": "own", "sentence": 2}]));
    project.ada("1-O0", json!([{"op": "remove_story"}]));
    read(&project.folder().join("journal.jsonl"))
}

/// A sweep of which one run fails.
fn of_sweep(tiny: &Tiny) -> Documents {
    let (base, stories, folder) = (tiny.config(), tiny.stories(), tiny.path("sweep"));
    let file = tiny.path("sweep.toml");
    let sweep = format!(
        "name = 'tiny'\nbase = '{}'\nset = {{ train.epochs = 1 }}\n\
         [[axes]]\nname = 'rate'\nvalues = [{{ name = 'sane' }}, {{ name = 'mad', set.train.learning_rate = 1e30 }}]\n\
         [[evaluate]]\nname = 'dev'\nfile = '{}'\nsplit = 'dev'\n",
        base.display(),
        stories.display()
    );
    std::fs::write(&file, sweep).unwrap();
    let sweep = |arguments: &[&str]| {
        let [what, more @ ..] = arguments else { unreachable!() };
        tiered(["sweep", what, text(&file), "--output", text(&folder)].into_iter().chain(more.iter().copied()))
    };
    sweep(&["run"]);
    let find = |pattern: &dyn Fn(&Path) -> PathBuf| {
        let folders = std::fs::read_dir(&folder).unwrap().map(|entry| pattern(&entry.unwrap().path()));
        read(&folders.into_iter().find(|path| path.is_file()).unwrap())
    };
    let failure = std::fs::read_dir(folder.join("failed")).unwrap().next().unwrap().unwrap().path();
    [
        ("sweep-run", find(&|run| run.join("sweep-run.json"))),
        ("set", find(&|run| run.join("eval/dev/set.json"))),
        ("failure", read(&failure)),
    ]
    .into()
}

fn schemas() -> BTreeMap<String, Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let schema = |path: PathBuf| {
        // The other file, config.json, is about TOML: tests/it/config_docs.rs.
        let name = path.file_name().unwrap().to_str().unwrap().strip_suffix(".schema.json")?.to_owned();
        Some((name, read(&path).remove(0)))
    };
    files.filter_map(schema).collect()
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::draft202012::new(schema).unwrap()
}

/// The schema with nothing allowed that it does not describe.
fn strict(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let strict_field = |(name, value): (&String, &Value)| {
                let is_open = name == "additionalProperties" && *value == json!(true);
                (name.clone(), if is_open { json!(false) } else { strict(value) })
            };
            Value::Object(fields.iter().map(strict_field).collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(strict).collect(),
        other => other.clone(),
    }
}

#[test]
fn everything_that_is_written_keeps_to_its_schema_and_every_schema_has_a_document() {
    let (schemas, documents) = (schemas(), &rig().documents);
    let names: BTreeSet<&str> = schemas.keys().map(String::as_str).collect();
    assert_eq!(names, documents.keys().copied().collect::<BTreeSet<_>>());
    for (&name, documents) in documents {
        let schema = &schemas[name];
        assert!(jsonschema::draft202012::meta::is_valid(schema), "{name}");
        // Fields that are not described would be refused too.
        let validator = validator(&strict(schema));
        for document in documents {
            let problems: Vec<String> =
                validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
            assert!(problems.is_empty(), "{name}: {}\n{document:#}", problems.join("\n"));
            assert_eq!(document.as_object().unwrap().keys().next().unwrap(), "schema_version", "{name}");
        }
    }
}

/// Fields whose numbers are fractions, in any format.
const FRACTIONS: [&str; 15] = [
    "fraction",
    "interval_95",
    "mean",
    "difference",
    "p",
    "precision",
    "recall",
    "f1",
    "macro_f1",
    "ece",
    "confidence",
    "probability",
    "conflict_prob",
    "conflict_probs",
    "story_probs",
];

/// Pointers to all fractions of a document.
fn fractions(value: &Value, name: &str, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) if FRACTIONS.contains(&name) => found.push(pointer.to_owned()),
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| fractions(value, key, &format!("{pointer}/{key}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| fractions(value, name, &format!("{pointer}/{i}"), found));
        }
        _ => {}
    }
}

#[test]
fn every_schema_refuses_what_is_missing_and_percent() {
    let schemas = schemas();
    let mut checked = 0;
    for (&name, documents) in &rig().documents {
        let (schema, document) = (&schemas[name], &documents[0]);
        let validator = validator(schema);
        let required = schema["required"].as_array().unwrap();
        assert!(required.contains(&json!("schema_version")), "{name}");
        for field in required {
            let mut lacking = document.clone();
            lacking.as_object_mut().unwrap().remove(field.as_str().unwrap()).unwrap();
            assert!(!validator.is_valid(&lacking), "{name} without {field}");
        }
        let mut pointers = Vec::new();
        fractions(document, "", "", &mut pointers);
        for pointer in &pointers {
            let mut percent = document.clone();
            *percent.pointer_mut(pointer).unwrap() = json!(81.2);
            assert!(!validator.is_valid(&percent), "{name}: {pointer}");
        }
        checked += pointers.len();
        let mut more = document.clone();
        more["a later field"] = json!([{"of": 2}]);
        assert!(validator.is_valid(&more), "{name} accepts more");
    }
    assert!(checked > 1000, "{checked}");
}

/// All JSON of a run that we wrote and that can be edited.
fn own_files(run: &Path) -> Vec<PathBuf> {
    let names = ["run.json", "model.json", "origin.json", "best/decode.json", "metrics.jsonl", "events.jsonl"];
    let of_evaluation = ["predictions.jsonl", "report.json", "weights.json"];
    let evaluation = of_evaluation.map(|file| format!("eval/stories-dev-all/{file}"));
    names.map(str::to_owned).into_iter().chain(evaluation).map(|name| run.join(name)).collect()
}

/// Writes the documents of a file anew, each changed.
fn rewrite(path: &Path, change: impl Fn(&mut Value)) {
    let lines = read(path).into_iter().map(|mut document| {
        change(&mut document);
        format!("{document}\n")
    });
    std::fs::write(path, lines.collect::<String>()).unwrap();
}

/// A field that no format has, in every object but those whose keys are free.
fn add_fields(value: &mut Value, name: &str) {
    let is_map = ["by_attribute", "encoder"].contains(&name);
    match value {
        Value::Object(fields) => {
            fields.iter_mut().for_each(|(name, value)| add_fields(value, name));
            if !is_map {
                fields.insert("a later field".into(), json!({"more": [1]}));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|value| add_fields(value, name)),
        _ => {}
    }
}

fn copy_of_run(name: &str) -> PathBuf {
    let copy = rig().tiny.path(name);
    copy_folder(&rig().run, &copy);
    copy
}

/// The commands that read a run folder, with what they print; last the one that writes its files anew.
fn readers(run: &Path) -> Vec<(&'static str, Output)> {
    let tiny = &rig().tiny;
    let other = tiny.path("other");
    let (stories, page) = (tiny.stories(), run.with_extension("html"));
    let split = ["--data", text(&stories), "--split", "dev"];
    vec![
        ("compare", tiered(["compare", text(&other), text(run), "--evaluation", "stories-dev-all"])),
        ("report text", tiered(["report", "text", text(run)].into_iter().chain(split))),
        ("report html", tiered(["report", "html", text(run), "--output", text(&page), "--force"])),
        ("score", tiered(["score", text(&run.join("eval/stories-dev-all/predictions.jsonl"))])),
        ("eval", tiered(["eval", text(run), "--force"].into_iter().chain(split))),
    ]
}

#[test]
fn fields_of_a_later_version_are_read_over() {
    let run = copy_of_run("of later");
    own_files(&run).iter().for_each(|file| rewrite(file, |document| add_fields(document, "")));
    let words = |output: &Output, run: &Path| {
        stdout(output).replace(text(run), "RUN").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for ((name, now), (_, before)) in readers(&run).into_iter().zip(readers(&rig().run)) {
        assert!(now.status.success(), "{name}: {}", stderr(&now));
        assert_eq!(words(&now, &run), words(&before, &rig().run), "{name}");
    }
}

#[test]
fn a_newer_version_is_refused_with_the_name_of_the_file() {
    let files = own_files(Path::new(""));
    for (number, file) in files.iter().enumerate() {
        // Nobody reads events but for two fields, and what a run is relative to is said to be unknown.
        if ["events.jsonl", "origin.json", "eval/stories-dev-all/weights.json"].map(Path::new).contains(&file.as_path())
        {
            continue;
        }
        let run = copy_of_run(&format!("newer {number}"));
        rewrite(&run.join(file), |document| document["schema_version"] = json!(2));
        let refused = |(name, output): (&str, Output)| {
            let said = stderr(&output);
            let is_named = said.contains(text(&run.join(file))) && said.contains("update tiered");
            assert!(output.status.success() || is_named, "{name}: {said}");
            is_named
        };
        assert!(readers(&run).into_iter().map(refused).fold(false, |any, is| any | is), "{}", file.display());
    }
}
