//! On the Italian page annotators are told everything in Italian.

use super::rig::{ADA, BO, By, Rig, refusal};
use super::served::Served;
use serde_json::{Value, json};
use std::io;
use std::path::Path;
use tiered::annotate::{Direction, EditRefusal, InWords, OnClash, Sender};
use tiered::attribute::Attribute;
use tiered::data::read_file;
use tiered::error::Error;
use tiered::language::Language;
use tiered::report::labels::attribute_name;

fn hints(rig: &mut Rig, story: &str) -> Vec<String> {
    let view = rig.project().story(story, "main", "Ada", Language::Italian).unwrap();
    view.hints.into_iter().map(|hint| hint.message).collect()
}

#[test]
fn hints_about_labels() {
    let mut rig = Rig::new();
    rig.with_versions();
    rig.ada("1", json!([{"op": "labels", "entity": 2, "sentence": 2, "values": {"open": 1}}]));
    rig.ada(
        "1",
        json!([{"op": "done", "done": true}, {"op": "labels", "entity": 1, "sentence": 3, "values": {"open": 4}}]),
    );
    let expected = [
        "“box”: dopo la frase 1 “aperto”, ma la frase 2 richiede “chiuso”; la storia è plausibile, quindi forse un'etichetta è sbagliata",
        "“box”: dopo la frase 2 “chiuso”, ma la frase 3 richiede “aperto”; la storia è plausibile, quindi forse un'etichetta è sbagliata",
        "la storia è finita, ma “Rosa” non ha etichette nella frase 2",
        "“apertura” è un attributo delle cose, ma “Rosa” è una persona",
    ];
    assert_eq!(hints(&mut rig, "1"), expected);
    let pen = |sentence: u32, location: u8| json!([{"op": "labels", "entity": 3, "sentence": sentence, "values": {"location": location}}]);
    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", pen(1, 1));
    rig.ada("1", pen(2, 6));
    let expected = "“pen”: dopo la frase 1 “sparito”, ma la frase 2 richiede “presente”; ";
    assert!(hints(&mut rig, "1")[0].starts_with(expected), "{:?}", hints(&mut rig, "1"));
}

#[test]
fn hints_about_conflicts() {
    let mut rig = Rig::new();
    rig.with_versions();
    rig.ada("1-C0", json!([{"op": "conflict", "evidence": null, "breakpoint": null}]));
    let found = hints(&mut rig, "1-C0");
    assert!(found[0].ends_with("segna questo conflitto, o correggi un'etichetta"), "{found:?}");
    assert_eq!(found[1], "nessun conflitto è segnato; segna le sue due frasi");
    rig.ada("1-C0", json!([{"op": "conflict", "evidence": 4, "breakpoint": 3}]));
    let found = hints(&mut rig, "1-C0");
    assert!(found[0].ends_with("è segnato un altro conflitto; una storia ne ha uno solo"), "{found:?}");
    let expected = "nessuna etichetta mostra il conflitto tra le frasi 1 e 3; etichetta ciò che la frase 1 lascia e ciò che la frase 3 \
                    non deve trovare";
    assert_eq!(found[1], expected);
}

