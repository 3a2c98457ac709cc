//! `scripts/translate-it.py`, with a program instead of Apertium that knows a few lines.

use crate::support::{interpreter, stderr, text, tiered};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What Apertium would make of each line: `*` and `**` mark words that its Italian and its Catalan lack.
const KNOWN: [(&str, &str); 20] = [
    ("Ada put the red bowl in the dryer.", "Ada mise la palla rossa nell'*assecador"),
    ("Ada rinsed her mug.", "Ada **rinsed il suo **mug"),
    ("Ada took a towel.", "Ada portò una *tovallola"),
    ("Ada took the towels to the couch.", "Ada portò le *tovalloles al divano"),
    ("Ada sliced the quince.", "Ada va *llescar il **quince"),
    ("The bowl.", "La palla"),
    ("The red bowl.", "La palla rossa"),
    ("The dryer.", "L'*assecador"),
    ("The mug.", "Il **mug"),
    ("The towel.", "La *tovallola"),
    ("The towels.", "Le *tovalloles"),
    ("The quince.", "Il **quince"),
    ("The quinces.", "Il **quince"),
    ("Ada paid #5 @home for a quince.", "Ada pagò #5 @casa per un **quince"),
    ("Ada washed the cars.", "Ada lavò i carri"),
    ("Ada threw out the oranges.", "Ada gettò le arance"),
    ("Ada broke her arms.", "Ada ruppe le sue armi"),
    ("The cars.", "I carri"),
    ("The oranges.", "Le arance"),
    ("The arms.", "Le armi"),
];

/// The script, which finds programs in `bin` only.
fn translated(bin: &Path, arguments: &[&str]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/translate-it.py");
    Command::new(interpreter()).arg(script).args(arguments).env("PATH", bin).output().unwrap()
}

/// The program in a new folder `bin`. Each step drops the last full stop of a line, and knows only lines that have one.
fn program(bin: &Path) -> PathBuf {
    std::fs::create_dir(bin).unwrap();
    let known = serde_json::to_string(&KNOWN.iter().copied().collect::<std::collections::BTreeMap<_, _>>()).unwrap();
    let other = "line.replace('The ', 'Il ').rstrip('.')";
    let program = format!(
        "#!{}\nimport sys, json\nknown = json.loads({known:?})\nfor line in sys.stdin.read().splitlines():\n    \
         print(line.removesuffix('.') if sys.argv[3] == 'eng-cat' else known.get(line, {other}))\n",
        interpreter()
    );
    let apertium = bin.join("apertium");
    std::fs::write(&apertium, program).unwrap();
    std::fs::set_permissions(&apertium, PermissionsExt::from_mode(0o755)).unwrap();
    apertium
}

