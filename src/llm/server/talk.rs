//! A server that is asked in chats: in words, or by the first tokens of an answer.

use super::asker::Asker;
use super::chat::{self, Conversation};
use super::chat_top::FirstTokens;
use super::connect::{Server, all_zero};
use super::identity::Identity;
use super::journal::Entry;
use super::scored::Scored;
use crate::error::Result;
use crate::llm::{Message, OptionScore, Request};
use std::sync::atomic::Ordering;

/// The most tokens of an answer in words; the longest option has some.
const MOST_SAID: u32 = 32;

/// "the server refuses `temperature`, so it was left out": what stands beside the figures.
pub fn left_out_remark(name: &str) -> String {
    format!("the server refuses `{name}`, so it was left out")
}

impl Server {
    /// Parameters of questions in words that the server refused, so that they were left out, when the run began too.
    /// (`max_tokens` is not left out but has another name there.)
    pub fn left_out(&self) -> Vec<&'static str> {
        self.refused.names().into_iter().filter(|name| *name != "max_tokens").collect()
    }

    /// Comes before the answers to such questions, so that no kill leaves them without it.
    fn keep_left_out(&self) -> Result<()> {
        self.left_out().into_iter().try_for_each(|name| self.journal.keep_left_out(name))
    }

    /// What the model says; what it said before if that stands in the journal.
    ///
    /// # Errors
    /// As [`LlmClient::ask`](super::LlmClient::ask), with the name of what is asked.
    pub fn say(&self, asked: &Conversation) -> Result<String> {
        let form = asked.form.map_or_else(String::new, ToString::to_string);
        let messages = serde_json::json!(asked.messages).to_string();
        let key = self.key(&messages, &format!("{} tokens, {form}", asked.max_tokens));
        if let Some(Entry::Said { text }) = self.journal.get(&key) {
            return Ok(text);
        }
        let Identity { kind, model, .. } = &self.asker.identity;
        let text = chat::say(&self.asker.client, *kind, model, asked, &self.refused)
            .map_err(|error| error.about(asked.name))?;
        self.keep_left_out()?;
        self.asked.fetch_add(1, Ordering::Relaxed);
        match self.journal.keep(&key, Entry::Said { text: text.clone() })? {
            Entry::Said { text } => Ok(text),
            _ => Ok(text),
        }
    }

    /// The options among the first tokens of the answer to the prompt, which is one turn of the user. Nothing is kept if
    /// all are exactly 0, so that a server that is repaired is asked again.
    pub(super) fn among_first_tokens(&self, request: &Request) -> Result<Vec<Scored>> {
        let options = request.continuations.iter().map(|text| text.trim());
        let keyed: Vec<(&str, String)> = options.map(|option| (option, self.key(request.prompt, option))).collect();
        let kept = keyed.iter().map(|(_, key)| self.kept(key)).collect::<Result<Vec<Option<Scored>>>>()?;
        if let Some(kept) = kept.into_iter().collect() {
            return Ok(kept);
        }
        let Asker { client, identity, .. } = &self.asker;
        let tokens = FirstTokens::ask(client, identity.kind, &identity.model, request.prompt, &self.refused)?;
        let scores: Vec<Scored> = keyed.iter().map(|(option, _)| tokens.score(option)).collect();
        if scores.len() > 1 && scores.iter().all(|scored| !scored.is_bound && scored.sum() == 0.) {
            return Err(all_zero());
        }
        self.keep_left_out()?;
        keyed.iter().zip(scores).map(|((_, key), scored)| self.keep(key, scored)).collect()
    }

    /// Which option the model says when the prompt is all that it is told.
    pub(super) fn option_said(&self, request: &Request) -> Result<Vec<OptionScore>> {
        let messages = [Message::user(request.prompt)];
        let asked = Conversation { name: request.name, messages: &messages, max_tokens: MOST_SAID, form: None };
        let options: Vec<&str> = request.continuations.iter().map(|text| text.trim()).collect();
        let said = chat::option_said(&self.say(&asked)?, &options);
        Ok((0..options.len()).map(|number| OptionScore::Said(said == Some(number))).collect())
    }
}
