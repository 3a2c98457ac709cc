//! The secret that only the user who started the server knows.

use rand::RngExt;
use std::fmt::Write;

/// Random bytes of a token.
const BYTES: usize = 32;

/// Printed in the address of the page, and sent with every request of the API.
#[derive(Clone)]
pub struct AccessToken(String);

impl AccessToken {
    /// A new one, from the random numbers of the operating system.
    pub fn new() -> Self {
        let bytes: [u8; BYTES] = rand::rng().random();
        AccessToken(bytes.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a string can be written to");
            text
        }))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the given bytes are this token. How long that takes does not depend on where they differ.
    pub fn is(&self, given: &[u8]) -> bool {
        let own = self.0.as_bytes();
        own.len() == given.len() && own.iter().zip(given).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_only_itself() {
        let token = AccessToken::new();
        let mut other = token.as_str().as_bytes().to_vec();
        assert!(token.is(&other) && other.len() == 2 * BYTES);
        other[2 * BYTES - 1] ^= 1;
        assert!(!token.is(&other) && !token.is(&other[..2 * BYTES - 1]) && !token.is(b""));
        assert_ne!(token.as_str(), AccessToken::new().as_str());
    }
}
