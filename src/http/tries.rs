//! When another try is worthwhile, and after which pause.

use crate::error::{Error, Result};
use crate::fault;
use std::time::{Duration, SystemTime};
use ureq::http::HeaderMap;

/// The number of tries in a row without progress after which we give up.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);
/// The longest pause that we accept from a server.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Why a try failed.
pub enum Failure {
    /// Another try is worthwhile, after this pause if the server asked for one.
    Again(Error, Option<Duration>),
    /// Another try would fail too.
    Final(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Final(error)
    }
}

/// Why and how long to wait before the next try.
#[derive(Debug)]
pub struct Wait {
    /// Why the last try failed.
    pub why: Error,
    /// How long to sleep before the next try.
    pub pause: Duration,
}

/// The pause after the first failed try: a second, or as [`fault`] says. Each later pause is twice the one before.
pub fn first_pause() -> Duration {
    fault::retry_pause(PAUSE)
}

/// Counts the tries in a row without progress.
pub struct Tries {
    failed: u32,
    first_pause: Duration,
    /// What the message says about giving up, such as what is kept.
    given_up: &'static str,
}

impl Tries {
    /// No try has failed yet. `given_up` ends the message after the last try.
    pub fn new(first_pause: Duration, given_up: &'static str) -> Self {
        Tries { failed: 0, first_pause, given_up }
    }

    /// The wait before the next try. A try with progress resets the count.
    ///
    /// # Errors
    /// If there should be no other try.
    pub fn next(&mut self, failure: Failure, got_somewhere: bool) -> Result<Wait> {
        let (why, asked) = match failure {
            Failure::Again(error, asked) => (error, asked),
            Failure::Final(error) => return Err(error),
        };
        self.failed = if got_somewhere { 1 } else { self.failed + 1 };
        if let Some(asked) = asked.filter(|asked| *asked > LONGEST_PAUSE) {
            let message = format!("{why}; the server asks to wait {} s; try again after that", asked.as_secs());
            return Err(Error { message, ..why });
        }
        if self.failed >= TRIES {
            let message = format!("{why}; gave up after {TRIES} tries; {}", self.given_up);
            return Err(Error { message, ..why });
        }
        let usual = self.first_pause * 2u32.pow(self.failed - 1);
        Ok(Wait { why, pause: asked.map_or(usual, |asked| asked.max(usual)) })
    }
}

/// The pause that a reply asks for.
pub fn asked_pause(headers: &HeaderMap) -> Option<Duration> {
    pause(headers.get("retry-after")?.to_str().ok()?, SystemTime::now())
}

/// From seconds, or from the date at which to try again; none where that is past.
fn pause(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => Some(httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn again(asked: Option<u64>) -> Failure {
        Failure::Again(Error::new(ErrorKind::Unavailable, "busy"), asked.map(Duration::from_secs))
    }

    #[test]
    fn a_pause_is_in_seconds_or_until_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_717);
        let seconds = |text: &str| pause(text, now).map(|pause| pause.as_secs());
        assert_eq!([seconds("30"), seconds("Sun, 06 Nov 1994 08:49:37 GMT")], [Some(30), Some(60)]);
        assert_eq!([seconds("Sun, 06 Nov 1994 08:00:00 GMT"), seconds("soon")], [Some(0), None]);
    }

    #[test]
    fn pauses_double_until_we_give_up() {
        let mut tries = Tries::new(PAUSE, "nothing is lost");
        let pauses: Vec<u64> = (0..4).map(|_| tries.next(again(None), false).unwrap().pause.as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8]);
        let error = tries.next(again(None), false).unwrap_err();
        assert_eq!(error.message, "busy; gave up after 5 tries; nothing is lost");
    }

    #[test]
    fn the_server_may_ask_for_a_longer_pause_but_not_for_any() {
        let mut tries = Tries::new(PAUSE, "");
        assert_eq!(tries.next(again(Some(30)), false).unwrap().pause.as_secs(), 30);
        assert_eq!(tries.next(again(Some(0)), false).unwrap().pause.as_secs(), 2, "not a shorter one");
        assert_eq!(tries.next(again(None), true).unwrap().pause.as_secs(), 1, "after progress");
        assert!(tries.next(again(Some(301)), false).unwrap_err().message.contains("wait 301 s"));
        assert!(tries.next(Failure::Final(Error::data("wrong")), false).unwrap_err().message == "wrong");
    }
}
