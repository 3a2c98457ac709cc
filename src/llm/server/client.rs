//! Asks one server, and reads JSON back: the key for this origin only, limits, tries.

use super::answer::error_within;
use super::settings::ServerSettings;
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Address, Failure, Tries, Wait, asked_pause, broken, failure};
use crate::untrusted::shown;
use serde_json::Value;
use std::io::Read;
use std::time::{Duration, Instant};
use ureq::http::{HeaderMap, Request};
use ureq::{Agent, Body};

/// The limit for an answer, in bytes: an echo of 4,000 tokens with alternatives has about 1 MiB.
const MAX_ANSWER: u64 = 16 << 20;
/// A pause is slept in parts of this length, so that a signal ends it.
const NAP: Duration = Duration::from_millis(50);
const GIVEN_UP: &str = "every answer so far is kept: run the same command again when the server is back";

/// What the server says to a request that it understood.
pub enum Reply {
    Done(Value),
    /// It refuses this request for good (400, 401, 403, 404, 422 and their like), in its own words.
    Refused {
        status: u16,
        message: String,
    },
}

/// Whether the work should stop: the program received a signal.
pub type ShouldStop = Box<dyn Fn() -> bool + Send + Sync>;
/// Hears why and how long a request waits before it is tried again.
pub type OnWait = Box<dyn Fn(&Wait) + Send + Sync>;

/// Several threads may ask at once.
pub struct LlmClient {
    agent: Agent,
    settings: ServerSettings,
    should_stop: ShouldStop,
    on_wait: OnWait,
    shorter: Option<&'static str>,
}

impl LlmClient {
    /// No request is sent yet.
    pub fn new(settings: ServerSettings, should_stop: ShouldStop, on_wait: OnWait) -> Self {
        LlmClient { agent: settings.connection.agent(&settings.address), settings, should_stop, on_wait, shorter: None }
    }

    /// With a way to make prompts shorter, for the message about one that is too long: "use a smaller --shots".
    #[must_use]
    pub fn with_shorter(self, shorter: Option<&'static str>) -> Self {
        LlmClient { shorter, ..self }
    }

    /// The answer to a request that has to succeed.
    ///
    /// # Errors
    /// As [`LlmClient::ask`]; `Unavailable` or `Config`, with the server's own message, if it refuses.
    pub fn get_done(&self, path: &str, body: Option<&Value>) -> Result<Value> {
        match self.ask(path, body)? {
            Reply::Done(answer) => Ok(answer),
            Reply::Refused { status, message } => Err(self.refusal(path, status, &message)),
        }
    }

    /// The answer as JSON; with a body a POST, else a GET. Tries again as long as that is worthwhile.
    ///
    /// # Errors
    /// `Resumable` if the server stopped answering or the program should stop; `Data` if what it sends is not JSON;
    /// `Refused` if it sends too much or redirects; `Unavailable`.
    pub fn ask(&self, path: &str, body: Option<&Value>) -> Result<Reply> {
        let address = self.settings.address.join(path)?;
        let mut tries = Tries::new(self.settings.first_pause, GIVEN_UP);
        loop {
            self.require_going_on()?;
            match self.try_once(&address, body) {
                Ok(reply) => return Ok(reply),
                Err(Failure::Final(error)) => return Err(error),
                Err(failure) => {
                    let given_up = |error: Error| Error { kind: ErrorKind::Resumable, ..error };
                    let wait = tries.next(failure, false).map_err(given_up)?;
                    (self.on_wait)(&wait);
                    self.sleep(wait.pause)?;
                }
            }
        }
    }

    /// # Errors
    /// `Resumable` if the program received a signal.
    pub fn require_going_on(&self) -> Result<()> {
        match (self.should_stop)() {
            true => Err(Error::new(ErrorKind::Resumable, "stopped; run the same command again to go on")),
            false => Ok(()),
        }
    }

