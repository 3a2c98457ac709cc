//! What is chosen on dev: from which probability on states are predicted, and the temperature of the story choice.

use crate::support::{stderr, stdout, text, tiered};
use crate::tiny::Tiny;
use tiered::attribute::{ATTRIBUTES, Attribute};
use tiered::calibrate::{Calibrated, best, fit_temperature, try_states};
use tiered::decode::{Decode, StateDecode};
use tiered::durable::sha256;
use tiered::experiment::{CheckpointKind, TrainedRun};
use tiered::machine::ComputeChoice;
use tiered::metrics::Calibration;
use tiered::prediction::{
    EntityGold, EntityPrediction, LabelledPair, PairGold, PairPrediction, PredictedStates, StateCandidate, StoryGold,
    StoryPrediction, read_predictions,
};
use tiered::report::{Report, Seen};

fn story(effects: PredictedStates) -> StoryPrediction {
    let chest = EntityPrediction { effects, ..EntityPrediction::without_states("chest", vec![0.; 2]) };
    let sentences = ["Ada locked the chest.", "Ada looked into the chest."].map(str::to_owned).to_vec();
    StoryPrediction {
        id: "1".into(),
        sentences,
        sentence_pairs: vec![vec![0., 0.5], vec![0., 0.]],
        subjects: Vec::new(),
        no_conflict: None,
        entities: vec![chest],
    }
}

/// A pair whose conflict is found, with the probabilities of `open` = 1, which is right, and of `power` = 2, which is
/// wrong, after its first sentence.
fn pair(right: f32, wrong: f32, is_accurate: bool) -> LabelledPair {
    let candidate = |(attribute, class, probability)| {
        let sentence = 0;
        (probability >= 0.02).then_some(StateCandidate { sentence, attribute, class, probability, otherwise: 0 })
    };
    let states = [(Attribute::Open, 1, right), (Attribute::Power, 2, wrong)];
    let classes = |holds: &dyn Fn(f32) -> bool, states: &[(Attribute, u8, f32)]| {
        let mut classes = [0; ATTRIBUTES];
        states.iter().filter(|(.., p)| holds(*p)).for_each(|(attribute, class, _)| classes[attribute.index()] = *class);
        vec![classes, [0; ATTRIBUTES]]
    };
    let predicted = || PredictedStates {
        classes: classes(&|p| p > 0.5, &states),
        candidates: states.into_iter().filter_map(candidate).collect(),
    };
    let gold = || StoryGold {
        entities: vec![EntityGold {
            conflicts: vec![0; 2],
            preconditions: vec![[0; ATTRIBUTES]; 2],
            effects: classes(&|_| true, &states[..1]),
        }],
    };
    let pair = LabelledPair {
        id: "1-C0".into(),
        group: 1,
        kind: "cloze".into(),
        gold: PairGold { plausible: 0, conflict: [0, 1], stories: [gold(), gold()] },
        prediction: PairPrediction {
            plausible: usize::from(!is_accurate),
            story_probs: if is_accurate { [0.75, 0.25] } else { [0.25, 0.75] },
            conflict: Vec::new(),
            stories: [story(predicted()), story(predicted())],
        },
    };
    pair.check().unwrap();
    pair
}

fn chosen(pairs: &[LabelledPair]) -> (StateDecode, u64, u64) {
    let trials = try_states(pairs, Decode::Pair);
    let best = best(&trials).unwrap();
    (best.states, best.verifiable, best.verifiable_states)
}

#[test]
fn the_threshold_keeps_right_states_and_leaves_out_wrong_ones() {
    // 0.6 is the first threshold above the wrong state of the first pair, and below the right one of the second.
    assert_eq!(chosen(&[pair(0.9, 0.55, true), pair(0.65, 0.2, true)]), (StateDecode::Threshold(0.6), 2, 2));
    // No threshold suits both, but the fallback top-1 does.
    assert_eq!(chosen(&[pair(0.9, 0.72, true), pair(0.65, 0.2, true)]), (StateDecode::ThresholdTop1(0.75), 2, 2));
    // A state that is likelier than nothing else, though not likely, is predicted where that makes more pairs verifiable.
    assert_eq!(chosen(&[pair(0.4, 0.2, true)]), (StateDecode::Threshold(0.3), 1, 1));
}

