//! `tiered report text`: counts that were made by hand, scikit-learn's numbers, and the published predictions of GITA.

use crate::support::{fixture, real_data, stderr, stdout, text, tiered, write};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use tempfile::TempDir;
use tiered::analysis::{Analysis, Classified, Facts, PairFacts, PredictionSource};
use tiered::attribute::{ATTRIBUTES, Attribute};
use tiered::decode::StateDecode;
use tiered::metrics::{PredictedCounts, Share};
use tiered::prediction::{
    EntityGold, EntityPrediction, LabelledPair, PairGold, PairPrediction, PredictedStates, PredictionFormat, StoryGold,
    StoryPrediction,
};
use tiered::report::DataDescription;

/// Classes of one sentence: nothing but these.
fn classes(states: &[(Attribute, u8)]) -> [u8; ATTRIBUTES] {
    let mut classes = [0; ATTRIBUTES];
    states.iter().for_each(|(attribute, class)| classes[attribute.index()] = *class);
    classes
}

/// Gold and predicted states of one side.
type States = (Vec<[u8; ATTRIBUTES]>, PredictedStates);

fn states(gold: [&[(Attribute, u8)]; 3], predicted: [&[(Attribute, u8)]; 3]) -> States {
    (gold.map(classes).into(), PredictedStates { classes: predicted.map(classes).into(), candidates: Vec::new() })
}

fn story(entities: Vec<(EntityGold, EntityPrediction)>) -> (StoryGold, StoryPrediction) {
    let (gold, entities) = entities.into_iter().unzip();
    let sentences = vec!["One.".into(), "Two.".into(), "Three.".into()];
    (StoryGold { entities: gold }, StoryPrediction::without_sentence_pairs("s", sentences, entities))
}

fn entity((before, preconditions): States, (after, effects): States) -> (EntityGold, EntityPrediction) {
    let gold = EntityGold { conflicts: vec![0; 3], preconditions: before, effects: after };
    (gold, EntityPrediction { name: "chest".into(), conflict_probs: vec![0.; 3], preconditions, effects })
}

/// Sentences 0 and 1 conflict; story 0 could happen. After sentence 0 the chest is closed, before sentence 1 it must be
/// open; `said` is what is predicted after sentence 0.
fn pair(id: &str, confidence: f32, conflict: &[usize], said: &[(Attribute, u8)]) -> LabelledPair {
    use Attribute::Open;
    let nothing: [&[(Attribute, u8)]; 3] = [&[], &[], &[]];
    let effects = states([&[(Open, 1)], &[], &[]], [said, &[], &[]]);
    let preconditions = states([&[], &[(Open, 2)], &[]], nothing);
    let quiet = || entity(states(nothing, nothing), states(nothing, nothing));
    let [(gold_a, a), (gold_b, b)] = [story(vec![quiet()]), story(vec![entity(preconditions, effects), quiet()])];
    LabelledPair {
        id: id.into(),
        group: 1,
        kind: if id.contains('C') { "cloze" } else { "order" }.into(),
        gold: PairGold { plausible: 0, conflict: [0, 1], stories: [gold_a, gold_b] },
        prediction: PairPrediction {
            plausible: usize::from(confidence < 0.5),
            story_probs: [confidence, 1. - confidence],
            conflict: conflict.to_vec(),
            stories: [a, b],
        },
    }
}

/// Verifiable; consistent, `power` said instead of `open`; accurate, the state right; wrong, the conflict right; wrong,
/// `open` said in another class.
fn predictions() -> Vec<LabelledPair> {
    use Attribute::{Open, Power};
    vec![
        pair("1-C0", 0.9, &[0, 1], &[(Open, 1)]),
        pair("2-C0", 0.8, &[0, 1], &[(Power, 2)]),
        pair("3-O0", 0.7, &[0, 2], &[(Open, 1)]),
        pair("4-O0", 0.375, &[0, 1], &[]),
        pair("5-O0", 0.25, &[], &[(Open, 2)]),
    ]
}

fn source(format: PredictionFormat) -> PredictionSource {
    PredictionSource {
        system: "ours".into(),
        data: DataDescription { kind: "all".into(), pairs: 5, ..DataDescription::default() },
        format,
        decoding: "as recorded".into(),
        states: StateDecode::Argmax,
        temperature: None,
    }
}

fn facts() -> Facts {
    let of = |location: Option<&str>| PairFacts { location: location.map(str::to_owned), entities: 20 };
    [("1-C0", Some("attic")), ("2-C0", Some("attic")), ("3-O0", None)]
        .map(|(id, room)| (id.to_owned(), of(room)))
        .into()
}

/// Count and total, whatever the interval.
fn counts(share: Share) -> (u64, u64) {
    (share.count, share.total)
}

