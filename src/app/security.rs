//! Who may ask the server what: the page of this server, opened by the user who started it.
//!
//! Other users of the machine do not know the token. Pages of other servers in the user's browser are refused by their
//! `Origin`; those that pretend to be this server, by another address for 127.0.0.1 (DNS rebinding), by their `Host`.

use super::answer::Refusal;
use super::token::AccessToken;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// The header in which the page sends the token.
pub const TOKEN_HEADER: &str = "x-tiered-token";

/// Everything that the page may load or ask comes from this server, and no other page may embed it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src \
                      'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// What requests are compared with.
pub struct Guard {
    hosts: Vec<String>,
    token: AccessToken,
}

impl Guard {
    pub fn new(port: u16, token: AccessToken) -> Arc<Self> {
        const NAMES: [&str; 2] = ["127.0.0.1", "localhost"];
        let with_port = NAMES.iter().map(|name| format!("{name}:{port}"));
        // Browsers leave out HTTP's own port.
        let without = NAMES.iter().filter(|_| port == 80).map(|name| (*name).to_owned());
        Arc::new(Guard { hosts: with_port.chain(without).collect(), token })
    }

    /// Why a request is refused.
    fn refusal(&self, path: &str, headers: &HeaderMap) -> Option<Refusal> {
        let refuse = |status, why: &str| Some(Refusal::new(status, why));
        let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
        if !self.hosts.iter().any(|own| Some(own.as_bytes()) == host) {
            let why = "this address is not the server's; open the address that tiered app printed";
            return refuse(StatusCode::MISDIRECTED_REQUEST, why);
        }
        let is_own = |origin: &[u8]| self.hosts.iter().any(|host| origin == format!("http://{host}").as_bytes());
        if headers.get(header::ORIGIN).is_some_and(|origin| !is_own(origin.as_bytes())) {
            return refuse(StatusCode::FORBIDDEN, "pages of other servers may not ask this one");
        }
        if !path.starts_with("/api/") {
            return None; // the page itself has no secret
        }
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        if !matches!(site, None | Some(b"same-origin" | b"none")) {
            return refuse(StatusCode::FORBIDDEN, "pages of other servers may not ask this one");
        }
        if !headers.get(TOKEN_HEADER).is_some_and(|given| self.token.is(given.as_bytes())) {
            let why = "the token is missing or wrong; open the address that tiered app printed";
            return refuse(StatusCode::UNAUTHORIZED, why);
        }
        None
    }
}

/// Lets a request through or refuses it, and adds the headers that restrict the page.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.refusal(request.uri().path(), request.headers()) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(path: &str, headers: &[(&'static str, &str)]) -> Option<u16> {
        let token = AccessToken::new();
        let guard = Guard::new(80, token.clone());
        let given = headers.iter().map(|&(name, value)| {
            let value = if value == "TOKEN" { token.as_str() } else { value };
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        });
        guard.refusal(path, &given.collect()).map(|refusal| refusal.status().as_u16())
    }

    #[test]
    fn only_the_own_page_with_the_token_may_ask() {
        let (host, token) = (("host", "127.0.0.1:80"), ("x-tiered-token", "TOKEN"));
        let cases: [(&[_], Option<u16>); 11] = [
            (&[host, token], None),
            (&[("host", "localhost:80"), token, ("origin", "http://localhost:80")], None),
            (&[host, token, ("origin", "http://127.0.0.1:80"), ("sec-fetch-site", "same-origin")], None),
            (&[("host", "127.0.0.1"), token, ("origin", "http://127.0.0.1")], None),
            (&[host], Some(401)),
            (&[host, ("x-tiered-token", "TOKENs")], Some(401)),
            (&[token], Some(421)),
            (&[("host", "127.0.0.1:81"), token], Some(421)),
            (&[("host", "rebound.example:80"), token], Some(421)),
            (&[host, token, ("origin", "null")], Some(403)),
            (&[host, token, ("sec-fetch-site", "same-site")], Some(403)),
        ];
        for (headers, expected) in cases {
            assert_eq!(status("/api/models", headers), expected, "{headers:?}");
        }
        assert_eq!(status("/", &[host, ("sec-fetch-site", "cross-site")]), None, "a link to the page");
        assert_eq!(status("/", &[("host", "rebound.example:80")]), Some(421));
        assert_eq!(status("/app.js", &[host, ("origin", "http://127.0.0.1:81")]), Some(403));
    }
}
