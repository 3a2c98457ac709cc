//! Reads `samples_TASK_DATE.jsonl`, ours and the harness's, older and newer. Fields are read by name, and what they
//! claim (`acc`, `target`) is recomputed from the story and the scores.

use crate::error::{Error, Result};
use crate::llm::choice::Choice;
use crate::llm::scorer::OptionScore;
use crate::llm::story::{AskedStory, StoryKind};
use crate::llm::tier::{Protocol, Tier};
use crate::untrusted::{self, MAX_PREDICTIONS, json_line_error, shown};
use serde_json::Value;
use std::path::Path;

/// One recorded answer.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleRecord {
    /// The row is the place in the file.
    pub story: AskedStory,
    /// As the options tell.
    pub tier: Tier,
    /// What the model was shown before each option.
    pub prompt: String,
    /// Without the white space around them.
    pub options: Vec<String>,
    /// One for each option.
    pub scores: Vec<OptionScore>,
    /// Recomputed from the scores.
    pub choice: Choice,
    /// `gita4calamita` where the record names none, as the harness's do.
    pub protocol: Protocol,
    /// Whether only stories were asked about that the tier before got right.
    pub cascade: bool,
}

impl SampleRecord {
    /// The option chosen, if one was.
    pub fn chosen(&self) -> Option<&str> {
        self.choice.index().map(|index| self.options[index].as_str())
    }

    /// Whether the right option was chosen.
    pub fn is_right(&self) -> bool {
        self.chosen().is_some_and(|option| self.story.is_right(self.tier, option))
    }

    /// Whether no option is right.
    pub fn has_no_right_option(&self) -> bool {
        !self.options.iter().any(|option| self.story.is_right(self.tier, option))
    }

    /// The score of an option, if it is known exactly.
    pub fn logprob(&self, option: &str) -> Option<f64> {
        self.scores[self.options.iter().position(|other| other == option)?].exact()
    }

    /// In tier 1: the margin of "true" over "false", if both are known exactly. Two that are "-inf" have none.
    pub fn margin(&self) -> Option<f64> {
        Some(self.logprob("true")? - self.logprob("false")?).filter(|margin| !margin.is_nan())
    }

    /// Whether the model answered in words.
    pub fn is_said(&self) -> bool {
        self.scores.iter().any(|score| matches!(score, OptionScore::Said(_)))
    }
}

/// Reads a file of samples.
///
/// # Errors
/// `MissingInput` or `Io` if it can't be read; `Data`, with the line, if it is something else, or its lines are of
/// different tiers.
pub fn read_samples(path: &Path) -> Result<(Tier, Vec<SampleRecord>)> {
    let bytes = untrusted::read(path, MAX_PREDICTIONS).map_err(|error| Error::reading(path, &error))?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let about = |error: Error| error.about(path.display());
    let samples = parse_samples(&bytes).map_err(about)?;
    let named = Tier::ALL.into_iter().find(|tier| name.contains(tier.task()));
    let tier = samples.first().map(|sample| sample.tier).or(named).ok_or_else(|| {
        about(Error::data("has no lines, and its name does not tell the tier (samples_story_class_DATE.jsonl)"))
    })?;
    if samples.is_empty() && tier == Tier::Story {
        let problem = "has no lines, and tier 1 asks about every story: nothing was recorded, or the file is cut off; name \
                       the whole file";
        return Err(about(Error::data(problem)));
    }
    Ok((tier, samples))
}

/// Reads the bytes of a file of samples.
///
/// # Errors
/// Like [`read_samples`].
pub fn parse_samples(bytes: &[u8]) -> Result<Vec<SampleRecord>> {
    let text = untrusted::text(bytes).map_err(Error::data)?;
    let mut samples: Vec<SampleRecord> = Vec::new();
    for (number, line) in untrusted::lines(text) {
        let wrong = |problem: String| Error::data(format!("line {number}: {problem}"));
        let line: Value =
            serde_json::from_str(line).map_err(|error| wrong(json_line_error(&error)).caused_by(error))?;
        let sample = sample(samples.len(), &line).map_err(wrong)?;
        if let Some(first) = samples.first().filter(|first| first.tier != sample.tier) {
            return Err(wrong(format!("is of {}, and the lines before it of {}", sample.tier, first.tier)));
        }
        samples.push(sample);
    }
    Ok(samples)
}