#[test]
fn argmax_is_kept_where_no_threshold_is_better() {
    assert_eq!(chosen(&[pair(0.9, 0.2, true), pair(0.9, 0.2, false)]), (StateDecode::Argmax, 1, 2));
}

#[test]
fn of_equal_thresholds_the_one_that_explains_more_pairs_is_chosen() {
    let pairs = [pair(0.9, 0.2, true), pair(0.95, 0.7, false)];
    assert_eq!(chosen(&pairs), (StateDecode::Threshold(0.75), 1, 2));
}

#[test]
fn top1_predicts_a_state_at_the_decoded_conflict_and_nowhere_else() {
    let apply = |pair: &LabelledPair| {
        StateDecode::ThresholdTop1(0.95).apply_to(Decode::Pair.apply(std::slice::from_ref(pair)).remove(0))
    };
    let predicted = |pair: &LabelledPair| {
        let effects = |s: usize| &pair.prediction.stories[s].entities[0].effects.classes[0];
        [0, 1].map(|s| [Attribute::Open, Attribute::Power].map(|attribute| effects(s)[attribute.index()]))
    };
    assert_eq!(predicted(&apply(&pair(0.4, 0.2, true))), [[0, 0], [1, 0]]);
    assert_eq!(predicted(&apply(&pair(0.2, 0.4, true))), [[0, 0], [0, 2]]);
    assert_eq!(predicted(&apply(&pair(0.4, 0.97, false))), [[0, 2], [0, 2]], "0.97 is enough in both");
    let without_conflict = pair(0.4, 0.2, true);
    assert!(without_conflict.prediction.conflict.is_empty());
    assert_eq!(predicted(&StateDecode::ThresholdTop1(0.95).apply_to(without_conflict)), [[0, 0]; 2]);
}

#[test]
fn silence_verifies_nothing() {
    let pairs = [pair(0.6, 0.2, true)];
    let trials = try_states(&pairs, Decode::Pair);
    let at = |threshold| trials.iter().find(|trial| trial.states == StateDecode::Threshold(threshold)).unwrap();
    assert_eq!((at(0.6).verifiable, at(0.6).predicted_states.predicted), (1, 2));
    assert_eq!(
        (at(0.65).verifiable, at(0.65).predicted_states.predicted, at(0.65).predicted_states.recall().count),
        (0, 0, 0)
    );
}

#[test]
fn a_fitted_temperature_makes_confidence_equal_accuracy() {
    let sure = |is_right| {
        let mut pair = pair(0.9, 0.2, is_right);
        pair.prediction.story_probs = if is_right { [0.99, 0.01] } else { [0.01, 0.99] };
        pair
    };
    let pairs: Vec<_> = (0..100).map(|i| sure(i % 5 > 0)).collect();
    let temperature = fit_temperature(&pairs);
    // Confidence is 0.8 where the odds 99 become 4.
    assert!((temperature - 99f64.ln() / 4f64.ln()).abs() < 1e-3, "{temperature}");
    let [before, after] = [1., temperature].map(|t| Calibration::of(&pairs, t));
    assert!((before.ece.unwrap() - 0.19).abs() < 1e-6 && after.ece.unwrap() < 1e-4, "{before:?} {after:?}");
    assert!(after.nll < before.nll);
    // A probability of 0 has no logarithm, but does not keep the others from being fitted.
    let mut with_zero = pairs;
    with_zero[0].prediction.story_probs = [0., 1.];
    assert!(Calibration::of(&with_zero, 1.).nll.is_none());
    assert!(fit_temperature(&with_zero) > temperature);
}

