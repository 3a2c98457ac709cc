//! Secrets that identify the user to a server.

use crate::error::{Error, Result};

/// A secret that identifies the user. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// The token without surrounding white space; `None` if there is nothing else. `source` appears in the message; the
    /// token does not.
    ///
    /// # Errors
    /// `Config` if it can't be sent in a header.
    pub fn parse(text: &str, source: &str) -> Result<Option<Self>> {
        match text.trim() {
            "" => Ok(None),
            token if token.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(Some(ApiKey(token.to_owned()))),
            _ => {
                let message = format!("{source}: is not a token: it contains spaces or other invalid characters");
                Err(Error::config(message))
            }
        }
    }

    /// The value of the header `authorization`, which shows the secret.
    pub fn authorization(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// The text without this secret: servers quote it in their messages.
    pub fn hidden_in(&self, text: &str) -> String {
        text.replace(&self.0, "(the key)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_token_is_trimmed_checked_and_hidden() {
        let token = ApiKey::parse(" sk-1\n", "KEY").unwrap().unwrap();
        assert_eq!(token.authorization(), "Bearer sk-1");
        assert_eq!(token.hidden_in("the key sk-1 is wrong"), "the key (the key) is wrong");
        assert!(ApiKey::parse(" ", "KEY").unwrap().is_none());
        let error = ApiKey::parse("two words", "KEY").err().unwrap();
        assert!(error.kind == ErrorKind::Config && !error.message.contains("two words"), "{error}");
    }
}
