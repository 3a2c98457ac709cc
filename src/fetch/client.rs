//! One request at a time: redirects, the token, limits, and which answers are worth another try.

use super::settings::{Settings, Token};
use super::url::Address;
use super::{Event, Listener};
use crate::error::{Error, ErrorKind, Result};
use crate::fault;
use crate::outside::shown;
use std::io::Read;
use std::time::Duration;
use ureq::http::{HeaderMap, Request};
use ureq::tls::TlsConfig;
use ureq::{Agent, Body};

/// Tries in a row that get nowhere.
const TRIES: u32 = 5;
/// The pause after the first try; every pause is twice the one before.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest pause that a server may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// Redirects in a row.
const REDIRECTS: usize = 10;
/// The slowest that a body may come over the time of a try, in bytes a second, and the seconds it has beside.
const SLOWEST: u64 = 16 << 10;
const GRACE: u64 = 60;

const TOKEN_REMEDY: &str = "; it does not exist, or is only for some: check the name, accept its terms on its page if it has \
    any, and set HF_TOKEN to a token that may read it";

/// Asks one server, and those it redirects to.
pub struct Client {
    agent: Agent,
    /// The only origin that may see the token.
    home: Address,
    token: Option<Token>,
    /// What to say where it refuses.
    refused: &'static str,
}

/// Why a try failed.
pub enum Failure {
    /// It is worth another try, after this pause if the server asked for one.
    Again(Error, Option<Duration>),
    Final(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Final(error)
    }
}

/// An answer that is no redirect, unless it was to be taken as it came.
pub struct Reply {
    pub status: u16,
    pub address: Address,
    pub headers: HeaderMap,
    /// What the hub itself said of the file, whoever serves it.
    pub linked: Linked,
    body: Body,
}

/// Hash and length of a file, as the hub announces them.
#[derive(Default, Clone)]
pub struct Linked {
    pub etag: Option<String>,
    pub bytes: Option<u64>,
}

impl Reply {
    /// A header, if it is there and text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Length of the body, where it is told.
    pub fn length(&self) -> Option<u64> {
        self.header("content-length")?.parse().ok()
    }

    pub fn reader(&mut self) -> impl Read {
        self.body.as_reader()
    }
}

/// What a request asks for.
#[derive(Clone, Copy)]
pub enum Ask {
    /// Only the headers; as soon as the hub told what it links to, or gave an answer.
    Head,
    /// The body from this byte on, of about so many bytes.
    Body { from: u64, bytes: u64 },
}

impl Client {
    /// Asks the hub, which alone sees the token.
    pub fn hub(settings: &Settings) -> Self {
        Self::new(settings, settings.endpoint.clone(), settings.token.clone(), TOKEN_REMEDY)
    }

    /// Asks a server that knows no token.
    pub fn anonymous(settings: &Settings, home: Address) -> Self {
        Self::new(settings, home, None, "; it is not for everybody")
    }

