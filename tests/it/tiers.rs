//! Files of tiers: what `tiered score --tiers` keeps of predictions, and what `tiered compare` makes of it.

use crate::support::{random_prediction, real_data, rng, stderr, stdout, text, tiered};
use rand::RngExt;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;
use tiered::analysis::PairTiers;
use tiered::attribute::ATTRIBUTES;
use tiered::prediction::{
    EntityGold, EntityPrediction, LabelledPair, PairGold, PairPrediction, StoryGold, StoryPrediction, write_predictions,
};

/// Two systems' answers to 40 pairs, as files.
struct Rig {
    folder: TempDir,
    pairs: [Vec<LabelledPair>; 2],
}

impl Rig {
    fn new() -> Self {
        let mut rng = rng(11);
        let first: Vec<_> = (0..40).map(|number| random_prediction(&mut rng, number)).collect();
        let mut second = first.clone();
        for pair in &mut second {
            if rng.random_bool(0.3) {
                pair.prediction.plausible = 1 - pair.prediction.plausible;
                pair.prediction.story_probs.reverse();
            }
            let entities = pair.prediction.stories.iter_mut().flat_map(|story| &mut story.entities);
            entities.flat_map(|entity| &mut entity.conflict_probs).for_each(|probability| *probability = rng.random());
        }
        let rig = Rig { folder: TempDir::new().unwrap(), pairs: [first, second] };
        rig.pairs.iter().zip(["a.jsonl", "b.jsonl"]).for_each(|(pairs, name)| drop(rig.write(name, pairs)));
        rig
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, pairs: &[LabelledPair]) -> PathBuf {
        write_predictions(&self.path(name), pairs).unwrap();
        self.path(name)
    }

    /// The tiers of a file of predictions.
    fn tiers(&self, name: &str) -> PathBuf {
        let (file, tiers) = (self.path(name), self.path(&format!("tiers-{name}")));
        let output = tiered(["score", text(&file), "--tiers", text(&tiers), "--states=argmax", "--states=0.6"]);
        assert!(output.status.success() && stdout(&output).contains("accuracy"), "{}", stderr(&output));
        tiers
    }
}

fn compare(first: &Path, second: &Path, more: &[&str]) -> Output {
    tiered(["compare", text(first), text(second), "--format=json"].into_iter().chain(more.iter().copied()))
}

/// What is compared, whatever the files are called.
fn compared(files: [&Path; 2], more: &[&str]) -> Value {
    let output = compare(files[0], files[1], more);
    assert!(output.status.success(), "{}", stderr(&output));
    let names = ["first", "second"].into_iter().zip(files);
    let said = names.fold(stdout(&output), |said, (name, file)| said.replace(text(file), name));
    serde_json::from_str(&said).unwrap()
}

