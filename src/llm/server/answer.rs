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

/// Of an answer that is an error in spite of its status: the status that it should have had, if it says one. Gateways
/// pass on so what the service behind them said. An error beside a choice, which is an answer, does not count.
pub fn error_within(answer: &Value) -> Option<Option<u16>> {
    let in_place = |place: &str| answer.pointer(place).filter(|error| !error.is_null());
    let [of_choice, of_all] = ["/choices/0/error", "/error"].map(in_place);
    let error = of_choice.or(of_all.filter(|_| answer["choices"].get(0).is_none()))?;
    let code = error.get("code").and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
    Some(code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code)))
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

    #[test]
    fn an_answer_may_be_an_error_with_a_status_or_without() {
        let of = |text: &str| error_within(&serde_json::from_str(text).unwrap());
        assert_eq!(of(r#"{"error": {"message": "busy", "code": 429}}"#), Some(Some(429)));
        assert_eq!(of(r#"{"error": {"message": "busy", "code": "503"}, "choices": []}"#), Some(Some(503)));
        assert_eq!(of(r#"{"error": {"message": "busy", "code": "rate_limit"}}"#), Some(None));
        assert_eq!((of(r#"{"error": "busy"}"#), of(r#"{"error": {"code": 200}}"#)), (Some(None), Some(None)));
        assert_eq!((of(r#"{"error": null}"#), of(r#"{"error": "x", "choices": [{}]}"#), of("[]")), (None, None, None));
        let of_choice =
            |error: &str| of(&format!(r#"{{"choices": [{{"error": {error}, "message": {{"content": ""}}}}]}}"#));
        assert_eq!(
            (of_choice(r#"{"code": 502}"#), of_choice(r#""x""#), of_choice("null")),
            (Some(Some(502)), Some(None), None)
        );
    }
}