#[test]
fn made_predictions_come_to_the_counts_made_by_hand() {
    let analysis = Analysis::of(source(PredictionFormat::Lines), &predictions(), &facts());
    let tiers = [analysis.accuracy, analysis.consistency, analysis.verifiability];
    assert_eq!(tiers.map(counts), [3, 2, 1].map(|n| (n, 5)));
    let pairs = |way: (bool, bool, bool)| {
        let outcome = analysis.outcomes.iter().find(|o| (o.story, o.conflict, o.states) == way);
        outcome.unwrap().pairs.count
    };
    let (yes, no) = (true, false);
    assert_eq!([(yes, yes, yes), (yes, yes, no), (yes, no, yes), (no, yes, no), (no, no, no)].map(pairs), [1; 5]);
    assert_eq!(analysis.outcomes.iter().map(|outcome| outcome.pairs.count).sum::<u64>(), 5);

    let of = |attribute: Attribute| analysis.attributes[attribute.index()];
    let open = of(Attribute::Open);
    assert_eq!(open.effects.counts, PredictedCounts { predicted: 3, correct: 2, gold: 5 });
    assert_eq!(open.preconditions.counts, PredictedCounts { predicted: 0, correct: 0, gold: 5 });
    assert_eq!((open.preconditions.precision, open.preconditions.recall), (None, Some(0.)));
    assert_eq!((open.support.correct, counts(open.support.detected)), (2, (1, 2)));
    assert_eq!(of(Attribute::Power).effects.counts, PredictedCounts { predicted: 1, correct: 0, gold: 0 });
    let wet = of(Attribute::Wet).effects;
    assert_eq!([wet.precision, wet.recall, wet.f1], [None; 3], "nothing is undefined, not 0");

    assert_eq!((analysis.recall.pairs, counts(analysis.recall.states)), (2, (1, 4)));
    let attributes: Vec<_> =
        analysis.recall.by_attribute.iter().map(|row| (row.attribute, counts(row.states))).collect();
    assert_eq!(attributes, [(Attribute::Open, (1, 4))]);
    let confused: Vec<_> = analysis.confusions.iter().map(|c| (c.gold, c.predicted, c.count)).collect();
    assert_eq!(confused, [(Attribute::Open, Attribute::Power, 1), (Attribute::Open, Attribute::Open, 1)]);
}

#[test]
fn groups_and_mistakes_are_those_made_by_hand() {
    let analysis = Analysis::of(source(PredictionFormat::Lines), &predictions(), &facts());
    let group = |by: &str| {
        let grouping = analysis.groups.iter().find(|grouping| grouping.by.starts_with(by)).unwrap();
        grouping
            .rows
            .iter()
            .map(|row| (row.name.as_str(), counts(row.accuracy), row.verifiability.count))
            .collect::<Vec<_>>()
    };
    assert_eq!(group("kind"), [("cloze", (2, 2), 1), ("order", (1, 3), 0)]);
    assert_eq!(group("distance"), [("1", (3, 5), 1)]);
    assert_eq!(group("entities"), [("1 to 3", (3, 5), 1)]);
    assert_eq!(group("location"), [("unknown", (1, 3), 0), ("attic", (2, 2), 1)]);
    let mistakes: Vec<_> = analysis.mistakes.iter().map(|m| (m.id.as_str(), m.confidence)).collect();
    assert_eq!(mistakes, [("5-O0", 0.75), ("4-O0", 0.625)]);
    assert_eq!(analysis.calibration.len(), 1);
    let bins = &analysis.calibration[0].bins;
    assert_eq!(bins.iter().map(|bin| bin.right.total).sum::<u64>(), 5);
    let ece: f64 = bins.iter().map(|b| (b.right.count as f64 - b.confidence * b.right.total as f64).abs()).sum();
    assert!((analysis.calibration[0].calibration.ece.unwrap() - ece / 5.).abs() < 1e-12);

    // Published predictions hold neither probabilities nor all entities.
    let published = Analysis::of(source(PredictionFormat::Published), &predictions(), &facts());
    assert!(published.calibration.is_empty() && published.mistakes.is_empty());
    let entities: Vec<_> = published.groups[2].rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(entities, ["13 or more", "unknown"]);
}