/// A message of a finding says of a field only what is wrong with it; a hint says of what.
#[test]
fn hints_by_the_rules_of_data_check_say_what_they_are_about() {
    let mut rig = Rig::new();
    rig.with_versions();
    let both = |rig: &mut Rig, story: &str| {
        let italian = hints(rig, story);
        let english = rig.view(story).hints.into_iter().map(|hint| hint.message);
        english.zip(italian).next_back().unwrap()
    };
    let told = |english: &str, italian: &str| (english.to_owned(), italian.to_owned());
    rig.ada("1", json!([{"op": "text", "sentence": 3, "text": ""}]));
    let blank = told("sentence 3 is blank; it is read as it is", "la frase 3 è vuota; scrivila o toglila");
    assert_eq!(both(&mut rig, "1"), blank);
    rig.ada("1", json!([{"op": "text", "sentence": 3, "text": "Rosa chiude il caffÃ¨."}]));
    let (english, italian) = both(&mut rig, "1");
    assert!(english.starts_with("sentence 3 has characters that result from a wrong encoding"), "{english}");
    assert_eq!(italian, "la frase 3 ha caratteri sbagliati, letti con una codifica diversa; riscrivila");
    rig.ada("1-O0", json!([{"op": "swap", "sentences": [1, 3]}]));
    rig.ada("1-O0", json!([{"op": "conflict", "evidence": 2, "breakpoint": 3}]));
    let same = told(
        "the sentences are the same as those of the plausible story \"1\"; nothing distinguishes the two",
        "le frasi sono quelle della storia plausibile, nello stesso ordine; cambiane una",
    );
    assert_eq!(both(&mut rig, "1-O0"), same);
    rig.ada("1-O0", json!([{"op": "conflict", "evidence": null, "breakpoint": null}]));
    let (english, _) = both(&mut rig, "1-O0");
    assert!(english.starts_with("the breakpoint is missing"), "{english}");
    rig.ada(
        "1",
        json!([{"op": "text", "sentence": 3, "text": "Rosa closed the box."}, {"op": "entity", "name": "pencil"}]),
    );
    rig.ada("1", json!([{"op": "entity", "name": "Pencil"}]));
    let similar = told(
        "\"pencil\" and \"Pencil\" are read as two entities; if they are one, spell them alike",
        "“pencil” e “Pencil” sono lette come due entità; se sono una sola, scrivile allo stesso modo",
    );
    let labels = |entity: u32| json!({"op": "labels", "entity": entity, "sentence": 1, "values": {"open": 1}});
    rig.ada("1", json!([labels(4), labels(5)]));
    assert_eq!(both(&mut rig, "1"), similar);
}

