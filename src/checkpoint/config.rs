//! When checkpoints are saved, and how many are kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The section `[checkpoint]` of a config.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct CheckpointConfig {
    /// When a checkpoint is made; one is also made after the best epoch so far, at the end, and at a signal.
    #[schemars(extend("x-resume" = "free"))]
    pub every: Every,
    /// How many recent checkpoints are kept, besides the best.
    #[schemars(range(min = 1), extend("x-resume" = "free"))]
    pub keep: usize,
}

impl Default for CheckpointConfig {
    fn default() -> Self {
        CheckpointConfig { every: Every::Epoch, keep: 2 }
    }
}

/// `epoch`, `N steps` or `N minutes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^(epoch|[0-9]+ (steps?|minutes?))$", "x-type" = "`epoch`, `N steps`, `N minutes`"))]
pub enum Every {
    /// After every epoch.
    Epoch,
    /// When a multiple of this many steps is reached or passed.
    Steps(u64),
    /// When this many minutes have passed since the last try to save.
    Minutes(u64),
}

impl TryFrom<String> for Every {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("`{text}`: must be `epoch`, `N steps` or `N minutes`");
        if text == "epoch" {
            return Ok(Every::Epoch);
        }
        let (number, unit) = text.split_once(' ').ok_or_else(wrong)?;
        let number = number.parse().ok().filter(|&number| number > 0).ok_or_else(wrong)?;
        match unit {
            "step" | "steps" => Ok(Every::Steps(number)),
            "minute" | "minutes" => Ok(Every::Minutes(number)),
            _ => Err(wrong()),
        }
    }
}

impl From<Every> for String {
    fn from(every: Every) -> Self {
        match every {
            Every::Epoch => "epoch".into(),
            Every::Steps(number) => format!("{number} steps"),
            Every::Minutes(number) => format!("{number} minutes"),
        }
    }
}

impl Every {
    /// Whether a checkpoint is due within an epoch, given the step of the last one and the time since.
    pub fn is_due(self, step: u64, saved_step: u64, since: Duration) -> bool {
        match self {
            Every::Epoch => false,
            Every::Steps(number) => step / number > saved_step / number,
            Every::Minutes(number) => since >= Duration::from_secs(number.saturating_mul(60)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_and_written_alike() {
        for text in ["epoch", "50 steps", "10 minutes"] {
            assert_eq!(String::from(Every::try_from(text.to_owned()).unwrap()), text);
        }
        for text in ["", "epochs", "0 steps", "5", "5 hours", "-1 steps", "many steps"] {
            assert!(Every::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_multiple_that_was_stepped_over_is_due() {
        let due = |step, saved| Every::Steps(4).is_due(step, saved, Duration::ZERO);
        assert_eq!([due(3, 0), due(4, 0), due(5, 3), due(5, 4), due(7, 5)], [false, true, true, false, false]);
        assert!(Every::Minutes(1).is_due(1, 0, Duration::from_secs(60)));
        assert!(!Every::Minutes(u64::MAX).is_due(1, 0, Duration::from_secs(60)));
        assert!(!Every::Epoch.is_due(9, 0, Duration::from_secs(60)));
    }
}
