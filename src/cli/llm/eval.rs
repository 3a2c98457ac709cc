//! `tiered llm eval`: asks a language model the three tiers' questions about a story file.

use super::har;
use super::progress::Progress;
use super::summary::{Summary, TierSummary};
use crate::cli::signal::Signals;
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use crate::llm::record::{RunFacts, write_records};
use crate::llm::server::{Choices, Client, RunFolder, Server, Settings, Settled, Way};
use crate::llm::{
    ChatTemplate, MOST_SHOTS, Plan, Protocol, Step, StorySet, Style, Tier, TierAnswers, ask, questions, read_stories,
};
use crate::say::{aside, counted, say};
use crate::schema;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;

/// Ask a language model the questions of the three tiers about a story file
///
/// The server may be llama.cpp's, vLLM, llama-cpp-python or another OpenAI-compatible one. Before anything is measured,
/// it is tested whether its log-probabilities are those that it generates with. Every answer goes into a journal: after
/// an interruption the same command goes on. The key of a hosted service comes from the environment only.
#[derive(clap::Args)]
pub(in crate::cli) struct Args {
    /// The stories: GITA4CALAMITA.jsonl, or a file in the format of TRIP and GITA
    #[arg(long, value_name = "FILE")]
    pub(super) data: PathBuf,
    /// The split, if the file has several
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// The server's address, with or without /v1
    #[arg(long, value_name = "URL")]
    server: String,
    /// The model, as the server names it
    #[arg(long, value_name = "NAME")]
    model: String,
    /// What is asked, and when it is right
    #[arg(long, value_enum)]
    pub(super) protocol: Protocol,
    /// How log-probabilities are asked for [default: the first of echo, forced, top that the server answers truly]
    #[arg(long, value_enum)]
    pub(super) way: Option<Way>,
    /// The model's tokenizer.json [default: ask the server to split text]
    #[arg(long, value_name = "FILE")]
    tokenizer: Option<PathBuf>,
    /// Ask in the model's chat template: tokenizer_config.json, or a file of Jinja [default: plain text]
    #[arg(long, value_name = "FILE")]
    pub(super) chat_template: Option<PathBuf>,
    /// The number of start tokens before a prompt [default: the model's own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=2))]
    bos: Option<u32>,
    /// The number of other stories shown with their answers
    #[arg(long, value_name = "N", default_value_t = 3)]
    shots: usize,
    /// The number of stories asked about at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) concurrency: u16,
    /// Ask about every implausible story in tiers 2 and 3, not only about those that the tier before got right
    #[arg(long)]
    pub(super) no_cascade: bool,
    /// Ask tiers 1 to N only
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=3))]
    pub(super) tiers: u8,
    /// Take only the first N stories; the scores are then none of the protocol's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) limit: Option<u32>,
    /// Keep the run in this folder, and go on with it if it is there [default: runs/llm/PROTOCOL-MODEL]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// The environment variable with the service's key
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY")]
    api_key_env: String,
    /// By protocol har, a pair to show as an example, by its id; repeat it for more [default: HAR's four, which need
    /// TRIP's full training split]
    #[arg(long = "shot", value_name = "ID")]
    pub(super) examples: Vec<String>,
    /// By protocol har, the split that the examples are from
    #[arg(long, value_name = "NAME", default_value = "train")]
    pub(super) shots_split: String,
    /// By protocol har, show the second story of every pair first
    #[arg(long)]
    pub(super) swapped: bool,
    /// How long to wait for an answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let set = stories(args)?;
    if args.protocol == Protocol::Har {
        return har::run(args, &set);
    }
    if !args.examples.is_empty() || args.swapped {
        let message = "--shot and --swapped: are of protocol har only";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let plan = plan(args)?;
    let run = Run::begin(args, asked(args, &set, &plan))?;
    let answers = ask(&set.stories, &plan, &run.server, &|step| run.step(step));
    let answers = run.ended(answers)?;
    let (first, _) = questions(&set.stories, &plan, Tier::Story, &[0])?;
    let summary = Summary {
        settled: &run.settled,
        bos_seen: run.bos_seen(first.first().map(|question| question.asked().0))?,
        unaligned: run.server.unaligned(),
        tiers: answers.iter().map(|tier| TierSummary::of(tier, &set.stories)).collect(),
    };
    write(run.folder.path(), &set, &plan, &answers, &summary)?;
    summary.tiers.iter().for_each(|tier| say!("{}", tier.line()));
    let folder = run.folder.path().display();
    say!("{folder}: the records and results.json; `tiered llm score {folder}` scores them");
    Ok(())
}

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

