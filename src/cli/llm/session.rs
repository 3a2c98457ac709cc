//! A run of `tiered llm eval`: its folder, the server that it asks, and how far it is.

use super::eval_args::Args;
use super::progress::QuestionBar;
use super::server_args::client;
use crate::error::{Error, Result};
use crate::llm::server::{Choices, LlmRunFolder, Server, Settled, default_folder};
use crate::llm::{AskedQuestion, Protocol};
use crate::say::{counted, say};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A run that has begun, or goes on.
pub(super) struct Session {
    pub folder: LlmRunFolder,
    pub settled: Settled,
    pub server: Server,
    progress: Arc<QuestionBar>,
}

impl Session {
    /// Connects to the server, and settles what the run is.
    pub fn begin(args: &Args, asked: Map<String, Value>) -> Result<Self> {
        let settings = args.server.settings()?;
        let what = if args.protocol == Protocol::Har { "pairs" } else { "stories" };
        let folder = LlmRunFolder::open(
            &args.output.clone().unwrap_or_else(|| default_folder(args.protocol.name(), &args.server.model)),
        )?;
        let progress = Arc::new(QuestionBar::new(what));
        let warning = Arc::clone(&progress);
        let client = client(settings, move |text| warning.warn(text))?.with_shorter(shorter(args, &asked));
        let server = Server::connect(client, &choices(args, &folder)?)?;
        say!("{}", told(&server));
        let settled = folder.settle(Settled::now(&server, asked, args.bos))?;
        let server = server.with_journal(folder.journal()?);
        if !server.journal().is_empty() {
            say!("{}: going on; {} are there", folder.path().display(), counted(server.journal().len(), "answer"));
        }
        Ok(Session { folder, settled, server, progress })
    }

    pub fn step(&self, step: AskedQuestion) {
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
            Some(prompt) if !self.server.way().chats() => self.server.bos_of(prompt),
            _ => Ok(0),
        }
    }
}

/// How prompts become shorter, if they have shots.
fn shorter(args: &Args, asked: &Map<String, Value>) -> Option<&'static str> {
    let has_shots = asked.get("shots").and_then(Value::as_u64).is_some_and(|shots| shots > 0);
    let how = match args.plan.names_shots() || args.protocol == Protocol::Har {
        true => "show fewer with --shot",
        false => "use a smaller --shots",
    };
    has_shots.then_some(how)
}

/// A run that goes on keeps the way that was taken when it began.
fn choices(args: &Args, folder: &LlmRunFolder) -> Result<Choices> {
    let before = folder.settled()?.map(|settled| settled.way);
    Ok(Choices {
        model: args.server.model.clone(),
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