    fn sleep(&self, pause: Duration) -> Result<()> {
        let end = Instant::now() + pause;
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            self.require_going_on()?;
            std::thread::sleep(left.min(NAP));
        }
        Ok(())
    }

    fn try_once(&self, address: &Address, body: Option<&Value>) -> Result<Reply, Failure> {
        let response = self.send(address, body)?;
        let (parts, body) = response.into_parts();
        let bytes = read(address, body)?;
        let status = parts.status.as_u16();
        if !(200..300).contains(&status) {
            return self.judged(address, status, &parts.headers, &bytes);
        }
        let answer = self.parse(address, &bytes)?;
        match error_within(&answer) {
            None => Ok(Reply::Done(answer)),
            Some(Some(status)) => self.judged(address, status, &parts.headers, &bytes),
            Some(None) => {
                let message =
                    format!("{address}: the server answered with an error: {}; {GIVEN_UP}", self.own_words(&bytes));
                Err(Failure::Final(Error::data(message)))
            }
        }
    }

    /// Text of an answer, for a message: an answer may repeat the request with its key.
    fn without_key(&self, text: &str) -> String {
        self.settings.key.as_ref().map_or_else(|| text.to_owned(), |key| key.hidden_in(text))
    }

    fn parse(&self, address: &Address, bytes: &[u8]) -> Result<Value, Failure> {
        serde_json::from_slice(bytes).map_err(|error| {
            if error.is_eof() && !bytes.is_empty() {
                return broken(address, &error.into());
            }
            let text = String::from_utf8_lossy(bytes);
            let why = if text.trim_start().starts_with('<') {
                "it is a web page; does --server lead to the model's server?".to_owned()
            } else if ["NaN", "Infinity"].iter().any(|word| text.contains(word)) {
                "it has a number that is not finite (NaN or Infinity); the model or the server is broken".to_owned()
            } else {
                format!("{error}: {}", shown(&self.without_key(&text), 100))
            };
            Failure::Final(Error::data(format!("{address}: the answer is not JSON: {why}")))
        })
    }

    fn send(&self, address: &Address, body: Option<&Value>) -> Result<ureq::http::Response<Body>, Failure> {
        let method = if body.is_some() { "POST" } else { "GET" };
        let mut request = Request::builder().method(method).uri(address.uri()).header("accept-encoding", "identity");
        if let Some(key) = self.settings.key.as_ref().filter(|_| address.is_of(&self.settings.address)) {
            request = request.header("authorization", key.authorization());
        }
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let invalid = |error| Error::new(ErrorKind::Refused, format!("{address}: the request is invalid: {error}"));
        let text = body.map_or_else(String::new, Value::to_string);
        let request = request.body(text).map_err(invalid)?;
        let time = Some(self.settings.connection.timeout);
        let request = self.agent.configure_request(request).timeout_recv_body(time).build();
        self.agent.run(request).map_err(|error| failure(address, &error))
    }

    /// What a status other than success means.
    fn judged(&self, address: &Address, status: u16, headers: &HeaderMap, body: &[u8]) -> Result<Reply, Failure> {
        let message = self.own_words(body);
        let failed = |remedy: &str| {
            Error::new(ErrorKind::Unavailable, format!("{address}: the server answered {status}{remedy}"))
        };
        match status {
            300..=399 => {
                let why = ": it redirects, and a key is sent to one server only; name the address it leads to";
                Err(Failure::Final(Error { kind: ErrorKind::Refused, ..failed(why) }))
            }
            408 | 409 | 425 | 429 | 500 | 502..=599 => {
                Err(Failure::Again(failed(&format!(" ({message})")), asked_pause(headers)))
            }
            _ => Ok(Reply::Refused { status, message }),
        }
    }

    /// The message in an error's body, without the key.
    fn own_words(&self, body: &[u8]) -> String {
        let text = match serde_json::from_slice::<Value>(body) {
            Ok(value) => {
                let mut places =
                    ["/choices/0/error/message", "/choices/0/error", "/error/message", "/error", "/message", "/detail"]
                        .iter();
                let found = places.find_map(|at| value.pointer(at).filter(|found| !found.is_null()));
                found.map_or_else(|| value.to_string(), |found| found.as_str().map_or(found.to_string(), str::to_owned))
            }
            Err(_) => String::from_utf8_lossy(body).into_owned(),
        };
        shown(self.without_key(&text).trim(), 400)
    }

    /// The error of a request that the server refuses for good.
    pub fn refusal(&self, path: &str, status: u16, message: &str) -> Error {
        let address = match self.settings.address.join(path) {
            Ok(address) => address,
            Err(error) => return error,
        };
        let (kind, remedy) = match status {
            401 | 403 => {
                let variable = &self.settings.key_variable;
                let has_key = if self.settings.key.is_some() { "is it the right key?" } else { "it is not set" };
                (ErrorKind::Unavailable, format!("; the key comes from the environment variable {variable}: {has_key}"))
            }
            404 | 405 | 410 | 501 => (ErrorKind::Unavailable, "; check --server and --model".to_owned()),
            _ if is_about_length(message) => {
                let or_shorter = self.shorter.map(|how| format!(", or {how}")).unwrap_or_default();
                let remedy = "; the prompt is too long for it: start it with a larger context";
                (ErrorKind::Config, format!("{remedy}{or_shorter}"))
            }
            _ if message.contains("response_format") => {
                (ErrorKind::Config, "; choose another --response-format".to_owned())
            }
            _ => (ErrorKind::Config, String::new()),
        };
        Error::new(kind, format!("{address}: the server answered {status}: {message}{remedy}"))
    }
}

