//! Connects to a server: finds out what it is, chooses a way that tells the truth, and then answers requests.

use super::asker::Asker;
use super::chat::Refused;
use super::chat_top::FirstTokens;
use super::client::LlmClient;
use super::cut::Cutter;
use super::identity::Identity;
use super::journal::{Entry, Journal, key};
use super::kind::{ServerKind, Way};
use super::probe::{ProbeReport, probe};
use super::scored::Scored;
use super::tokenizer::{Bos, Tokenizer};
use crate::error::{Error, ErrorKind, Result};
use crate::llm::{OptionScore, Request, Scorer};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the user chooses.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// As the server names it.
    pub model: String,
    /// The best one that tells the truth if `None`.
    pub way: Option<Way>,
    /// The model's `tokenizer.json`; else the server is asked.
    pub tokenizer: Option<PathBuf>,
    /// Start tokens of a prompt; the model's own if `None`.
    pub bos: Option<u32>,
}

/// A model on a server that passed the probe.
pub struct Server {
    pub(super) asker: Asker,
    /// `None` for the way `said`.
    probe: Option<ProbeReport>,
    /// Why other ways were not taken.
    refusals: Vec<String>,
    /// Parameters that it refused.
    pub(super) refused: Refused,
    bos: Option<u32>,
    pub(super) journal: Journal,
    unaligned: AtomicU64,
    pub(super) asked: AtomicU64,
}

impl Server {
    /// # Errors
    /// `Unavailable`, with the reason of each way, if none tells the truth; `Config` if it has not this model, or no
    /// tokenizer is at hand; as [`LlmClient::ask`].
    pub fn connect(client: LlmClient, choices: &Choices) -> Result<Self> {
        let identity = Identity::ask(&client, &choices.model)?;
        let kind = identity.kind;
        if let Some(way) = choices.way.filter(|way| way.chats()) {
            return Self::chatting(client, identity, choices, way);
        }
        let tokenizer = match &choices.tokenizer {
            Some(path) => Some(Tokenizer::read(path)?),
            None => Tokenizer::of_server(&client, kind, &identity.model)?,
        };
        let tokenizer = tokenizer.ok_or_else(needs_tokenizer)?;
        let bos = Bos::find(&tokenizer, &client, choices.bos)?;
        let cutter = Cutter { tokenizer, bos, sends_ids: kind.takes_ids() };
        let way = choices.way.unwrap_or(kind.ways()[0]);
        let asker = Asker { client, identity, cutter, way, alternatives: kind.alternatives() };
        Server::new(asker, choices).with_true_way(choices.way)
    }

    fn new(asker: Asker, choices: &Choices) -> Self {
        let (unaligned, asked) = Default::default();
        let journal = Journal::in_memory();
        let (refusals, refused, bos) = (Vec::new(), Refused::default(), choices.bos);
        Server { asker, probe: None, refusals, refused, bos, journal, unaligned, asked }
    }

    /// One that is asked in chats only, and needs no tokens.
    fn chatting(client: LlmClient, identity: Identity, choices: &Choices, way: Way) -> Result<Self> {
        let tokenizer = Tokenizer::Server { kind: identity.kind, model: identity.model.clone() };
        let cutter = Cutter { tokenizer, bos: Bos::default(), sends_ids: false };
        let mut server = Self::new(Asker { client, identity, cutter, way, alternatives: 0 }, choices);
        if way == Way::TopChat {
            let Asker { client, identity, .. } = &server.asker;
            server.probe = Some(FirstTokens::probe(client, identity.kind, &identity.model, &server.refused)?);
        }
        Ok(server)
    }

    /// Takes the first way that passes the probe, with ids before text.
    fn with_true_way(mut self, way: Option<Way>) -> Result<Self> {
        let kind = self.asker.identity.kind;
        let ways = way.map_or(kind.ways().to_vec(), |way| vec![way]);
        let forms: &[bool] = match kind {
            ServerKind::Other => &[true, false],
            _ => &[kind.takes_ids()],
        };
        for (way, &sends_ids) in ways.iter().flat_map(|way| forms.iter().map(move |form| (*way, form))) {
            (self.asker.way, self.asker.cutter.sends_ids) = (way, sends_ids);
            match probe(&self.asker) {
                Ok(report) => {
                    self.probe = Some(report);
                    return Ok(self);
                }
                Err(error) if [ErrorKind::Resumable, ErrorKind::Io, ErrorKind::Internal].contains(&error.kind) => {
                    return Err(error);
                }
                Err(error) => {
                    let form = if sends_ids { "token ids" } else { "text" };
                    self.refusals.push(format!("{way} (prompts as {form}): {}", error.message));
                }
            }
        }
        let reasons = self.refusals.join("\n  ");
        let remedy = "choose another server or --way; --way said needs no log-probabilities, and is another protocol";
        let message =
            format!("the server ({kind}) can't be used: its log-probabilities are refused\n  {reasons}\n{remedy}");
        Err(Error::new(ErrorKind::Unavailable, message))
    }

    /// Keeps its answers in this journal, and asks only for those that are not in it, and as these were asked for.
    #[must_use]
    pub fn with_journal(self, journal: Journal) -> Self {
        self.refused.add(&journal.left_out());
        Server { journal, ..self }
    }

    /// What the server said that it is.
    pub fn identity(&self) -> &Identity {
        &self.asker.identity
    }

