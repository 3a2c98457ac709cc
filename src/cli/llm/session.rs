//! A run of `tiered llm eval`: its folder, the server that it asks, and how far it is.

use super::eval_args::Args;
use super::progress::Progress;
use crate::cli::signal::Signals;
use crate::error::{Error, Result};
use crate::llm::Step;
use crate::llm::server::{Choices, Client, RunFolder, Server, Settings, Settled, Way};
use crate::say::{counted, say};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;

/// A run that has begun, or goes on.
pub(super) struct Run {
    pub folder: RunFolder,
    pub settled: Settled,
    pub server: Server,
    progress: Arc<Progress>,
}

impl Run {
    /// Connects to the server, and settles what the run is.
    pub fn begin(args: &Args, asked: Map<String, Value>) -> Result<Self> {
        let settings = Settings::from_environment(&args.server, &args.api_key_env, Duration::from_secs(args.timeout))?;
        let folder = RunFolder::open(&args.output.clone().unwrap_or_else(|| default_output(args)))?;
        let (progress, signals) = (Arc::new(Progress::new()), Signals::watch()?);
        let server = Server::connect(client(settings, &progress, signals), &choices(args, &folder)?)?;
        say!("{}", told(&server));
        let settled = folder.settle(settled(args, asked, &server))?;
        let server = server.with_journal(folder.journal()?);
        if !server.journal().is_empty() {
            say!("{}: going on; {} are there", folder.path().display(), counted(server.journal().len(), "answer"));
        }
        Ok(Run { folder, settled, server, progress })
    }

    pub fn step(&self, step: Step) {
        self.progress.step(step, self.server.asked() > 0);
    }

    /// The answers, or the error with what is kept. All answers so far are on the disk.
    pub fn ended<T>(&self, answers: Result<T>) -> Result<T> {
        self.progress.finish();
        self.server.journal().sync()?;
        let kept = counted(self.server.journal().len(), "answer");
        let about = |error: Error| Error {
            message: format!("{error}\n{kept} kept in {}", self.folder.path().display()),
            ..error
        };
        answers.map_err(about)
    }

    /// How many start tokens a prompt begins with, as the model sees it; 0 where the server has a template of its own.
    pub fn bos_seen(&self, prompt: Option<&str>) -> Result<usize> {
        match prompt {
            Some(prompt) if self.server.way() != Way::Said => self.server.bos_of(prompt),
            _ => Ok(0),
        }
    }
}

/// `runs/llm/gita4calamita-llama-3.1-8b`: of the model's name what may stand in a file name.
fn default_output(args: &Args) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let model: String = args.model.chars().map(plain).take(80).collect();
    Path::new("runs/llm").join(format!("{}-{model}", args.protocol.name()))
}

fn client(settings: Settings, progress: &Arc<Progress>, signals: Signals) -> Client {
    let progress = Arc::clone(progress);
    let on_wait = move |wait: &crate::http::Wait| {
        progress.note(&format!("{}; trying again in {:.0} s", wait.why, wait.pause.as_secs_f64().ceil()));
    };
    Client::new(settings, Box::new(move || signals.received().is_some()), Box::new(on_wait))
}

/// A run that goes on keeps the way that was taken when it began.
fn choices(args: &Args, folder: &RunFolder) -> Result<Choices> {
    let before = folder.settled()?.map(|settled| settled.way);
    Ok(Choices {
        model: args.model.clone(),
        way: args.way.or(before),
        tokenizer: args.tokenizer.clone(),
        bos: args.bos,
    })
}

/// What was found out about the server.
fn told(server: &Server) -> String {
    let identity = server.identity();
    let build = identity.build.as_ref().map_or(String::new(), |build| format!(" {build}"));
    let mut line = format!("{}{build}, model {}, way {}", identity.kind, identity.model, server.way());
    for refusal in server.refusals() {
        line += &format!("\n  not {refusal}");
    }
    if let Some(probe) = server.probe() {
        let tokens = counted(probe.probes.len(), "token");
        line += &format!("\n  probe: {tokens}, largest difference {:.4}", probe.largest_difference);
    }
    line
}

fn settled(args: &Args, asked: Map<String, Value>, server: &Server) -> Settled {
    Settled {
        date: date(),
        asked,
        server: server.identity().clone(),
        way: server.way(),
        sends_ids: server.sends_ids(),
        bos: args.bos,
        tokenizer: server.tokenizer(),
        probe: server.probe().cloned(),
    }
}

/// "2026-01-31T12-00-00", UTC: now, or as the variable `SOURCE_DATE_EPOCH` says, for files that can be compared.
fn date() -> String {
    let set = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    let set = set.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    let now = set.unwrap_or_else(OffsetDateTime::now_utc);
    let (year, month, day) = (now.year(), u8::from(now.month()), now.day());
    format!("{year:04}-{month:02}-{day:02}T{:02}-{:02}-{:02}", now.hour(), now.minute(), now.second())
}
