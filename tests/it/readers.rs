//! What reads our files elsewhere: TensorBoard's own reader of event files, the Hugging Face hub's of model cards.

use crate::support::{python, stderr, text, tiered};
use crate::tiny::Tiny;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const EVENTS: &str = "events.out.tfevents.0.tiered";

/// Steps and values of every tag.
const READ_EVENTS: &str = "
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1]).Reload()
tags = events.Tags()['scalars']
print(json.dumps({tag: [[e.step, e.value, e.wall_time] for e in events.Scalars(tag)] for tag in tags}))
";

/// Name, and of every result data set, split, and (type, value) of the metrics; then the card's text.
const READ_CARD: &str = "
import json, sys
from huggingface_hub import ModelCard
card = ModelCard.load(sys.argv[1], ignore_metadata_errors=False)
results = [[r.dataset_name, r.dataset_split, r.metric_type, r.metric_value] for r in card.data.eval_results]
data = card.data.to_dict()
print(json.dumps({'name': card.data.model_name, 'library': data['library_name'], 'results': results, 'text': card.text}))
";

fn records(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn tensorboard_reads_every_epoch_once_however_often_a_run_was_stopped() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "model.detector.kind=joint"]);
    let whole = fs::read(run.join(EVENTS)).unwrap();
    // As a crash may leave it: cut in a record, or of epochs that are run again and come out otherwise.
    for cut in [0, 7, whole.len() / 2, whole.len() - 1] {
        fs::write(run.join(EVENTS), &whole[..cut]).unwrap();
        let output = tiered(["train", "--resume", text(&run)]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(fs::read(run.join(EVENTS)).unwrap(), whole, "cut to {cut}");
    }
    fs::write(run.join(EVENTS), [&whole[..], b"of another life"].concat()).unwrap();
    assert!(tiered(["train", "--resume", text(&run)]).status.success());
    assert_eq!(fs::read(run.join(EVENTS)).unwrap(), whole);

    let Some(read) = python(READ_EVENTS, &[&run]) else { return };
    let records = records(&run);
    let expected = |tag: &str| -> Vec<f64> {
        let (name, part) = tag.split_once('/').unwrap();
        let loss = |record: &Value, place: &str| record.pointer(place).and_then(Value::as_f64).unwrap();
        let value = |record: &Value| match (name.strip_prefix("loss_"), name.strip_prefix("dev_"), part) {
            (Some(loss_name), _, "train") => loss(record, &format!("/train/{loss_name}")),
            (Some(loss_name), _, _) => loss(record, &format!("/dev/losses/{loss_name}")),
            (_, Some(tier), decoding) => {
                let count = match tier {
                    "accuracy" => "accurate",
                    "consistency" => "consistent",
                    _ => "verifiable",
                };
                loss(record, &format!("/dev/{decoding}/{count}")) / loss(record, &format!("/dev/{decoding}/pairs"))
            }
            _ => loss(record, &format!("/{part}_seconds")),
        };
        records.iter().map(value).collect()
    };
    let tags = read.as_object().unwrap();
    assert_eq!(tags.len(), 4 + 4 + 9 + 2 + 1, "{:?}", tags.keys());
    for (tag, events) in tags {
        let events: Vec<[f64; 3]> = serde_json::from_value(events.clone()).unwrap();
        assert_eq!(events.iter().map(|event| event[0]).collect::<Vec<_>>(), [4., 8.], "{tag}");
        assert!(events[0][2] > 1.6e9 && events[1][2] > events[0][2], "times of {tag}: {events:?}");
        if tag != "epoch" {
            let close = events.iter().zip(expected(tag)).all(|(event, value)| (event[1] - value).abs() < 1e-6);
            assert!(close, "{tag}: {events:?}, {:?}", expected(tag));
        }
    }
}

#[test]
fn the_hub_reads_the_model_card() {
    let tiny = Tiny::new();
    // Neither YAML nor Markdown makes anything of a name.
    let name = "yes: 'no' #1 - [x] <b>| `y`";
    let run = tiny.trained(name, &["--set", "train.epochs=1"]);
    let card = fs::read_to_string(run.join("README.md")).unwrap();
    let body = card.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).unwrap().1;
    assert!(!body.contains("<b>") && !card.contains("/tmp"), "{card}");
    let read = || python(READ_CARD, &[&run.join("README.md")]);
    let Some(first) = read() else { return };
    assert_eq!((&first["name"], &first["library"]), (&json!(name), &json!("tiered")));
    let results = |card: &Value| -> Vec<(String, String, String, f64)> {
        serde_json::from_value(card["results"].clone()).unwrap()
    };
    assert!(!results(&first).is_empty());
    assert!(results(&first).iter().all(|(set, split, _, _)| set.contains("4 pairs") && split == "dev"));

    let output = tiered(["eval", text(&run), "--data", text(&tiny.stories()), "--split", "train", "--format=json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let second = read().unwrap();
    let (before, now) = (results(&first), results(&second));
    assert!(before.iter().all(|result| now.contains(result)), "the scores on dev stay");
    for tier in ["accuracy", "consistency", "verifiability"] {
        let fraction = report.pointer(&format!("/rows/0/{tier}/fraction")).and_then(Value::as_f64).unwrap();
        let is_there = |(set, split, metric, value): &(String, String, String, f64)| {
            set.contains("8 pairs") && split == "train" && metric == tier && (value - 100. * fraction).abs() < 0.01
        };
        assert!(now.iter().any(is_there), "{tier} {fraction}: {now:?}");
    }
    let body = second["text"].as_str().unwrap();
    for said in ["Intended use", "licence", "SHA-256", "tiered predict", "8 pairs", "95 %"] {
        assert!(body.contains(said), "{said} is not in the card:\n{body}");
    }

    // Weights that are not the best are not what the card is about.
    let written = fs::read(run.join("README.md")).unwrap();
    let (run_name, stories) = (text(&run), tiny.stories());
    let arguments = ["eval", run_name, "--data", text(&stories), "--split", "train", "--weights", "last"];
    assert!(tiered(arguments).status.success());
    assert_eq!(fs::read(run.join("README.md")).unwrap(), written);
}
