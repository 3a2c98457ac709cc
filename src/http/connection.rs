//! Connections: whom we trust, how long we wait, and what it means when no answer comes.

use super::{Address, Failure};
use crate::error::{Error, ErrorKind, Result};
use crate::untrusted::{self, shown};
use std::path::Path;
use std::time::Duration;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Proxy};

/// The limit for a file with certificates, in bytes.
const MAX_CERTIFICATES: u64 = 16 << 20;

/// The rules of connections.
#[derive(Clone)]
pub struct Connection {
    /// The trusted certificate authorities: those in the file `SSL_CERT_FILE` or `REQUESTS_CA_BUNDLE`, else Mozilla's
    /// list.
    pub authorities: RootCerts,
    /// How long to wait for a connection, a reply or the next byte.
    pub timeout: Duration,
}

impl Connection {
    /// An agent that follows no redirects and reports every status as an answer. It asks a server on this machine,
    /// and what that redirects to, directly, another one by the environment's proxy, if that names one.
    pub fn agent(&self, server: &Address) -> Agent {
        let timeout = Some(self.timeout);
        let proxy = if server.is_here() { None } else { Proxy::try_from_env() };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(proxy)
            .tls_config(TlsConfig::builder().root_certs(self.authorities.clone()).build())
            .user_agent(concat!("tiered/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(timeout)
            .timeout_connect(timeout)
            .timeout_send_request(timeout)
            .timeout_recv_response(timeout)
            .timeout_per_read(timeout)
            .build();
        config.new_agent()
    }
}

/// The trusted authorities that the environment names.
///
/// # Errors
/// `MissingInput`, `Io`; `Config` if the file has no certificate.
pub fn authorities(
    variable: impl Fn(&str) -> Option<String>,
    path: impl Fn(String) -> std::path::PathBuf,
) -> Result<RootCerts> {
    match ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"].iter().find_map(|name| variable(name)) {
        Some(file) => certificates(&path(file)),
        None => Ok(RootCerts::WebPki),
    }
}

fn certificates(path: &Path) -> Result<RootCerts> {
    let bytes = untrusted::read_regular(path, MAX_CERTIFICATES).map_err(|error| Error::reading(path, &error))?;
    let items: Result<Vec<PemItem>, _> = parse_pem(&bytes).collect();
    let items = items.map_err(|error| Error::config(format!("{}: not PEM: {error}", path.display())))?;
    let certificates = items.into_iter().filter_map(|item| match item {
        PemItem::Certificate(certificate) => Some(certificate),
        _ => None,
    });
    let certificates: Vec<_> = certificates.collect();
    match certificates.is_empty() {
        true => Err(Error::config(format!("{}: has no certificate (PEM)", path.display()))),
        false => Ok(RootCerts::from(certificates)),
    }
}

/// The failure of a request without an answer.
pub fn failure(address: &Address, error: &ureq::Error) -> Failure {
    let unanswered =
        Error::new(ErrorKind::Unavailable, format!("{address}: no answer: {}", shown(&error.to_string(), 300)));
    match error {
        // rustls reports a bad certificate in this way; another try would not help.
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            let remedy = "if your network has a proxy that signs connections, set SSL_CERT_FILE to its certificate";
            Failure::Final(Error { message: format!("{}; {remedy}", unanswered.message), ..unanswered })
        }
        ureq::Error::Io(_)
        | ureq::Error::Timeout(_)
        | ureq::Error::ConnectionFailed
        | ureq::Error::Protocol(_)
        | ureq::Error::HostNotFound => Failure::Again(unanswered, None),
        _ => Failure::Final(unanswered),
    }
}

/// The failure of a body that ended too early.
pub fn broken(address: &Address, error: &std::io::Error) -> Failure {
    let message = format!("{address}: the connection broke: {}", shown(&error.to_string(), 300));
    Failure::Again(Error::new(ErrorKind::Unavailable, message), None)
}