/// The stories to ask about, with what is odd about them on standard error.
fn stories(args: &Args) -> Result<StorySet> {
    let mut set = read_stories(&args.data, args.protocol, args.split.as_deref())?;
    if args.protocol == Protocol::Gita4calamita && args.tiers == 3 {
        set.require_states()?;
    }
    if let Some(limit) = args.limit {
        set.stories.truncate(limit as usize);
    }
    set.warnings.iter().for_each(|warning| aside!("warning: {}: {warning}", args.data.display()));
    match set.stories.is_empty() {
        true => Err(Error::data(format!("{}: has no stories to ask about", args.data.display()))),
        false => Ok(set),
    }
}

fn plan(args: &Args) -> Result<Plan> {
    let usage = |message: String| Error::new(ErrorKind::Usage, message);
    if args.shots > MOST_SHOTS {
        return Err(usage(format!("--shots {}: at most {MOST_SHOTS} are shown", args.shots)));
    }
    if args.way == Some(Way::Said) && args.chat_template.is_some() {
        return Err(usage("--way said: the server uses its own chat template; leave out --chat-template".into()));
    }
    let style = match &args.chat_template {
        Some(path) => Style::Chat(ChatTemplate::read(path)?),
        None => Style::Plain,
    };
    let mut plan = Plan::new(args.protocol, style);
    plan.shots = args.shots;
    plan.cascade &= !args.no_cascade;
    plan.last = Tier::from_number(args.tiers.into()).unwrap_or(Tier::State);
    plan.concurrency = args.concurrency.into();
    Ok(plan)
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

/// What is asked, for `run.json`.
fn asked(args: &Args, set: &StorySet, plan: &Plan) -> Map<String, Value> {
    let (style, template) = match &plan.style {
        Style::Plain => ("plain", Value::Null),
        Style::Chat(template) => ("chat", json!(template.sha256())),
    };
    let asked = json!({
        "data_sha256": set.sha256, "split": set.split, "stories": set.stories.len(), "limit": args.limit,
        "protocol": plan.protocol, "departures": departures(args, plan), "style": style,
        "chat_template_sha256": template, "shots": plan.shots, "cascade": plan.cascade, "tiers": args.tiers,
    });
    asked.as_object().cloned().unwrap_or_default()
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

fn departures(args: &Args, plan: &Plan) -> Vec<String> {
    let mut departures = plan.departures();
    departures.extend(args.limit.map(|limit| format!("only the first {}", counted(limit, "story"))));
    departures.extend((args.way == Some(Way::Said)).then(|| "answers in words, not by likelihood".to_owned()));
    departures
}

/// "2026-01-31T12-00-00", UTC: now, or as the variable `SOURCE_DATE_EPOCH` says, for files that can be compared.
fn date() -> String {
    let set = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    let set = set.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    let now = set.unwrap_or_else(OffsetDateTime::now_utc);
    let (year, month, day) = (now.year(), u8::from(now.month()), now.day());
    format!("{year:04}-{month:02}-{day:02}T{:02}-{:02}-{:02}", now.hour(), now.minute(), now.second())
}

fn write(folder: &Path, set: &StorySet, plan: &Plan, answers: &[TierAnswers], summary: &Summary) -> Result<()> {
    let internal = |error: serde_json::Error| Error::new(ErrorKind::Internal, format!("results.json: {error}"));
    let text = schema::to_string_pretty(summary).map_err(internal)?;
    let facts = match serde_json::to_value(summary).map_err(internal)? {
        Value::Object(mut facts) => {
            facts.remove("tiers");
            flat(facts)
        }
        _ => Map::new(),
    };
    let facts = RunFacts { model: summary.settled.server.model.clone(), date: summary.settled.date.clone(), facts };
    write_records(folder, &set.stories, plan, answers, &facts)?;
    durable::replace(&folder.join("results.json"), format!("{text}\n").as_bytes())
}

/// What was asked stands beside the other facts, `departures` too.
fn flat(mut facts: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Object(asked)) = facts.remove("asked") {
        facts.extend(asked);
    }
    facts
}
