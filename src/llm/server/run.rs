//! The folder of a run: what was settled when it began, the journal, and a lock. The same command goes on with it.
//!
//! | file | holds |
//! |---|---|
//! | `run.json` | data, protocol, model, server, way, probe: [`Settled`] |
//! | `journal.jsonl` | every answer, as soon as it is there |
//! | `samples_TASK_DATE.jsonl`, `results_TASK_DATE.json` | the records of each tier, as lm-evaluation-harness writes them |
//! | `predictions.jsonl` | protocols pairs and har: the answers as predictions about pairs |
//! | `questions.jsonl` | protocol har: every prompt with its options |
//! | `results.json` | the summary |

use super::Server;
use super::identity::Identity;
use super::journal::Journal;
use super::kind::Way;
use super::probe::{ProbeReport, TOLERANCE};
use crate::durable::{self, Lock};
use crate::error::{Error, ErrorKind, Result};
use crate::schema;
use crate::untrusted::shown;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use time::OffsetDateTime;

const SETTLED: &str = "run.json";
const JOURNAL: &str = "journal.jsonl";
/// Fields that may differ when a run goes on, or are compared in another way: the file of stories may have moved.
/// Departures are words for what other fields say, and an earlier version may have had others.
const NOT_COMPARED: [&str; 6] = ["date", "probe", "server", "data", "refused_ways", "departures"];

/// What a run is. When it goes on, all of it must be as it was, but for float noise in the probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// When it began: "2026-01-31T12-00-00", UTC.
    pub date: String,
    /// What is asked: data, protocol and what differs from it.
    pub asked: Map<String, Value>,
    /// The model and the server that it is on.
    pub server: Identity,
    /// How the server is asked.
    pub way: Way,
    /// Whether prompts are sent as token ids, else as text.
    pub sends_ids: bool,
    /// Start tokens that were asked for; `None`: the model's own.
    pub bos: Option<u32>,
    /// What names the tokenizer: [`Server::tokenizer`].
    pub tokenizer: String,
    /// What the probe showed; `None` for the way `said`.
    pub probe: Option<ProbeReport>,
    /// Ways that were tried before, when the run began, each with the reason against it.
    #[serde(default)]
    pub refused_ways: Vec<String>,
}

/// A locked folder of a run.
pub struct LlmRunFolder {
    path: PathBuf,
    _lock: Lock,
}

impl LlmRunFolder {
    /// Creates the folder, or opens it.
    ///
    /// # Errors
    /// `CantCreate` if it can't be created, another process works in it, or it holds something else.
    pub fn open(path: &Path) -> Result<Self> {
        let is_other = path.is_dir() && !path.join(SETTLED).exists() && has_files(path)?;
        if is_other {
            let message = format!("{}: has files, but no {SETTLED}; choose another folder", path.display());
            return Err(Error::new(ErrorKind::CantCreate, message));
        }
        durable::create_folder(path)?;
        let lock = Lock::take(&path.join("lock"))?;
        durable::remove_leftovers(path)?;
        Ok(LlmRunFolder { path: path.to_owned(), _lock: lock })
    }

    /// The folder, as it was named when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was settled, if the run has begun.
    ///
    /// # Errors
    /// `Io`; `Data` if the file is invalid.
    pub fn settled(&self) -> Result<Option<Settled>> {
        Settled::read(&self.path)
    }

    /// Keeps what is settled. A run that goes on keeps what it began with.
    ///
    /// # Errors
    /// `Config`, naming what differs, if this is another run; `Io`.
    pub fn settle(&self, now: Settled) -> Result<Settled> {
        let Some(then) = self.settled()? else {
            durable::replace(&self.path.join(SETTLED), schema::document(&now).as_bytes())?;
            return Ok(now);
        };
        let differences = then.differences(&now);
        if differences.is_empty() {
            return Ok(then);
        }
        let remedy = "go on with the same command and server, or choose another --output";
        let differences = differences.join("\n  ");
        let message = format!("{}: this run began otherwise\n  {differences}\n{remedy}", self.path.display());
        Err(Error::config(message))
    }

    /// # Errors
    /// As [`Journal::open`].
    pub fn journal(&self) -> Result<Journal> {
        Journal::open(&self.path.join(JOURNAL))
    }
}

/// Whether it has more than a killed run leaves before it settled anything.
fn has_files(path: &Path) -> Result<bool> {
    let entries = std::fs::read_dir(path).map_err(|error| Error::reading(path, &error))?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<std::io::Result<Vec<_>>>();
    let names = names.map_err(|error| Error::reading(path, &error))?;
    Ok(names.iter().any(|name| name != "lock" && !name.as_encoded_bytes().starts_with(b".")))
}

/// `runs/llm/PROTOCOL-MODEL`: of the model's name what may stand in a file name.
pub fn default_folder(protocol: &str, model: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let model: String = model.chars().map(plain).take(80).collect();
    Path::new("runs/llm").join(format!("{protocol}-{model}"))
}

/// "2026-01-31T12-00-00", UTC: now, or as the variable `SOURCE_DATE_EPOCH` says, for files that can be compared.
fn date() -> String {
    let set = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    let set = set.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    let now = set.unwrap_or_else(OffsetDateTime::now_utc);
    let (year, month, day) = (now.year(), u8::from(now.month()), now.day());
    format!("{year:04}-{month:02}-{day:02}T{:02}-{:02}-{:02}", now.hour(), now.minute(), now.second())
}

