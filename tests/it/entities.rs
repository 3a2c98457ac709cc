//! Entities that are found in the sentences of a story.

use crate::support::{real_data, stderr, stdout, text, tiered, write};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tiered::data::{Story, read_file};
use tiered::entities::{EntityScores, FoundStory, find};
use tiered::language::Language;

/// Finds the entities of sentences that stand on lines.
fn found(story: &str, language: Language) -> Vec<String> {
    find(&story.lines().map(str::trim).collect::<Vec<_>>(), language)
}

#[test]
fn english_noun_phrases_are_found() {
    for (story, expected) in [
        ("Rosa poured hot tea into two blue mugs.", "Rosa, hot tea, blue mugs"),
        ("Noor's brother gave her the key to the shed.", "Noor, brother, key, shed"),
        ("She quickly wiped the freshly painted bench.", "painted bench"),
        ("The parrot bit the postman.\nA kettle whistled loudly.", "parrot, postman, kettle"),
        ("Omar went home and decided to wash his muddy boots.", "Omar, muddy boots"),
        ("Omar left his boots at home.", "Omar, boots, home"),
        ("Ines heard the doorbell ring and stopped ironing.", "Ines, doorbell"),
        ("The washing machine was broken, so Ines filled the garbage can.", "washing machine, Ines, garbage can"),
        ("Otto took the bread and butter and sliced it.", "Otto, bread, butter"),
        ("Otto took the pan and rinsed it.\nIt was cold and dirty.", "Otto, pan"),
        ("The tall lamp fell on the rug.", "tall lamp, rug"),
        ("Before leaving, Otto gave Lotte milk.", "Otto, Lotte, milk"),
        ("Lotte walked to work on Monday morning.", "Lotte, work"),
        ("Lotte wanted to work.\nShe didn't find any glue.", "Lotte, glue"),
        ("Mr. Hill watched TV in his T-shirt.", "Mr. Hill, TV, T-shirt"),
        ("He was getting a can of paint ready.", "can, paint"),
        ("By accident she broke it.", ""),
    ] {
        assert_eq!(found(story, Language::English).join(", "), expected, "{story}");
    }
}

#[test]
fn italian_noun_phrases_are_found() {
    for (story, expected) in [
        ("Rosa ha versato l’acqua calda nella tazza blu.", "Rosa, acqua, tazza blu"),
        ("La cugina Ada accende il ferro da stiro.", "cugina, Ada, ferro da stiro"),
        ("Il nonno mette la torta sul vecchio tavolo di legno.", "nonno, torta, tavolo di legno"),
        ("Ada prende il pappagallo e lo porta in giardino.", "Ada, pappagallo, giardino"),
        ("Porta la gabbia in cucina.\nPoi la pulisce.", "gabbia, cucina"),
        ("Ada si lava le mani con il sapone.", "Ada, mani, sapone"),
        ("Il vaso cade e si rompe in mille pezzi.", "vaso, pezzi"),
        ("Ugo non riesce ad aprire la finestra perché è chiusa a chiave.", "Ugo, finestra"),
        ("Ugo ha tagliato il pane a fette e ha mangiato il burro.", "Ugo, pane, burro"),
        ("Lei lascia la borsa aperta e va a letto.", "borsa, letto"),
        ("Dopo aver cucinato, Ugo spegne i fornelli.", "Ugo, fornelli"),
        ("L'ha messa nell’armadio di sua sorella.", "armadio, sorella"),
    ] {
        assert_eq!(found(story, Language::Italian).join(", "), expected, "{story}");
    }
}

/// What one sentence tells counts for the others.
#[test]
fn a_story_agrees_with_itself() {
    // "Snell" begins a sentence, and is a name because it is one inside another sentence.
    assert_eq!(found("The dog met Snell.\nSnell ran.", Language::English), ["dog", "Snell"]);
    // "the fix" shows that "fix" may be a noun.
    assert_eq!(found("Ines liked the fix.\nHe went to fix.", Language::English), ["Ines", "fix"]);
    let once = found("The kettle boiled.\nKettle and cup were hot.\nTHE KETTLE!", Language::English);
    assert_eq!(once, ["kettle", "cup"]);
}