#[test]
fn tiers_compare_as_the_predictions_that_they_are_of() {
    let rig = Rig::new();
    let (a, b) = (rig.path("a.jsonl"), rig.path("b.jsonl"));
    let [of_a, of_b] = ["a.jsonl", "b.jsonl"].map(|name| rig.tiers(name));
    for more in [&["--states=argmax", "--states=0.6"][..], &["--decode=pair"], &[]] {
        let expected = compared([&a, &b], more);
        assert!(!expected["differing"][0]["differ"].as_array().unwrap().is_empty(), "the systems differ");
        for files in [[&*of_a, &*of_b], [&a, &of_b], [&of_a, &b]] {
            assert_eq!(compared(files, more), expected, "{files:?} {more:?}");
        }
    }
    let kept = std::fs::read_to_string(&of_a).unwrap();
    assert!(!kept.contains("sentence.") && !kept.contains("entity"), "no text of the stories: {kept}");
    let turned = rig.path("turned.jsonl");
    std::fs::write(&turned, kept.lines().rev().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    assert_eq!(compared([&a, &turned], &[])["differing"][0]["differ"], json!([]), "in any order");
    let output = tiered(["score", text(&a), "--tiers", "-", "--states=argmax", "--states=0.6"]);
    assert_eq!(stdout(&output), kept, "and nothing else");
}

#[test]
fn pairs_of_one_id_are_told_apart_by_their_stories() {
    let rig = Rig::new();
    let mut pairs = rig.pairs[0].clone();
    let mut namesake = pairs[0].clone();
    namesake.prediction.stories[0].sentences[0] = "Ada slept.".into();
    pairs.insert(1, namesake);
    let first = rig.write("first.jsonl", &pairs);
    pairs.swap(0, 1);
    let second = rig.write("second.jsonl", &pairs);
    for files in [[&first, &second], [&first, &rig.tiers("second.jsonl")], [&rig.tiers("first.jsonl"), &second]] {
        assert_eq!(compared(files.map(|file| &**file), &[])["differing"][0]["differ"], json!([]), "{files:?}");
    }
}

#[test]
fn tiers_without_gold_states_are_compared_by_two_tiers() {
    let rig = Rig::new();
    let mut unlabelled = rig.pairs[0].clone();
    for entity in unlabelled.iter_mut().flat_map(|pair| &mut pair.gold.stories).flat_map(|story| &mut story.entities) {
        (entity.preconditions, entity.effects) = (Vec::new(), Vec::new());
    }
    let file = rig.write("unlabelled.jsonl", &unlabelled);
    let tiers = rig.tiers("unlabelled.jsonl");
    let answer = compared([&file, &tiers], &[]);
    assert_eq!(answer["comparison"]["sections"][0]["rows"][0]["scores"]["verifiability"], Value::Null, "{answer}");
    let output = compare(&rig.path("a.jsonl"), &tiers, &[]);
    assert!(stderr(&output).contains("in which pairs have gold states"), "{}", stderr(&output));
}

#[test]
fn what_can_t_be_compared_is_refused() {
    let rig = Rig::new();
    let (a, tiers) = (rig.path("a.jsonl"), rig.tiers("a.jsonl"));
    let refused = |first: &Path, second: &Path, more: &[&str], problem: &str| {
        let output = compare(first, second, more);
        let said = stderr(&output);
        assert!(output.status.code() == Some(65) && said.contains(problem), "{problem}: {said}");
    };
    let missing = "has no tiers by contrast, states argmax of pair 0-C0 (but by pair, states 0.6; pair, states argmax; \
                   threshold, states 0.6; threshold, states argmax); choose with --decode and --states";
    refused(&a, &tiers, &["--decode=contrast"], missing);
    let mut others = rig.pairs[0].clone();
    others[3].prediction.stories[0].sentences[0] = "Ada slept.".into();
    refused(
        &rig.write("retold.jsonl", &others),
        &tiers,
        &[],
        "has a pair 3-C0 with another conflict, other gold states",
    );
    let mut others = rig.pairs[0].clone();
    others[5].gold.stories[1].entities[0].effects[0][2] ^= 1;
    rig.write("relabelled.jsonl", &others);
    refused(&tiers, &rig.tiers("relabelled.jsonl"), &[], "has a pair 5-C0 with another conflict, other gold states");
    // Another name, as if a system had found it: what both name has the same gold states.
    others[5].gold.stories[1] = rig.pairs[0][5].gold.stories[1].clone();
    others[5].prediction.stories[1].entities[0].name = "somebody else".into();
    let output = compare(&tiers, &rig.write("found.jsonl", &others), &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    refused(&rig.write("fewer.jsonl", &rig.pairs[0][1..]), &tiers, &[], "other pairs");

    let kept = std::fs::read_to_string(&tiers).unwrap();
    let first = kept.lines().next().unwrap();
    for (text, problem) in [
        (format!("{kept}{first}\n"), "line 41: pair \"0-C0\" is on line 1 too"),
        (kept.replacen("\"cloze\"", "\"cloze", 2), "line 1"),
        (format!("{first}\n{}", &kept[..first.len() / 2]), "line 2"),
        (kept.replacen("\"schema_version\":1", "\"schema_version\":2", 2), "update tiered"),
        (kept.replacen("\"group\":0", "\"group\":\"0\"", 1), "line 1"),
    ] {
        let wrong = rig.path("wrong.jsonl");
        std::fs::write(&wrong, text).unwrap();
        refused(&a, &wrong, &[], problem);
        refused(&a, &wrong, &[], "wrong.jsonl");
    }
    let output = tiered(["score", text(&a), "--tiers", text(&tiers)]);
    assert!(output.status.code() == Some(73) && stderr(&output).contains("--force"), "{}", stderr(&output));
    let same = [rig.path("x.jsonl"), rig.folder.path().join("./x.jsonl")];
    let output = tiered(["score", text(&a), "--tiers", text(&same[0]), "--output", text(&same[1])]);
    assert!(output.status.code() == Some(2) && stderr(&output).contains("same file"), "{}", stderr(&output));
    if let Some(published) = real_data("data/gita/published/cloze.json") {
        for option in ["--tiers", "--output"] {
            let output = tiered(["score", text(&published), option, text(&rig.path("published.jsonl"))]);
            let said = stderr(&output);
            assert!(output.status.code() == Some(65) && said.contains(&format!("leave out {option}")), "{said}");
            assert!(!rig.path("published.jsonl").exists());
        }
    }
}

/// As docs/formats.md describes them: in Python,
/// `hashlib.sha256(json.dumps(x, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()[:16]`.
#[test]
fn digests_are_those_of_python() {
    let rows = |nontrivial: &[(usize, usize, u8)]| {
        let mut rows = vec![[0; ATTRIBUTES]; 2];
        nontrivial.iter().for_each(|&(sentence, attribute, class)| rows[sentence][attribute] = class);
        rows
    };
    let entity = |name: &str, before: &[_], after: &[_]| {
        let gold = EntityGold { conflicts: vec![0; 2], preconditions: rows(before), effects: rows(after) };
        (gold, EntityPrediction::without_states(name, vec![0.5; 2]))
    };
    let story = |sentences: [&str; 2], entities: [(EntityGold, EntityPrediction); 2]| {
        let (gold, predicted) = entities.into_iter().unzip();
        let sentences = sentences.map(str::to_owned).into();
        (StoryGold { entities: gold }, StoryPrediction::without_sentence_pairs("story", sentences, predicted))
    };
    let implausible =
        story(["Mia è fuori.", "Mia legge."], [entity("libro", &[(1, 19, 1)], &[]), entity("Mia", &[], &[])]);
    let plausible = story(
        ["Mia è a casa.", "Mia \"legge\"."],
        [entity("Mia", &[(0, 3, 2)], &[]), entity("libro", &[], &[(1, 0, 5)])],
    );
    let pair = LabelledPair {
        id: "0-C0".into(),
        group: 0,
        kind: "cloze".into(),
        gold: PairGold { plausible: 1, conflict: [0, 1], stories: [implausible.0, plausible.0] },
        prediction: PairPrediction {
            plausible: 0,
            story_probs: [0.6, 0.4],
            conflict: vec![0, 1],
            stories: [implausible.1, plausible.1],
        },
    };
    let states =
        [("1ce4ffa4", "0f7018a0"), ("fef7d54e", "e92f539a"), ("9d7317b0", "a74f9389"), ("d9d0b3d2", "4b38057f")];
    let states: BTreeMap<_, _> = states.map(|(name, states)| (name.to_owned(), states.to_owned())).into();
    for pair in [pair.clone(), pair.turned()] {
        let asked = PairTiers::asked(&pair);
        assert_eq!((&*asked.stories, asked.states.unwrap()), ("1f0055efcd8f4265", states.clone()));
    }
}

#[test]
fn only_the_first_differing_pairs_are_listed_unless_all_are_asked_for() {
    let rig = Rig::new();
    let mut others = rig.pairs[0].clone();
    for pair in &mut others {
        pair.prediction.plausible = 1 - pair.prediction.plausible;
        pair.prediction.story_probs.reverse();
    }
    let (first, second) = (rig.path("a.jsonl"), rig.write("others.jsonl", &others));
    let shown = |more: &[&'static str]| {
        let arguments = ["compare", text(&first), text(&second), "--decode=threshold"];
        stdout(&tiered(arguments.into_iter().chain(more.iter().copied())))
    };
    let [some, all] = [&[][..], &["--all"]].map(shown);
    assert_eq!([&some, &all].map(|said| said.matches("a.jsonl)").count()), [20, 40], "{some}");
    assert!(some.contains("and 20 more (--all)") && !all.contains("(--all)"), "{some}");
}