fn sample(row: usize, line: &Value) -> Result<SampleRecord, String> {
    if !line.is_object() || line.get("doc").is_none() {
        return Err("is no recorded answer: it has no `doc`; name samples_*.jsonl of lm-evaluation-harness".to_owned());
    }
    let protocol = match &line["protocol"] {
        Value::Null => Protocol::Gita4calamita,
        protocol => serde_json::from_value(protocol.clone()).map_err(|_| "`protocol` is unknown".to_owned())?,
    };
    let mut story = AskedStory::from_doc(row, &line["doc"]).map_err(|problem| format!("`doc`: {problem}"))?;
    if protocol != Protocol::Gita4calamita {
        story.kind = StoryKind::of_made(story.made); // not by the letter in its name
    }
    let arguments = arguments(&line["arguments"])?;
    let (prompt, _) = arguments.first().ok_or("`arguments` is empty")?.clone();
    if arguments.iter().any(|(other, _)| *other != prompt) {
        return Err("`arguments`: the options have different prompts".to_owned());
    }
    let options: Vec<String> = arguments.into_iter().map(|(_, option)| option.trim().to_owned()).collect();
    let scores = scores(line)?;
    if scores.len() != options.len() {
        return Err(format!("has {} options and {} scores", options.len(), scores.len()));
    }
    Ok(SampleRecord {
        tier: tier_of(&options)?,
        choice: Choice::of(&scores),
        cascade: line["cascade"].as_bool().unwrap_or(true),
        story,
        prompt,
        options,
        scores,
        protocol,
    })
}

/// The tier that has such options.
fn tier_of(options: &[String]) -> Result<Tier, String> {
    let is_pair = |option: &String| {
        let numbers =
            option.split_once(" and ").map(|(first, second)| (first.parse::<usize>(), second.parse::<usize>()));
        matches!(numbers, Some((Ok(_), Ok(_))))
    };
    if options.iter().all(|option| ["true", "false"].contains(&option.as_str())) {
        Ok(Tier::Story)
    } else if options.iter().all(is_pair) {
        Ok(Tier::Conflict)
    } else if options.iter().all(|option| crate::llm::options::STATES.contains(&option.as_str())) {
        Ok(Tier::State)
    } else {
        let options = shown(&options.join(", "), 100);
        Err(format!("its options are those of none of the three tiers: {options}"))
    }
}

/// Prompt and continuation of every option: an object of `gen_args_0` and so on, or a list of lists.
fn arguments(arguments: &Value) -> Result<Vec<(String, String)>, String> {
    let texts =
        |prompt: &Value, continuation: &Value| Some((prompt.as_str()?.to_owned(), continuation.as_str()?.to_owned()));
    let one = |argument: &Value| match argument {
        Value::Array(list) => texts(list.first()?, list.get(1)?),
        object => texts(object.get("arg_0")?, object.get("arg_1")?),
    };
    let read: Option<Vec<_>> = match arguments {
        Value::Array(list) => list.iter().map(one).collect(),
        Value::Object(named) => (0..named.len()).map(|i| one(named.get(&format!("gen_args_{i}"))?)).collect(),
        _ => None,
    };
    read.ok_or_else(|| "`arguments` must have a prompt and a continuation for each option".to_owned())
}

/// From `filtered_resps`, or `resps`, which has one more list around each.
fn scores(line: &Value) -> Result<Vec<OptionScore>, String> {
    const WRONG: &str = "must have a log-probability and whether it is greedy for each option";
    let (field, list) = match (line["filtered_resps"].as_array(), line["resps"].as_array()) {
        (Some(list), _) => ("filtered_resps", list),
        (None, Some(list)) => ("resps", list),
        (None, None) => return Err(format!("`resps` {WRONG}")),
    };
    let mut scores = Vec::new();
    for (i, score) in list.iter().enumerate() {
        let pair = score.get(0).filter(|inner| inner.is_array()).unwrap_or(score);
        let (Some(logprob), Some(is_greedy)) = (pair.get(0).and_then(number), pair.get(1).and_then(flag)) else {
            return Err(format!("`{field}` {WRONG}"));
        };
        if logprob.is_nan() || logprob > 0. {
            return Err(format!("`{field}`: {logprob} is no log-probability; it must be at most 0"));
        }
        scores.push(match (line.get("said"), line["at_most"][i].as_bool()) {
            (Some(_), _) => OptionScore::Said(is_greedy),
            (None, Some(true)) => OptionScore::AtMost(logprob),
            _ => OptionScore::Exact { logprob, is_greedy },
        });
    }
    Ok(scores)
}

/// A number, or the text of one.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// A boolean, or Python's text of one.
fn flag(value: &Value) -> Option<bool> {
    value.as_bool().or_else(|| match value.as_str()? {
        "True" | "true" => Some(true),
        "False" | "false" => Some(false),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_official_protocol_tells_kinds_by_the_letters_of_ids() {
        let kind = |protocol: Value| {
            let doc = json!({
                "example_id": "story7", "story_id": 7, "type": "cloze", "sentences": ["a", "b"], "plausible": false,
                "confl_sents": [0], "breakpoint": 1, "states": null,
            });
            let (arguments, scores) = (json!([["p", "true"], ["p", "false"]]), json!([[-1.0, true], [-2.0, false]]));
            let line = json!({"doc": doc, "arguments": arguments, "resps": scores, "protocol": protocol});
            sample(0, &line).unwrap().story.kind
        };
        assert_eq!((kind(Value::Null), kind(json!("trip"))), (StoryKind::Plausible, StoryKind::Cloze));
    }
}