/// Of every story, whatever it is.
fn check(sentences: &[String], language: Language) {
    let names = find(sentences, language);
    assert_eq!(names, find(sentences, language), "not the same twice");
    assert!(names.len() <= 128);
    let distinct: HashSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
    for name in &names {
        assert!(sentences.iter().any(|sentence| sentence.contains(name.as_str())), "{name:?} is in no sentence");
        assert!(name.chars().count() <= 200 && name.trim() == name && name.chars().any(char::is_alphanumeric));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(sentences in prop::collection::vec(".{0,60}", 0..6), italian in any::<bool>()) {
        check(&sentences, if italian { Language::Italian } else { Language::English });
    }

    /// Words that the tables know, in any order, with anything between them.
    #[test]
    fn any_order_of_words_is_read(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "the", "to", "her", "and", "'s", "is", "put", "cup", "Rosa", "can", "-", ",", ".", "’", "washing",
                "machine", "red", "quickly", "la", "l'", "di", "da", "legno", "tazza", "e", "ha", "messo", "è", "ò", "ŐŰ",
                "it", "3", "ß", "İ", "in", "order", "xyz",
            ]),
            0..40,
        ),
        italian in any::<bool>(),
    ) {
        let sentences: Vec<String> = words.chunks(9).map(|words| words.join(" ")).collect();
        check(&sentences, if italian { Language::Italian } else { Language::English });
    }
}

#[test]
fn long_stories_take_no_long_time() {
    let long: Vec<String> = (0..200)
        .map(|i| format!("Rosa put the thing{i} and the red cup{i} on shelf{i} and la tazza{i} nel box{i}."))
        .collect();
    let endless = [vec!["kettle".to_owned(); 50_000].join(" "), "red ".repeat(50_000), "a".repeat(500_000)];
    for language in [Language::English, Language::Italian] {
        let start = Instant::now();
        check(&long, language);
        assert_eq!(find(&long, language).len(), 128, "as many as a story may have");
        check(&endless, language);
        // They take a hundredth of this; quadratic time would take far more.
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    }
    // Those that are mentioned most often remain.
    let mut with_kettle = long.clone();
    with_kettle.extend(["Rosa filled the kettle.", "Rosa emptied the kettle."].map(str::to_owned));
    let names = find(&with_kettle, Language::English);
    assert!(names.contains(&"kettle".to_owned()) && names[0] == "Rosa" && names.len() == 128);
}

/// How well the entities of the stories of a split are found.
fn measured(file: &Path, split: &str) -> EntityScores {
    let file = read_file(file).unwrap();
    let of = |story: &Story| {
        let language = Language::of(&story.sentences);
        let given = story.entities.iter().map(|entity| entity.name.clone()).collect();
        FoundStory::new((split, &story.id, story.group), language, find(&story.sentences, language), Some(given))
    };
    let stories: Vec<_> = file.split(split).unwrap().iter().map(of).collect();
    EntityScores::of(&stories).unwrap()
}

/// `benches/entities/compare.py measure` writes them, and docs/entities.md shows them.
#[test]
fn entities_of_trip_and_gita_are_found_as_recorded() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/entities/results.json");
    let rows: Vec<Value> = serde_json::from_slice(&std::fs::read(recorded).unwrap()).unwrap();
    for (set, file, split) in [
        ("TRIP train", "data/trip/www.json", "train"),
        ("TRIP dev", "data/trip/www.json", "dev"),
        ("GITA", "data/gita/GITA_test.json", "test"),
    ] {
        let Some(path) = real_data(file) else { continue };
        let row = rows.iter().find(|row| row["set"] == set && row["system"] == "`tiered data entities`").unwrap();
        let scores = measured(&path, split);
        assert_eq!(row["stories"], scores.stories, "{set}");
        for (matches, found) in [("exact", scores.exact), ("head", scores.head)] {
            for (measure, share) in [("recall", found.recall), ("precision", found.precision)] {
                assert_eq!(row[matches][measure], json!([share.count, share.total]), "{set}: {measure}, {matches}");
            }
        }
    }
}

#[test]
fn entities_of_synthetic_stories_are_found() {
    let sample = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample").join(name);
    for (name, split) in [("en-dev.json", "dev"), ("it.json", "test")] {
        let exact = measured(&sample(name), split).exact;
        let [recall, precision] = [exact.recall, exact.precision].map(|share| share.percent().unwrap());
        assert!(recall > 98. && precision > 85., "{name}: {recall}, {precision}");
    }
}