/// Whether a server's message says that the prompt is too long.
fn is_about_length(message: &str) -> bool {
    let message = message.to_lowercase();
    ["context length", "context size", "context window", "maximum model length", "too long", "max_model_len"]
        .iter()
        .any(|words| message.contains(words))
}

fn read(address: &Address, mut body: Body) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = body.as_reader().take(MAX_ANSWER + 1).read_to_end(&mut bytes);
    if bytes.len() as u64 > MAX_ANSWER {
        let message = format!("{address}: sends more than {MAX_ANSWER} bytes, the limit for an answer");
        return Err(Error::new(ErrorKind::Refused, message).into());
    }
    read.map_err(|error| broken(address, &error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::settings;
    use super::*;

    fn client(key: Option<&str>) -> LlmClient {
        LlmClient::new(
            settings::tests::settings("https://a.example/v1/", key).unwrap(),
            Box::new(|| false),
            Box::new(|_| ()),
        )
    }

    #[test]
    fn errors_are_told_in_the_servers_words_without_the_key() {
        let client = client(Some("sk-secret"));
        let said = |body: &str| client.own_words(body.as_bytes());
        let address = Address::parse("https://a.example").unwrap();
        let Err(Failure::Final(error)) = client.parse(&address, b"you sent Bearer sk-secret") else { panic!() };
        assert!(error.message.ends_with("you sent Bearer (the key)"), "{error}");
        assert_eq!(said(r#"{"error": {"message": "no key sk-secret"}}"#), "no key (the key)");
        assert_eq!(said(r#"{"error": "busy"}"#), "busy");
        assert_eq!(said(r#"{"choices": [{"error": {"message": "gone", "code": 502}}]}"#), "gone");
        assert_eq!(said(r#"{"object": "error", "message": "bad"}"#), "bad");
        assert_eq!(said(r#"{"detail": [{"msg": "wrong"}]}"#), r#"[{"msg":"wrong"}]"#);
        assert_eq!(said("plain"), "plain");
    }

    #[test]
    fn a_refusal_has_a_remedy() {
        let of = |status, message: &str, key| client(key).refusal("/v1/completions", status, message);
        assert!(of(401, "no", None).message.ends_with("the environment variable KEY: it is not set"));
        assert!(of(403, "no", Some("k")).message.ends_with("is it the right key?"));
        let long = of(400, "request (9 tokens) exceeds the available context size (8 tokens)", None);
        assert!(long.kind == ErrorKind::Config && long.message.contains("larger context"), "{long}");
        assert!(!of(422, "bad value", None).message.contains("context"));
        assert!(long.message.ends_with("a larger context"), "{long}");
        let shorter = client(None).with_shorter(Some("use a smaller --shots"));
        let long = shorter.refusal("/v1/completions", 400, "the prompt is too long");
        assert!(long.message.ends_with("a larger context, or use a smaller --shots"), "{long}");
    }
}
