//! A language model that is a formula: every prefix has its own distribution over some hundred tokens.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use tokenizers::Tokenizer;

/// Words that are one token each, with the blank before them.
const WORDS: [&str; 12] =
    [" true", " false", " and", " in", " pieces", " power", " location", " exist", " open", " 1", " 2", "tr"];
pub const BOS: u32 = 0;
/// Words that are likely after any prefix, so that the model has something to say.
const LIKELY: [&str; 6] = [" true", " false", " open", " power", " 1", " in"];

/// The tokenizer as a `tokenizer.json`: byte pairs, with a start token.
pub fn tokenizer_json() -> &'static str {
    static JSON: OnceLock<String> = OnceLock::new();
    JSON.get_or_init(|| {
        let mut vocab: BTreeMap<String, u32> = BTreeMap::from([("<s>".to_owned(), BOS)]);
        let mut letters: Vec<char> = byte_letters();
        letters.sort_unstable();
        let add = |token: String, vocab: &mut BTreeMap<String, u32>| {
            let next = vocab.len() as u32;
            vocab.entry(token).or_insert(next);
        };
        letters.iter().for_each(|letter| add(letter.to_string(), &mut vocab));
        let mut merges: Vec<[String; 2]> = Vec::new();
        for word in WORDS {
            let letters: Vec<String> = word.replace(' ', "Ġ").chars().map(String::from).collect();
            let mut left = letters[0].clone();
            for right in &letters[1..] {
                let pair = [left.clone(), right.clone()];
                left += right;
                add(left.clone(), &mut vocab);
                if !merges.contains(&pair) {
                    merges.push(pair);
                }
            }
        }
        let level = serde_json::json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true});
        let start = serde_json::json!([{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]);
        serde_json::json!({
            "version": "1.0", "truncation": null, "padding": null, "normalizer": null,
            "added_tokens": [{"id": BOS, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
                              "normalized": false, "special": true}],
            "pre_tokenizer": level, "decoder": level,
            "post_processor": {"type": "TemplateProcessing", "single": start, "pair": start,
                               "special_tokens": {"<s>": {"id": "<s>", "ids": [BOS], "tokens": ["<s>"]}}},
            "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                      "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
                      "vocab": vocab, "merges": merges},
        })
        .to_string()
    })
}

/// GPT-2's letters for the 256 bytes.
fn byte_letters() -> Vec<char> {
    let is_plain = |byte: &u32| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let odd = (0..256).filter(|byte| !is_plain(byte)).count() as u32;
    let letters = (0..256).filter(is_plain).chain(256..256 + odd);
    letters.map(|letter| char::from_u32(letter).unwrap()).collect()
}

pub fn tokenizer() -> &'static Tokenizer {
    static TOKENIZER: OnceLock<Tokenizer> = OnceLock::new();
    TOKENIZER.get_or_init(|| Tokenizer::from_bytes(tokenizer_json()).unwrap())
}

pub fn encode(text: &str, adds_special: bool) -> Vec<u32> {
    tokenizer().encode(text, adds_special).unwrap().get_ids().to_vec()
}

pub fn piece(id: u32) -> String {
    tokenizer().decode(&[id], false).unwrap()
}

/// How much likelier each token is than chance would have it.
fn bonuses() -> &'static [f64] {
    static BONUSES: OnceLock<Vec<f64>> = OnceLock::new();
    BONUSES.get_or_init(|| {
        let bonus = |id: u32| {
            let piece = tokenizer().id_to_token(id).unwrap_or_default().replace('Ġ', " ");
            if LIKELY.contains(&piece.as_str()) { 6. } else { 0. }
        };
        (0..tokenizer().get_vocab_size(true) as u32).map(bonus).collect()
    })
}

/// Log-probabilities of every token after these, for a model with this seed.
pub fn logprobs(seed: u64, prefix: &[u32]) -> Vec<f64> {
    let mixed = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let hash = prefix.iter().fold(mixed(seed, 7), |hash, id| mixed(hash, u64::from(*id)));
    let logit = |(id, bonus): (usize, &f64)| {
        let random = (mixed(mixed(hash, id as u64 + 1), 3) >> 40) as f64 / (1u64 << 24) as f64;
        random * 3. + bonus
    };
    let logits: Vec<f64> = bonuses().iter().enumerate().map(logit).collect();
    let total = logits.iter().map(|logit| logit.exp()).sum::<f64>().ln();
    logits.into_iter().map(|logit| logit - total).collect()
}

/// The likeliest token, and the others in order.
pub fn ranked(logprobs: &[f64]) -> Vec<u32> {
    let mut ids: Vec<u32> = (0..logprobs.len() as u32).collect();
    ids.sort_by(|a, b| logprobs[*b as usize].total_cmp(&logprobs[*a as usize]));
    ids
}

/// What the continuation's tokens sum up to after the prompt: what every way must find.
pub fn score(seed: u64, prompt: &str, continuation: &str, bos: usize) -> f64 {
    let of = |text: &str| [vec![BOS; bos], encode(text, false)].concat();
    let (before, all) = (of(prompt).len(), of(&format!("{prompt}{continuation}")));
    (before..all.len()).map(|place| logprobs(seed, &all[..place])[all[place] as usize]).sum()
}
