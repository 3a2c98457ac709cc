//! The files that `AutoTokenizer` needs beside `tokenizer.json`, derived from it.
//!
//! They name the general tokenizer class, which uses `tokenizer.json` unchanged. The classes of single model families
//! build a tokenizer from its vocabulary, which may split words in another way than training did.

use crate::model::EncoderConfig;
use serde_json::{Map, Value, json};

/// The special tokens by their roles, as far as they are known.
pub fn special_tokens(tokenizer: &Value, config: &Value) -> Map<String, Value> {
    let (cls, sep) = ends(&tokenizer["post_processor"]);
    let with_id = |key: &str| added(tokenizer).find(|token| config[key].is_u64() && token["id"] == config[key]);
    let content = |token: &Value| token["content"].as_str().map(str::to_owned);
    let named = |names: [&str; 2]| added(tokenizer).filter_map(content).find(|token| names.contains(&token.as_str()));
    let roles = [
        ("cls_token", cls.clone()),
        ("sep_token", sep.clone()),
        ("bos_token", cls),
        ("eos_token", sep),
        ("pad_token", with_id("pad_token_id").and_then(content).or_else(|| named(["<pad>", "[PAD]"]))),
        ("unk_token", unknown(&tokenizer["model"])),
        ("mask_token", named(["<mask>", "[MASK]"])),
    ];
    roles.into_iter().filter_map(|(role, token)| Some((role.to_owned(), token?.into()))).collect()
}

/// `tokenizer_config.json`
pub fn settings(tokens: &Map<String, Value>, encoder: &EncoderConfig) -> Value {
    // Encoders with one token type have no embedding for the type of the second text.
    let inputs = if encoder.token_types().is_some_and(|types| types > 1) {
        json!(["input_ids", "token_type_ids", "attention_mask"])
    } else {
        json!(["input_ids", "attention_mask"])
    };
    let mut settings = json!({
        "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": encoder.max_tokens(), "model_input_names": inputs,
        "clean_up_tokenization_spaces": false,
    });
    for (role, token) in tokens {
        settings[role] = token.clone();
    }
    settings
}

/// The string at a key, if there is one.
fn string<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

fn added(tokenizer: &Value) -> impl Iterator<Item = &Value> {
    tokenizer["added_tokens"].as_array().into_iter().flatten()
}

/// The tokens that the post-processor puts first and last around a text.
fn ends(processor: &Value) -> (Option<String>, Option<String>) {
    let named = |token: &Value| token.as_str().map(str::to_owned);
    match processor.as_object().and_then(|object| string(object, "type")) {
        Some("Sequence") => {
            let processors = processor["processors"].as_array().into_iter().flatten();
            processors.map(ends).find(|ends| *ends != (None, None)).unwrap_or_default()
        }
        Some("TemplateProcessing") => {
            let pieces = processor["single"].as_array().map_or(&[][..], |pieces| pieces);
            let special = |piece: Option<&Value>| named(piece?.pointer("/SpecialToken/id")?);
            (special(pieces.first()), special(pieces.last()))
        }
        Some(_) => (named(&processor["cls"][0]), named(&processor["sep"][0])),
        None => (None, None),
    }
}

fn unknown(model: &Value) -> Option<String> {
    let unigram = || model["vocab"].get(usize::try_from(model["unk_id"].as_u64()?).ok()?)?.get(0)?.as_str();
    model["unk_token"].as_str().or_else(unigram).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_told_from_every_kind_of_tokenizer() {
        let added = json!([{"id": 0, "content": "<s>"}, {"id": 1, "content": "<pad>"}, {"id": 9, "content": "<mask>"}]);
        let special = |id: &str| json!({"SpecialToken": {"id": id, "type_id": 0}});
        let template = json!({"type": "TemplateProcessing", "single": [special("<s>"), {"Sequence": {"id": "A"}}, special("</s>")]});
        let processors = [
            template.clone(),
            json!({"type": "RobertaProcessing", "cls": ["<s>", 0], "sep": ["</s>", 2]}),
            json!({"type": "Sequence", "processors": [{"type": "ByteLevel"}, template]}),
        ];
        for processor in processors {
            let unigram = json!({"type": "Unigram", "unk_id": 1, "vocab": [["<s>", 0.0], ["<unk>", 0.0]]});
            let tokenizer = json!({"added_tokens": added, "post_processor": processor, "model": unigram});
            let tokens = special_tokens(&tokenizer, &json!({"pad_token_id": 1}));
            let expected = json!({
                "cls_token": "<s>", "sep_token": "</s>", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>",
                "unk_token": "<unk>", "mask_token": "<mask>",
            });
            assert_eq!(Value::Object(tokens), expected);
        }
        assert!(special_tokens(&json!({}), &json!({})).is_empty());
    }
}
