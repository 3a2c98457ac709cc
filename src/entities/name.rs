//! When two names mean the same entity.

use super::word::lower;
use crate::language::Language;

const ARTICLES: [&str; 13] = ["a", "an", "the", "il", "lo", "la", "i", "gli", "le", "un", "uno", "una", "un'"];

/// A name in lower case, without its article and with single blanks: "The Red  Cup" is "red cup".
pub fn normalized(name: &str) -> String {
    let name = lower(name);
    let mut words: Vec<&str> = name.split_whitespace().collect();
    if words.len() > 1 && ARTICLES.contains(&words[0]) {
        words.remove(0);
    }
    let elided = words.first().and_then(|first| first.strip_prefix("un'").or_else(|| first.strip_prefix("l'")));
    if let Some(noun) = elided.filter(|noun| !noun.is_empty()) {
        words[0] = noun;
    }
    words.join(" ")
}

/// The noun of a normalized name that the other words describe: in English the last word, in Italian the first.
pub fn head(normalized: &str, language: Language) -> &str {
    let mut words = normalized.split(' ');
    match language {
        Language::English => words.next_back(),
        Language::Italian => words.next(),
    }
    .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_blanks_and_articles_do_not_count() {
        for (name, expected) in [
            ("The Red  Cup", "red cup"),
            ("L’acqua", "acqua"),
            ("un'altra tazza", "altra tazza"),
            ("la tazza", "tazza"),
            ("a", "a"),
            ("l'", "l'"),
            (" ", ""),
        ] {
            assert_eq!(normalized(name), expected);
        }
        assert_eq!((head("red cup", Language::English), head("tazza rossa", Language::Italian)), ("cup", "tazza"));
        assert_eq!(head("", Language::English), "");
    }
}