    /// The way that the user chose, or the first one that passed the probe.
    pub fn way(&self) -> Way {
        self.asker.way
    }

    /// What the probe showed; `None` for the way `said`.
    pub fn probe(&self) -> Option<&ProbeReport> {
        self.probe.as_ref()
    }

    /// Why other ways were not taken, one line each.
    pub fn refusals(&self) -> &[String] {
        &self.refusals
    }

    /// The answers so far.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// What names the tokenizer.
    pub fn tokenizer(&self) -> String {
        self.asker.cutter.tokenizer.name()
    }

    /// Whether prompts are sent as token ids, else as text.
    pub fn sends_ids(&self) -> bool {
        self.asker.cutter.sends_ids
    }

    /// How many scored continuations changed the tokens of their prompt.
    pub fn unaligned(&self) -> u64 {
        self.unaligned.load(Ordering::Relaxed)
    }

    /// How many continuations and questions the server was asked, and did not stand in the journal.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// How many start tokens a prompt begins with.
    ///
    /// # Errors
    /// As [`Cutter::encode`].
    pub fn bos_of(&self, prompt: &str) -> Result<usize> {
        let ids = self.asker.cutter.encode(&self.asker.client, prompt)?;
        Ok(self.asker.cutter.bos.count(&ids))
    }

    /// The key of an answer: all that it depends on.
    pub(super) fn key(&self, prompt: &str, continuation: &str) -> String {
        let Identity { kind, model, build, template_sha256, .. } = &self.asker.identity;
        let bos = self.bos.map_or("own".to_owned(), |bos| bos.to_string());
        key(&[
            model,
            &kind.to_string(),
            build.as_deref().unwrap_or_default(),
            template_sha256.as_deref().unwrap_or_default(),
            self.asker.way.name(),
            if self.asker.cutter.sends_ids { "ids" } else { "text" },
            &bos,
            &self.asker.cutter.tokenizer.name(),
            prompt,
            continuation,
        ])
    }

    /// What stands in the journal about a continuation.
    pub(super) fn kept(&self, key: &str) -> Result<Option<Scored>> {
        match self.journal.get(key) {
            None => Ok(None),
            Some(Entry::Scored(scored)) => Ok(Some(scored)),
            Some(_) => Err(Error::data(format!("the journal has words where {key} is a score"))),
        }
    }

    fn scored(&self, request: &Request) -> Result<Vec<Scored>> {
        let keys: Vec<String> = request.continuations.iter().map(|text| self.key(request.prompt, text)).collect();
        let mut scores = keys.iter().map(|key| self.kept(key)).collect::<Result<Vec<_>>>()?;
        let is_missing = |number: &usize| scores[*number].is_none();
        let mut missing: Vec<usize> = (0..keys.len()).filter(is_missing).collect();
        if !missing.is_empty() {
            if self.asker.depends_on_history() {
                missing = (0..keys.len()).collect();
            }
            self.ask_missing(request, &keys, &missing, &mut scores)?;
        }
        let scores: Vec<Scored> = scores.into_iter().flatten().collect();
        let unaligned = scores.iter().filter(|score| score.is_unaligned).count();
        self.unaligned.fetch_add(unaligned as u64, Ordering::Relaxed);
        Ok(scores)
    }

    /// Asks for these continuations; of one that stands in the journal the first answer stays. A score of exactly 0 is
    /// kept only when another option has another one.
    fn ask_missing(
        &self,
        request: &Request,
        keys: &[String],
        missing: &[usize],
        scores: &mut [Option<Scored>],
    ) -> Result<()> {
        let continuations: Vec<String> = missing.iter().map(|number| request.continuations[*number].clone()).collect();
        let cuts = self.asker.cut(request.prompt, &continuations)?;
        let mut zeros = Vec::new();
        self.asker.score(&cuts, &mut |number, scored| {
            let number = missing[number];
            match scored.sum() == 0. {
                true => zeros.push((number, scored)),
                false => scores[number] = Some(self.keep(&keys[number], scored)?),
            }
            Ok(())
        })?;
        if keys.len() > 1 && zeros.len() == keys.len() {
            return Err(all_zero());
        }
        for (number, scored) in zeros {
            scores[number] = Some(self.keep(&keys[number], scored)?);
        }
        Ok(())
    }

    pub(super) fn keep(&self, key: &str, scored: Scored) -> Result<Scored> {
        if self.journal.get(key).is_none() {
            self.asked.fetch_add(1, Ordering::Relaxed);
        }
        match self.journal.keep(key, Entry::Scored(scored.clone()))? {
            Entry::Scored(first) => Ok(first),
            _ => Ok(scored),
        }
    }
}

/// The error of options that are all certain, which no model says.
pub(super) fn all_zero() -> Error {
    let why = "all options have log-probability 0, so the first would win: the server ignores what it is asked";
    Error::data(why)
}

fn needs_tokenizer() -> Error {
    Error::config(
        "the server has no tokenizer to ask: name the model's tokenizer.json with --tokenizer FILE; a service that only \
         chats is asked with --way said",
    )
}

impl Scorer for Server {
    fn score(&self, request: &Request<'_>) -> Result<Vec<OptionScore>> {
        let scored = match self.way() {
            Way::Said => return self.option_said(request),
            Way::TopChat => self.among_first_tokens(request),
            _ => self.scored(request),
        };
        let scored = scored.map_err(|error| error.about(request.name))?;
        Ok(scored.iter().map(Scored::score).collect())
    }
}
