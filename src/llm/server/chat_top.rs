//! The way `top-chat`: an option is looked for among the likeliest first tokens of a chat's answer. For services that
//! take no prompts but chats. There is no place for the blank before an option there, so options are compared without.

use super::answer::{TokenScore, list, logprob};
use super::chat::{self, Refused};
use super::client::LlmClient;
use super::kind::ServerKind;
use super::probe::{Probe, ProbeReport, TOLERANCE};
use super::scored::Scored;
use crate::error::{Error, ErrorKind, Result};
use crate::llm::Message;
use serde_json::{Value, json};

/// The most tokens that hosted services list in chats.
const MOST: u32 = 20;
/// Asked before anything is measured.
const PROBE: &str = "Is snow usually white? Answer with true or false.";

/// The likeliest first tokens of an answer, the generated one first.
pub struct FirstTokens(Vec<(String, TokenScore)>);

impl FirstTokens {
    /// Asks for an answer of one token to a prompt, which is one turn of the user.
    ///
    /// # Errors
    /// As [`LlmClient::get_done`]; `Data` if the answer has no log-probabilities.
    pub fn ask(client: &LlmClient, kind: ServerKind, model: &str, prompt: &str, refused: &Refused) -> Result<Self> {
        let more = json!({"logprobs": true, "top_logprobs": MOST});
        let answer = chat::ask(client, kind, model, &[Message::user(prompt)], 1, more, refused)?;
        let tokens = list(&answer, "/choices/0/logprobs/content")?;
        let first = tokens.first().ok_or_else(|| Error::data("the server lists no token of its answer"))?;
        let name = |token: &Value| token["token"].as_str().unwrap_or_default().to_owned();
        let read = |token: &Value| Ok((name(token), logprob(token.get("logprob"))?));
        let listed = list(first, "/top_logprobs")?.iter().map(read);
        Ok(FirstTokens(std::iter::once(read(first)).chain(listed).collect::<Result<_>>()?))
    }

    /// The score of an option: that of the likeliest token that it is, whichever was generated. An option of several
    /// tokens is at most as likely as its first one, and one whose first token is not listed at most as likely as the last
    /// that is.
    pub fn score(&self, option: &str) -> Scored {
        let values = || self.0.iter().map(|(_, score)| score.value());
        let (highest, lowest) = (values().fold(f64::MIN, f64::max), values().fold(0., f64::min));
        let wholes = self.0.iter().filter(|(token, _)| token.trim() == option);
        let whole = wholes.max_by(|(_, a), (_, b)| a.value().total_cmp(&b.value()));
        let is_beginning = |(token, _): &&(String, TokenScore)| {
            let token = token.trim();
            !token.is_empty() && option.starts_with(token)
        };
        let (logprob, is_bound) = match (whole, self.0.iter().filter(is_beginning)) {
            (Some((_, TokenScore::Known(value))), _) => (*value, false),
            (Some((_, TokenScore::AtMost(bound))), _) => (*bound, true),
            (None, beginnings) => {
                let of_beginning = beginnings.map(|(_, score)| score.value()).fold(f64::MIN, f64::max);
                (of_beginning.max(lowest), true)
            }
        };
        let is_greedy = !is_bound && logprob >= highest;
        Scored { logprobs: vec![logprob], is_greedy, is_bound, is_unaligned: false }
    }

    /// Whether what the server lists are log-probabilities: the token that it generates must be listed with its own
    /// one, and not all may be equal. The likeliest token is what tells one model from another: a service that takes no
    /// `temperature` generates another one each time.
    ///
    /// # Errors
    /// `Unavailable`, with the reason; those of [`FirstTokens::ask`].
    pub fn probe(client: &LlmClient, kind: ServerKind, model: &str, refused: &Refused) -> Result<ProbeReport> {
        let unfit = |why: &str| {
            let message = format!("the server ({kind}) can't be used by way top-chat: {why}; --way said needs none");
            Error::new(ErrorKind::Unavailable, message)
        };
        let asked = Self::ask(client, kind, model, PROBE, refused);
        let FirstTokens(tokens) = asked.map_err(|error| match error.kind {
            ErrorKind::Data | ErrorKind::Config => unfit(&error.message),
            _ => error,
        })?;
        let [(token, generated), listed @ ..] = tokens.as_slice() else { return Err(unfit("it lists no tokens")) };
        let of_token = listed.iter().find(|(other, _)| other == token).map(|(_, score)| score.value());
        let difference = of_token.map(|value| (value - generated.value()).abs()).filter(|by| *by <= TOLERANCE);
        let by_score = |(_, a): &&(String, TokenScore), (_, b): &&(String, TokenScore)| a.value().total_cmp(&b.value());
        let (likeliest, unlikeliest) = (listed.iter().max_by(by_score), listed.iter().min_by(by_score));
        match (difference, likeliest.zip(unlikeliest)) {
            (Some(largest_difference), Some(((token, highest), (_, lowest)))) if lowest.value() < highest.value() => {
                let (prompt, token, highest) = (PROBE.to_owned(), token.clone(), highest.value());
                let probe = Probe { prompt, token, generated: highest, by_way: highest, unlikely: lowest.value() };
                Ok(ProbeReport { largest_difference, probes: vec![probe] })
            }
            _ => Err(unfit("what it lists are not the log-probabilities of its answer")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_a_token_or_bounded_by_its_first_one() {
        let known = |token: &str, value| (token.to_owned(), TokenScore::Known(value));
        let tokens = FirstTokens(vec![
            known(" true", -4.),
            known("true", -0.2),
            known(" false", -2.),
            known(" true", -4.),
            known("in", -3.),
        ]);
        let score = |option: &str| {
            let scored = tokens.score(option);
            (scored.sum(), scored.is_bound, scored.is_greedy)
        };
        assert_eq!((score("true"), score("false")), ((-0.2, false, true), (-2., false, false)));
        assert_eq!((score("in pieces"), score("open")), ((-3., true, false), (-4., true, false)));
    }
}
