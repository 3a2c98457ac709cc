//! How many keystrokes it takes to annotate a story of GITA with the proposals of a run, beside a label for each of the 20
//! attributes of each entity in each sentence.
//!
//! The keys are those of the page: a letter and a digit label an attribute, an arrow goes to the next cell, Shift+Enter
//! accepts what is proposed for a sentence with a probability of 0.5 or more. `TIERED_ANNOTATE_RUN` names a run folder;
//! without it a tiny run proposes, which has learnt next to nothing.

use super::served::Served;
use crate::support::real_data;
use crate::tiny::Tiny;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use tiered::attribute::Attribute;
use tiered::data::{Entity, Story, read_file};
use tiered::entities::normalized;

/// A person who annotates as GITA's annotators did.
struct Person {
    served: Served,
    keys: usize,
    /// By name.
    entities: HashMap<String, u64>,
}

impl Person {
    fn press(&mut self, keys: usize) {
        self.keys += keys;
    }

    /// Accepts the entities that are proposed, and types the others.
    fn name_entities(&mut self, key: &str, story: &Story) {
        let view = self.served.get(&format!("story?story={key}"));
        let proposed: Vec<_> =
            view["proposed"]["entities"].as_array().unwrap().iter().map(|e| normalized(name(e))).collect();
        for Entity { name, .. } in &story.entities {
            let is_proposed = proposed.contains(&normalized(name));
            self.press(if is_proposed { 1 } else { name.chars().count() + 1 });
            let person = *name == story.actor;
            self.served.edit(Some(key), json!([{"op": "entity", "name": name, "person": person}]));
        }
        self.press(1);
        let answer = self.served.edit(Some(key), json!([{"op": "actor", "name": story.actor}]));
        for entity in answer["view"]["entities"].as_array().unwrap() {
            self.entities.insert(name(entity).to_owned(), entity["id"].as_u64().unwrap());
        }
    }

    /// Labels what is not proposed rightly in each sentence, then accepts the rest. Sentences with labels are left alone.
    fn label(&mut self, key: &str, story: &Story) {
        let (_, proposal) = self.served.post("propose", json!({"story": key}));
        let view = self.served.get(&format!("story?story={key}"));
        let labelled: Vec<_> = view["labels"].as_array().unwrap().iter().map(|cell| cell["sentence"].clone()).collect();
        for (n, sentence) in view["sentences"].as_array().unwrap().iter().enumerate() {
            if !labelled.contains(&sentence["id"]) {
                self.label_sentence(key, story, n, &sentence["id"], &proposal);
            }
        }
    }

    fn label_sentence(&mut self, key: &str, story: &Story, n: usize, sentence: &Value, proposal: &Value) {
        let (mut column, mut accepted) = (0, Vec::new());
        for (i, entity) in story.entities.iter().enumerate() {
            let id = self.entities[&entity.name];
            let cells = proposal["cells"].as_array().unwrap();
            let cell = cells.iter().find(|cell| cell["entity"] == id && cell["sentence"] == *sentence);
            let labels = cell.map_or(&[][..], |cell| cell["labels"].as_array().unwrap());
            let proposed: BTreeMap<&str, u8> = labels
                .iter()
                .filter(|label| label["probability"].as_f64().unwrap() >= 0.5)
                .map(|label| (label["attribute"].as_str().unwrap(), label["label"].as_u64().unwrap() as u8))
                .collect();
            for (attribute, label) in wrong(entity, n, &proposed) {
                self.press(i.abs_diff(column) + 2);
                column = i;
                let values = json!({attribute.name(): label});
                self.served
                    .edit(Some(key), json!([{"op": "labels", "entity": id, "sentence": sentence, "values": values}]));
            }
            let corrected: Vec<_> =
                wrong(entity, n, &proposed).into_iter().map(|(attribute, _)| attribute.name()).collect();
            let rest: BTreeMap<_, _> = proposed.iter().filter(|(name, _)| !corrected.contains(name)).collect();
            if !rest.is_empty() {
                accepted.push(json!({"op": "labels", "entity": id, "sentence": sentence, "values": rest}));
            }
        }
        self.press(1);
        self.served.edit(Some(key), json!(accepted));
    }

    /// Whether every nontrivial label is that of GITA.
    fn assert_labelled(&self, key: &str, story: &Story) {
        let view = self.served.get(&format!("story?story={key}"));
        for (n, sentence) in view["sentences"].as_array().unwrap().iter().enumerate() {
            for entity in &story.entities {
                let id = self.entities[&entity.name];
                let cells = view["labels"].as_array().unwrap();
                let cell = cells.iter().find(|cell| cell["entity"] == id && cell["sentence"] == sentence["id"]);
                let label = |attribute: Attribute| cell.and_then(|cell| cell["values"][attribute.name()].as_u64());
                for attribute in Attribute::ALL {
                    let [is, should] = [label(attribute).map(|label| label as u8), entity.label(n, attribute)]
                        .map(|label| label.filter(|&label| is_nontrivial(attribute, label)));
                    assert_eq!(is, should, "{} {} {n} {attribute}", story.id, entity.name);
                }
            }
        }
    }
}

fn name(entity: &Value) -> &str {
    entity["name"].as_str().unwrap()
}

fn is_nontrivial(attribute: Attribute, label: u8) -> bool {
    let (before, after) = attribute.split(label);
    attribute.is_nontrivial(before) || attribute.is_nontrivial(after)
}

/// The labels that would be wrong if everything proposed was accepted, with the right ones.
fn wrong(entity: &Entity, n: usize, proposed: &BTreeMap<&str, u8>) -> Vec<(Attribute, u8)> {
    let nontrivial = |attribute, label: Option<u8>| label.filter(|&label| is_nontrivial(attribute, label));
    let correction = |attribute: Attribute| {
        let right = nontrivial(attribute, entity.label(n, attribute));
        let is_right = nontrivial(attribute, proposed.get(attribute.name()).copied()) == right;
        (!is_right).then(|| (attribute, right.unwrap_or(attribute.default_label())))
    };
    Attribute::ALL.into_iter().filter_map(correction).collect()
}

#[test]
fn a_story_of_gita_takes_far_fewer_keys_than_a_label_each() {
    let Some(gita) = real_data("data/gita/GITA_test.json") else { return };
    let file = read_file(&gita).unwrap();
    let stories = file.split("test").unwrap();
    let story = |id: &str| stories.iter().find(|story| story.id == id).unwrap();
    let tiny = Tiny::new();
    let run = std::env::var_os("TIERED_ANNOTATE_RUN").map(PathBuf::from);
    let run = run.unwrap_or_else(|| tiny.trained("run", &["--set", "model.detector.kind=joint"]));
    let mut totals = [0, 0];
    for id in ["0", "1", "2"] {
        let plausible = story(id);
        let mut person = Person { served: Served::start(&[&run]), keys: 0, entities: HashMap::new() };
        person.served.edit(None, json!([{"op": "add_story", "sentences": plausible.sentences}]));
        person.name_entities("1", plausible);
        person.label("1", plausible);
        person.assert_labelled("1", plausible);
        let by_hand = 20 * plausible.entities.len() * plausible.sentences.len();
        println!("story {id} of GITA: {} keystrokes, {by_hand} labels by hand", person.keys);
        assert!(person.keys * 2 < by_hand, "{} of {by_hand}", person.keys);
        totals = [totals[0] + person.keys, totals[1] + by_hand];
    }
    println!("in all: {} keystrokes, {} labels by hand", totals[0], totals[1]);
}