#[test]
fn conflicts_told_the_other_way_round_are_those_counted_by_hand() {
    let told = |sentences: [&str; 3], sentence_pairs: [[f32; 3]; 3]| StoryPrediction {
        sentences: sentences.map(str::to_owned).to_vec(),
        sentence_pairs: sentence_pairs.map(Vec::from).to_vec(),
        ..story(Vec::new()).1
    };
    // Eating and cooking conflict in the implausible story, the first two of its sentences.
    let of = |plausible: [&str; 3], [cooked_and_eaten, eaten_and_cooked]: [f32; 2]| {
        let mut pair = pair("1-O0", 0.9, &[0, 2], &[]);
        pair.gold.stories = [StoryGold::default(), StoryGold::default()];
        pair.prediction.stories = [
            told(plausible, [[0., 0.1, cooked_and_eaten], [0.; 3], [0.; 3]]),
            told(["eats", "cooks", "waits"], [[0., eaten_and_cooked, 0.3], [0.; 3], [0.; 3]]),
        ];
        pair
    };
    let predictions = [
        of(["cooks", "waits", "eats"], [0.1, 0.2]),
        of(["cooks", "waits", "eats"], [0.2, 0.1]),
        of(["cooks", "waits", "eats"], [0.1, 0.1]),
        of(["eats", "waits", "cooks"], [0.1, 0.2]),
        of(["cooks", "waits", "sleeps"], [0.1, 0.2]),
    ];
    let order_sensitivity = |format, predictions: &[LabelledPair]| {
        let analysis = Analysis::of(source(format), predictions, &Facts::new());
        (counts(analysis.order_sensitivity), analysis.order_ties)
    };
    assert_eq!(order_sensitivity(PredictionFormat::Lines, &predictions), ((1, 2), 1), "a tie is no failure");
    assert_eq!(order_sensitivity(PredictionFormat::Published, &predictions), ((0, 0), 0));
    let ties = vec![predictions[2].clone(); 3];
    assert_eq!(order_sensitivity(PredictionFormat::Lines, &ties), ((0, 0), 3));
    // A language model is asked about one story: that is neither a win nor a tie.
    let mut one_sided = [predictions[0].clone(), predictions[1].clone()];
    one_sided[0].prediction.stories[0].sentence_pairs.clear();
    one_sided[1].prediction.stories[0].sentence_pairs = vec![vec![0.; 3]; 3];
    assert_eq!(order_sensitivity(PredictionFormat::Lines, &one_sided), ((0, 0), 0));
}

#[test]
fn nothing_to_analyse_is_undefined() {
    let analysis = Analysis::of(source(PredictionFormat::Lines), &[], &Facts::new());
    let json: Value = serde_json::from_str(&analysis.to_json()).unwrap();
    assert_eq!(json["accuracy"]["fraction"], Value::Null);
    assert_eq!(json["recall"]["states"]["fraction"], Value::Null);
    assert_eq!(json["attributes"][0]["effects"]["f1"], Value::Null);
    assert!(analysis.to_text().contains("undefined") && !analysis.to_text().contains("NaN"));
}

#[derive(Deserialize)]
struct Case {
    classes: usize,
    default: u8,
    gold: Vec<u8>,
    pred: Vec<u8>,
    scores: [Option<f64>; 3],
}

#[test]
fn precision_recall_and_f1_are_those_of_scikit_learn() {
    let cases: Vec<Case> = serde_json::from_slice(&std::fs::read(fixture("prf.json")).unwrap()).unwrap();
    assert_eq!(cases.len(), 30);
    for Case { classes, default, gold, pred, scores } in cases {
        let attribute = [Attribute::Open, Attribute::Exist, Attribute::Location];
        let attribute = attribute.into_iter().find(|a| (a.classes(), a.default_label()) == (classes, default)).unwrap();
        let mut counts = PredictedCounts::default();
        gold.iter().zip(&pred).for_each(|(&gold, &pred)| counts.add(attribute, gold, pred));
        let ours = Classified::from(counts);
        for (ours, theirs) in [ours.precision, ours.recall, ours.f1].into_iter().zip(scores) {
            let is_close = ours.zip(theirs).is_some_and(|(ours, theirs)| (ours - theirs).abs() < 1e-12);
            assert!(is_close || (ours.is_none() && theirs.is_none()), "{ours:?} {theirs:?} {gold:?} {pred:?}");
        }
    }
}

