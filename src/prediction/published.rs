//! Reads the list of predictions released with GITA: one object for each pair, with the nontrivial states of the
//! implausible story.

use super::{
    EntityGold, EntityPrediction, LabelledPair, PairGold, PairPrediction, PredictedStates, StoryGold, StoryPrediction,
};
use crate::attribute::{ATTRIBUTES, Attribute};
use crate::untrusted::{MAX_SENTENCES, json_error, shown};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Entity -> sentence -> attribute -> nontrivial class.
type States = BTreeMap<String, BTreeMap<usize, BTreeMap<Attribute, u8>>>;

/// One item. Its own scores (`consistent`, `valid_explanation`) are not read.
#[derive(Deserialize)]
#[serde(expecting = "an object about a pair")]
struct Item {
    example_id: String,
    story_label: usize,
    story_pred: usize,
    conflict_label: [usize; 2],
    conflict_pred: BTreeSet<usize>,
    preconditions_label: States,
    preconditions_pred: States,
    effects_label: States,
    effects_pred: States,
    /// The sentences, one on each line.
    story0: String,
    story1: String,
}

/// Reads the list and fills in what it lacks: the plausible story has no entities, `story_probs` are 0 and 1, conflict
/// probabilities and their gold values are 0, and a state that is not listed has class 0.
pub(super) fn parse(text: &str) -> Result<Vec<LabelledPair>, String> {
    let items: Vec<Item> = serde_json::from_str(text)
        .map_err(|error| format!("is not a list of predictions as published with GITA: {}", json_error(&error)))?;
    let mut first = HashMap::new();
    let convert = |(i, item): (usize, Item)| {
        let position = format!("item {i} ({})", shown(&item.example_id, 40));
        let pair = prediction(item).map_err(|error| format!("{position}: {error}"))?;
        // Another story of this name is another pair: one of the published lists has such a pair.
        match first.insert((pair.id.clone(), pair.implausible_story().prediction.sentences.clone()), i) {
            None => Ok(pair),
            Some(first) => Err(format!("{position}: is item {first} too; remove one of them")),
        }
    };
    items.into_iter().enumerate().map(convert).collect()
}

fn prediction(item: Item) -> Result<LabelledPair, String> {
    if item.story_label > 1 || item.story_pred > 1 {
        return Err("story_label and story_pred must be 0 or 1".into());
    }
    let mut stories = [&item.story0, &item.story1].map(|text| {
        let sentences = text.split('\n').map(str::to_owned).collect();
        StoryPrediction::without_sentence_pairs("", sentences, Vec::new())
    });
    let (group, kind) = group_and_kind(&item.example_id)?;
    let implausible = &mut stories[1 - item.story_label];
    let labelled = entities(&item, implausible.sentences.len())?;
    let (gold, predicted) = labelled.into_iter().unzip();
    implausible.entities = predicted;
    let mut gold_stories = [StoryGold::default(), StoryGold::default()];
    gold_stories[1 - item.story_label].entities = gold;
    implausible.id.clone_from(&item.example_id);
    stories[item.story_label].id = group.to_string();
    let mut story_probs = [0.0; 2];
    story_probs[item.story_pred] = 1.0;
    let conflict = item.conflict_pred.into_iter().collect();
    let gold = PairGold { plausible: item.story_label, conflict: item.conflict_label, stories: gold_stories };
    let prediction = PairPrediction { plausible: item.story_pred, story_probs, conflict, stories };
    let pair = LabelledPair { id: item.example_id, group, kind: kind.to_owned(), gold, prediction };
    pair.check()?;
    Ok(pair)
}

/// "12-C0" is a cloze story of group 12, "12-O1" an order story.
fn group_and_kind(id: &str) -> Result<(i64, &'static str), String> {
    let (number, suffix) = id.split_once('-').unwrap_or((id, ""));
    let kind = match suffix.chars().next() {
        Some('C') => "cloze",
        Some('O') => "order",
        _ => return Err("example_id must end in -C or -O and a number".into()),
    };
    Ok((number.parse().map_err(|_| "example_id must begin with a number")?, kind))
}

/// The entities named in any of the four maps.
fn entities(item: &Item, sentences: usize) -> Result<Vec<(EntityGold, EntityPrediction)>, String> {
    let maps = [&item.preconditions_label, &item.preconditions_pred, &item.effects_label, &item.effects_pred];
    if sentences > MAX_SENTENCES {
        return Err(format!("the story has {sentences} sentences; at most {MAX_SENTENCES} are allowed"));
    }
    let names: BTreeSet<_> = maps.iter().flat_map(|states| states.keys()).collect();
    let entity = |name: &String| {
        let rows = |states: &States| rows(states, name, sentences);
        let predicted =
            |states: &States| Ok::<_, String>(PredictedStates { classes: rows(states)?, candidates: Vec::new() });
        let gold = EntityGold {
            conflicts: vec![0; sentences],
            preconditions: rows(&item.preconditions_label)?,
            effects: rows(&item.effects_label)?,
        };
        let prediction = EntityPrediction {
            name: name.clone(),
            conflict_probs: vec![0.0; sentences],
            preconditions: predicted(&item.preconditions_pred)?,
            effects: predicted(&item.effects_pred)?,
        };
        Ok((gold, prediction))
    };
    names.into_iter().map(entity).collect()
}

/// `[N][20]` classes of one entity.
fn rows(states: &States, name: &str, sentences: usize) -> Result<Vec<[u8; ATTRIBUTES]>, String> {
    let mut rows = vec![[0; ATTRIBUTES]; sentences];
    for (&sentence, classes) in states.get(name).into_iter().flatten() {
        let row =
            rows.get_mut(sentence).ok_or_else(|| format!("{:?}: there is no sentence {sentence}", shown(name, 40)))?;
        for (attribute, &class) in classes {
            row[attribute.index()] = class;
        }
    }
    Ok(rows)
}
