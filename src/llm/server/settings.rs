//! Which server is asked, with which key.

use crate::error::{Error, ErrorKind, Result};
use crate::http::{Address, ApiKey, Connection, authorities, first_pause};
use crate::untrusted::shown;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

/// Whom to ask, and how.
pub struct ServerSettings {
    /// The server, without `/v1` at the end.
    pub address: Address,
    /// The service's key; no other origin receives it.
    pub key: Option<ApiKey>,
    /// Trusted authorities and the limit of waiting.
    pub connection: Connection,
    /// The variable that the key is read from, for messages.
    pub key_variable: String,
    /// The pause before a request is tried again for the first time.
    pub first_pause: Duration,
}

impl ServerSettings {
    /// The server at this address (`/v1` at its end is left out), with the key in this variable, if it is set.
    ///
    /// # Errors
    /// `Usage` if the address is not one, or would send prompts readably over a network; `Config` if a variable is
    /// invalid.
    pub fn from_environment(url: &str, key_variable: &str, timeout: Duration) -> Result<Self> {
        require_text(key_variable, std::env::var_os(key_variable).as_deref())?;
        Self::from_variables(url, key_variable, timeout, |name| {
            std::env::var(name).ok().filter(|text| !text.is_empty())
        })
    }

    fn from_variables(
        url: &str,
        key_variable: &str,
        timeout: Duration,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let usage = |why: String| Error::new(ErrorKind::Usage, format!("--server: {why}"));
        if let Some(at) = url.find(['?', '#']) {
            let (what, address) =
                (if url[at..].starts_with('?') { "query" } else { "fragment" }, shown(&url[..at], 200));
            return Err(usage(format!("the address has a {what}, and requests add paths to it: name {address} alone")));
        }
        let trimmed = url.trim_end_matches('/');
        let address = Address::parse(trimmed.strip_suffix("/v1").unwrap_or(trimmed)).map_err(usage)?;
        if !address.is_private() {
            let why =
                format!("{address} is not on this machine, and http is readable on its way: use https, or a tunnel");
            return Err(usage(format!("{why} (ssh -N -L 8000:localhost:8000 HOST, then http://localhost:8000)")));
        }
        let source = format!("the environment variable {key_variable}");
        let key = variable(key_variable).map(|text| ApiKey::parse(&text, &source)).transpose()?.flatten();
        let connection = Connection { authorities: authorities(&variable, PathBuf::from)?, timeout };
        Ok(ServerSettings {
            address,
            key,
            connection,
            key_variable: key_variable.to_owned(),
            first_pause: first_pause(),
        })
    }
}

/// Refuses a variable that is set to something else than text: it would count as not set.
fn require_text(name: &str, value: Option<&OsStr>) -> Result<()> {
    match value {
        Some(value) if value.to_str().is_none() => Err(Error::config(format!(
            "the environment variable {name} is not UTF-8, and no key is; set it to the service's key, or unset it"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    pub fn settings(url: &str, key: Option<&str>) -> Result<ServerSettings> {
        let variable = |name: &str| if name == "KEY" { key.map(str::to_owned) } else { None };
        ServerSettings::from_variables(url, "KEY", Duration::from_secs(1), variable)
    }

    #[test]
    fn an_address_is_taken_with_and_without_its_end_and_plain_http_is_for_this_machine() {
        let address = |url| settings(url, None).map(|settings| settings.address.to_string());
        assert_eq!(address("http://localhost:8080").unwrap(), "http://localhost:8080/");
        assert_eq!(address("https://a.example/api/v1/").unwrap(), "https://a.example/api");
        let error = address("http://a.example:8000").unwrap_err();
        assert!(error.kind == ErrorKind::Usage && error.message.contains("ssh -N -L"), "{error}");
        for (url, what) in [("https://a.example/v1?key=secret", "query"), ("https://a.example/#/v1", "fragment")] {
            let error = address(url).unwrap_err();
            assert!(error.kind == ErrorKind::Usage && error.message.contains(what), "{error}");
            assert!(error.message.contains("name https://a.example") && !error.message.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_key_that_is_no_text_is_an_error() {
        let error = require_text("KEY", Some(OsStr::from_bytes(b"sk-\xff"))).unwrap_err();
        assert!(error.kind == ErrorKind::Config && error.message.contains("KEY is not UTF-8"), "{error}");
        assert!(require_text("KEY", Some(OsStr::new("sk"))).is_ok() && require_text("KEY", None).is_ok());
    }
}