#[test]
fn what_was_done() {
    let mut rig = Rig::new();
    rig.with_versions();
    let since = rig.project().revision();
    rig.send(&BO, "1", json!([{"op": "labels", "entity": 2, "sentence": 1, "values": {"open": 4, "wet": 4}}])).unwrap();
    rig.send(
        &BO,
        "1",
        json!([{"op": "labels", "entity": 2, "sentence": 1, "values": {"wet": 1, "clean": 1, "open": 3}}]),
    )
    .unwrap();
    rig.send(&BO, "1", json!([{"op": "rename", "entity": 2, "name": "tin"}])).unwrap();
    rig.go(&BO, Direction::Undo).unwrap();
    rig.go(&BO, Direction::Redo).unwrap();
    rig.send(&BO, "1-O0", json!([{"op": "remove_story"}])).unwrap();
    rig.send(&BO, "1", json!([{"op": "actor"}, {"op": "location", "text": "attic"}])).unwrap();
    let told = |rig: &mut Rig, language| {
        let events = rig.project().events(since, "main", language).events;
        events.into_iter().map(|event| event.what).collect::<Vec<_>>()
    };
    let expected = [
        "l'etichetta “bagnato” di “box” nella frase 1",
        "l'etichetta “pulizia” di “box” nella frase 1, e altre 2 modifiche",
        "l'entità “tin”",
        "annullato: l'entità “tin”",
        "ripetuto: l'entità “tin”",
        "la storia 1-O0",
        "il protagonista, e un'altra modifica",
    ];
    assert_eq!(told(&mut rig, Language::Italian), expected);
    let english = told(&mut rig, Language::English);
    assert_eq!(english[3], "undo: entity \"tin\"");
    let view = rig.project().story("1", "main", "Bo", Language::Italian).unwrap();
    assert_eq!(view.undo.as_deref(), Some(expected[6]));
    // The journal keeps its English words.
    let journal = std::fs::read_to_string(rig.folder().join("journal.jsonl")).unwrap();
    assert!(journal.contains(r#""what":"the actor, and 1 more""#) && !journal.contains("etichetta"), "{journal}");
    rig.reopen();
    assert_eq!(told(&mut rig, Language::Italian), expected, "it is described again from the journal");
    assert_eq!(told(&mut rig, Language::English), english);
}

/// The journal has no field for it: old journals are read as new ones.
#[test]
fn what_was_imported() {
    let mut rig = Rig::new();
    let file = read_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample/it.json")).unwrap();
    let sender = Sender { who: "Ada", window: "i", n: 1, pass: "main", on_clash: OnClash::Tell, seen: None };
    rig.project().import(sender, &file, None).unwrap();
    rig.go(&ADA, Direction::Undo).unwrap();
    for _ in 0..2 {
        let events = rig.project().events(0, "main", Language::Italian).events;
        let [.., import, undo] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!(import.what, format!("importazione della storia {}", import.story));
        assert_eq!(undo.what, format!("annullato: {}", import.what));
        rig.reopen();
    }
}

#[test]
fn refusals_and_clashes() {
    let mut rig = Rig::new();
    rig.with_versions();
    let base = Some(rig.project().revision());
    rig.ada("1", json!([{"op": "location", "text": "attic"}, {"op": "labels", "entity": 2, "sentence": 1, "values": {"open": 1}}]));
    let clash = rig.send(
        &By { base, ..BO },
        "1",
        json!([
            {"op": "labels", "entity": 2, "sentence": 1, "values": {"open": 3}}, {"op": "location", "text": "kitchen"},
        ]),
    );
    let refused = clash.unwrap_err();
    let message = refused.italian();
    let EditRefusal::Clash { clashes, .. } = refused else { panic!("it clashes") };
    let what: Vec<_> = clashes.iter().map(|clash| clash.what.italian()).collect();
    assert_eq!(what, ["l'etichetta “apertura” di “box” nella frase 1", "il luogo delle storie"]);
    assert_eq!(message, format!("intanto Ada ha cambiato {} (e altro: 1); scegli uno dei due valori", what[0]));
    let long = "x".repeat(2001);
    let cases: [(&str, Value, &str, &str); 7] = [
        ("9", json!([]), "gone", "la storia 9 non c'è; forse è stata tolta"),
        (
            "1",
            json!([{"op": "remove", "sentence": 99}]),
            "gone",
            "questa frase non è nella storia 1; forse è stata tolta",
        ),
        ("1", json!([{"op": "drop", "entity": 99}]), "gone", "questa entità non è nella storia 1; forse è stata tolta"),
        (
            "1",
            json!([{"op": "rename", "entity": 3, "name": "box"}]),
            "data",
            "un'altra entità di queste storie si chiama “box”; usa quella",
        ),
        (
            "1",
            json!([{"op": "conflict", "evidence": 1, "breakpoint": 2}]),
            "data",
            "una storia plausibile non ha conflitto; prima creane una versione",
        ),
        (
            "1",
            json!([{"op": "text", "sentence": 1, "text": long}]),
            "data",
            "una frase ha più di 2000 caratteri; accorciala",
        ),
        ("1", json!([{"op": "entity", "name": " "}]), "data", "un'entità ha bisogno di un nome"),
    ];
    for (story, ops, kind, expected) in cases {
        let refused = rig.send(&ADA, story, ops.clone());
        assert_eq!(refusal(refused, kind).italian(), expected, "{ops}");
    }
    assert_eq!(refusal(rig.go(&BO, Direction::Redo), "gone").italian(), "qui Bo non ha niente da ripetere");
}

/// Paths and the words of the operating system are for programs and the terminal.
#[test]
fn what_fails_on_the_side_of_the_server() {
    let failed = |kind| EditRefusal::from(Error::writing(Path::new("journal.jsonl"), &io::Error::from(kind)));
    let full = failed(io::ErrorKind::StorageFull);
    assert_eq!((full.kind(), full.italian().as_str()), ("io", "il disco è pieno; fai spazio"));
    assert!(full.english().starts_with("journal.jsonl: cannot be written"), "{}", full.english());
    let denied = failed(io::ErrorKind::PermissionDenied);
    assert_eq!(denied.italian(), "il disco non si lascia leggere o scrivere; controlla la cartella del progetto");
}

/// The names of attributes in messages are those that the page shows.
#[test]
fn attributes_are_named_as_on_the_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/app/words.js");
    let page = std::fs::read_to_string(page).unwrap();
    for attribute in Attribute::ALL {
        let italian = attribute_name(attribute, Language::Italian);
        let entry = page.split(&format!(" {attribute}: [")).nth(1).and_then(|rest| rest.split(']').next()).unwrap();
        assert!(entry.ends_with(&format!("\"{italian}\"")), "{attribute}: {entry}, but {italian:?}");
    }
}

#[test]
fn the_server_answers_in_the_language_of_the_page() {
    let mut served = Served::start(&[]);
    served.edit(
        None,
        json!([{"op": "add_story", "sentences": ["Rosa aprì la scatola.", ""]}, {"op": "entity", "name": "scatola"}]),
    );
    let story = |served: &Served, address: &str| served.get(&format!("story?story=1&who=Ada{address}"));
    for (address, hint, undo) in [
        ("&lang=it", "la frase 2 è vuota; scrivila o toglila", "il testo della frase 1, e altre 5 modifiche"),
        ("&lang=en", "sentence 2 is blank; it is read as it is", "the text of sentence 1, and 5 more"),
        ("", "sentence 2 is blank; it is read as it is", "the text of sentence 1, and 5 more"),
    ] {
        let story = story(&served, address);
        assert_eq!((&story["hints"][0]["message"], &story["undo"]), (&json!(hint), &json!(undo)), "{story}");
        let events = served.get(&format!("events?since=0{address}"));
        assert_eq!(events["events"][0]["what"], json!(undo));
    }
    assert_eq!(served.server.get("/api/annotate/story?story=1&lang=xx").status, 400);
    let export = served.get("export?lang=it");
    assert_eq!(export["left_out"], json!([{"story": "1", "why": "la frase 2 è vuota; scrivila o toglila"}]));
    let base = served.get("project")["revision"].clone();
    let refused = |served: &mut Served, path: &str, fields: Value, expected: &str| {
        let (_, answer) = served.post(&format!("{path}?lang=it"), fields);
        assert_eq!(answer["error"]["message"], json!(expected), "{answer}");
    };
    let edit = |ops: Value| json!({"base": base, "story": "1", "ops": ops});
    refused(&mut served, "edit", edit(json!([{"op": "entity", "name": ""}])), "un'entità ha bisogno di un nome");
    refused(&mut served, "redo", json!({}), "qui Ada non ha niente da ripetere");
    refused(
        &mut served,
        "import",
        json!({"text": "Rosa aprì la scatola."}),
        "questo non è un file di storie in JSON; scegline un altro",
    );
    refused(
        &mut served,
        "propose",
        json!({"story": "1"}),
        "il modello non è caricato; avvia tiered app con la sua cartella",
    );
    let huge = json!({"base": base, "story": "1", "ops": [{"op": "location", "text": "x".repeat(3 << 20)}]});
    refused(&mut served, "edit", huge, "il testo è troppo grande; mandane meno alla volta");
    let (status, made) = served.post("edit?lang=it", edit(json!([{"op": "location", "text": "cucina"}])));
    assert_eq!((status, &made["view"]["undo"]), (200, &json!("il luogo delle storie")));
    let other =
        json!({"base": base, "window": "b", "who": "Bo", "story": "1", "ops": [{"op": "location", "text": "bagno"}]});
    let (status, clash) = served.post("edit?lang=it", other);
    assert_eq!((status, &clash["error"]["clash"][0]["what"]), (409, &json!("il luogo delle storie")), "{clash}");
    let odd = json!({"test": {"1": {"sentences": ["Rosa uscì.", ""], "entities": ["Rosa", "Rose", "Rosee"]}, "2-C0": {"sentences": ["x"]}}});
    let (_, imported) = served.post("import?lang=it", json!({"text": odd.to_string()}));
    let findings: Vec<_> = imported["findings"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert!(findings.contains(&"test/1 sentences[1]: avviso: la frase 2 è vuota; scrivila o toglila"), "{findings:#?}");
    let english = [" is ", " the ", "error:", "warning"];
    assert!(findings.iter().all(|line| english.iter().all(|word| !line.contains(word))), "{findings:#?}");
}

/// A server that was started anew at the same address may have another project.
#[test]
fn what_is_asked_of_another_project_is_refused() {
    let mut served = Served::start(&[]);
    served.edit(None, json!([{"op": "add_story", "sentences": ["Rosa slept."]}]));
    let own = served.get("project")["project"].as_str().unwrap().to_owned();
    for path in ["story?story=1", "export?format=trip", "order?by=unsure"] {
        let ask = |project: &str| served.server.get(&format!("/api/annotate/{path}&lang=it&project={project}"));
        let answered = ask("0");
        let error = answered.json()["error"].clone();
        assert_eq!((answered.status, &error["kind"]), (409, &json!("other_project")), "{path}: {error}");
        assert_eq!(
            error["message"],
            json!("a questo indirizzo ora c'è un altro progetto; ricarica la pagina per vederlo")
        );
        assert_ne!(ask(&own).status, 409);
    }
    for path in ["edit", "undo", "redo", "import", "propose"] {
        let request = json!({"base": 1, "story": "1", "ops": [], "text": "{}"});
        let (status, answer) = served.post(&format!("{path}?project=0"), request);
        assert_eq!((status, &answer["error"]["kind"]), (409, &json!("other_project")), "{path}: {answer}");
    }
    assert_eq!(served.get("project?project=0")["project"], json!(own), "so the page hears of it");
    assert_eq!(served.get("events?since=0&project=0")["project"], json!(own));
}
