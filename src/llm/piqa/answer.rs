//! Reads a model's answer: a JSON object with the key `answer`.

use crate::llm::thought::split_thought;
use serde_json::{Map, Value};

/// What stands in a submission where a model gave no answer. It is wrong for every item.
pub const UNANSWERED: u8 = 2;

/// The answer in a text, 0 or 1; `None` if there is none.
///
/// As the benchmark's programs do it, line feeds and tabs are deleted and the rest is parsed as JSON. Where that fails
/// (ours): "0" and "1" as strings count too, and so does the last JSON object with an `answer` in a code fence or after
/// other words. A thought (`<think>`) is not searched.
pub fn read_answer(text: &str) -> Option<u8> {
    let text = text.replace(['\n', '\t'], "");
    if let Ok(object) = serde_json::from_str::<Map<String, Value>>(&text) {
        return answer(&object);
    }
    let (said, _) = split_thought(&text);
    objects(said).filter(|object| object.contains_key("answer")).last().as_ref().and_then(answer)
}

fn answer(object: &Map<String, Value>) -> Option<u8> {
    match object.get("answer")? {
        Value::Number(number) if number.as_f64() == Some(0.) => Some(0),
        Value::Number(number) if number.as_f64() == Some(1.) => Some(1),
        Value::String(text) if text.trim() == "0" => Some(0),
        Value::String(text) if text.trim() == "1" => Some(1),
        _ => None,
    }
}

/// The JSON objects in a text, without those inside others.
fn objects(text: &str) -> impl Iterator<Item = Map<String, Value>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = &rest[rest.find('{')?..];
            let mut values = serde_json::Deserializer::from_str(rest).into_iter();
            let object = values.next();
            let end = values.byte_offset();
            match object {
                Some(Ok(object)) => {
                    rest = &rest[end..];
                    return Some(object);
                }
                _ => rest = &rest[1..],
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_benchmark_reads_is_read() {
        assert_eq!(read_answer("{\"answer\": 0}"), Some(0));
        assert_eq!(read_answer("{\n\t\"answer\": 1,\n\t\"why\": \"two\nlines\"\n}\n"), Some(1));
        assert_eq!(read_answer("{\"answer\": 1.0}"), Some(1), "equal to 1 in its program too");
    }

    #[test]
    fn strings_fences_and_words_before_are_allowed() {
        assert_eq!(read_answer(r#"{"answer": "1"}"#), Some(1));
        assert_eq!(read_answer("```json\n{\"answer\": 0}\n```"), Some(0));
        assert_eq!(read_answer("Option 1 {hot} is odd, so: {\"answer\": 0}."), Some(0));
        assert_eq!(read_answer("{\"answer\": 1} No: {\"answer\": 0} {\"sure\": true}"), Some(0), "the last one");
    }

    #[test]
    fn thoughts_are_no_answers() {
        assert_eq!(read_answer("<think>Perhaps {\"answer\": 0}?</think>\n\n{\"answer\": 1}"), Some(1));
        assert_eq!(read_answer("<think>Perhaps {\"answer\": 0}? Or"), None);
        assert_eq!(read_answer("<think>{\"answer\": 0}</think> I don't know."), None);
        assert_eq!(read_answer("<think>Hm.</think> Or: <think>{\"answer\": 0}?"), None);
    }

    #[test]
    fn anything_else_is_no_answer() {
        for text in
            ["", "0", "Option 1", "[1]", "{\"answer\": 2}", "{\"answer\": null}", "{\"Answer\": 1}", "{\"answer\": "]
        {
            assert_eq!(read_answer(text), None, "{text}");
        }
        assert_eq!(read_answer("{\"result\": {\"answer\": 1}}"), None, "an object inside another");
        assert_eq!(read_answer("so {\"result\": {\"answer\": 1}}"), None, "likewise");
        assert_eq!(read_answer("{\"answer\": 0} and {\"answer\": \"both\"}"), None, "the last one says neither");
        assert_eq!(read_answer(&"{".repeat(100_000)), None);
    }
}