impl Settled {
    /// What is settled with this server, now. `bos`: the start tokens that were asked for.
    pub fn now(server: &Server, asked: Map<String, Value>, bos: Option<u32>) -> Self {
        Settled {
            date: date(),
            asked,
            server: server.identity().clone(),
            way: server.way(),
            sends_ids: server.sends_ids(),
            bos,
            tokenizer: server.tokenizer(),
            probe: server.probe().cloned(),
            refused_ways: server.refusals().to_vec(),
        }
    }

    /// What was settled in a run's folder, if a run has begun there.
    ///
    /// # Errors
    /// `Io`; `Data` if the file is invalid.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        durable::read_document(&folder.join(SETTLED))
    }

    /// What differs, one line each.
    pub fn differences(&self, now: &Settled) -> Vec<String> {
        let mut differences = self.server.differences(&now.server);
        let (ours, theirs) = (self.fields(), now.fields());
        for (name, then) in &ours {
            let other = theirs.get(name).unwrap_or(&Value::Null);
            if then != other {
                let (then, other) = (shown(&then.to_string(), 120), shown(&other.to_string(), 120));
                differences.push(format!("{name}: {then} then, {other} now"));
            }
        }
        differences.extend(probe_difference(self.probe.as_ref(), now.probe.as_ref()));
        differences
    }

    /// All of it, with what was asked beside the rest.
    pub fn flat(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else { return Map::new() };
        if let Some(Value::Object(asked)) = fields.remove("asked") {
            fields.extend(asked);
        }
        fields
    }

    /// All that is compared as it is.
    fn fields(&self) -> Map<String, Value> {
        let mut fields = self.flat();
        NOT_COMPARED.iter().for_each(|name| drop(fields.remove(*name)));
        fields
    }
}

/// A model that gives other log-probabilities is another model, whatever it is called.
fn probe_difference(then: Option<&ProbeReport>, now: Option<&ProbeReport>) -> Option<String> {
    let (then, now) = (then?, now?);
    let same = |(then, now): (&super::Probe, &super::Probe)| {
        then.prompt == now.prompt && then.token == now.token && (then.generated - now.generated).abs() <= TOLERANCE
    };
    let is_same = then.probes.len() == now.probes.len() && then.probes.iter().zip(&now.probes).all(same);
    let shown = |report: &ProbeReport| {
        let probes = report.probes.iter().map(|probe| format!("{:?} {:.3}", probe.token, probe.generated));
        probes.collect::<Vec<_>>().join(", ")
    };
    (!is_same)
        .then(|| format!("the model's own words and their log-probabilities: {} then, {} now", shown(then), shown(now)))
}

#[cfg(test)]
mod tests {
    use super::super::{Probe, ServerKind};
    use super::*;
    use serde_json::json;

    fn settled(generated: f64) -> Settled {
        let probe = Probe { prompt: "a".into(), token: "b".into(), generated, by_way: generated, unlikely: -20. };
        Settled {
            date: "2026-01-31T12-00-00".into(),
            asked: Map::from_iter([
                ("protocol".into(), json!("pairs")),
                ("shots".into(), json!(3)),
                ("departures".into(), json!(["1 shots"])),
            ]),
            server: Identity {
                kind: ServerKind::Vllm,
                model: "toy".into(),
                build: None,
                template_sha256: None,
                details: Map::new(),
            },
            way: Way::Echo,
            sends_ids: true,
            bos: None,
            tokenizer: "the server's".into(),
            probe: Some(ProbeReport { probes: vec![probe], largest_difference: 0. }),
            refused_ways: Vec::new(),
        }
    }

    #[test]
    fn a_run_goes_on_as_it_began_or_not_at_all() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("run");
        let run = LlmRunFolder::open(&path).unwrap();
        assert_eq!(run.settle(settled(-1.)).unwrap(), settled(-1.));
        let mut later = Settled { date: "2026-02-01T12-00-00".into(), ..settled(-1.01) };
        later.asked.insert("departures".into(), json!(["1 shot"]));
        assert_eq!(run.settle(later).unwrap(), settled(-1.), "float noise, another day and other words");
        let mut other = Settled { way: Way::Top, ..settled(-2.) };
        other.asked.insert("shots".into(), json!(1));
        let error = run.settle(other).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Config);
        for part in ["way: \"echo\" then, \"top\" now", "shots: 3 then, 1 now", "-1.000 then, \"b\" -2.000 now"] {
            assert!(error.message.contains(part), "{error}");
        }
        assert_eq!(LlmRunFolder::open(&path).err().unwrap().kind, ErrorKind::CantCreate, "it is locked");
    }

    #[test]
    fn a_folder_of_something_else_is_left_alone() {
        let folder = tempfile::TempDir::new().unwrap();
        std::fs::write(folder.path().join("thesis.tex"), "mine").unwrap();
        let error = LlmRunFolder::open(folder.path()).err().unwrap();
        assert!(error.kind == ErrorKind::CantCreate && error.message.contains("no run.json"), "{error}");
    }
}
