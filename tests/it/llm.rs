//! Prompts, shots and figures of language models are those of GITA4CALAMITA: by hashes of its recorded prompts, and by
//! its recorded answers.

use crate::support::{real_data, rng, stderr, stdout, text, tiered, write};
use rand::RngExt;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tempfile::TempDir;
use tiered::data::{Conflict, Entity, Pair};
use tiered::durable::sha256;
use tiered::error::{ErrorKind, Result};
use tiered::llm::har::{HarAnswer, ask_har, demonstration, har_shots, told};
use tiered::llm::record::{RunFacts, find_records, sample_lines, task_hash, write_records};
use tiered::llm::score::{ModelScores, ScoreReport, score};
use tiered::llm::{
    AskedStory, ChatTemplate, Message, OptionScore, Plan, PromptStyle, Protocol, Question, QuestionAnswer, Request,
    Scorer, StoryKind, StorySet, Tier, Wording, ask, gold_states, questions, read_stories,
};
use tiered::metrics::{Share, Tiered};
use tiered::prediction::{LabelledPair, write_predictions};

const OFFICIAL: &str = "data/gita4calamita/GITA4CALAMITA.jsonl";
const DENSE: &str = "data/gita/GITA_test.json";

/// What Llama-3.1's template prints, without its tools.
const LLAMA: &str = "{{- bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = \"\" %}
{%- endif %}
{{- \"<|start_header_id|>system<|end_header_id|>\\n\\n\" }}
{{- \"Cutting Knowledge Date: December 2023\\n\" }}
{{- \"Today Date: \" + date_string + \"\\n\\n\" }}
{{- system_message }}
{{- \"<|eot_id|>\" }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
";

/// What Gemma-2's template prints: it refuses a system turn, and turns that don't alternate.
const GEMMA: &str = "{{ bos_token }}{% if messages[0]['role'] == 'system' %}\
{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}\
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Turns must alternate') }}{% endif %}\
{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}\
{{ '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}\
{% if add_generation_prompt %}{{'<start_of_turn>model\\n'}}{% endif %}";

fn styles() -> [PromptStyle; 3] {
    [
        PromptStyle::Plain,
        PromptStyle::Chat(ChatTemplate::new(LLAMA, "<|begin_of_text|>", "<|eot_id|>").unwrap()),
        PromptStyle::Chat(ChatTemplate::new(GEMMA, "<bos>", "<eos>").unwrap()),
    ]
}

fn stories(file: &str) -> Option<Vec<AskedStory>> {
    Some(read_stories(&real_data(file)?, Protocol::Gita4calamita, None).unwrap().stories)
}

/// The questions of a tier about all of these stories.
fn all_questions(stories: &[AskedStory], style: &PromptStyle, tier: Tier) -> Vec<Question> {
    let plan = Plan::new(Protocol::Gita4calamita, style.clone());
    questions(stories, &plan, tier, &(0..stories.len()).collect::<Vec<_>>()).unwrap().0
}

fn prompt_hashes(stories: &[AskedStory], style: &PromptStyle) -> Vec<String> {
    let questions = all_questions(stories, style, Tier::Story);
    questions.iter().map(|question| sha256(question.prompt.as_bytes())).collect()
}

#[test]
fn prompts_are_those_that_were_recorded() {
    let (Some(official), Some(dense)) = (stories(OFFICIAL), stories(DENSE)) else { return };
    let expected = [
        ["27edd0e0d4e89376ff956277114677ca", "9006e2be1b00123d", "3397b3e90ecc2178"],
        ["cb0acf84434e312b77b5ef74b3c8f446", "d4edfd770ae32c18", "09bbdbfd4071ad5e"],
        ["e5d79450b9da27287e078174a8607a67", "2d46fe82b8f61757", "12d6586d35e09bd2"],
    ];
    for (style, [row_0, all_official, all_dense]) in styles().iter().zip(expected) {
        let (official, dense) = (prompt_hashes(&official, style), prompt_hashes(&dense, style));
        assert_eq!((official.len(), dense.len()), (356, 356));
        assert!(official[0].starts_with(row_0) && dense[0].starts_with(row_0), "{row_0}: {}", official[0]);
        for (hashes, all) in [(official, all_official), (dense, all_dense)] {
            let found = sha256(hashes.concat().as_bytes());
            assert!(found.starts_with(all), "{all}: {found}");
        }
    }
}

/// The stories, prompts, options and answers of the recorded tasks, as their hashes have them.
#[test]
fn task_hashes_are_those_that_were_recorded() {
    let Some(stories) = stories(OFFICIAL) else { return };
    for (style, expected) in styles().into_iter().zip(["3cbd7ee92ce1442b", "70a8d2886c4b4852", "d92c6814db2eca4e"]) {
        let plan = Plan { last: Tier::Story, ..Plan::new(Protocol::Gita4calamita, style) };
        let tiers = ask(&stories, &plan, &Drawn::new(3), &|_| ()).unwrap();
        let hash = task_hash(&sample_lines(&stories, &plan, &tiers[0]));
        assert!(hash.starts_with(expected), "{expected}: {hash}");
    }
}

/// Scores drawn from the request's text, so that the same request always gets the same ones. No two are equal.
struct Drawn {
    seed: u64,
    asked: Mutex<Vec<String>>,
}

impl Drawn {
    fn new(seed: u64) -> Self {
        Drawn { seed, asked: Mutex::new(Vec::new()) }
    }
}

impl Scorer for Drawn {
    fn score(&self, request: &Request<'_>) -> Result<Vec<OptionScore>> {
        self.asked.lock().unwrap().push(request.name.to_owned());
        let hash = u64::from_str_radix(&sha256(request.prompt.as_bytes())[..15], 16).unwrap();
        let mut rng = rng(hash ^ self.seed);
        let exact = |_: &String| OptionScore::Exact { logprob: -rng.random_range(0.1..20.), is_greedy: false };
        Ok(request.continuations.iter().map(exact).collect())
    }
}

const RECORDED: &str = "data/gita4calamita/gemma-2-27b";
const SAMPLES: [&str; 3] = [
    "samples_story_class_2024-09-11T10-07-25.913273.jsonl",
    "samples_conflict_detec_2024-09-11T10-07-26.073185.jsonl",
    "samples_physical_state_2024-09-11T10-07-26.108823.jsonl",
];

/// The recorded files of Gemma-2-27B, tier by tier.
fn recorded() -> Option<[PathBuf; 3]> {
    let [a, b, c] = SAMPLES.map(|name| real_data(&format!("{RECORDED}/{name}")));
    Some([a?, b?, c?])
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Answers as was recorded, and knows no other request.
struct Replayed(BTreeMap<String, OptionScore>);

impl Replayed {
    fn new(files: &[PathBuf]) -> Self {
        let mut scores = BTreeMap::new();
        for line in files.iter().flat_map(|file| lines(file)) {
            for (argument, score) in
                line["arguments"].as_object().unwrap().values().zip(line["filtered_resps"].as_array().unwrap())
            {
                let text = [&argument["arg_0"], &argument["arg_1"]].map(|text| text.as_str().unwrap()).concat();
                let (logprob, is_greedy) = (score[0].as_str().unwrap().parse().unwrap(), score[1] == "True");
                scores.insert(text, OptionScore::Exact { logprob, is_greedy });
            }
        }
        Replayed(scores)
    }
}

impl Scorer for Replayed {
    fn score(&self, request: &Request<'_>) -> Result<Vec<OptionScore>> {
        assert_eq!(request.prompt, request.prompt.trim_end());
        let score = |continuation: &String| self.0[&format!("{}{continuation}", request.prompt)];
        Ok(request.continuations.iter().map(score).collect())
    }
}

/// Asked again, the recorded model is asked exactly the recorded questions in all three tiers, and the lines that we
/// write are the recorded ones, field by field.
#[test]
fn the_recorded_cascade_is_repeated_line_by_line() {
    let (Some(stories), Some(files)) = (stories(OFFICIAL), recorded()) else { return };
    let plan = Plan { concurrency: 4, ..Plan::new(Protocol::Gita4calamita, PromptStyle::Plain) };
    let steps = Mutex::new(Vec::new());
    let tiers = ask(&stories, &plan, &Replayed::new(&files), &|step| steps.lock().unwrap().push(step)).unwrap();
    let asked: Vec<usize> = tiers.iter().map(|tier| tier.answers.len()).collect();
    assert_eq!(asked, [356, 66, 15]);
    let hashes = ["3cbd7ee92ce1442b", "94df512558c8d73e", "5e4fb2659ce6b68e"];
    for ((tier, file), hash) in tiers.iter().zip(&files).zip(hashes) {
        let (ours, theirs) = (sample_lines(&stories, &plan, tier), lines(file));
        assert!(task_hash(&ours).starts_with(hash), "{}", tier.tier);
        for (ours, theirs) in ours.iter().zip(theirs) {
            assert_eq!(*ours, theirs);
        }
    }
    let mut done: Vec<_> = steps.into_inner().unwrap().iter().map(|step| (step.tier, step.done)).collect();
    done.sort_unstable();
    assert_eq!(done.len(), 356 + 66 + 15);
    assert_eq!(done[436], (Tier::State, 15));
}

fn scored(paths: &[PathBuf]) -> Result<ScoreReport> {
    score(&find_records(paths)?)
}

/// The ten figures in the order of `metrics.txt`.
fn ten(model: &ModelScores) -> [Option<Share>; 10] {
    let (a, c, v) = (Some(model.accuracy), model.consistency, model.verifiability);
    [
        a.map(|kinds| kinds.overall),
        c.map(|kinds| kinds.overall),
        v.map(|kinds| kinds.overall),
        a.map(|kinds| kinds.cloze),
        a.map(|kinds| kinds.order),
        a.and_then(|kinds| kinds.plausible),
        c.map(|kinds| kinds.cloze),
        c.map(|kinds| kinds.order),
        v.map(|kinds| kinds.cloze),
        v.map(|kinds| kinds.order),
    ]
}

#[test]
fn figures_are_those_of_the_program_to_12_digits() {
    let (Some(files), Some(metrics)) = (recorded(), real_data(&format!("{RECORDED}/metrics.txt"))) else { return };
    let report = scored(&files).unwrap();
    let table = std::fs::read_to_string(metrics).unwrap();
    let values = table.lines().skip(2).map(|row| row.split('|').nth(3).unwrap().trim().parse::<f64>().unwrap());
    let values: Vec<f64> = values.collect();
    assert_eq!(values.len(), 10);
    for (share, value) in ten(&report.models[0]).into_iter().zip(values) {
        let fraction = share.unwrap().fraction().unwrap();
        assert!((fraction - value).abs() < 1e-12, "{fraction} {value}");
    }
    let counts = ten(&report.models[0]).map(|share| share.map_or((0, 0), |share| (share.count, share.total)));
    let expected =
        [(161, 356), (15, 238), (4, 238), (32, 115), (34, 122), (95, 119), (6, 115), (9, 121), (0, 115), (4, 121)];
    assert_eq!(counts, expected);
    assert!(ten(&report.models[0]).iter().all(|share| share.unwrap().interval.is_some()));
    assert_eq!(report.models[0].model, "google/gemma-2-27b");
    let tallies: Vec<_> = report.models[0].tiers.iter().map(|tally| (tally.asked, tally.right, tally.ties)).collect();
    assert_eq!(tallies, [(356, 161, 8), (66, 15, 1), (15, 4, 0)]);
    let pairs = report.models[0].pairs.as_ref().unwrap().accuracy.unwrap();
    assert_eq!((pairs.cloze.right, pairs.cloze.tied, pairs.cloze.total), (63, 0, 117));
    assert_eq!((pairs.order.right, pairs.order.tied, pairs.order.total), (69, 0, 121));
}

#[test]
fn answers_without_a_model_score_what_they_must() {
    let Some(files) = recorded() else { return };
    let report = scored(&files).unwrap();
    let [first, chance] = &report.baselines[..] else { panic!("two baselines") };
    let percent = |value: Option<f64>| (1e4 * value.unwrap()).round() / 1e2;
    let (a, c, v) = (first.accuracy, first.consistency, first.verifiability);
    assert_eq!([a.overall, a.cloze, a.order, a.plausible].map(percent), [66.85, 100., 99.18, 1.68]);
    assert_eq!([c.overall, c.cloze, c.order, v.overall].map(percent), [23.11, 8.7, 37.19, 3.36]);
    let by_chance = [chance.accuracy.overall, chance.consistency.overall, chance.verifiability.overall];
    assert_eq!(by_chance.map(percent), [50., 5., 0.36]);
}

#[test]
fn missing_tiers_leave_figures_unknown_or_told_by_the_next() {
    let Some([first, second, third]) = recorded() else { return };
    let figures =
        |files: &[PathBuf]| ten(&scored(files).unwrap().models[0]).map(|share| share.map(|share| share.count));
    let all = figures(&[first.clone(), second.clone(), third.clone()]);
    assert_eq!(figures(&[first.clone(), third.clone()]), all, "tier 3 tells what was right in tier 2");
    let without_third = figures(&[first.clone(), second.clone()]);
    assert!(without_third[2].is_none() && without_third[8].is_none() && without_third[1] == all[1]);
    let alone = figures(std::slice::from_ref(&first));
    assert_eq!((alone[0], alone[1], alone[2]), (all[0], None, None));
    let error = scored(&[second, third]).unwrap_err();
    assert!(error.kind == ErrorKind::Data && error.message.contains("tier 1"), "{error}");
}

/// Writes changed copies of the recorded files into a folder of their own.
fn changed(change: impl Fn(usize, &mut Vec<Value>)) -> Option<(TempDir, Vec<PathBuf>)> {
    let folder = TempDir::new().unwrap();
    let write = |(tier, file): (usize, &PathBuf)| {
        let mut lines = lines(file);
        change(tier, &mut lines);
        let path = folder.path().join(SAMPLES[tier]);
        std::fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        path
    };
    let paths = recorded()?.iter().enumerate().map(write).collect();
    Some((folder, paths))
}

fn refusal(change: impl Fn(usize, &mut Vec<Value>)) -> Option<String> {
    let (_folder, paths) = changed(change)?;
    let error = scored(&paths).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Data, "{error}");
    Some(error.message)
}

#[test]
fn files_that_contradict_each_other_are_refused() {
    let swapped = |line: &mut Value| {
        let scores = line["filtered_resps"].as_array_mut().unwrap();
        scores.swap(0, 1);
    };
    // The first survivor of tier 1 is now wrong there.
    let first_survivor = |tier: usize, lines: &mut Vec<Value>| {
        if tier == 0 {
            let survivor = lines.iter_mut().find(|line| line["doc"]["plausible"] == false && line["acc"] == 1.);
            swapped(survivor.unwrap());
        }
    };
    let Some(message) = refusal(first_survivor) else { return };
    assert!(
        message.contains("tier 2 has row 1 (0-O0)") && message.contains("which tier 1 did not get right"),
        "{message}"
    );
    let dropped = refusal(|tier, lines| {
        if tier == 1 {
            drop(lines.remove(3))
        }
    })
    .unwrap();
    assert!(dropped.contains("is missing") && dropped.contains("tier 2 has 65 stories, and 66 are due"), "{dropped}");
    let other = refusal(|tier, lines| {
        if tier == 1 {
            lines[0]["doc"]["sentences"][0] = json!("Altro.")
        }
    })
    .unwrap();
    assert!(other.contains("tier 1 has not"), "{other}");
    let twice = refusal(|tier, lines| {
        if tier == 2 {
            let line = lines[0].clone();
            lines.push(line)
        }
    })
    .unwrap();
    assert!(twice.contains("not as often"), "{twice}");
    let plausible = refusal(|tier, lines| {
        for line in lines.iter_mut().filter(|line| tier < 2 && line["doc"]["example_id"] == "0-O0") {
            line["doc"]["plausible"] = json!(true);
        }
    });
    assert!(plausible.unwrap().contains("which is plausible"));
}

#[test]
fn what_a_record_claims_is_not_trusted_and_numbers_may_be_numbers() {
    let claims = changed(|_, lines| {
        for line in lines {
            line["acc"] = json!(1.);
            line["target"] = json!("True");
            line["a field of a later version"] = json!([1]);
            line.as_object_mut().unwrap().remove("filtered_resps");
            for score in line["resps"].as_array_mut().unwrap() {
                let number: f64 = score[0][0].as_str().unwrap().parse().unwrap();
                *score = json!([[number, score[0][1] == "True"]]);
            }
        }
    });
    let (Some((_folder, paths)), Some(files)) = (claims, recorded()) else { return };
    assert_eq!(ten(&scored(&paths).unwrap().models[0]), ten(&scored(&files).unwrap().models[0]));
}

#[test]
fn nothing_left_to_ask_is_0_and_not_unknown() {
    let Some((_folder, mut paths)) = changed(|tier, lines| {
        if tier == 0 {
            // "true" to everything: no survivors.
            for line in lines.iter_mut() {
                line["filtered_resps"] = json!([["-2.0", "False"], ["-1.0", "True"]]);
            }
        } else {
            lines.clear();
        }
    }) else {
        return;
    };
    for files in [paths.len(), 1] {
        paths.truncate(files);
        let model = &scored(&paths).unwrap().models[0];
        let share = |share: Option<Share>| share.map(|share| (share.count, share.total));
        assert_eq!([1, 2].map(|figure| share(ten(model)[figure])), [Some((0, 238)); 2]);
    }
}

/// Whatever a model answers: denominators are fixed, accuracy >= consistency >= verifiability on implausible stories,
/// the files that we write are read back as what was asked, and a later tier asks only what the tier before got right.
#[test]
fn random_models_keep_the_laws_of_the_cascade() {
    let Some(stories) = stories(OFFICIAL) else { return };
    for seed in 0..4 {
        let scorer = Drawn::new(seed);
        let plan = Plan { concurrency: 3, ..Plan::new(Protocol::Gita4calamita, PromptStyle::Plain) };
        let tiers = ask(&stories, &plan, &scorer, &|_| ()).unwrap();
        let folder = TempDir::new().unwrap();
        let facts = RunFacts { model: "a/drawn".into(), date: "2026-01-31T12-00-00".into(), ..RunFacts::default() };
        assert_eq!(write_records(folder.path(), &stories, &plan, &tiers, &facts).unwrap().len(), 6);
        let report = scored(&[folder.path().to_owned()]).unwrap();
        let model = &report.models[0];
        assert_eq!(model.model, "a/drawn");
        let [a, c, v] = [Some(model.accuracy), model.consistency, model.verifiability].map(Option::unwrap);
        assert_eq!((c.overall.total, v.order.total, a.cloze.total), (238, 121, 115));
        assert!(a.cloze.count >= c.cloze.count && c.cloze.count >= v.cloze.count);
        assert!(a.order.count >= c.order.count && c.overall.count >= v.overall.count);
        for (tier, tally) in tiers.iter().zip(&model.tiers) {
            assert_eq!(tier.answers.len() as u64, tally.asked);
            let right = tier.answers.iter().filter(|answer| answer.is_right(&stories[answer.question.story]));
            assert_eq!(right.count() as u64, tally.right);
        }
        let asked = scorer.asked.into_inner().unwrap();
        let answers = tiers.iter().map(|tier| tier.answers.len()).sum::<usize>();
        assert_eq!((asked.len(), asked.into_iter().collect::<BTreeSet<_>>().len()), (answers, answers), "each once");
    }
}

/// Gives every option of every story the same scores.
struct Constant(fn(usize) -> OptionScore);

impl Scorer for Constant {
    fn score(&self, request: &Request<'_>) -> Result<Vec<OptionScore>> {
        Ok((0..request.continuations.len()).map(self.0).collect())
    }
}

#[test]
fn a_server_that_does_not_score_is_no_result() {
    let Some(stories) = stories(OFFICIAL) else { return };
    let plan = Plan::new(Protocol::Gita4calamita, PromptStyle::Plain);
    let refused = |score: fn(usize) -> OptionScore| {
        let error = ask(&stories, &plan, &Constant(score), &|_| ()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Data);
        error.message
    };
    let zero = refused(|_| OptionScore::Exact { logprob: 0., is_greedy: true });
    assert!(zero.contains("tier 1, row 0 (0)") && zero.contains("log-probability 0"), "{zero}");
    let tied = refused(|_| OptionScore::Exact { logprob: -1., is_greedy: true });
    assert!(tied.contains("every story's options are tied"), "{tied}");
    for wrong in
        [refused(|_| OptionScore::Exact { logprob: f64::NAN, is_greedy: true }), refused(|_| OptionScore::AtMost(1.))]
    {
        assert!(wrong.contains("it must be at most 0"), "{wrong}");
    }
}

#[test]
fn undecided_stories_are_counted_and_go_no_further() {
    let Some(stories) = stories(OFFICIAL) else { return };
    let plan = Plan::new(Protocol::Gita4calamita, PromptStyle::Plain);
    let undecided = Constant(|option| match option {
        0 => OptionScore::AtMost(-1.),
        _ => OptionScore::Exact { logprob: -2., is_greedy: false },
    });
    let tiers = ask(&stories, &plan, &undecided, &|_| ()).unwrap();
    assert_eq!(tiers.iter().map(|tier| tier.answers.len()).collect::<Vec<_>>(), [356, 0, 0]);
    let folder = TempDir::new().unwrap();
    write_records(folder.path(), &stories, &plan, &tiers, &RunFacts::default()).unwrap();
    let report = scored(&[folder.path().to_owned()]).unwrap();
    assert_eq!((report.models[0].tiers[0].undecided, report.models[0].accuracy.overall.count), (356, 0));
}

#[test]
fn contradictions_of_the_official_file_are_survived_and_reported() {
    let Some(path) = real_data(OFFICIAL) else { return };
    let set = read_stories(&path, Protocol::Gita4calamita, None).unwrap();
    let of_kind = |kind| set.stories.iter().filter(|story| story.kind == kind).count();
    let kinds = [StoryKind::Plausible, StoryKind::Cloze, StoryKind::Order].map(of_kind);
    assert_eq!((set.stories.len(), kinds), (356, [119, 115, 122]));
    let with = |words: &str| set.warnings.iter().filter(|warning| warning.contains(words)).cloned().collect::<Vec<_>>();
    assert_eq!(with("the same `example_id`").len(), 7);
    let rows = |warnings: Vec<String>| -> BTreeSet<usize> {
        let row = |warning: &String| warning.strip_prefix("row ")?.split(' ').next()?.parse().ok();
        warnings.iter().filter_map(row).collect()
    };
    let mut contradicted = rows(with("its name says"));
    contradicted.extend(rows(with("is marked")));
    assert_eq!(contradicted, BTreeSet::from([54, 119, 125, 163, 176, 186, 264, 300]));
    assert_eq!(rows(with("has `story_id` 81")), BTreeSet::from([250]));
    assert_eq!(rows(with("white space")).len(), 3);
}

#[test]
fn dense_states_name_no_single_state() {
    let Some(path) = real_data(DENSE) else { return };
    let released = read_stories(&path, Protocol::Gita4calamita, None).unwrap();
    let error = released.require_states(Protocol::Gita4calamita).unwrap_err();
    assert!(error.message.contains("GITA4CALAMITA.jsonl") && error.message.contains("--protocol trip"), "{error}");
    assert_eq!(read_stories(&path, Protocol::Trip, None).unwrap().stories.len(), 356);
    let Some(official) = real_data(OFFICIAL) else { return };
    let official = read_stories(&official, Protocol::Gita4calamita, None).unwrap();
    official.require_states(Protocol::Gita4calamita).unwrap();
    // At the official conflict, the labels have the official state in this many of the 238 implausible stories.
    let checked = read_stories(&path, Protocol::Trip, None).unwrap();
    let implausible = official.stories.iter().zip(&checked.checked).filter(|(story, _)| !story.plausible);
    let found = implausible.clone().filter(|(story, labelled)| {
        assert_eq!(story.group, labelled.group);
        let [evidence, breakpoint] = story.conflict.unwrap();
        let conflict = Some(Conflict { evidence, breakpoint });
        let states = if breakpoint < labelled.sentences.len() {
            gold_states(&tiered::data::Story { conflict, ..(*labelled).clone() })
        } else {
            Vec::new()
        };
        states.contains(&story.answer(Tier::State).unwrap().as_str())
    });
    assert_eq!((found.count(), implausible.count()), (196, 238));
}

/// The sample stories of the repository: labelled, and no one else's.
fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample/it.json")
}

/// Records of protocol pairs on the sample stories, by a model that draws its answers, and their folder.
pub fn recorded_pairs(folder: &Path, wording: Wording) -> StorySet {
    recorded_by(&Drawn::new(5), folder, wording, Tier::State)
}

/// The same of `--tiers 2`.
pub fn pairs_of_two_tiers(folder: &Path, wording: Wording) -> StorySet {
    recorded_by(&Drawn::new(5), folder, wording, Tier::Conflict)
}

/// Answers in words: always the last option.
struct Talking;

impl Scorer for Talking {
    fn score(&self, request: &Request<'_>) -> Result<Vec<OptionScore>> {
        let last = request.continuations.len() - 1;
        Ok((0..=last).map(|option| OptionScore::Said(option == last)).collect())
    }
}

/// The same in words, without log-probabilities.
pub fn said_pairs(folder: &Path, wording: Wording) -> StorySet {
    recorded_by(&Talking, folder, wording, Tier::State)
}

fn recorded_by(scorer: &dyn Scorer, folder: &Path, wording: Wording, last: Tier) -> StorySet {
    let set = read_stories(&sample(), Protocol::Pairs, None).unwrap();
    record(&set.stories, scorer, folder, wording, last);
    set
}

/// Asks about these stories by protocol pairs, and writes the records.
fn record(stories: &[AskedStory], scorer: &dyn Scorer, folder: &Path, wording: Wording, last: Tier) {
    let plan = Plan { wording, last, ..Plan::new(Protocol::Pairs, PromptStyle::Plain) };
    let tiers = ask(stories, &plan, scorer, &|_| ()).unwrap();
    let facts = RunFacts { model: "drawn".into(), date: "2026-01-31T12-00-00".into(), ..RunFacts::default() };
    write_records(folder, stories, &plan, &tiers, &facts).unwrap();
}

/// Pairs ask every implausible story in every tier, and the predictions made from them score the same.
#[test]
fn predictions_of_a_language_model_score_what_its_records_do() {
    let folder = TempDir::new().unwrap();
    let set = recorded_pairs(folder.path(), Wording::TrueOrFalse);
    let implausible = set.stories.iter().filter(|story| !story.plausible).count() as u64;
    let predictions = folder.path().join("predictions.jsonl");
    let (records, file, data) = (text(folder.path()), text(&predictions), sample());
    let arguments = ["llm", "score", records, "--predictions", file, "--data", text(&data), "--format", "json"];
    let output = tiered(arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let tiers = &report["models"][0]["tiers"];
    assert_eq!([&tiers[1]["asked"], &tiers[2]["asked"]], [&json!(implausible); 2]);
    let scored = tiered(["score", file, "--format", "json"]);
    assert!(scored.status.success(), "{}", stderr(&scored));
    let scored: Value = serde_json::from_str(&stdout(&scored)).unwrap();
    let (pairs, row) = (&report["models"][0]["pairs"], &scored["rows"][0]);
    let count = |share: &Value| share["count"].as_u64().unwrap();
    assert_eq!(row["decoding"], "as recorded");
    assert_eq!(pairs["accuracy"]["overall"]["right"], row["accuracy"]["count"]);
    assert_eq!(count(&pairs["later"]["consistency_gated"]["overall"]), count(&row["consistency"]));
    assert_eq!(count(&pairs["later"]["verifiability_gated"]["overall"]), count(&row["verifiability"]));
    assert_eq!(count(&pairs["later"]["verifiability_ungated"]["overall"]), count(&row["verifiable_states"]));
    assert!(count(&row["consistency"]) > 0 && count(&row["accuracy"]) < implausible, "{row}");
    let again = tiered(arguments);
    assert!(again.status.code() == Some(73) && stderr(&again).contains("--force"), "{}", stderr(&again));
    let copy = folder.path().join("stories.json");
    std::fs::copy(&data, &copy).unwrap();
    let sample_file = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let sample_file = sample_file.into_iter().find(|path| text(path).contains("samples_")).unwrap();
    for input in [&copy, &sample_file] {
        let before = std::fs::read(input).unwrap();
        let output = tiered(["llm", "score", records, "--predictions", text(input), "--data", text(&copy), "--force"]);
        assert!(output.status.code() == Some(2) && stderr(&output).contains("would be lost"), "{}", stderr(&output));
        assert_eq!(std::fs::read(input).unwrap(), before);
    }
}

/// A pair that was not asked about is left out, and counted. One that was asked about in other words is no such pair.
#[test]
fn pairs_that_were_not_asked_about_are_told_and_edited_ones_refused() {
    let folder = TempDir::new().unwrap();
    let set = read_stories(&sample(), Protocol::Pairs, None).unwrap();
    let (pairs, asked) = (tiered::data::pairs(&set.checked, 0).len(), &set.stories[..6]);
    record(asked, &Drawn::new(5), folder.path(), Wording::TrueOrFalse, Tier::State);
    let converted = |data: &Path| {
        let arguments = ["llm", "score", text(folder.path()), "--predictions", "-", "--data", text(data)];
        tiered(arguments)
    };
    let output = converted(&sample());
    assert_eq!((output.status.code(), stdout(&output).lines().count()), (Some(0), 4), "{}", stderr(&output));
    let left_out = format!("not asked about, and so left out: {} pairs", pairs - 4);
    assert!(stderr(&output).contains(&left_out), "{}", stderr(&output));

    let mut edited: Value = serde_json::from_slice(&std::fs::read(sample()).unwrap()).unwrap();
    let stories = edited["test"].as_object_mut().unwrap().values_mut();
    for story in stories.filter(|story| story["story_id"] == asked[0].group) {
        for sentence in story["sentences"].as_array_mut().unwrap() {
            *sentence = json!(sentence.as_str().unwrap().replace('.', "!"));
        }
    }
    let edited = write(&folder, "edited.json", &edited.to_string());
    let output = converted(&edited);
    let said = stderr(&output);
    assert!(output.status.code() == Some(65) && said.contains(&format!("pair {:?}: story", asked[1].id)), "{said}");
    assert!(said.contains("was asked about with other words or labels than the story file has"), "{said}");
}

/// Nobody asked about a conflict in the other story, so that its order of the sentences can't lose.
#[test]
fn a_model_that_was_asked_about_one_story_has_no_order_sensitivity() {
    let folder = TempDir::new().unwrap();
    recorded_pairs(folder.path(), Wording::TrueOrFalse);
    let [pairs, har] = ["pairs.jsonl", "har.jsonl"].map(|name| folder.path().join(name));
    let data = sample();
    let output = tiered(["llm", "score", text(folder.path()), "--predictions", text(&pairs), "--data", text(&data)]);
    assert!(output.status.success() && !stderr(&output).contains("left out"), "{}", stderr(&output));
    let set = read_stories(&data, Protocol::Har, None).unwrap();
    let asked = tiered::data::pairs(&set.checked, 0);
    let answers = ask_har(&asked, &asked[..1], false, 2, &Drawn::new(1), &|_| ()).unwrap();
    write_predictions(&har, &answers.into_iter().map(|answer| answer.pair).collect::<Vec<_>>()).unwrap();
    for file in [&pairs, &har] {
        let printed = |format: &str| {
            let output = tiered(["report", "text", text(file), "--data", text(&data), "--format", format]);
            assert!(output.status.success(), "{}", stderr(&output));
            stdout(&output)
        };
        let report: Value = serde_json::from_str(&printed("json")).unwrap();
        assert_eq!(report["data"]["pairs"], json!(asked.len()));
        assert_eq!((&report["order_sensitivity"]["total"], &report["order_ties"]), (&json!(0), &json!(0)));
        assert!(!printed("text").contains("order sensitivity"), "{}", file.display());
    }
}

/// A file that was cut off, or is there twice, is not what was asked.
#[test]
fn a_file_has_as_many_lines_as_its_results_say() {
    let folder = TempDir::new().unwrap();
    recorded_by(&Drawn::new(5), folder.path(), Wording::TrueOrFalse, Tier::Story);
    let named = |kind: &str, date: &str, extension: &str| {
        folder.path().join(format!("{kind}_story_class_{date}T12-00-00.{extension}"))
    };
    let samples = named("samples", "2026-01-31", "jsonl");
    let whole = std::fs::read_to_string(&samples).unwrap();
    let count = whole.lines().count();
    let cut: String = whole.lines().take(30).map(|line| format!("{line}\n")).collect();
    let scored = |written: &str| {
        std::fs::write(&samples, written).unwrap();
        let output = tiered(["llm", "score", text(folder.path())]);
        (output.status.code(), stderr(&output))
    };
    assert_eq!(scored(&whole).0, Some(0));
    let results = named("results", "2026-01-31", "json");
    std::fs::write(&results, format!("\u{feff}{}", std::fs::read_to_string(&results).unwrap())).unwrap();
    assert_eq!(scored(&whole).0, Some(0), "with a byte order mark");
    let refused = |written: &str, lines: usize| {
        let (code, said) = scored(written);
        let why = format!("results_story_class_2026-01-31T12-00-00.json says {count}; name the whole file");
        let why = format!("{}: has {lines} lines, and {why}", samples.display());
        assert!(code == Some(65) && said.contains(&why), "{said}");
    };
    refused(&cut, 30);
    refused(&whole.repeat(2), 2 * count);
    // Another run's results tell nothing of this one, but where it has none of its own.
    let results = named("results", "2026-01-31", "json");
    let other = std::fs::read_to_string(&results).unwrap().replace(&count.to_string(), "30");
    std::fs::write(named("results", "2026-02-01", "json"), &other).unwrap();
    refused(&cut, 30);
    std::fs::remove_file(results).unwrap();
    assert_eq!(scored(&cut).0, Some(0));
    assert_eq!(scored(&whole).0, Some(65));
}

/// Shots, way and the like must be the same, or an agreement tells nothing of the order.
#[test]
fn runs_that_differ_in_more_than_the_order_have_no_agreement() {
    let [first, second] = [Wording::TrueOrFalse, Wording::FalseOrTrue].map(|wording| {
        let folder = TempDir::new().unwrap();
        recorded_pairs(folder.path(), wording);
        folder
    });
    let tell = |folder: &TempDir, facts: &Value| {
        for path in std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|extension| extension == "json") {
                let mut results: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
                results["tiered"].as_object_mut().unwrap().extend(facts.as_object().unwrap().clone());
                std::fs::write(&path, results.to_string()).unwrap();
            }
        }
    };
    let compared = || tiered(["llm", "score", text(first.path()), "--swapped", text(second.path())]);
    let how = json!({"shots": 3, "shots_sha256": null, "seed": 1234, "style": "plain", "way": "echo", "data": "a"});
    tell(&first, &how);
    assert!(compared().status.success(), "what one run does not tell can't differ");
    let others = [("shots", json!(2)), ("shots_sha256", json!("ab")), ("seed", json!(7)), ("way", json!("top"))];
    for (field, value) in others {
        tell(&second, &how);
        tell(&second, &json!({field: value}));
        let said = stderr(&compared());
        let why = format!("differs in more than the order from {}: {field}; ", first.path().display());
        assert!(said.contains(&why) && said.contains(text(second.path())), "{said}");
    }
    tell(&second, &how);
    tell(&second, &json!({"data": "b", "cascade": false}));
    assert!(compared().status.success(), "{}", stderr(&compared()));
}

#[test]
fn options_in_the_other_order_are_another_prompt_and_agreement_is_counted() {
    let folders = [Wording::TrueOrFalse, Wording::FalseOrTrue].map(|wording| {
        let folder = TempDir::new().unwrap();
        recorded_pairs(folder.path(), wording);
        folder
    });
    let [first, second] = folders.each_ref().map(|folder| text(folder.path()));
    let compared = |first: &str, other: &str| tiered(["llm", "score", first, "--swapped", other, "--format", "json"]);
    for [one, other] in [[first, second], [second, first]] {
        let output = compared(one, other);
        assert!(output.status.success(), "{}", stderr(&output));
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let shares = ["stories", "pairs"].map(|what| report["agreement"][what]["fraction"].as_f64().unwrap());
        assert!(shares.iter().all(|&share| 0.2 < share && share < 0.8), "drawn anew: {shares:?}");
    }
    let refused = |one: &str, other: &str, why: &str| {
        let output = compared(one, other);
        let said = stderr(&output);
        assert!(output.status.code() == Some(65) && said.contains(other) && said.contains(why), "{why}: {said}");
        assert!(said.contains("`tiered llm eval --swapped`"), "{said}");
    };
    refused(first, first, "names the options in the same order as");
    refused(second, second, "names the options in the same order as");
    let other_model = TempDir::new().unwrap();
    recorded_pairs(other_model.path(), Wording::FalseOrTrue);
    for file in std::fs::read_dir(other_model.path()).unwrap().map(|entry| entry.unwrap().path()) {
        let written =
            std::fs::read_to_string(&file).unwrap().replace(r#""model_name": "drawn""#, r#""model_name": "b""#);
        std::fs::write(&file, written).unwrap();
    }
    refused(first, text(other_model.path()), "is of another model than");
    // Without facts, the prompts tell.
    let [plain, swapped] = [first, second].map(|folder| {
        let copy = TempDir::new().unwrap();
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if name.starts_with("samples_") {
                std::fs::copy(&path, copy.path().join(name)).unwrap();
            }
        }
        copy
    });
    refused(text(plain.path()), first, "has the same prompts as");
    assert!(compared(text(plain.path()), text(swapped.path())).status.success());
    let departures = stdout(&tiered(["llm", "score", second]));
    assert!(departures.contains("drawn (options named in the other order)"), "{departures}");
}

/// Answers in words have no margin: what ranks pairs by it is not known, and not 0 %.
#[test]
fn answers_in_words_rank_no_pairs() {
    let folders = [Wording::TrueOrFalse, Wording::FalseOrTrue].map(|wording| {
        let folder = TempDir::new().unwrap();
        said_pairs(folder.path(), wording);
        folder
    });
    let [first, second] = folders.each_ref().map(|folder| text(folder.path()));
    let printed = |format: &str| {
        let output = tiered(["llm", "score", first, "--swapped", second, "--format", format]);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let report: Value = serde_json::from_str(&printed("json")).unwrap();
    let (pairs, agreement) = (&report["models"][0]["pairs"], &report["agreement"]);
    let later = &pairs["later"];
    let unknown = [&pairs["accuracy"], &pairs["undecided"], &later["consistency_gated"], &later["verifiability_gated"]];
    assert_eq!(unknown, [&Value::Null; 4]);
    assert!(later["consistency_ungated"]["overall"]["total"].as_u64().unwrap() > 0, "{later}");
    assert_eq!([&agreement["stories"], &agreement["pairs"], &agreement["both_right"]], [&Value::Null; 3]);
    let table = printed("text");
    let line = |what: &str| table.lines().find(|line| line.contains(what)).unwrap();
    assert_eq!(line("drawn: accuracy").matches('–').count(), 3, "{table}");
    assert_eq!(line("drawn: consistency, gated").matches('–').count(), 3, "{table}");
    assert!(!line("drawn: consistency, ungated").contains('–'), "{table}");
    for words in ["stories alike", "drawn: pairs can't be ranked (–), because answers in words have no"] {
        assert!(table.contains(words), "{words}: {table}");
    }
    // Formats without text around the tables.
    let csv = printed("csv");
    assert!(csv.starts_with("\"pairs, %; asked by protocol pairs\",all,cloze,order\n"), "{csv}");
    assert!(csv.contains("\n\nmodel,remark\n"), "{csv}");
    assert!(csv.contains("\ndrawn,\"pairs can't be ranked (–), because answers in words have no"), "{csv}");
    assert!(printed("latex").contains("{asked by protocol pairs}") && printed("latex").contains("model & remark"));
}

/// What was asked and paid for is scored, though tier 3 was not asked.
#[test]
fn pairs_of_two_tiers_have_consistency_and_no_verifiability() {
    let folder = TempDir::new().unwrap();
    pairs_of_two_tiers(folder.path(), Wording::TrueOrFalse);
    let printed = |format: &str| {
        let output = tiered(["llm", "score", text(folder.path()), "--format", format]);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let report: Value = serde_json::from_str(&printed("json")).unwrap();
    let later = &report["models"][0]["pairs"]["later"];
    for consistency in ["consistency_gated", "consistency_ungated"] {
        assert!(later[consistency]["overall"]["total"].as_u64().unwrap() > 0, "{later}");
    }
    assert_eq!([&later["verifiability_gated"], &later["verifiability_ungated"]], [&Value::Null; 2]);
    let table = printed("text");
    for (what, dashes) in [("consistency, gated", 0), ("verifiability, gated", 3), ("verifiability, ungated", 3)] {
        let line = table.lines().find(|line| line.contains(&format!("drawn: {what}"))).unwrap();
        assert_eq!(line.matches('–').count(), dashes, "{table}");
    }
}

/// The harness writes "-inf" where a probability is too small.
#[test]
fn equal_infinite_scores_have_no_margin() {
    let folder = TempDir::new().unwrap();
    recorded_pairs(folder.path(), Wording::TrueOrFalse);
    let undecided = || scored(&[folder.path().to_owned()]).unwrap().models[0].pairs.as_ref().unwrap().undecided;
    assert_eq!(undecided(), Some(0));
    let path = folder.path().join("samples_story_class_2026-01-31T12-00-00.jsonl");
    let mut samples = lines(&path);
    samples[0]["filtered_resps"] = json!([["-inf", "False"], ["-inf", "False"]]);
    std::fs::write(&path, samples.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    assert!(undecided().unwrap() > 0);
}

/// What a server gives that does not score what it is asked is no result, in records either.
#[test]
fn records_without_scores_are_refused() {
    let folder = TempDir::new().unwrap();
    recorded_pairs(folder.path(), Wording::TrueOrFalse);
    let path = folder.path().join("samples_story_class_2026-01-31T12-00-00.jsonl");
    let samples = lines(&path);
    let refused = |written: &str, why: &str| {
        std::fs::write(&path, written).unwrap();
        let output = tiered(["llm", "score", text(folder.path())]);
        assert_eq!(output.status.code(), Some(65), "{why}: {}", stderr(&output));
        assert!(stderr(&output).contains(why) && stderr(&output).contains(text(folder.path())), "{}", stderr(&output));
    };
    let with_scores = |number: usize, scores: Value| {
        let mut samples = samples.clone();
        samples[..number].iter_mut().for_each(|sample| sample["filtered_resps"] = scores.clone());
        samples.iter().map(|line| format!("{line}\n")).collect::<String>()
    };
    let zero = with_scores(1, json!([[0.0, false], [0.0, false]]));
    refused(&zero, "every option has log-probability 0");
    let tied = json!([[-1.5, false], [-1.5, false]]);
    refused(&with_scores(samples.len(), tied.clone()), "every story's options are tied");
    refused("", "has no lines, and tier 1 asks about every story");
    std::fs::write(&path, with_scores(1, tied)).unwrap();
    assert!(tiered(["llm", "score", text(folder.path())]).status.success(), "one tie is a result");
}

#[test]
fn scores_are_printed_in_every_format() {
    let Some(files) = recorded() else { return };
    let folder = text(files[0].parent().unwrap());
    let printed = |format: &str| {
        let output = tiered([
            "llm",
            "score",
            folder,
            "--published",
            "gita-stories",
            "--published",
            "calamita",
            "--format",
            format,
        ]);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let text = printed("text");
    for words in
        ["45.22 [", " 161/356", "6.30 [", "66.85", "Gemma-2-27B-Instruct (GITA4CALAMITA table 3)", "Minerva-7B"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(printed("markdown").contains("| accuracy, % of stories |"));
    let csv = printed("csv");
    let measured = "; asked by protocol gita4calamita\",all,cloze,order";
    assert!(csv.starts_with(&format!("\"accuracy, % of stories{measured},plausible\n")), "{csv}");
    assert!(csv.contains("\n\"CALAMITA leaderboard, %\",accuracy,"), "another protocol: {csv}");
    assert!(printed("latex").contains("\\begin{tabular}"));
    let json: Value = serde_json::from_str(&printed("json")).unwrap();
    assert_eq!(json["schema_version"], 1);
    assert_eq!(json["models"][0]["verifiability"]["order"]["count"], 4);
}

#[test]
fn published_rows_stand_beside_the_same_stories_only() {
    let folder = TempDir::new().unwrap();
    recorded_pairs(folder.path(), Wording::TrueOrFalse);
    let output = tiered(["llm", "score", text(folder.path()), "--published", "gita-stories"]);
    assert!(
        output.status.code() == Some(65) && stderr(&output).contains("leave --published out"),
        "{}",
        stderr(&output)
    );
}

/// GITA's own file has as many stories of each kind, with other texts and answers.
#[test]
fn published_rows_stand_beside_the_official_stories_only() {
    let is_refused = |folder: &TempDir| {
        let output = tiered(["llm", "score", text(folder.path()), "--published", "gita-stories"]);
        output.status.code() == Some(65) && stderr(&output).contains("the official GITA4CALAMITA.jsonl")
    };
    let edited = |tier: usize, lines: &mut Vec<Value>| {
        let plausible = lines.iter_mut().find(|line| tier == 0 && line["doc"]["plausible"] == true);
        if let Some(line) = plausible {
            line["doc"]["sentences"][0] = json!("Altro.");
        }
    };
    let (Some((edited, _)), Some((same, _)), Some(dense)) = (changed(edited), changed(|_, _| ()), stories(DENSE))
    else {
        return;
    };
    assert!(is_refused(&edited) && !is_refused(&same));
    let plan = Plan { last: Tier::Story, ..Plan::new(Protocol::Gita4calamita, PromptStyle::Plain) };
    let tiers = ask(&dense, &plan, &Drawn::new(1), &|_| ()).unwrap();
    let folder = TempDir::new().unwrap();
    write_records(folder.path(), &dense, &plan, &tiers, &RunFacts::default()).unwrap();
    let [ours, theirs] = [&folder, &same].map(|folder| scored(&[folder.path().to_owned()]).unwrap());
    assert_eq!(ours.stories, theirs.stories, "the same counts");
    assert!(is_refused(&folder));
    // Its states name no single one: what chance would reach is not known.
    for row in &ours.baselines {
        assert!(row.consistency.overall.is_some() && row.verifiability.overall.is_none(), "{row:?}");
    }
    assert!(ours.to_text().lines().any(|line| line.starts_with("by chance") && line.matches('–').count() == 3));
}

#[test]
fn the_command_prints_the_recorded_prompts() {
    let (Some(files), Some(data)) = (recorded(), real_data(OFFICIAL)) else { return };
    let (records, data) = (text(files[0].parent().unwrap()), text(&data));
    for (tier, file) in ["1", "2", "3"].into_iter().zip(&files) {
        let line = lines(file).remove(3);
        let rows = lines(&files[0]);
        let row = rows.iter().position(|other| other["doc"] == line["doc"]).unwrap().to_string();
        let arguments = ["llm", "prompt", "--data", data, "--tier", tier, "--row", &row, "--records", records];
        let output = tiered(arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        let prompt = line["arguments"]["gen_args_0"]["arg_0"].as_str().unwrap();
        assert_eq!(stdout(&output), format!("{prompt}\n"));
        let options = stdout(&tiered(arguments.into_iter().chain(["--options"])));
        let first = line["arguments"]["gen_args_0"]["arg_1"].as_str().unwrap();
        assert_eq!(options.lines().next(), Some(format!("{first:?}").as_str()));
    }
    let wrong = tiered(["llm", "prompt", "--data", data, "--tier", "2", "--row", "0"]);
    assert!(wrong.status.code() == Some(2) && stderr(&wrong).contains("it is plausible"), "{}", stderr(&wrong));
}

/// What stands in a story is what a model reads, invisible characters too.
#[test]
fn a_prompt_is_printed_with_every_character() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("stories.jsonl");
    let sentence = "Ada \u{202e}opened\u{7f}\u{1b}[31m the chest.";
    let story = json!({
        "story_id": 1, "example_id": "1", "plausible": true, "sentences": [sentence, "Then."], "breakpoint": -1,
        "confl_sents": [],
    });
    std::fs::write(&path, format!("{story}\n")).unwrap();
    let output = tiered(["llm", "prompt", "--data", text(&path), "--tier", "1", "--row", "0", "--shots", "0"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(String::from_utf8(output.stdout).unwrap().contains(sentence));
}

#[test]
fn templates_are_found_where_models_keep_them() {
    let folder = TempDir::new().unwrap();
    let config = json!({
        "bos_token": {"content": "<bos>"}, "eos_token": "<eos>",
        "chat_template": [{"name": "tool_use", "template": "no"}, {"name": "default", "template": GEMMA}],
    });
    let config = write(&folder, "tokenizer_config.json", &config.to_string());
    let template = ChatTemplate::read(&config).unwrap();
    assert_eq!(template.source(), GEMMA);
    let file = write(&folder, "chat.jinja", LLAMA);
    let llama = ChatTemplate::read(&file).unwrap();
    assert_eq!(llama.sha256(), sha256(LLAMA.as_bytes()));
    let none = write(&folder, "other.json", "{}");
    let error = ChatTemplate::read(&none).unwrap_err();
    assert!(error.kind == ErrorKind::Config && error.message.contains("other.json: has no `chat_template`"), "{error}");
    let wrong = ChatTemplate::new("{% if %}", "", "").unwrap_err();
    assert!(wrong.kind == ErrorKind::Config && wrong.message.contains("in line 1"), "{wrong}");
    // A template that ignores a system turn gets the instruction in the first user turn.
    let users =
        "{% for message in messages %}{% if message.role != 'system' %}{{ message.content }}|{% endif %}{% endfor %}";
    let ignoring = ChatTemplate::new(users, "", "").unwrap();
    assert_eq!(ignoring.render("Do.", vec![Message::user("Q")]).unwrap(), "Do.\nQ|");
    // Python's methods, and a date that does not change.
    let python =
        "{{ messages[-1]['content'].strip().split(' ')[0].upper() }} {{ strftime_now('%d %b %Y') }} {{ date_string }}";
    let python = ChatTemplate::new(python, "", "").unwrap();
    assert_eq!(python.render("", vec![Message::user(" ask me")]).unwrap(), "ASK 26 Jul 2024 26 Jul 2024");
    // A tag of `transformers`, and a variable that it defines as none.
    let marked =
        "{{ messages[-1].content }}{%- generation -%}  a {%- endgeneration %}{% if tools is none %}!{% endif %}";
    let marked = ChatTemplate::new(marked, "", "").unwrap();
    assert_eq!(marked.render("Do.", vec![Message::user("q")]).unwrap(), "Do.\nqa!");
}

/// HAR asks one question after the other in one growing text, and its answers are predictions about pairs.
#[test]
fn har_goes_on_after_its_own_answers() {
    let set = read_stories(&sample(), Protocol::Har, None).unwrap();
    let pairs = tiered::data::pairs(&set.checked, 0);
    let shots = har_shots(&pairs, &pairs[..4].iter().map(|pair| pair.id.clone()).collect::<Vec<_>>()).unwrap();
    let answers = ask_har(&pairs[4..], &shots, false, 4, &Drawn::new(1), &|_| ()).unwrap();
    for (answer, pair) in answers.iter().zip(&pairs[4..]) {
        answer.pair.check().unwrap();
        assert_eq!((&answer.pair.id, answer.steps.len()), (&pair.id, 6));
        for steps in answer.steps.windows(2) {
            let said = format!("{}{}", steps[0].question.prompt, steps[0].chosen().unwrap());
            assert!(steps[1].question.prompt.starts_with(&said), "{said}");
        }
        assert_eq!(answer.steps[0].question.options, [" A", " B"]);
        assert!(answer.steps[0].question.prompt.ends_with("Story"));
    }
    let reached = |is_so: fn(&LabelledPair) -> bool| answers.iter().filter(|answer| is_so(&answer.pair)).count();
    let accurate = reached(LabelledPair::is_accurate);
    assert!(accurate > 0 && accurate < answers.len() && reached(LabelledPair::is_consistent) < accurate);
    // Shown in the other order, the prompt is another, and the prediction still has the order of the pair.
    let swapped = ask_har(&pairs[4..6], &shots, true, 1, &Drawn::new(1), &|_| ()).unwrap();
    let first = &swapped[0].steps[0].question.prompt;
    assert!(first.ends_with(&format!("{}Story", told([&pairs[4].stories[1], &pairs[4].stories[0]]))));
    let says_a = swapped[0].steps[0].chosen() == Some(" A");
    assert_eq!(swapped[0].pair.prediction.plausible, usize::from(says_a));
    assert_eq!(swapped[0].pair.prediction.stories[0].id, pairs[4].stories[0].id);
}

/// A model that knows the answers: it prefers the gold continuation wherever it is.
struct Knowing<'a>(&'a [Pair]);

impl Scorer for Knowing<'_> {
    fn score(&self, request: &Request<'_>) -> Result<Vec<OptionScore>> {
        let pair = self.0.iter().find(|pair| request.name.ends_with(&format!(" {}", pair.id))).unwrap();
        let gold = demonstration(pair).unwrap();
        let told = told(pair.stories.each_ref());
        let after = request.prompt.rsplit_once(&told).unwrap().1;
        let rest = gold.strip_prefix(&told).unwrap().strip_prefix(after).unwrap_or_else(|| panic!("{after}\n{gold}"));
        // The longest option that is the beginning of what is still to say.
        let fits = |option: &String| if rest.starts_with(option.as_str()) { option.len() as f64 } else { 0. };
        let score = |option: &String| OptionScore::Exact { logprob: fits(option) - 1000., is_greedy: false };
        Ok(request.continuations.iter().map(score).collect())
    }
}

/// A model that says what the worked example says reaches all tiers, so that the questions can lead there.
#[test]
fn hars_own_answers_are_verifiable() {
    let set = read_stories(&sample(), Protocol::Har, None).unwrap();
    let mut pairs = tiered::data::pairs(&set.checked, 0);
    // HAR's texts know a person by a capital letter, which "il nonno" does not have.
    let is_named = |entity: &Entity| entity.name.starts_with(char::is_uppercase) && entity.name != "TV";
    pairs.retain(|pair| demonstration(pair).is_ok() && pair.stories[0].entities.iter().any(is_named));
    assert!(pairs.len() > 20, "{}", pairs.len());
    let answers = ask_har(&pairs, &pairs[..1], false, 2, &Knowing(&pairs), &|_| ()).unwrap();
    let verifiable = answers.iter().filter(|answer| answer.pair.is_verifiable()).count();
    assert_eq!(verifiable, pairs.len());
}

#[test]
fn options_without_effect_are_refused() {
    let path = sample();
    let of =
        |what: &'static [&'static str]| [&["llm"], what, &["--server", "http://127.0.0.1:9", "--model", "m"]].concat();
    let eval = [of(&["eval", "--protocol", "pairs"]), vec!["--data", text(&path)]].concat();
    let piqa = [of(&["piqa", "eval"]), vec!["--data", text(&path)]].concat();
    for (command, options, words) in [
        (&eval, &["--way", "said", "--bos", "2"][..], "leave out --tokenizer, --bos and --no-blank"),
        (&eval, &["--way", "top-chat", "--no-blank"], "leave out --tokenizer, --bos and --no-blank"),
        (&eval, &["--shots", "0", "--seed", "7"], "no shots are drawn"),
        (&piqa, &["--likelihood", "--max-tokens", "5"], "cannot be used with"),
        (&piqa, &["--likelihood", "--way", "top-chat"], "has no likelihood of a whole solution"),
    ] {
        let output = tiered(command.iter().chain(options).copied());
        assert!(output.status.code() == Some(2) && stderr(&output).contains(words), "{options:?}: {}", stderr(&output));
    }
}

/// A model that knows the answers, but can't decide on the last state.
struct Hesitating<'a>(Knowing<'a>);

impl Scorer for Hesitating<'_> {
    fn score(&self, request: &Request<'_>) -> Result<Vec<OptionScore>> {
        let (_, asked) = request.prompt.rsplit_once("Story B").unwrap();
        match asked.matches("For sentence ").count() {
            2 => Ok(vec![OptionScore::AtMost(-1.); request.continuations.len()]),
            _ => self.0.score(request),
        }
    }
}

#[test]
fn one_of_hars_two_states_explains_nothing() {
    let set = read_stories(&sample(), Protocol::Har, None).unwrap();
    let mut pairs = tiered::data::pairs(&set.checked, 0);
    pairs.retain(|pair| demonstration(pair).is_ok());
    let answers = ask_har(&pairs, &pairs[..1], false, 2, &Hesitating(Knowing(&pairs)), &|_| ()).unwrap();
    for HarAnswer { pair, steps } in &answers {
        assert!(steps.last().unwrap().choice.index().is_none(), "the last state is undecided");
        assert!(pair.is_consistent() && !pair.is_verifiable(), "{}", pair.id);
    }
}

#[test]
fn hars_examples_are_named_or_need_the_full_training_split() {
    let set = read_stories(&sample(), Protocol::Har, None).unwrap();
    let pairs = tiered::data::pairs(&set.checked, 0);
    let error = har_shots(&pairs, &[]).unwrap_err();
    assert!(error.message.contains("589") && error.message.contains("--shot ID"), "{error}");
    let path = sample();
    let arguments = ["llm", "prompt", "--data", text(&path), "--protocol", "har", "--tier", "1", "--row", "5"];
    let shots = ["--shots-split", "test", "--shot", pairs[0].id.as_str(), "--shot", pairs[1].id.as_str()];
    let output = tiered(arguments.into_iter().chain(shots));
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = [demonstration(&pairs[0]), demonstration(&pairs[1])].map(Result::unwrap).join("\n");
    assert_eq!(stdout(&output), format!("{expected}\n\n{}Story\n", told(pairs[5].stories.each_ref())));
    let missing = tiered(arguments.into_iter().chain(["--shots-split", "test", "--shot", "no-C0"]));
    assert!(missing.status.code() == Some(65) && stderr(&missing).contains("no such pair"), "{}", stderr(&missing));
    let useless = tiered(arguments.into_iter().chain(shots).chain(["--records", text(&path)]));
    assert!(useless.status.code() == Some(2) && stderr(&useless).contains("--records: "), "{}", stderr(&useless));
    let untold = tiered(arguments);
    let why = "has no split \"train\"; name one of [\"test\"] with --shots-split";
    assert!(untold.status.code() == Some(65) && stderr(&untold).contains(why), "{}", stderr(&untold));
}

/// The stories and the shots may be of two files, and each has its flag.
#[test]
fn errors_about_the_shots_name_the_flag_of_the_shots() {
    let folder = TempDir::new().unwrap();
    let story = json!({
        "story_id": 1, "example_id": "1", "plausible": true, "sentences": ["Ada left.", "Then."], "breakpoint": -1,
        "confl_sents": [],
    });
    let lines = write(&folder, "stories.jsonl", &format!("{story}\n"));
    let splits = write(&folder, "splits.json", &json!({"dev": {"1": story}, "test": {"1": story}}).to_string());
    let refused = |more: &[&str], why: &str| {
        let arguments = ["llm", "prompt", "--data", text(&lines), "--tier", "1", "--row", "0"];
        let output = tiered(arguments.iter().chain(more).copied());
        assert!(output.status.code() == Some(65) && stderr(&output).contains(why), "{why}: {}", stderr(&output));
    };
    let other = ["--shots-data", text(&splits)];
    refused(&other, "has several splits; name one of [\"dev\", \"test\"] with --shots-split");
    let named = "has no split \"train\"; name one of [\"dev\", \"test\"] with --shots-split";
    refused(&[&other[..], &["--shots-split", "train"]].concat(), named);
    refused(&["--shots-split", "test"], "has one story a line; leave --shots-split out");
    refused(&["--split", "test"], "has one story a line; leave --split out");
    refused(&["--protocol", "har", "--split", "test"], "protocol har needs states of entities");
    for empty in [json!({}), json!({"test": {}})] {
        let path = write(&folder, "empty.json", &empty.to_string());
        for protocol in ["gita4calamita", "trip"] {
            let output =
                tiered(["llm", "prompt", "--data", text(&path), "--protocol", protocol, "--tier", "1", "--row", "0"]);
            assert!(
                output.status.code() == Some(65) && stderr(&output).contains("has no stories"),
                "{}",
                stderr(&output)
            );
        }
    }
}

/// TRIP has stories of other lengths than five, and some whose conflict has no state that is an option.
#[test]
fn trip_is_asked_about_stories_of_any_length() {
    let Some(path) = real_data("data/trip/www.json") else { return };
    let error = read_stories(&path, Protocol::Trip, None).unwrap_err();
    assert!(error.kind == ErrorKind::Data && error.message.contains("--split"), "{error}");
    let set = read_stories(&path, Protocol::Trip, Some("dev")).unwrap();
    let plan = Plan { cascade: false, ..Plan::new(Protocol::Trip, PromptStyle::Plain) };
    assert_eq!(plan.departures(), ["every implausible story asked in every tier"]);
    let tiers = ask(&set.stories, &plan, &Drawn::new(2), &|_| ()).unwrap();
    let mut lengths = BTreeSet::new();
    for answer in &tiers[1].answers {
        let story = &set.stories[answer.question.story];
        let n = story.sentences.len();
        lengths.insert(n);
        assert_eq!(answer.question.options.len(), n * (n - 1) / 2);
        let right = answer.question.options.iter().filter(|option| story.is_right(Tier::Conflict, option));
        assert_eq!(right.count(), 1, "{}", story.name());
    }
    assert!(lengths.len() > 1 && lengths.contains(&5), "{lengths:?}");
    let right = |answer: &QuestionAnswer| {
        let story = &set.stories[answer.question.story];
        answer.question.options.iter().filter(|option| story.is_right(Tier::State, option)).count()
    };
    let right: Vec<usize> = tiers[2].answers.iter().map(right).collect();
    assert!(right.contains(&0) && right.iter().any(|&count| count > 1), "none, or several, are right");
    assert_eq!(tiers[1].answers.len(), right.len());
}