#[test]
fn a_file_in_json_is_read_by_what_it_contains() {
    let directory = TempDir::new().unwrap();
    let story = r#"{"sentences": ["Rosa filled the kettle."]}"#;
    for (name, json) in [("one.json", story.to_owned()), ("list.json", format!("{{\"stories\": [{story}]}}"))] {
        let found = tiered(["data", "entities", text(&write(&directory, name, &json))]);
        assert_eq!(stdout(&found), "text/1: Rosa, kettle\n", "{}", stderr(&found));
    }
    for (json, problem) in [
        (r#"{"stories": {"1": {}}}"#, "no story can be used; `tiered data check "),
        (r#"{"test": {}}"#, "but this one has no stories"),
    ] {
        let path = write(&directory, "unusable.json", json);
        let refused = tiered(["data", "entities", text(&path)]);
        let message = format!("{}: ", path.display());
        assert!(stderr(&refused).contains(problem), "{}", stderr(&refused));
        assert!(refused.status.code() == Some(65) && stderr(&refused).contains(&message), "{}", stderr(&refused));
    }
}

#[test]
fn a_story_file_is_known_by_the_end_of_its_name() {
    let directory = TempDir::new().unwrap();
    let stories = r#"{"test": {"1": {"sentences": ["Rosa filled the kettle."], "entities": ["Rosa"]}}}"#;
    let found = tiered(["data", "entities", text(&write(&directory, "stories.JSON", stories))]);
    let expected = "test/1: Rosa, kettle\n  not in the list: kettle\n";
    assert!(stdout(&found).starts_with(expected), "{}{}", stdout(&found), stderr(&found));
    let refused = tiered(["data", "entities", text(&write(&directory, "stories.txt", stories))]);
    let message = "stories.txt: is a story file; name a file whose name ends in .json\n";
    assert!(refused.status.code() == Some(65) && stderr(&refused).ends_with(message), "{}", stderr(&refused));
}

#[test]
fn a_story_with_nothing_to_find_hides_no_other() {
    let directory = TempDir::new().unwrap();
    let file = write(&directory, "rain.txt", "Rosa slept.\n\nIt rained.\nIt stopped.\n");
    let found = tiered(["data", "entities", text(&file)]);
    assert_eq!(stdout(&found), "text/1: Rosa\ntext/2: nothing\n", "{}", stderr(&found));
}

#[test]
fn the_command_finds_and_measures() {
    let json = tiered(["data", "entities", "data/sample/it.json", "--format", "json"]);
    let document: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(json.status.success(), "{}", stderr(&json));
    let [recall, total] = ["count", "total"].map(|key| document["scores"]["exact"]["recall"][key].as_u64().unwrap());
    let stories = document["stories"].as_array().unwrap();
    let given: usize = stories.iter().map(|story| story["given"].as_array().unwrap().len()).sum();
    assert!(recall * 100 > total * 98 && total as usize == given, "{recall} of {total}, given {given}");
    assert!(document["scores"]["exact"]["recall"]["interval_95"].is_array());
    let said = stdout(&tiered(["data", "entities", "data/sample/it.json"]));
    assert!(said.contains(&format!("and {} stories more: --verbose", stories.len() - 10)), "{said}");

    let directory = TempDir::new().unwrap();
    let file =
        write(&directory, "stories.txt", "Rosa filled the kettle.\n\nentities: Rosa, jar\nRosa broke the cup.\n");
    let typed = stdout(&tiered(["data", "entities", text(&file)]));
    let expected = "text/1: Rosa, kettle\ntext/2: Rosa, cup\n  not found: jar\n  not in the list: cup\n";
    assert!(typed.starts_with(expected) && typed.contains("1 story with a list"), "{typed}");
    let bare = write(&directory, "bare.txt", "Ada beve il latte.\n");
    assert_eq!(stdout(&tiered(["data", "entities", text(&bare), "--lang", "it"])), "text/1: Ada, latte\n");
    for (arguments, code, message) in [
        (vec!["--format", "csv"], 65, "no story lists its entities"),
        (vec!["--split", "dev"], 2, "text has no splits; leave out --split"),
    ] {
        let refused = tiered([&["data", "entities", text(&bare)], &arguments[..]].concat());
        assert_eq!(refused.status.code(), Some(code), "{}", stderr(&refused));
        assert!(stderr(&refused).contains(message), "{}", stderr(&refused));
    }
}
