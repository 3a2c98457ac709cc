//! Which words and forms the scripts know that give an encoder Italian words (`scripts/italian_*`).

use crate::support::{interpreter, stderr};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name)
}

/// What an expression of `scripts/italian_forms.py` is.
fn value_of(expression: &str) -> Value {
    let program = format!("import json\nfrom italian_forms import *\nprint(json.dumps({expression}))");
    let output = Command::new(interpreter())
        .args(["-c", &program])
        .env("PYTHONPATH", script(""))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
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
        ("alzarsi<vblex><inf>", json!(["alzare", "v", "VB", ""])),
        ("aperto<adj><f><sg>", json!(["aperto", "a", "", ""])),
        ("Marta<np><ant><f><sg>", Value::Null),
        ("*ciotole", Value::Null),
    ];
    for (text, expected) in analyses {
        assert_eq!(value_of(&format!("analysis({text:?})")), expected, "{text}");
    }
    // "I fall" is left out beside "the helmet", and stands where there is nothing else.
    let helmet = "'casco<n><m><sg>', 'cascare<vblex><pri><p1><sg>'";
    assert_eq!(value_of(&format!("third_person([{helmet}])")), json!([["casco", "n", "NN", ""]]));
    assert_eq!(value_of("third_person(['bere<vblex><pri><p1><sg>'])"), json!([["bere", "v", "VB", ""]]));
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
        ("città", "città"),
        ("bar", "bar"),
    ];
    for (singular, plural) in plurals {
        assert_eq!(value_of(&format!("plural({singular:?})")), plural);
    }
    assert_eq!(value_of("forms('rotto', 'a')"), json!([["rotto"], ["rotti"], ["rotta"], ["rotte"]]));
    assert_eq!(value_of("forms('fuori', '')"), json!([["fuori"]]));
    let forms = [
        ("strofina", "VBZ", ""),
        ("strofinò", "VBD", ""),
        ("strofinata", "VBN", ""),
        ("strofinarla", "VB", " it"),
        ("strofinandosi", "VBG", " himself"),
    ];
    let known = value_of("regular([('strofinare', 'v')])");
    for (form, tag, clitic) in forms {
        assert_eq!(known[form], json!([["strofinare", "v", tag, clitic]]), "{form}");
    }
    let both = value_of("regular([('cucina', 'n'), ('cucinare', 'v')])");
    assert_eq!(both["cucina"], json!([["cucina", "n", "NN", ""], ["cucinare", "v", "VBZ", ""]]));
}

#[test]
fn words_by_hand_are_lemmas_that_are_listed_once() {
    let file = std::fs::read_to_string(script("italian_household.toml")).unwrap();
    let sections: toml::Table = file.parse().unwrap();
    assert_eq!(sections.keys().collect::<Vec<_>>(), ["verbs", "nouns", "adjectives", "words"]);
    for (section, translations) in &sections {
        for (english, words) in translations.as_table().unwrap() {
            let words: Vec<&str> = words.as_str().unwrap().split(' ').collect();
            let mut once = words.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), words.len(), "[{section}] {english}");
            for word in words {
                assert!(!word.is_empty() && word.chars().all(char::is_lowercase), "[{section}] {english}: {word:?}");
                let is_verb = ["are", "ere", "ire", "rre"].iter().any(|ending| word.ends_with(ending));
                assert!(section != "verbs" || is_verb, "{word} is no infinitive");
            }
        }
    }
}
