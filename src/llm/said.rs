//! What a language model was asked, and what it said: for readers, beside a trained system's answers.

use super::cascade::QuestionAnswer;
use super::choice::Choice;
use super::question::Question;
use super::record::{SampleRecord, records_in};
use super::scorer::OptionScore;
use super::tier::Tier;
use crate::error::{Error, Result};
use crate::schema;
use crate::untrusted::{self, MAX_PREDICTIONS, json_line_error};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file of questions and answers in a folder that has no records: that of protocol har.
pub const QUESTIONS: &str = "questions.jsonl";

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Id of the story asked about; of a pair, of its implausible story.
    pub id: String,
    /// Whether it was asked about both stories of a pair.
    pub of_pair: bool,
    /// The tier that asked.
    pub tier: Tier,
    /// As rendered, with instruction and shots.
    pub prompt: String,
    /// All options, in the order in which they were asked.
    pub options: Vec<SaidOption>,
    /// `null` if no option was chosen.
    pub chosen: Option<String>,
    /// Absent where no answer alone is right: by protocol har.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_right: Option<bool>,
}

/// An option, and how likely it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SaidOption {
    /// Without white space around it.
    pub text: String,
    /// Natural logarithm; `null` if it is not known exactly.
    pub logprob: Option<f64>,
}

impl Said {
    fn new(id: &str, tier: Tier, prompt: &str, options: &[String], scores: &[OptionScore], choice: Choice) -> Self {
        let option = |(text, score): (&String, &OptionScore)| SaidOption {
            text: text.trim().to_owned(),
            logprob: score.exact(),
        };
        Said {
            id: id.to_owned(),
            of_pair: false,
            tier,
            prompt: prompt.to_owned(),
            options: options.iter().zip(scores).map(option).collect(),
            chosen: choice.index().map(|index| options[index].trim().to_owned()),
            is_right: None,
        }
    }

    /// Of a recorded answer.
    pub fn of_sample(sample: &SampleRecord) -> Self {
        let SampleRecord { story, tier, prompt, options, scores, choice, .. } = sample;
        Said { is_right: Some(sample.is_right()), ..Said::new(&story.id, *tier, prompt, options, scores, *choice) }
    }

    /// Of an answer about a pair, by protocol har.
    pub fn of_step(pair: &str, step: &QuestionAnswer) -> Self {
        let Question { tier, prompt, options, .. } = &step.question;
        Said { of_pair: true, ..Said::new(pair, *tier, prompt, options, &step.scores, step.choice) }
    }
}

/// All questions and answers in the folder of a run of `tiered llm eval`, in the order in which they were asked.
///
/// # Errors
/// `Data`, with the line, if a file is wrong; `MissingInput` if there is none.
pub fn read_said(folder: &Path) -> Result<Vec<Said>> {
    let path = folder.join(QUESTIONS);
    if !path.is_file() {
        let records = records_in(folder)?;
        return Ok(records.tiers.values().flatten().map(Said::of_sample).collect());
    }
    let bytes = untrusted::read(&path, MAX_PREDICTIONS).map_err(|error| Error::reading(&path, &error))?;
    let text = untrusted::text(&bytes).map_err(|problem| Error::data(problem).about(path.display()))?;
    let line = |(number, line): (usize, &str)| {
        let about = |problem: String| Error::data(format!("{}: line {}: {problem}", path.display(), number + 1));
        schema::from_str(line).map_err(|error| about(json_line_error(&error)).caused_by(error))
    };
    text.lines().enumerate().map(line).collect()
}