/// The file of predictions that was published gives the shares of section 4.5 for the attributes with few states; its
/// total is not the paper's (112 of 414), which counts in a way that the paper does not tell.
#[test]
fn published_predictions_recall_what_the_paper_says() {
    let data = real_data("data/gita/GITA_test.json");
    let (Some(data), Some(cloze)) = (data, real_data("data/gita/published/cloze.json")) else { return };
    let output = tiered(["report", "text", text(&cloze), "--data", text(&data), "--kind", "cloze", "--format=json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let count = |path: &str| json.pointer(path).unwrap().clone();
    assert_eq!([count("/accuracy/count"), count("/consistency/count"), count("/verifiability/count")], [85, 23, 3]);
    assert_eq!([count("/recall/states/count"), count("/recall/states/total")], [111, 371]);
    let recall = |attribute: &str| {
        let rows = json["recall"]["by_attribute"].as_array().unwrap();
        let row = rows.iter().find(|row| row["attribute"] == attribute).unwrap();
        [&row["states"]["count"], &row["states"]["total"]].map(|n| n.as_u64().unwrap())
    };
    assert_eq!(recall("wearing"), [1, 2], "50 %, of 2 cases");
    assert_eq!([recall("pieces"), recall("solid")], [[11, 26], [5, 12]], "40 %");
    assert_eq!([recall("location"), recall("h_location")], [[44, 62], [14, 22]]);
    let rooms: u64 =
        json["groups"][3]["rows"].as_array().unwrap().iter().map(|r| r["accuracy"]["total"].as_u64().unwrap()).sum();
    assert_eq!((rooms, json["calibration"].as_array().unwrap().len()), (117, 0));
}

/// Predictions of the clean file's two pairs.
fn of_clean_file(directory: &TempDir) -> (PathBuf, PathBuf) {
    let data = write(directory, "stories.json", &crate::support::clean_file().to_string());
    let stories = crate::support::clean_file();
    let sentences = |id: &str| serde_json::from_value(stories["test"][id]["sentences"].clone()).unwrap();
    let line = |id: &str| {
        let mut pair = pair(id, 0.9, &[0, 1], &[(Attribute::Open, 1)]);
        for (story, id) in pair.prediction.stories.iter_mut().zip(["1", id]) {
            story.sentences = sentences(id);
        }
        serde_json::to_string(&pair).unwrap() + "\n"
    };
    let lines = ["1-C0", "1-O0"].map(line).concat();
    (data, write(directory, "predictions.jsonl", &lines))
}

#[test]
fn every_format_has_the_numbers() {
    let directory = TempDir::new().unwrap();
    let (data, predictions) = of_clean_file(&directory);
    let run = |more: &[&'static str]| {
        let arguments = ["report", "text", text(&predictions), "--data", text(&data)];
        tiered(arguments.into_iter().chain(more.iter().copied()))
    };
    for format in [&[][..], &["--format=markdown"]] {
        let output = run(format);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stdout(&output).contains("2/2") && stdout(&output).contains("attic"), "{}", stdout(&output));
    }
    let json: Value = serde_json::from_slice(&run(&["--format=json"]).stdout).unwrap();
    assert_eq!(json["groups"][3]["rows"][0]["name"], json!("attic"));
    assert_eq!(run(&["--format=json", "--format=markdown"]).status.code(), Some(2));
    assert_eq!(run(&["--states", "0.7"]).status.code(), Some(65), "a state without its probability");
    let missing = tiered(["report", "text", "no-such-run", "--data", text(&data)]);
    assert_eq!(missing.status.code(), Some(66));
    assert!(stderr(&missing).contains("no-such-run: cannot be read"), "a run or a file: {}", stderr(&missing));
    assert_eq!(run(&["--device", "cpu"]).status.code(), Some(2), "nothing is computed for a file");
    let order = serde_json::from_slice::<Value>(&run(&["--kind=order", "--format=json"]).stdout).unwrap();
    assert_eq!(order["data"]["pairs"], json!(1), "the other one is of a cloze story");
    let all = std::fs::read_to_string(&predictions).unwrap();
    std::fs::write(&predictions, all.lines().next().unwrap()).unwrap();
    let said = stderr(&run(&[]));
    assert!(said.contains("1 of 2 pairs of") && said.contains("are not predicted"), "{said}");
    std::fs::write(&predictions, all).unwrap();
    let others = crate::support::clean_file().to_string().replace("locked", "painted");
    std::fs::write(&data, others).unwrap();
    let refused = run(&[]);
    assert_eq!(refused.status.code(), Some(65));
    let message = "pair 1-C0 has other sentences or another gold conflict than in";
    assert!(stderr(&refused).contains(message), "{}", stderr(&refused));
    let mut labelled = crate::support::clean_file();
    labelled["test"]["1-C0"]["confl_pairs"] = json!([[0, 2]]);
    labelled["test"]["1-C0"]["breakpoint"] = json!(2);
    std::fs::write(&data, labelled.to_string()).unwrap();
    let refused = run(&[]);
    assert!(stderr(&refused).contains(message), "another gold conflict: {}", stderr(&refused));
    let renumbered = crate::support::clean_file().to_string().replace("\"1-", "\"7-").replace("\"1\"", "\"7\"");
    std::fs::write(&data, renumbered).unwrap();
    let refused = run(&[]);
    assert!(
        refused.status.code() == Some(65) && stderr(&refused).contains("none of its pairs is in"),
        "{}",
        stderr(&refused)
    );
}
