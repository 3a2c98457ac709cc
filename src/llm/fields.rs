//! Reads one story from its JSON object: a line of the official file, a story of a dense file, the `doc` of a record.

use super::options::STATES;
use super::story::{AskedStory, GoldStates, StoryKind};
use crate::data::Kind;
use crate::untrusted::{MAX_NAME, MAX_SENTENCES, shown};
use serde_json::Value;

impl AskedStory {
    /// The story in a JSON object. Contradictions are kept as they are: `plausible` says whether it is plausible.
    ///
    /// # Errors
    /// A message that names the field, for the caller to put the file and the row in front.
    pub fn from_doc(row: usize, doc: &Value) -> Result<Self, String> {
        let id = text(doc, "example_id")?;
        if id.chars().count() > MAX_NAME {
            return Err(format!("`example_id` has more than {MAX_NAME} characters"));
        }
        Ok(AskedStory {
            row,
            kind: StoryKind::from_id(&id),
            group: doc["story_id"].as_i64().ok_or("`story_id` must be an integer")?,
            sentences: sentences(doc)?,
            plausible: doc["plausible"].as_bool().ok_or("`plausible` must be true or false")?,
            made: made(doc)?,
            conflict: conflict(doc)?,
            states: states(doc)?,
            id,
            doc: doc.clone(),
        })
    }
}

fn text(doc: &Value, field: &str) -> Result<String, String> {
    doc[field].as_str().map(str::to_owned).ok_or_else(|| format!("`{field}` must be a string"))
}

fn sentences(doc: &Value) -> Result<Vec<String>, String> {
    const WRONG: &str = "`sentences` must be a list of strings";
    let list = doc["sentences"].as_array().ok_or(WRONG)?;
    let sentences: Option<Vec<_>> = list.iter().map(|sentence| sentence.as_str().map(str::to_owned)).collect();
    match sentences {
        Some(sentences) if sentences.len() > MAX_SENTENCES => Err(format!("has more than {MAX_SENTENCES} sentences")),
        Some(sentences) if !sentences.is_empty() => Ok(sentences),
        _ => Err(WRONG.to_owned()),
    }
}

fn made(doc: &Value) -> Result<Option<Kind>, String> {
    match &doc["type"] {
        Value::Null => Ok(None),
        Value::String(name) if Kind::from_name(name).is_some() => Ok(Kind::from_name(name)),
        _ => Err("`type` must be null, \"cloze\" or \"order\"".to_owned()),
    }
}

/// `confl_sents[0]` and `breakpoint`, as the program takes them; `None` if either is missing.
fn conflict(doc: &Value) -> Result<Option<[usize; 2]>, String> {
    let breakpoint = match doc["breakpoint"].as_i64() {
        Some(breakpoint) => usize::try_from(breakpoint).ok(),
        None => return Err("`breakpoint` must be an integer".to_owned()),
    };
    let first = match &doc["confl_sents"] {
        Value::Null => None,
        list @ Value::Array(_) => first_number(list).ok_or("`confl_sents` must be a list of integers from 0")?,
        _ => return Err("`confl_sents` must be a list".to_owned()),
    };
    Ok(first.zip(breakpoint).map(Into::into))
}

/// The first number of a list that may be nested; `Some(None)` if it has none, `None` if it has something else first.
fn first_number(value: &Value) -> Option<Option<usize>> {
    match value {
        Value::Array(items) => items.iter().map(first_number).find(|found| *found != Some(None)).unwrap_or(Some(None)),
        number => number.as_u64().map(|number| usize::try_from(number).ok()),
    }
}

/// One name, a list of names, or dense states, which name none.
fn states(doc: &Value) -> Result<GoldStates, String> {
    match &doc["states"] {
        Value::String(state) => Ok(GoldStates::Named(state.clone())),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let known = |item: &Value| STATES.into_iter().find(|state| item == state).ok_or_else(|| unknown(item));
            items.iter().map(known).collect::<Result<_, _>>().map(GoldStates::Any)
        }
        Value::Null | Value::Array(_) => Ok(GoldStates::Unknown),
        _ => Err("`states` must be a state's name or a list".to_owned()),
    }
}

fn unknown(state: &Value) -> String {
    let state = shown(state.as_str().unwrap_or_default(), 40);
    format!("`states` names {state:?}; the states are {}", STATES.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn doc() -> Value {
        json!({"story_id": 3, "example_id": "3-O0", "type": "order", "sentences": ["a", "b ", "c"], "plausible": false,
               "breakpoint": 2, "confl_sents": [0, 1], "states": "open"})
    }

    #[test]
    fn a_story_is_read_as_it_is() {
        let story = AskedStory::from_doc(7, &doc()).unwrap();
        assert_eq!((story.row, story.group, story.kind), (7, 3, StoryKind::Order));
        assert_eq!((story.conflict, &story.states), (Some([0, 2]), &GoldStates::Named("open".into())));
        assert_eq!(story.sentences[1], "b ", "a blank at the end of a sentence stays");
    }

    #[test]
    fn all_forms_of_conflicts_and_states_are_read() {
        let with = |field: &str, value: Value| {
            let mut doc = doc();
            doc[field] = value;
            AskedStory::from_doc(0, &doc)
        };
        assert_eq!(with("confl_sents", json!([[1]])).unwrap().conflict, Some([1, 2]));
        assert_eq!(with("confl_sents", json!([[], 1])).unwrap().conflict, Some([1, 2]));
        assert_eq!(with("confl_sents", json!([])).unwrap().conflict, None);
        assert_eq!(with("breakpoint", json!(-1)).unwrap().conflict, None);
        assert_eq!(with("states", json!([{"open": []}])).unwrap().states, GoldStates::Unknown);
        assert_eq!(with("states", json!(["wet", "open"])).unwrap().states, GoldStates::Any(vec!["wet", "open"]));
        for (field, value) in [
            ("states", json!(["dry"])),
            ("confl_sents", json!(["a"])),
            ("sentences", json!([])),
            ("sentences", json!(["a", 2])),
            ("plausible", json!(1)),
            ("type", json!("swap")),
            ("story_id", json!("3")),
        ] {
            let error = with(field, value).unwrap_err();
            assert!(error.contains(field), "{error}");
        }
    }
}
