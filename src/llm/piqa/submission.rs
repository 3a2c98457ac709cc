//! A submission to the benchmark: what a system predicts for a set, in the form that its `eval.py` reads.

use crate::error::{Error, Result};
use crate::schema::SchemaVersion;
use crate::untrusted;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::Path;

/// How the predictions were made. Scores of different protocols are not comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PiqaProtocol {
    /// The model answered the benchmark's prompt in words.
    Answer,
    /// The likelier solution after the situation, by the sum of its tokens' log-probabilities.
    LikelihoodSum,
    /// The same, divided by the solution's characters.
    LikelihoodPerCharacter,
}

impl PiqaProtocol {
    /// The benchmark's own protocol first.
    pub const ALL: [PiqaProtocol; 3] =
        [PiqaProtocol::Answer, PiqaProtocol::LikelihoodSum, PiqaProtocol::LikelihoodPerCharacter];

    /// To follow a system's name in files and tables; empty for the benchmark's own protocol.
    pub fn suffix(self) -> &'static str {
        match self {
            PiqaProtocol::Answer => "",
            PiqaProtocol::LikelihoodSum => "-likelihood-sum",
            PiqaProtocol::LikelihoodPerCharacter => "-likelihood-per-character",
        }
    }
}

/// A submission file. Its further keys are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    /// The system's name, in ours with the protocol's suffix.
    pub system: String,
    /// The benchmark reads only the first.
    pub predictions: Vec<SetPredictions>,
    /// What ours say besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiered: Option<Making>,
    /// Further keys, written back as they were read.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The predictions for one set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetPredictions {
    /// What the system was trained on; ours say "NA (zero-shot)".
    #[serde(default)]
    pub train: Value,
    /// The name of the set that is predicted.
    pub test: String,
    /// 0 or 1 for each item; anything else (2, text) is no answer.
    pub predictions: Vec<Value>,
    /// Further keys, written back as they were read.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// How one of our submissions was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Making {
    /// The version of our formats that the file was written in.
    pub schema_version: SchemaVersion,
    /// How the model was asked.
    pub protocol: PiqaProtocol,
    /// SHA-256 of the data set's file.
    pub data_sha256: String,
    /// Of all prompts ([`prompts_sha256`](super::prompts_sha256)): what was asked about.
    pub prompts_sha256: String,
    /// Items whose answer can't be read, or whose scores decide nothing; predicted 2.
    pub unanswered: usize,
    /// Items whose solutions are equally likely; predicted 0.
    #[serde(default)]
    pub ties: usize,
    /// Parameters of questions in words that the server refused, so that they were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl Submission {
    /// What a system predicts for a set; `None` becomes 2.
    pub fn new(system: &str, set: &str, predictions: &[Option<u8>], making: Making) -> Self {
        let predictions = predictions.iter().map(|prediction| prediction.unwrap_or(super::UNANSWERED).into()).collect();
        let of_set =
            SetPredictions { train: "NA (zero-shot)".into(), test: set.to_owned(), predictions, more: Map::new() };
        let system = format!("{system}{}", making.protocol.suffix());
        Submission { system, predictions: vec![of_set], tiered: Some(making), more: Map::new() }
    }

    /// Reads a file whose name holds "submission-", as the benchmark asks.
    ///
    /// # Errors
    /// `MissingInput`, `Io`; `Data` if it is no submission.
    pub fn read(path: &Path) -> Result<Self> {
        let about = |message: String| Error::data(message).about(path.display());
        if !path.file_name().is_some_and(|name| name.to_string_lossy().contains("submission-")) {
            return Err(about("its name must hold \"submission-\", as the benchmark asks; rename it".into()));
        }
        let bytes = untrusted::read(path, untrusted::MAX_BATCH).map_err(|error| Error::reading(path, &error))?;
        let text = untrusted::text(&bytes).map_err(about)?;
        let submission: Submission =
            serde_json::from_str(text).map_err(|error| about(untrusted::json_error(&error)).caused_by(error))?;
        let Some(first) = submission.predictions.first() else {
            return Err(about("\"predictions\" is empty; it needs an entry with \"test\" and \"predictions\"".into()));
        };
        untrusted::component(&first.test).map_err(|error| about(format!("\"test\": {error}")))?;
        Ok(submission)
    }

    /// The entry that the benchmark reads.
    pub fn first(&self) -> &SetPredictions {
        &self.predictions[0]
    }

    /// As one of ours says; any other submission is taken for answers in words.
    pub fn protocol(&self) -> PiqaProtocol {
        self.tiered.as_ref().map_or(PiqaProtocol::Answer, |making| making.protocol)
    }

    /// The file's content, on one line as the benchmark's own are.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a submission can be written as JSON")
    }
}

