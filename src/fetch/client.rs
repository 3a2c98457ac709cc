//! Sends one request at a time. Handles redirects, the token, limits and retries.

use super::settings::HubSettings;
use super::{FetchEvent, Listener};
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Address, ApiKey, Failure, Tries, asked_pause, broken, failure, first_pause};
use crate::untrusted::shown;
use std::io::Read;
use std::time::Duration;
use ureq::http::{HeaderMap, Request};
use ureq::{Agent, Body};

/// The largest number of redirects in a row.
const REDIRECTS: usize = 10;
/// The slowest acceptable transfer over one try, in bytes a second; each try has some extra seconds.
const SLOWEST: u64 = 16 << 10;
const GRACE: u64 = 60;

const TOKEN_REMEDY: &str = "; it does not exist, or access is restricted: check the name, accept any terms on its \
    page, and set HF_TOKEN to a token that may read it";

/// Sends requests to one server, and to those that it redirects to.
pub struct HubClient {
    agent: Agent,
    /// The only origin that receives the token.
    home: Address,
    token: Option<ApiKey>,
    /// What to add to the message if the server refuses.
    refused: &'static str,
}

/// A reply that is not a redirect, unless redirects were not to be followed.
pub struct HttpReply {
    pub status: u16,
    pub address: Address,
    pub headers: HeaderMap,
    /// What the hub itself announced about the file, whichever server delivers it.
    pub linked: LinkedFile,
    body: Body,
}

/// Hash and length of a file, as announced by the hub.
#[derive(Default, Clone)]
pub struct LinkedFile {
    pub etag: Option<String>,
    pub bytes: Option<u64>,
}

impl HttpReply {
    /// The value of a header, if it exists and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The length of the body, if it is announced.
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
    /// The headers only. Redirects end as soon as the hub has announced the linked file, or has answered.
    Head,
    /// The body from this byte on, of about this many bytes.
    Body { from: u64, bytes: u64 },
}

impl HubClient {
    /// A client for the hub. No other server receives the token.
    pub fn hub(settings: &HubSettings) -> Self {
        Self::new(settings, settings.endpoint.clone(), settings.token.clone(), TOKEN_REMEDY)
    }

    /// A client without a token.
    pub fn anonymous(settings: &HubSettings, home: Address) -> Self {
        Self::new(settings, home, None, "; access is restricted: fetch the file by hand")
    }

    fn new(settings: &HubSettings, home: Address, token: Option<ApiKey>, refused: &'static str) -> Self {
        HubClient { agent: settings.connection.agent(&home), home, token, refused }
    }

    pub fn home(&self) -> &Address {
        &self.home
    }

    /// Sends a request and follows redirects.
    pub fn ask(&self, address: &Address, ask: Ask) -> Result<HttpReply, Failure> {
        let mut address = address.clone();
        let mut linked = LinkedFile::default();
        for _ in 0..=REDIRECTS {
            let response = self.send(&address, ask)?;
            let (parts, body) = response.into_parts();
            if address.is_of(&self.home) {
                let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
                linked.etag = linked.etag.or(text("x-linked-etag").map(str::to_owned));
                linked.bytes = linked.bytes.or(text("x-linked-size").and_then(|size| size.parse().ok()));
            }
            let reply = HttpReply { status: parts.status.as_u16(), address, headers: parts.headers, linked, body };
            let is_redirect = [301, 302, 303, 307, 308].contains(&reply.status);
            if !is_redirect || (matches!(ask, Ask::Head) && reply.linked.etag.is_some()) {
                return reply.judged(self.refused);
            }
            let location = reply.header("location").ok_or_else(|| {
                Error::new(
                    ErrorKind::Unavailable,
                    format!("{}: redirects without an address; try again later", reply.address),
                )
            })?;
            address = reply.address.redirected(location)?;
            linked = reply.linked;
        }
        let message = format!("{address}: was reached after {REDIRECTS} redirects; no more are followed");
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
        let invalid = |error| Error::new(ErrorKind::Refused, format!("{address}: the request is invalid: {error}"));
        let request = request.body(()).map_err(invalid)?;
        let bytes = if let Ask::Body { bytes, .. } = ask { bytes } else { 0 };
        let time = Duration::from_secs(GRACE + bytes / SLOWEST);
        let request = self.agent.configure_request(request).timeout_recv_body(Some(time)).build();
        self.agent.run(request).map_err(|error| failure(address, &error))
    }

    /// Reads a short body in full, with as many tries as needed.
    ///
    /// # Errors
    /// That of the last try; `Refused` if the body is longer than `most` bytes.
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

    /// The reply with the announced hash and length of a file.
    pub fn head(&self, address: &Address, on: Listener) -> Result<HttpReply> {
        self.persistently(on, || self.ask(address, Ask::Head))
    }

    fn persistently<T>(&self, on: Listener, mut act: impl FnMut() -> Result<T, Failure>) -> Result<T> {
        let mut tries = Tries::new(first_pause(), LATER);
        loop {
            match act() {
                Ok(done) => return Ok(done),
                Err(failure) => pause(&mut tries, failure, false, on)?,
            }
        }
    }
}

/// What is said when we give up on a file that is put together from several tries.
pub const KEPT: &str = "the received part is kept: try again later";
/// What is said otherwise.
pub const LATER: &str = "try again later";

/// Waits before the next try. A try with progress resets the count.
///
/// # Errors
/// If there should be no other try.
pub fn pause(tries: &mut Tries, failure: Failure, got_somewhere: bool, on: Listener) -> Result<()> {
    let wait = tries.next(failure, got_somewhere)?;
    on(FetchEvent::Waits { why: &wait.why.message, pause: wait.pause });
    std::thread::sleep(wait.pause);
    Ok(())
}

impl HttpReply {
    /// The reply, if its status is a success.
    fn judged(self, refused: &str) -> Result<Self, Failure> {
        let HttpReply { status, address, .. } = &self;
        let explained = match self.header("x-error-message") {
            Some(message) => format!(" ({})", shown(message, 200)),
            None => String::new(),
        };
        let failed = |kind, remedy: &str| {
            Error::new(kind, format!("{address}: the server answered {status}{explained}{remedy}"))
        };
        match status {
            200..=399 | 416 => Ok(self),
            401 | 403 => Err(Failure::Final(failed(ErrorKind::Unavailable, refused))),
            404 | 410 => Err(Failure::Final(failed(ErrorKind::MissingInput, ": it does not exist; check the name"))),
            408 | 425 | 429 | 500..=599 => {
                Err(Failure::Again(failed(ErrorKind::Unavailable, ""), asked_pause(&self.headers)))
            }
            _ => Err(Failure::Final(failed(ErrorKind::Unavailable, ""))),
        }
    }
}

pub fn too_long(address: &Address, most: u64) -> Error {
    let message = format!("{address}: sends more than {most} bytes, the limit for this file");
    Error::new(ErrorKind::Refused, message)
}
