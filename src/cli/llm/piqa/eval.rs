//! `tiered llm piqa eval`: asks a model on a server, and writes submissions.

use crate::cli::llm::server_args::{ServerArgs, client};
use crate::cli::out_file::output_folder;
use crate::cli::output::{pair_bar, print};
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use crate::llm::Message;
use crate::llm::piqa::{
    Chat, PiqaProtocol, PiqaSet, Submission, answer_lines, answer_schema, ask, by_answers, by_likelihood, file_name,
    score,
};
use crate::llm::server::{Choices, Conversation, LlmRunFolder, Server, Settled, Way, default_folder, left_out_remark};
use crate::report::share;
use crate::say::{aside, quoted, say};
use clap::ValueEnum;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Ask a language model on a server, and write submissions to the South Slavic PIQA benchmark
///
/// The model answers the benchmark's prompt in words. With --likelihood it ranks the two solutions by how likely each is
/// after the situation, which is another protocol. Every answer goes into a journal: after an interruption the same
/// command goes on. The key of a hosted service comes from the environment only.
#[derive(clap::Args)]
pub(in crate::cli) struct Args {
    /// Data sets: one JSON object a line, with prompt, solution0, solution1 (or goal, sol1, sol2). The file's name is
    /// the set's
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    data: Vec<PathBuf>,
    /// The labels of the data set, 0 or 1 a line [default: those in the data set if
    /// each line has one, else SET-labels.lst beside it]
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    #[command(flatten)]
    server: ServerArgs,
    /// What the system is called in submissions and tables [default: the model's name]
    #[arg(long, value_name = "NAME")]
    system: Option<String>,
    /// Rank the solutions by likelihood, by its sum and by character
    #[arg(long)]
    likelihood: bool,
    /// How log-probabilities are asked for [default: the first of echo, forced, top that the server answers truly]
    #[arg(long, value_enum, requires = "likelihood")]
    way: Option<Way>,
    /// The model's tokenizer.json [default: ask the server to split text]
    #[arg(long, value_name = "FILE", requires = "likelihood")]
    tokenizer: Option<PathBuf>,
    /// The form of answer that the server is asked for
    #[arg(long, value_enum, default_value_t = Form::JsonObject, conflicts_with = "likelihood")]
    response_format: Form,
    /// The most tokens of an answer
    #[arg(long, value_name = "N", default_value_t = 1024, conflicts_with = "likelihood",
          value_parser = clap::value_parser!(u32).range(1..))]
    max_tokens: u32,
    /// Keep the run in this folder, and go on with it if it is there [default: runs/llm/piqa-MODEL, or
    /// runs/llm/piqa-likelihood-MODEL]
    #[arg(long, value_name = "DIR", value_parser = output_folder())]
    output: Option<PathBuf>,
}

/// `response_format` of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Any JSON object: what the benchmark asks of hosted models
    JsonObject,
    /// JSON with a whole number `answer`: what the benchmark asks of local models
    JsonSchema,
    /// No form, for servers that know none
    None,
}

impl Form {
    fn value(self) -> Option<Value> {
        match self {
            Form::JsonObject => Some(json!({"type": "json_object"})),
            Form::JsonSchema => {
                let schema = json!({"name": "answer", "schema": answer_schema(), "strict": true});
                Some(json!({"type": "json_schema", "json_schema": schema}))
            }
            Form::None => None,
        }
    }
}

/// A server that is asked in words.
struct Speaker<'a> {
    server: &'a Server,
    form: Option<Value>,
    max_tokens: u32,
}

impl Chat for Speaker<'_> {
    fn answer(&self, name: &str, prompt: &str) -> Result<String> {
        let messages = [Message::user(prompt)];
        let (max_tokens, form) = (self.max_tokens, self.form.as_ref());
        self.server.say(&Conversation { name, messages: &messages, max_tokens, form })
    }
}