/// `submission-SYSTEM-SET.json`, without colons, slashes and the like (in "gemma3:27b").
pub fn file_name(kind: &str, system: &str, set: &str, extension: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "-_.+=@".contains(c) { c } else { '-' };
    format!("{kind}-{}-{set}.{extension}", system.chars().map(safe).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn making(protocol: PiqaProtocol) -> Making {
        let [data_sha256, prompts_sha256] = ["aa", "bb"].map(str::to_owned);
        Making {
            schema_version: SchemaVersion,
            protocol,
            data_sha256,
            prompts_sha256,
            unanswered: 1,
            ties: 0,
            left_out: Vec::new(),
        }
    }

    #[test]
    fn ours_begin_as_theirs() {
        let submission =
            Submission::new("gemma3:27b", "piqa-sl", &[Some(0), None, Some(1)], making(PiqaProtocol::Answer));
        let begin = r#"{"system":"gemma3:27b","predictions":[{"train":"NA (zero-shot)","test":"piqa-sl","predictions":[0,2,1]}],"tiered":{"#;
        assert!(submission.to_json().starts_with(begin), "{}", submission.to_json());
        let by_sum = Submission::new("gemma3:27b", "piqa-sl", &[Some(0)], making(PiqaProtocol::LikelihoodSum));
        assert_eq!(by_sum.system, "gemma3:27b-likelihood-sum");
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join(file_name("submission", &submission.system, "piqa-sl", "json"));
        assert!(path.ends_with("submission-gemma3-27b-piqa-sl.json"));
        std::fs::write(&path, submission.to_json()).unwrap();
        assert_eq!(Submission::read(&path).unwrap(), submission);
    }

    #[test]
    fn names_hold_nothing_that_a_file_system_minds() {
        assert_eq!(
            file_name("submission", "google/gemini-2.5-pro", "s", "json"),
            "submission-google-gemini-2.5-pro-s.json"
        );
        assert_eq!(file_name("answers", "../a b", "s", "jsonl"), "answers-..-a-b-s.jsonl");
    }

    #[test]
    fn theirs_are_read_with_whatever_keys_they_have() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("my-submission-x.json");
        let text = r#"{"system": "x", "predictions": [{"test": "piqa-hr", "predictions": [0, "b", 2, 1]}, {"test": "piqa-en", "predictions": []}], "lr": "4e-5"}"#;
        std::fs::write(&path, text).unwrap();
        let submission = Submission::read(&path).unwrap();
        assert_eq!((submission.protocol(), submission.first().predictions.len()), (PiqaProtocol::Answer, 4));
        assert_eq!(submission.more["lr"], "4e-5");
    }

    #[test]
    fn what_is_no_submission_is_refused() {
        let folder = tempfile::TempDir::new().unwrap();
        let said = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            Submission::read(&path).unwrap_err().message
        };
        assert!(said("x.json", "{}").contains("its name must hold \"submission-\""));
        assert!(said("submission-a.json", "{}").contains("missing field `system`"));
        assert!(
            said("submission-b.json", r#"{"system": "x", "predictions": []}"#).contains("\"predictions\" is empty")
        );
        let outside = r#"{"system": "x", "predictions": [{"test": "../secret", "predictions": []}]}"#;
        assert!(said("submission-c.json", outside).contains("\"../secret\" can't be used as a path"));
        let newer =
            r#"{"system": "x", "predictions": [{"test": "a", "predictions": []}], "tiered": {"schema_version": 2}}"#;
        assert!(said("submission-d.json", newer).contains("schema_version 2 is not supported"));
    }
}