#[test]
fn what_was_chosen_is_kept_with_the_weights_and_used() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "model.detector.kind=joint", "--set", "train.epochs=1"]);
    let file = run.join("best/decode.json");
    let at_the_end = std::fs::read_to_string(&file).unwrap();
    let calibrated: Calibrated = serde_json::from_str(&at_the_end).unwrap();
    assert_eq!((calibrated.chosen_on.split.as_str(), calibrated.chosen_on.pairs), ("dev", 4));

    let without_temperature = at_the_end.replace("\"temperature\":", "\"temperature\": -");
    for damaged in ["{}", &without_temperature] {
        std::fs::write(&file, damaged).unwrap();
        let output = tiered(["eval", text(&run), "--data", text(&tiny.stories()), "--split", "dev"]);
        let remedy = "create it again with `tiered model calibrate`, or remove it";
        assert!(output.status.code() == Some(78) && stderr(&output).contains(remedy), "{}", stderr(&output));
    }
    let output = tiered(["model", "calibrate", text(&run)]);
    assert!(output.status.success() && stdout(&output).contains("argmax"), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), at_the_end, "at the end of training and later");

    let calibrated = Calibrated { temperature: 2., states: StateDecode::Threshold(0.3), ..calibrated };
    std::fs::write(&file, serde_json::to_string(&calibrated).unwrap()).unwrap();
    let stories = tiny.stories();
    let eval = |more: &[&'static str]| -> Report {
        let arguments = ["eval", text(&run), "--data", text(&stories), "--split", "dev", "--format=json"];
        let output = tiered(arguments.into_iter().chain(more.iter().copied()));
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)))
    };
    let names = |report: &Report| report.rows.iter().map(|row| row.name()).collect::<Vec<_>>();
    let report = eval(&[]);
    assert_eq!(names(&report), ["threshold", "pair", "threshold, states 0.3", "pair, states 0.3"]);
    assert_eq!(report.calibration.iter().map(|c| c.temperature).collect::<Vec<_>>(), [1., 2.]);
    let named = names(&eval(&["--decode", "pair", "--states", "0.8+top1", "--states", "argmax"]));
    assert_eq!(named, ["pair, states 0.8+top1", "pair"]);

    // The file of predictions holds enough to decode its states anew.
    let predictions = run.join("eval/stories-dev-all/predictions.jsonl");
    let output = tiered(["score", text(&predictions), "--states", "argmax", "--states", "0.3", "--format=json"]);
    let scored: Report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    assert_eq!(scored.rows[1..], report.rows);
    let answer = |more: &[&'static str]| -> serde_json::Value {
        let id = read_predictions(&predictions).unwrap().pairs[0].id.clone();
        let arguments =
            ["predict", text(&run), "--data", text(&stories), "--split", "dev", "--pair", &id, "--format=json"];
        serde_json::from_slice(&tiered(arguments.into_iter().chain(more.iter().copied())).stdout).unwrap()
    };
    assert_eq!(answer(&[]), answer(&["--states", "0.3"]));
    let raw = &read_predictions(&predictions).unwrap().pairs[0].prediction.story_probs;
    let [odds, told] = [f64::from(raw[0].max(raw[1])), answer(&[])["plausible"]["probability"].as_f64().unwrap()]
        .map(|p| p / (1. - p));
    assert!((odds.sqrt() - told).abs() < 1e-3, "temperature 2: {odds} {told}");
}

#[test]
fn thresholds_need_probabilities_and_dev_pairs() {
    let tiny = Tiny::new();
    let mut without = pair(0.9, 0.2, true);
    without.prediction.stories[1].entities[0].effects.candidates.clear();
    let silent = tiny.path("silent.jsonl");
    std::fs::write(&silent, serde_json::to_string(&without).unwrap()).unwrap();
    let output = tiered(["score", text(&silent), "--states", "0.6"]);
    assert_eq!(output.status.code(), Some(65));
    assert!(stderr(&output).contains("1-C0: its states have no probabilities"), "{}", stderr(&output));
    assert_eq!(tiered(["score", text(&silent), "--states", "0.001"]).status.code(), Some(2));

    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    let config = std::fs::read_to_string(run.join("config.toml")).unwrap();
    let without_dev = config.split("[data.dev]").next().unwrap().to_owned()
        + config.split("[data.dev]").nth(1).unwrap().split_once("\n\n").unwrap().1;
    std::fs::write(run.join("config.toml"), without_dev).unwrap();
    let output = tiered(["model", "calibrate", text(&run)]);
    assert_eq!(output.status.code(), Some(78));
    assert!(stderr(&output).contains("has no data.dev"), "{}", stderr(&output));
}

