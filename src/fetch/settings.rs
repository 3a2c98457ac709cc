//! Reads Hugging Face's environment variables.

use crate::error::{Error, ErrorKind, Result};
use crate::http::{Address, ApiKey, Connection, authorities};
use crate::untrusted;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A try ends after this many seconds without a byte, unless `HF_HUB_DOWNLOAD_TIMEOUT` sets another number.
const TIMEOUT: u64 = 30;
/// The limit for a file with a token, in bytes.
const MAX_TOKEN: u64 = 64 << 10;

/// The server, the cache folder, the token and the rules of connections.
pub struct HubSettings {
    /// `HF_ENDPOINT`, else the hub.
    pub endpoint: Address,
    /// `HF_HUB_CACHE`, else `hub` in `HF_HOME`.
    pub cache: PathBuf,
    /// `HF_TOKEN`, else the content of the file `HF_TOKEN_PATH`, or of `token` in `HF_HOME`.
    pub token: Option<ApiKey>,
    /// The variable that forbids network access, if one does: `HF_HUB_OFFLINE` or `TRANSFORMERS_OFFLINE`.
    pub offline: Option<&'static str>,
    /// The trusted authorities and the timeout, for every server.
    pub connection: Connection,
}

impl HubSettings {
    /// # Errors
    /// `Config` if a variable is invalid; `Io` if the token's file can't be read.
    pub fn from_environment() -> Result<Self> {
        Self::from_variables(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let any = |names: &[&str]| names.iter().find_map(|name| variable(name));
        let home_of_user = variable("HOME").map(PathBuf::from);
        let folder = |text: String| match (text.strip_prefix("~/"), &home_of_user) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(text),
        };
        let default_home = || {
            let user_cache = || home_of_user.clone().unwrap_or_default().join(".cache");
            variable("XDG_CACHE_HOME").map_or_else(user_cache, &folder).join("huggingface")
        };
        let home = variable("HF_HOME").map_or_else(default_home, &folder);
        let endpoint = variable("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".into());
        let invalid = |name: &str, why: String| Error::config(format!("the environment variable {name}: {why}"));
        let seconds = match variable("HF_HUB_DOWNLOAD_TIMEOUT") {
            None => TIMEOUT,
            Some(text) => match text.trim().parse() {
                Ok(seconds @ 1..=3600) => seconds,
                _ => return Err(invalid("HF_HUB_DOWNLOAD_TIMEOUT", "must be seconds, from 1 to 3600".into())),
            },
        };
        let is_true = |text: String| ["1", "on", "yes", "true"].contains(&text.to_ascii_lowercase().as_str());
        let token = match any(&["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"]) {
            Some(token) => ApiKey::parse(&token, "the environment variable HF_TOKEN")?,
            None => token_in(&variable("HF_TOKEN_PATH").map_or_else(|| home.join("token"), &folder))?,
        };
        let offline = ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"];
        Ok(HubSettings {
            endpoint: Address::parse(endpoint.trim_end_matches('/')).map_err(|why| invalid("HF_ENDPOINT", why))?,
            cache: any(&["HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"]).map_or_else(|| home.join("hub"), &folder),
            token: token.filter(|_| !variable("HF_HUB_DISABLE_IMPLICIT_TOKEN").is_some_and(is_true)),
            offline: offline.into_iter().find(|name| variable(name).is_some_and(is_true)),
            connection: Connection {
                authorities: authorities(&variable, folder)?,
                timeout: Duration::from_secs(seconds),
            },
        })
    }

    /// # Errors
    /// `Unavailable` if a variable forbids the network.
    pub fn require_network(&self, what: &str) -> Result<()> {
        match self.offline {
            Some(name) => {
                let message = format!(
                    "{what}: has to be fetched, but {name} forbids network access; unset it, or fetch elsewhere"
                );
                Err(Error::new(ErrorKind::Unavailable, message))
            }
            None => Ok(()),
        }
    }
}

fn token_in(path: &Path) -> Result<Option<ApiKey>> {
    let bytes = untrusted::read_if_there(path, MAX_TOKEN).map_err(|error| Error::reading(path, &error))?;
    bytes.map_or(Ok(None), |bytes| ApiKey::parse(&String::from_utf8_lossy(&bytes), &path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<HubSettings> {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
        HubSettings::from_variables(find)
    }

    #[test]
    fn folders_are_hugging_faces() {
        let cache = |variables: &[(&str, &str)]| settings(variables).unwrap().cache.display().to_string();
        assert_eq!(cache(&[("HOME", "/u")]), "/u/.cache/huggingface/hub");
        assert_eq!(cache(&[("HOME", "/u"), ("XDG_CACHE_HOME", "/c")]), "/c/huggingface/hub");
        assert_eq!(cache(&[("HOME", "/u"), ("HF_HOME", "~/hf")]), "/u/hf/hub");
        assert_eq!(cache(&[("HF_HOME", "/hf"), ("HF_HUB_CACHE", "/elsewhere")]), "/elsewhere");
    }

    #[test]
    fn a_token_is_that_of_the_environment_before_that_of_the_file() {
        let folder = tempfile::TempDir::new().unwrap();
        let home = folder.path().to_str().unwrap();
        assert!(settings(&[("HF_HOME", home)]).unwrap().token.is_none());
        std::fs::write(folder.path().join("token"), "hf_file\n").unwrap();
        let token = |variables: &[(&str, &str)]| settings(variables).unwrap().token.map(|token| token.authorization());
        assert_eq!(token(&[("HF_HOME", home)]).unwrap(), "Bearer hf_file");
        assert_eq!(token(&[("HF_HOME", home), ("HF_TOKEN", " hf_own ")]).unwrap(), "Bearer hf_own");
        assert_eq!(token(&[("HF_HOME", home), ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")]), None);
        let error = settings(&[("HF_TOKEN", "two words")]).err().unwrap();
        assert!(error.kind == ErrorKind::Config && !error.message.contains("two words"), "{error}");
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        for wrong in [("HF_ENDPOINT", "ftp://a.example"), ("HF_ENDPOINT", "a"), ("HF_HUB_DOWNLOAD_TIMEOUT", "soon")] {
            assert_eq!(settings(&[wrong]).err().unwrap().kind, ErrorKind::Config, "{wrong:?}");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        assert_eq!(settings(&[("SSL_CERT_FILE", path)]).err().unwrap().kind, ErrorKind::Config, "no certificate in it");
        assert_eq!(settings(&[("SSL_CERT_FILE", "/no/such")]).err().unwrap().kind, ErrorKind::MissingInput);
        let offline = |value| settings(&[("HF_HUB_OFFLINE", value)]).unwrap().offline;
        assert_eq!(
            (offline("1"), offline("true"), offline("0")),
            (Some("HF_HUB_OFFLINE"), Some("HF_HUB_OFFLINE"), None)
        );
    }
}