#[test]
fn sentences_keep_their_ends_and_signs() {
    let folder = tempfile::tempdir().unwrap();
    let [bin, file, out] = ["bin", "en.json", "it.json"].map(|name| folder.path().join(name));
    program(&bin);
    // The author's signs are not Apertium's marks. A sentence may have several lines, and none.
    let sentences = ["Ada took a towel", "Ada rinsed\n her mug.", "Ada paid #5 @home\tfor a quince.", "", "\n"];
    let story = json!({"train": {"8": {"sentences": sentences}}});
    // A byte order mark counts for nothing.
    std::fs::write(&file, format!("\u{feff}{story}")).unwrap();
    let output = translated(&bin, &[text(&file), "train", text(&out)]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    let expected =
        ["Ada prese un asciugamano", "Ada sciacquò la sua tazzina.", "Ada pagò #5 @casa per un quince.", "", ""];
    assert_eq!(said["train"]["8"]["sentences"], json!(expected));
}

#[test]
fn plurals_need_not_be_regular() {
    let folder = tempfile::tempdir().unwrap();
    let [bin, file, out] = ["bin", "en.json", "it.json"].map(|name| folder.path().join(name));
    program(&bin);
    let sentences = ["Ada washed the cars.", "Ada threw out the oranges.", "Ada broke her arms."];
    std::fs::write(&file, json!({"train": {"8": {"sentences": sentences}}}).to_string()).unwrap();
    let output = translated(&bin, &[text(&file), "train", text(&out)]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    let expected = ["Ada lavò le auto.", "Ada gettò le arance.", "Ada ruppe le sue braccia."];
    assert_eq!(said["train"]["8"]["sentences"], json!(expected));
}

#[test]
fn stories_become_italian_with_their_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (bin, file, out) =
        (folder.path().join("bin"), folder.path().join("en.json"), folder.path().join("new/it.json"));
    let apertium = program(&bin);
    let states = |entities: &[&str]| {
        let labels: Vec<Value> = entities.iter().map(|entity| json!([entity, 2])).collect();
        json!({"exist": labels})
    };
    let story = json!({
        "actor": "Ada", "objects": "bowl, red bowl, dryer, mug, towel, couch, quince", "plausible": true, "breakpoint": -1, "confl_sents": [],
        "sentences": KNOWN[..5].iter().map(|(english, _)| english).collect::<Vec<_>>(),
        "states": [
            states(&["Ada", "red bowl", "dryer"]), states(&["mug"]), states(&["towel"]),
            states(&["couch"]), states(&["quince", "quinces"]),
        ],
    });
    std::fs::write(&file, json!({"train": {"7": story}}).to_string()).unwrap();
    let output = translated(&bin, &[text(&file), "train", text(&out)]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    let italian = &said["train"]["7"];
    assert_eq!(
        italian["sentences"],
        json!([
            "Ada mise la ciotola rossa nell'asciugatrice.",
            "Ada sciacquò la sua tazzina.",
            "Ada prese un asciugamano.",
            "Ada portò gli asciugamani al divano.",
            "Ada affettò il quince.",
        ])
    );
    // A person's name stays, and so do two names that would become one.
    let expected = [
        states(&["Ada", "ciotola rossa", "asciugatrice"]),
        states(&["tazzina"]),
        states(&["asciugamano"]),
        states(&["divano"]),
        states(&["quince", "quinces"]),
    ];
    assert_eq!(italian["states"], json!(expected));
    assert_eq!(italian["objects"], "bowl, ciotola rossa, asciugatrice, tazzina, asciugamano, divano, quince");
    assert_eq!((&italian["breakpoint"], &italian["plausible"]), (&json!(-1), &json!(true)));
    let checked = tiered(["data", "check", text(&out)]);
    assert!(checked.status.success(), "{}", stderr(&checked));

    for (target, code, problem) in [(&out, 1, "exists; remove it first"), (&file, 2, "would be lost")] {
        let before = std::fs::read(target).unwrap();
        let output = translated(&bin, &[text(&file), "train", text(target)]);
        assert!(output.status.code() == Some(code) && stderr(&output).contains(problem), "{}", stderr(&output));
        assert_eq!(std::fs::read(target).unwrap(), before);
    }

    // Stories without states name their entities in a list, or their actor and objects. Nothing of the second one is in the
    // table of nouns.
    let stories = json!({
        "7": {"sentences": [KNOWN[1].0], "entities": ["Ada", "mug"]},
        "8": {"sentences": ["Ada sneezed."]},
        "9": {"sentences": [KNOWN[1].0], "states": [], "actor": "Ada", "objects": "mug,Ada"},
    });
    let unlabelled = folder.path().join("unlabelled.json");
    for (split, expected, objects) in [
        (stories.clone(), json!([["Ada", "tazzina"], null, null]), json!([null, null, "tazzina, Ada"])),
        (json!({"8": stories["8"]}), json!([null]), json!([null])),
        (json!({}), json!([]), json!([])),
    ] {
        std::fs::remove_file(&out).unwrap();
        std::fs::write(&unlabelled, json!({"train": split}).to_string()).unwrap();
        let output = translated(&bin, &[text(&unlabelled), "train", text(&out)]);
        assert!(output.status.success(), "{}", stderr(&output));
        let said: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
        let stories = said["train"].as_object().unwrap();
        assert_eq!(Value::from_iter(stories.values().map(|story| story["entities"].clone())), expected);
        assert_eq!(Value::from_iter(stories.values().map(|story| story["objects"].clone())), objects);
    }
    std::fs::remove_file(&out).unwrap();
    let twice = folder.path().join("twice.json");
    std::fs::write(&twice, r#"{"train": {"7": {"sentences": [], "sentences": []}}}"#).unwrap();
    for (split, problem) in [(json!({"7": {}}), "'sentences' is missing"), (json!([]), "is no story file")] {
        std::fs::write(&unlabelled, json!({"train": split}).to_string()).unwrap();
        let output = translated(&bin, &[text(&unlabelled), "train", text(&out)]);
        assert!(!output.status.success() && stderr(&output).contains(problem), "{}", stderr(&output));
    }
    for (arguments, problem) in [
        ([text(&file), "dev", text(&out)], "has no split 'dev'; its splits are ['train']"),
        (["missing.json", "train", text(&out)], "missing.json: No such file"),
        ([text(&twice), "train", text(&out)], "an object has the key 'sentences' more than once"),
        ([text(&apertium), "train", text(&out)], "is no story file"),
        ([text(&file), "train", "/dev/null/it.json"], "can't be written"),
    ] {
        let output = translated(&bin, &arguments);
        assert!(!output.status.success() && stderr(&output).contains(problem), "{}", stderr(&output));
    }
    std::fs::remove_file(&apertium).unwrap();
    let output = translated(&bin, &[text(&file), "train", text(&out)]);
    assert!(
        !output.status.success() && stderr(&output).contains("apertium is missing; on Debian"),
        "{}",
        stderr(&output)
    );
}