    fn new(settings: &Settings, home: Address, token: Option<Token>, refused: &'static str) -> Self {
        let timeout = Some(settings.timeout);
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .tls_config(TlsConfig::builder().root_certs(settings.authorities.clone()).build())
            .user_agent(concat!("tiered/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(timeout)
            .timeout_connect(timeout)
            .timeout_send_request(timeout)
            .timeout_recv_response(timeout)
            .timeout_per_read(timeout)
            .build();
        Client { agent: config.new_agent(), home, token, refused }
    }

    pub fn home(&self) -> &Address {
        &self.home
    }

    /// Asks, and follows redirects.
    pub fn ask(&self, address: &Address, ask: Ask) -> Result<Reply, Failure> {
        let mut address = address.clone();
        let mut linked = Linked::default();
        for _ in 0..=REDIRECTS {
            let response = self.send(&address, ask)?;
            let (parts, body) = response.into_parts();
            if address.is_of(&self.home) {
                let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
                linked.etag = linked.etag.or(text("x-linked-etag").map(str::to_owned));
                linked.bytes = linked.bytes.or(text("x-linked-size").and_then(|size| size.parse().ok()));
            }
            let reply = Reply { status: parts.status.as_u16(), address, headers: parts.headers, linked, body };
            let is_redirect = [301, 302, 303, 307, 308].contains(&reply.status);
            if !is_redirect || (matches!(ask, Ask::Head) && reply.linked.etag.is_some()) {
                return reply.judged(self.refused);
            }
            let location = reply.header("location").ok_or_else(|| {
                Error::new(ErrorKind::Unavailable, format!("{}: redirects, and does not say where to", reply.address))
            })?;
            address = reply.address.redirected(location)?;
            linked = reply.linked;
        }
        let message = format!("{address}: comes after {REDIRECTS} redirects; not followed");
        Err(Failure::Final(Error::new(ErrorKind::Refused, message)))
    }

    fn send(&self, address: &Address, ask: Ask) -> Result<ureq::http::Response<Body>, Failure> {
        let method = if matches!(ask, Ask::Head) { "HEAD" } else { "GET" };
        let mut request = Request::builder().method(method).uri(address.uri()).header("accept-encoding", "identity");
        if let Ask::Body { from, .. } = ask
            && from > 0
        {
            request = request.header("range", format!("bytes={from}-"));
        }
        if let Some(token) = self.token.as_ref().filter(|_| address.is_of(&self.home)) {
            request = request.header("authorization", token.authorization());
        }
        let invalid = |error| Error::new(ErrorKind::Refused, format!("{address}: can't be asked for: {error}"));
        let request = request.body(()).map_err(invalid)?;
        let bytes = if let Ask::Body { bytes, .. } = ask { bytes } else { 0 };
        let time = Duration::from_secs(GRACE + bytes / SLOWEST);
        let request = self.agent.configure_request(request).timeout_recv_body(Some(time)).build();
        self.agent.run(request).map_err(|error| failure(address, &error))
    }

    /// A short answer in full, in as many tries as it takes.
    ///
    /// # Errors
    /// Of the last try; `Refused` if it is longer than `most` bytes.
    pub fn read(&self, address: &Address, most: u64, on: Listener) -> Result<Vec<u8>> {
        self.persistently(on, || {
            let mut reply = self.ask(address, Ask::Body { from: 0, bytes: most })?;
            let mut bytes = Vec::new();
            let read = reply.reader().take(most + 1).read_to_end(&mut bytes);
            if bytes.len() as u64 > most {
                return Err(too_long(address, most).into());
            }
            read.map_err(|error| broken(address, &error))?;
            Ok(bytes)
        })
    }

    /// What a file's hash and length are announced to be.
    pub fn head(&self, address: &Address, on: Listener) -> Result<Reply> {
        self.persistently(on, || self.ask(address, Ask::Head))
    }

    fn persistently<T>(&self, on: Listener, mut act: impl FnMut() -> Result<T, Failure>) -> Result<T> {
        let mut tries = Tries::default();
        loop {
            match act() {
                Ok(done) => return Ok(done),
                Err(failure) => tries.pause(failure, false, on)?,
            }
        }
    }
}

/// Counts the tries that got nowhere.
#[derive(Default)]
pub struct Tries {
    failed: u32,
}

impl Tries {
    /// Waits before the next try; one that got somewhere counts as the first.
    ///
    /// # Errors
    /// If there is to be none.
    pub fn pause(&mut self, failure: Failure, got_somewhere: bool, on: Listener) -> Result<()> {
        let (error, asked) = match failure {
            Failure::Again(error, asked) => (error, asked),
            Failure::Final(error) => return Err(error),
        };
        self.failed = if got_somewhere { 1 } else { self.failed + 1 };
        if let Some(asked) = asked.filter(|asked| *asked > LONGEST_PAUSE) {
            let message = format!("{error}; it asks to wait for {} s; try again then", asked.as_secs());
            return Err(Error { message, ..error });
        }
        if self.failed >= TRIES {
            let message = format!("{error}; given up after {TRIES} tries; what has arrived is kept, try again later");
            return Err(Error { message, ..error });
        }
        let usual = fault::retry_pause(PAUSE) * 2u32.pow(self.failed - 1);
        let pause = asked.map_or(usual, |asked| asked.max(usual));
        on(Event::Waits { why: &error.message, pause });
        std::thread::sleep(pause);
        Ok(())
    }
}

impl Reply {
    /// The reply, if it is what was asked for.
    fn judged(self, refused: &str) -> Result<Self, Failure> {
        let Reply { status, address, .. } = &self;
        let explained = match self.header("x-error-message") {
            Some(message) => format!(" ({})", shown(message, 200)),
            None => String::new(),
        };
        let said = |kind, remedy: &str| Error::new(kind, format!("{address}: answers {status}{explained}{remedy}"));
        match status {
            200..=399 | 416 => Ok(self),
            401 | 403 => Err(Failure::Final(said(ErrorKind::Unavailable, refused))),
            404 | 410 => Err(Failure::Final(said(ErrorKind::MissingInput, ": there is no such thing; check the name"))),
            408 | 425 | 429 | 500..=599 => {
                let seconds = self.header("retry-after").and_then(|text| text.trim().parse().ok());
                Err(Failure::Again(said(ErrorKind::Unavailable, ""), seconds.map(Duration::from_secs)))
            }
            _ => Err(Failure::Final(said(ErrorKind::Unavailable, ""))),
        }
    }
}

/// A request that got no answer.
fn failure(address: &Address, error: &ureq::Error) -> Failure {
    let said = Error::new(ErrorKind::Unavailable, format!("{address}: no answer: {}", shown(&error.to_string(), 300)));
    match error {
        // As rustls says it of a certificate; that does not pass.
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            let remedy = "if a proxy of yours signs it, SSL_CERT_FILE is to name its certificate";
            Failure::Final(Error { message: format!("{}; {remedy}", said.message), ..said })
        }
        ureq::Error::Io(_)
        | ureq::Error::Timeout(_)
        | ureq::Error::ConnectionFailed
        | ureq::Error::Protocol(_)
        | ureq::Error::HostNotFound => Failure::Again(said, None),
        _ => Failure::Final(said),
    }
}

/// A body that ended before its end.
pub fn broken(address: &Address, error: &std::io::Error) -> Failure {
    let message = format!("{address}: the connection broke: {}", shown(&error.to_string(), 300));
    Failure::Again(Error::new(ErrorKind::Unavailable, message), None)
}

pub fn too_long(address: &Address, most: u64) -> Error {
    let message = format!("{address}: sends more than {most} bytes, the most that is taken of it");
    Error::new(ErrorKind::Refused, message)
}
