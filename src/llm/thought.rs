//! Thoughts of models that think aloud, between `<think>` and `</think>`. They are no answer.

/// What an answer says beside its thought: what follows the last `</think>`, up to a thought that has no end; and that
/// thought. Some templates open the thought in the prompt, so that the answer has its end only.
pub fn split_thought(text: &str) -> (&str, Option<&str>) {
    let said = text.rsplit_once("</think>").map_or(text, |(_, said)| said);
    match said.split_once("<think>") {
        Some((said, cut_off)) => (said, Some(cut_off)),
        None => (said, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_left_out() {
        assert_eq!(split_thought("no thought"), ("no thought", None));
        assert_eq!(split_thought("<think>a</think>b"), ("b", None));
        assert_eq!(split_thought("a</think>b"), ("b", None));
        assert_eq!(split_thought("a<think>b"), ("a", Some("b")));
        assert_eq!(split_thought("<think>a</think>b<think>c"), ("b", Some("c")));
    }
}