pub(super) fn run(args: &Args) -> Result<()> {
    if let Some(way) = args.way.filter(|way| way.chats()) {
        let message = format!("--way {way}: has no likelihood of a whole solution; leave out --likelihood");
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let sets = sets(args)?;
    let settings = args.server.settings()?;
    let folder =
        LlmRunFolder::open(&args.output.clone().unwrap_or_else(|| default_folder(protocol(args), &args.server.model)))?;
    sets.iter().try_for_each(|set| require_own(system(args), set, folder.path()))?;
    let before = folder.settled()?.map(|settled| settled.way);
    let way = if args.likelihood { args.way.or(before) } else { Some(Way::Said) };
    let (model, tokenizer) = (args.server.model.clone(), args.tokenizer.clone());
    let client = client(settings, |text| aside!("{text}"))?;
    let server = Server::connect(client, &Choices { model, way, tokenizer, bos: None })?;
    folder.settle(Settled::now(&server, asked(args), None))?;
    let server = server.with_journal(folder.journal()?);
    for set in &sets {
        let written = evaluate(args, set, &server, folder.path());
        server.journal().sync()?;
        written?;
    }
    server.left_out().into_iter().for_each(|name| aside!("warning: {}", left_out_remark(name)));
    say!("score them: tiered llm piqa score {} --data DIR", quoted(folder.path().display()));
    Ok(())
}

fn sets(args: &Args) -> Result<Vec<PiqaSet>> {
    if args.labels.is_some() && args.data.len() > 1 {
        return Err(Error::new(ErrorKind::Usage, "--labels: is of one data set; name one with --data"));
    }
    let sets = args.data.iter().map(|path| PiqaSet::read(path, args.labels.as_deref()));
    let sets: Vec<PiqaSet> = sets.collect::<Result<_>>()?;
    for (number, set) in sets.iter().enumerate() {
        if let Some(first) = sets[..number].iter().find(|first| first.name == set.name) {
            let (first, second) = (first.path.display(), set.path.display());
            return Err(Error::new(ErrorKind::Usage, format!("--data: {first} and {second} have the same name")));
        }
    }
    Ok(sets)
}

/// What makes the answers. The data sets do not: others may be asked later, into the same folder.
fn asked(args: &Args) -> Map<String, Value> {
    let asked = match args.likelihood {
        true => json!({"protocol": protocol(args)}),
        false => {
            let form = args.response_format.value();
            json!({"protocol": protocol(args), "response_format": form, "max_tokens": args.max_tokens})
        }
    };
    asked.as_object().cloned().unwrap_or_default()
}

fn protocol(args: &Args) -> &'static str {
    if args.likelihood { "piqa-likelihood" } else { "piqa" }
}

fn system(args: &Args) -> &str {
    args.system.as_deref().unwrap_or(&args.server.model)
}

/// Names that differ in their colons and the like have files of the same name.
///
/// # Errors
/// `CantCreate` if a submission of another system is there.
fn require_own(system: &str, set: &PiqaSet, folder: &Path) -> Result<()> {
    for named in PiqaProtocol::ALL.map(|protocol| format!("{system}{}", protocol.suffix())) {
        let path = folder.join(file_name("submission", &named, &set.name, "json"));
        if path.exists() && Submission::read(&path)?.system != named {
            let message =
                format!("{}: is of another system than {named}; name another folder with --output", path.display());
            return Err(Error::new(ErrorKind::CantCreate, message));
        }
    }
    Ok(())
}

/// Asks about a set, and writes its submissions; those that are there already are replaced by the same.
fn evaluate(args: &Args, set: &PiqaSet, server: &Server, folder: &Path) -> Result<()> {
    let system = system(args);
    let concurrency = args.server.concurrency.into();
    let bar = pair_bar(set.items.len() as u64);
    let done = || bar.inc(1);
    let mut submissions = match args.likelihood {
        true => by_likelihood(set, system, server, concurrency, &done)?.to_vec(),
        false => {
            let (form, max_tokens) = (args.response_format.value(), args.max_tokens);
            let texts = ask(set, &Speaker { server, form, max_tokens }, concurrency, &done)?;
            let answers = folder.join(file_name("answers", system, &set.name, "jsonl"));
            durable::replace(&answers, answer_lines(set, &texts).as_bytes())?;
            vec![by_answers(set, system, &texts)]
        }
    };
    bar.finish_and_clear();
    for making in submissions.iter_mut().filter_map(|submission| submission.tiered.as_mut()) {
        making.left_out = server.left_out().into_iter().map(str::to_owned).collect();
    }
    submissions.iter().try_for_each(|submission| write(submission, set, folder))
}

fn write(submission: &Submission, set: &PiqaSet, folder: &Path) -> Result<()> {
    let path = folder.join(file_name("submission", &submission.system, &set.name, "json"));
    durable::replace(&path, submission.to_json().as_bytes())?;
    print(&format!("{}: {}\n", path.display(), told(submission, set)?))
}

/// The accuracy if the labels are known, and what could not be decided.
fn told(submission: &Submission, set: &PiqaSet) -> Result<String> {
    let accuracy = match set.items.iter().all(|item| item.label.is_some()) {
        true => format!("accuracy {}", share(&score(submission, set)?.accuracy)),
        false => "the labels are not known".to_owned(),
    };
    let (unanswered, ties) = submission.tiered.as_ref().map_or((0, 0), |making| (making.unanswered, making.ties));
    Ok(match submission.protocol() {
        PiqaProtocol::Answer => format!("{accuracy}, unanswered {unanswered}"),
        _ => format!("{accuracy}, undecided {unanswered}, tied {ties}"),
    })
}
