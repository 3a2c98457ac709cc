//! Network addresses: where a redirect leads, and which server receives the token.

use crate::error::{Error, ErrorKind, Result};
use crate::untrusted::shown;
use std::fmt;
use std::net::IpAddr;
use ureq::http::Uri;
use url::Url;

/// The longest address that we follow, in bytes.
const LONGEST: usize = 8192;

/// An absolute http or https address without a user name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(Uri);

impl Address {
    /// # Errors
    /// What is wrong with the address.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("the address has {} bytes; at most {LONGEST} are allowed", text.len()));
        }
        let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        if !matches!(scheme.as_deref(), Some("http" | "https")) {
            return Err(format!("{} is not an http or https address", shown(text, 200)));
        }
        let uri: Uri = text.parse().map_err(|error| format!("{} is not an address: {error}", shown(text, 200)))?;
        let authority = uri.authority().map(|authority| authority.as_str());
        match authority {
            Some(authority) if authority.contains('@') => Err("the address contains a user's name; remove it".into()),
            Some(_) => Ok(Address(uri)),
            None => Err(format!("{} names no server", shown(text, 200))),
        }
    }

    /// The address of a `Location` header in a reply from this address.
    ///
    /// # Errors
    /// `Refused` if it is not http or https, or if it changes from https to http.
    pub fn redirected(&self, location: &str) -> Result<Self> {
        let refuse =
            |why: String| Error::new(ErrorKind::Refused, format!("{self}: the redirect is not followed: {why}"));
        let base = Url::parse(&self.0.to_string()).map_err(|error| refuse(error.to_string()))?;
        let absolute = base.join(location).map_err(|error| refuse(format!("{}: {error}", shown(location, 200))))?;
        let next = Address::parse(absolute.as_str()).map_err(refuse)?;
        match (self.scheme(), next.scheme()) {
            ("https", "http") => Err(refuse(format!("{next} leaves https for http"))),
            _ => Ok(next),
        }
    }

    /// This address with a path and query, which begin with a slash.
    pub fn join(&self, path: &str) -> Result<Self> {
        let text = self.0.to_string();
        Address::parse(&format!("{}{path}", text.trim_end_matches('/')))
            .map_err(|why| Error::new(ErrorKind::Refused, why))
    }

    /// Whether both have the same scheme, host and port.
    pub fn is_of(&self, other: &Address) -> bool {
        let origin = |address: &Address| {
            let usual = if address.scheme() == "https" { 443 } else { 80 };
            let host = address.0.host().unwrap_or_default().to_ascii_lowercase();
            (address.scheme().to_owned(), host, address.0.port_u16().unwrap_or(usual))
        };
        origin(self) == origin(other)
    }

    /// Whether what is sent stays on this machine, or can't be read on its way.
    pub fn is_private(&self) -> bool {
        self.is_here() || self.scheme() == "https"
    }

    /// Whether it is this machine.
    pub fn is_here(&self) -> bool {
        let host = self.0.host().unwrap_or_default().trim_matches(['[', ']']);
        host.parse::<IpAddr>().map_or(host.eq_ignore_ascii_case("localhost"), |ip| ip.is_loopback())
    }

    /// The address as `ureq` takes it, with its query.
    pub fn uri(&self) -> &Uri {
        &self.0
    }

    fn scheme(&self) -> &str {
        self.0.scheme_str().unwrap_or_default()
    }

    fn authority(&self) -> &str {
        self.0.authority().map_or("", |authority| authority.as_str())
    }
}

/// Leaves out the query, which may contain a signature.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme(), shown(self.authority(), 200), shown(self.0.path(), 300))
    }
}

/// A part of a path. Everything but letters, digits and `-_.~` is escaped.
pub fn escaped(part: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    part.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_lead_where_browsers_go() {
        let from = Address::parse("https://a.example:8443/x/y?q=1").unwrap();
        let to = |location: &str| from.redirected(location).map(|address| address.0.to_string()).map_err(|e| e.kind);
        assert_eq!(to("/z?k=v").unwrap(), "https://a.example:8443/z?k=v");
        assert_eq!(to("z").unwrap(), "https://a.example:8443/x/z");
        assert_eq!(to("?k=v").unwrap(), "https://a.example:8443/x/y?k=v");
        assert_eq!(to("../z").unwrap(), "https://a.example:8443/z");
        assert_eq!(to("/a/./b/../c#part").unwrap(), "https://a.example:8443/a/c");
        assert_eq!(to("//b.example/z").unwrap(), "https://b.example/z");
        assert_eq!(to("HTTPS://b.example/z").unwrap(), "https://b.example/z");
        for bad in
            ["http://b.example/z", "file:///etc/passwd", "ftp://b.example/", "https://me:x@b.example/", "javascript:1"]
        {
            assert_eq!(to(bad), Err(ErrorKind::Refused), "{bad}");
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let of = |a: &str, b: &str| Address::parse(a).unwrap().is_of(&Address::parse(b).unwrap());
        assert!(of("https://a.example/x", "https://A.example:443/y"));
        assert!(!of("https://a.example", "http://a.example") && !of("https://a.example", "https://a.example.evil"));
        assert!(!of("http://127.0.0.1:8000", "http://127.0.0.1:8001"));
    }

    #[test]
    fn only_https_leaves_this_machine() {
        let is_private = |text: &str| Address::parse(text).unwrap().is_private();
        for yes in
            ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:1/v1", "http://127.9.9.9", "https://a.example"]
        {
            assert!(is_private(yes), "{yes}");
        }
        for no in ["http://a.example", "http://10.0.0.1:8000", "http://localhost.example", "http://127.0.0.1.example"] {
            assert!(!is_private(no), "{no}");
        }
    }

    #[test]
    fn what_is_shown_has_no_signature() {
        let address = Address::parse("https://a.example/x/y?Signature=secret").unwrap();
        assert_eq!(address.to_string(), "https://a.example/x/y");
        assert_eq!(escaped("refs/pr/1 è"), "refs%2Fpr%2F1%20%C3%A8");
    }
}