/// By training that goes on beside it.
#[test]
fn weights_that_are_replaced_meanwhile_are_not_calibrated() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    let opened = TrainedRun::open(&run, CheckpointKind::Best, &ComputeChoice::default()).unwrap();
    let dev = opened.dev_pairs().unwrap().pairs;
    let [weights, newer, decode] =
        ["model.safetensors", "newer", "decode.json"].map(|file| run.join("best").join(file));
    let chosen = std::fs::read(&decode).unwrap();
    opened.calibrate(dev.clone(), |_| ()).unwrap();
    std::fs::copy(&weights, &newer).unwrap();
    std::fs::rename(&newer, &weights).unwrap();
    let Err(refused) = opened.calibrate(dev, |_| ()) else { panic!("the weights are others") };
    assert!(refused.message.contains("has been replaced while it was calibrated"), "{refused}");
    assert_eq!(std::fs::read(&decode).unwrap(), chosen);
}

#[test]
fn dev_pairs_that_have_changed_since_training_are_warned_of_and_recorded_as_read() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    let calibrated = || {
        let output = tiered(["model", "calibrate", text(&run)]);
        assert!(output.status.success(), "{}", stderr(&output));
        let report: Report =
            serde_json::from_slice(&std::fs::read(run.join("eval/stories-dev-all/report.json")).unwrap()).unwrap();
        (stderr(&output), report.data)
    };
    let stories = std::fs::read_to_string(tiny.stories()).unwrap();
    let (said, data) = calibrated();
    assert!(said.is_empty() && data.sha256 == Some(sha256(stories.as_bytes())), "{said}");
    let changed = stories + " ";
    std::fs::write(tiny.stories(), &changed).unwrap();
    let (said, data) = calibrated();
    assert!(said.contains("stories.json: has changed since the run was trained"), "{said}");
    assert_eq!((data.sha256, data.seen), (Some(sha256(changed.as_bytes())), Seen::ChosenOn));
    // Whoever scores them later learns of the choice too.
    let output = tiered(["eval", text(&run), "--data", text(&tiny.stories()), "--split", "dev", "--tag", "again"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Report = serde_json::from_slice(&std::fs::read(run.join("eval/again/report.json")).unwrap()).unwrap();
    assert_eq!(report.data.seen, Seen::ChosenOn);
    let earlier =
        || std::fs::read_to_string(run.join("run.json")).unwrap().matches(&sha256(changed.as_bytes())).count();
    calibrated();
    assert_eq!(earlier(), 1, "it is noted once");
    std::fs::write(tiny.stories(), changed.strip_suffix(' ').unwrap()).unwrap();
    let resumed = tiered(["train", "--resume", text(&run), "--set", "train.epochs=2"]);
    assert!(resumed.status.success() && earlier() == 1, "a run that goes on forgets nothing: {}", stderr(&resumed));
}

#[test]
fn a_dev_file_may_be_named_by_a_variable() {
    let tiny = Tiny::new();
    let (config, run) = (tiny.config(), tiny.path("run"));
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tiered"));
    command.args(["train", "--config", text(&config), "--output", text(&run), "--set", "train.epochs=1"]);
    command.args(["--set", "data.dev.file=${DEV_FILE}"]).env("DEV_FILE", tiny.stories());
    let output = command.output().unwrap();
    assert!(output.status.success() && run.join("eval/stories-dev-all/report.json").exists(), "{}", stderr(&output));
}
