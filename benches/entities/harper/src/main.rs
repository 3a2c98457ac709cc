//! Reads stories, each a JSON list of sentences on a line, and prints the noun phrases of each as a JSON list.

use harper_brill::{BrillTagger, BurnChunkerCpu, CachedChunker, Chunker, FreqDict, Tagger, UPOS};

fn main() {
    let (tagger, chunker) = (harper_brill::brill_tagger(), harper_brill::burn_chunker());
    for line in std::io::stdin().lines() {
        let story: Vec<String> = serde_json::from_str(&line.expect("a line")).expect("a list of sentences");
        let found: Vec<String> = story.iter().flat_map(|sentence| phrases(sentence, &tagger, &chunker)).collect();
        println!("{}", serde_json::to_string(&found).expect("strings"));
    }
}

/// The noun phrases of a sentence, without determiners, pronouns and numbers in front.
fn phrases(sentence: &str, tagger: &BrillTagger<FreqDict>, chunker: &CachedChunker<BurnChunkerCpu>) -> Vec<String> {
    let words = words(sentence);
    let tags = tagger.tag_sentence(&words);
    let inside = chunker.chunk_sentence(&words, &tags);
    let is_left_out = |tag: &Option<UPOS>| matches!(tag, Some(UPOS::DET | UPOS::PRON | UPOS::NUM | UPOS::PUNCT | UPOS::ADV));
    let (mut phrases, mut phrase): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut has_noun = false;
    for i in 0..=words.len() {
        let goes_on = i < words.len() && inside[i] && !is_left_out(&tags[i]);
        if goes_on {
            phrase.push(&words[i]);
            has_noun |= matches!(tags[i], Some(UPOS::NOUN | UPOS::PROPN));
            continue;
        }
        if has_noun {
            phrases.push(phrase.join(" "));
        }
        phrase.clear();
        has_noun = false;
    }
    phrases
}

/// Words and signs, each by itself.
fn words(sentence: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in sentence.chars() {
        let is_inner = c.is_alphanumeric() || c == '-' || c == '\'';
        match words.last_mut() {
            Some(word) if in_word && is_inner => word.push(c),
            _ if !c.is_whitespace() => words.push(c.to_string()),
            _ => {}
        }
        in_word = is_inner;
    }
    words
}
