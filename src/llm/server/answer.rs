//! Reads numbers and fields from a server's answers. Nothing is believed without a check.

use crate::error::{Error, Result};
use crate::untrusted::shown;
use serde_json::Value;

/// A log-probability that is positive by less than this is 0 with float noise.
const NOISE: f64 = 1e-6;
/// At or below this a server says that a probability is too small for its floats: llama.cpp sends the lowest float,
/// vLLM -9999.
const UNDERFLOW: f64 = -9999.;
/// What is known then: the logarithm of the smallest normal float32 is -87.3.
pub const SMALLEST: f64 = -87.;

/// How likely a token is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TokenScore {
    Known(f64),
    /// At most this likely: not listed, or too small for the server's floats.
    AtMost(f64),
}

impl TokenScore {
    pub fn value(self) -> f64 {
        let (TokenScore::Known(value) | TokenScore::AtMost(value)) = self;
        value
    }
}

/// A log-probability.
///
/// # Errors
/// `Data` if it is missing, null, not finite or positive.
pub fn logprob(value: Option<&Value>) -> Result<TokenScore> {
    let wrong = |what: &str| Err(Error::data(format!("the server's log-probability {what}")));
    match value {
        None => wrong("is missing"),
        Some(Value::Null) => wrong("is null"),
        Some(value) => match value.as_f64() {
            None => wrong("is not a number"),
            Some(number) if number > NOISE => wrong(&format!("is positive ({number})")),
            Some(number) if number.is_nan() => wrong("is not a number (NaN)"),
            Some(number) if number <= UNDERFLOW => Ok(TokenScore::AtMost(SMALLEST)),
            Some(number) => Ok(TokenScore::Known(number.min(0.))),
        },
    }
}

/// A field that has to be there.
///
/// # Errors
/// `Data` if it is not.
pub fn field<'a>(answer: &'a Value, pointer: &str) -> Result<&'a Value> {
    answer.pointer(pointer).filter(|value| !value.is_null()).ok_or_else(|| {
        let has: Vec<&str> = answer.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        Error::data(format!("the server's answer has no `{pointer}`; it has: {}", shown(&has.join(", "), 200)))
    })
}

/// A list that has to be there.
///
/// # Errors
/// `Data` if it is not.
pub fn list<'a>(answer: &'a Value, pointer: &str) -> Result<&'a Vec<Value>> {
    let value = field(answer, pointer)?;
    value.as_array().ok_or_else(|| Error::data(format!("the server's `{pointer}` is not a list")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_log_probabilities_are_taken_for_such() {
        let read = |value: Value| logprob(Some(&value));
        assert_eq!(read(json!(-1.5)).unwrap(), TokenScore::Known(-1.5));
        assert_eq!(read(json!(1e-7)).unwrap(), TokenScore::Known(0.));
        assert_eq!(read(json!(-3.4028234663852886e38)).unwrap(), TokenScore::AtMost(-87.));
        for wrong in [json!(null), json!(0.1), json!("-1"), json!([])] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
        assert!(logprob(None).unwrap_err().message.contains("missing"));
    }
}
