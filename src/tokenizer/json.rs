//! Reads the `tokenizer.json` of a folder, or builds one from older vocabulary files.

use crate::error::{Error, ErrorKind, Result};
use crate::untrusted::{self, MAX_CONFIG, MAX_TOKENIZER, json_error, shown, text};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const OWN: &str = "tokenizer.json";
const SETTINGS: &str = "tokenizer_config.json";
const ADDED: &str = "added_tokens.json";
const WORD_PIECES: &str = "vocab.txt";
const PAIR_VOCABULARY: &str = "vocab.json";
const MERGES: &str = "merges.txt";
/// Vocabularies from which we build nothing: the rules that split and normalise text are in other programs.
const OTHERS: [&str; 4] = ["sentencepiece.bpe.model", "spm.model", "spiece.model", "bpe_encoder.bin"];

/// The bytes of a folder's `tokenizer.json`. If there is none, it is built: BERT's WordPiece from `vocab.txt`, cased as
/// `tokenizer_config.json` says, or the byte-level pairs of RoBERTa and DeBERTa from `vocab.json` and `merges.txt`.
///
/// # Errors
/// `MissingInput`, with the way to convert the files, if there is nothing to build from. `Config` if the files are not
/// a vocabulary, lack a special token, or do not say whether letters keep their case.
pub fn tokenizer_json(folder: &Path) -> Result<Vec<u8>> {
    let folder = Folder(folder);
    if folder.has(OWN) {
        return folder.read(OWN, MAX_TOKENIZER);
    }
    let tokenizer = if folder.has(WORD_PIECES) {
        word_pieces(&folder)?
    } else if folder.has(PAIR_VOCABULARY) && folder.has(MERGES) {
        byte_pairs(&folder)?
    } else {
        return Err(folder.nothing());
    };
    serde_json::to_vec(&tokenizer).map_err(|error| Error::new(ErrorKind::Internal, format!("JSON: {error}")))
}

/// A folder with the files of a tokenizer.
struct Folder<'a>(&'a Path);

impl Folder<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// True for broken links and pipes too; reading them reports what is wrong.
    fn has(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }

    fn wrong(&self, name: &str, problem: impl std::fmt::Display) -> Error {
        Error::config(format!("{}: {problem}", self.path(name).display()))
    }

    fn read(&self, name: &str, most: u64) -> Result<Vec<u8>> {
        let path = self.path(name);
        untrusted::read_regular(&path, most).map_err(|error| match error.kind() {
            std::io::ErrorKind::FileTooLarge => self.wrong(name, format!("not a tokenizer: {error}")),
            _ => Error::reading(&path, &error),
        })
    }

    /// The lines without their line ends.
    fn lines(&self, name: &str) -> Result<Vec<String>> {
        let bytes = self.read(name, MAX_TOKENIZER)?;
        let text = text(&bytes).map_err(|problem| self.wrong(name, problem))?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    fn json<T: serde::de::DeserializeOwned>(&self, name: &str, most: u64) -> Result<T> {
        serde_json::from_slice(&self.read(name, most)?)
            .map_err(|error| self.wrong(name, json_error(&error)).caused_by(error))
    }

    /// Empty if the file does not exist.
    fn settings(&self) -> Result<Settings> {
        if self.has(SETTINGS) { self.json(SETTINGS, MAX_CONFIG) } else { Ok(Settings::default()) }
    }

    /// # Errors
    /// `Config` if the folder adds tokens to the vocabulary: how they split text is for other programs to say.
    fn require_all_in(&self, vocabulary: &Map<String, Value>, settings: &Settings) -> Result<()> {
        let added: Map<String, Value> = if self.has(ADDED) { self.json(ADDED, MAX_CONFIG)? } else { Map::new() };
        let of_settings = settings.added_tokens_decoder.values().map(|token| (SETTINGS, token.name()));
        let mut all = added.keys().map(|name| (ADDED, name.as_str())).chain(of_settings);
        match all.find(|(_, name)| !vocabulary.contains_key(*name)) {
            Some((file, name)) => {
                let problem = format!("adds {:?} to the vocabulary, without a tokenizer.json", shown(name, 40));
                Err(self.wrong(file, format!("{problem}; {}", self.how_to_make())))
            }
            None => Ok(()),
        }
    }

    /// How to make the missing file.
    fn how_to_make(&self) -> String {
        let folder = self.0.display();
        format!(
            "where Python has transformers (with sentencepiece and protobuf; version 4 for DeBERTa's first version), make \
             it with: python -c \"from transformers import AutoTokenizer; \
             AutoTokenizer.from_pretrained('{folder}').save_pretrained('{folder}')\""
        )
    }

    /// The error if a folder has nothing to build a tokenizer from.
    fn nothing(&self) -> Error {
        let own = self.path(OWN);
        let message = match OTHERS.into_iter().find(|name| self.has(name)) {
            None => format!(
                "{}: does not exist, and neither does vocab.txt, or vocab.json with merges.txt; add one of them",
                own.display()
            ),
            Some(other) => {
                format!("{}: does not exist, and can't be built from {other}; {}", own.display(), self.how_to_make())
            }
        };
        Error::new(ErrorKind::MissingInput, message)
    }
}

/// The fields of `tokenizer_config.json` that are needed; others are ignored.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Settings {
    do_lower_case: Option<bool>,
    strip_accents: Option<bool>,
    tokenize_chinese_chars: Option<bool>,
    add_prefix_space: Option<bool>,
    cls_token: Option<SpecialToken>,
    sep_token: Option<SpecialToken>,
    pad_token: Option<SpecialToken>,
    unk_token: Option<SpecialToken>,
    mask_token: Option<SpecialToken>,
    /// Id -> token: all that are never split.
    added_tokens_decoder: BTreeMap<String, SpecialToken>,
}

/// A special token: its name, or its name with settings.
#[derive(Deserialize)]
#[serde(untagged)]
enum SpecialToken {
    Text(String),
    Settings { content: String },
}

impl SpecialToken {
    fn name(&self) -> &str {
        let (SpecialToken::Text(name) | SpecialToken::Settings { content: name }) = self;
        name
    }
}

/// The special tokens of a vocabulary with their ids.
struct Specials {
    cls: (String, u64),
    sep: (String, u64),
    pad: (String, u64),
    unk: (String, u64),
    mask: (String, u64),
}

impl Specials {
    /// Takes the names from `tokenizer_config.json`, else those of BERT or RoBERTa.
    ///
    /// # Errors
    /// If a special token is not in the vocabulary.
    fn of(settings: &Settings, vocabulary: &Map<String, Value>) -> Result<Self, String> {
        // MPNet's vocabulary is BERT's with RoBERTa's special tokens added.
        let is_bert = vocabulary.contains_key("[CLS]") && !vocabulary.contains_key("<s>");
        let find = |setting: &Option<SpecialToken>, of_bert: &str, of_roberta: &str| {
            let usual = if is_bert { of_bert } else { of_roberta };
            let name = setting.as_ref().map_or(usual, SpecialToken::name);
            let id = vocabulary.get(name).and_then(Value::as_u64);
            let id = id.ok_or_else(|| format!("it lacks the special token {:?}", shown(name, 40)))?;
            Ok::<_, String>((name.to_owned(), id))
        };
        Ok(Specials {
            cls: find(&settings.cls_token, "[CLS]", "<s>")?,
            sep: find(&settings.sep_token, "[SEP]", "</s>")?,
            pad: find(&settings.pad_token, "[PAD]", "<pad>")?,
            unk: find(&settings.unk_token, "[UNK]", if vocabulary.contains_key("[UNK]") { "[UNK]" } else { "<unk>" })?,
            mask: find(&settings.mask_token, "[MASK]", "<mask>")?,
        })
    }

    /// The entries for added tokens: special tokens are never split or changed.
    fn added(&self, mask_takes_space: bool) -> Value {
        let mut all = vec![&self.cls, &self.sep, &self.pad, &self.unk, &self.mask];
        all.sort_by_key(|(_, id)| *id);
        all.dedup();
        let token = |(name, id): &(String, u64)| {
            let lstrip = mask_takes_space && *name == self.mask.0;
            json!({"id": id, "content": name, "single_word": false, "lstrip": lstrip, "rstrip": false,
                   "normalized": false, "special": true})
        };
        all.into_iter().map(token).collect()
    }

    /// `[CLS] a [SEP] b [SEP]`, where the second part has type 1; or RoBERTa's `<s> a </s></s> b </s>`.
    fn template(&self, prefix_space: bool) -> Value {
        if !self.cls.0.starts_with('[') {
            let [sep, cls] = [&self.sep, &self.cls].map(|(name, id)| json!([name, id]));
            return json!({"type": "RobertaProcessing", "sep": sep, "cls": cls, "trim_offsets": true,
                          "add_prefix_space": prefix_space});
        }
        let special = |(name, _): &(String, u64), kind: u8| json!({"SpecialToken": {"id": name, "type_id": kind}});
        let part = |name: &str, kind: u8| json!({"Sequence": {"id": name, "type_id": kind}});
        let single = vec![special(&self.cls, 0), part("A", 0), special(&self.sep, 0)];
        let pair = [single.clone(), vec![part("B", 1), special(&self.sep, 1)]].concat();
        let tokens =
            [&self.cls, &self.sep].map(|(name, id)| (name.clone(), json!({"id": name, "ids": [id], "tokens": [name]})));
        let tokens: Map<String, Value> = tokens.into_iter().collect();
        json!({"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens})
    }
}

fn tokenizer(added: Value, normalizer: Value, splitter: Value, template: Value, decoder: Value, model: Value) -> Value {
    json!({"version": "1.0", "truncation": null, "padding": null, "added_tokens": added, "normalizer": normalizer,
           "pre_tokenizer": splitter, "post_processor": template, "decoder": decoder, "model": model})
}

/// BERT's vocabulary: each line is a piece, and the line number is its id.
fn word_pieces(folder: &Folder) -> Result<Value> {
    let pieces = folder.lines(WORD_PIECES)?;
    let vocabulary: Map<String, Value> = pieces.into_iter().enumerate().map(|(id, piece)| (piece, json!(id))).collect();
    let settings = folder.settings()?;
    folder.require_all_in(&vocabulary, &settings)?;
    let specials = Specials::of(&settings, &vocabulary).map_err(|problem| folder.wrong(WORD_PIECES, problem))?;
    let lowercase = settings.do_lower_case.ok_or_else(|| {
        let remedy = "add \"do_lower_case\": true for an uncased vocabulary, false for a cased one";
        folder.wrong(SETTINGS, format!("does not say whether letters keep their case; {remedy}"))
    })?;
    Ok(tokenizer(
        specials.added(false),
        json!({"type": "BertNormalizer", "clean_text": true, "lowercase": lowercase,
               "handle_chinese_chars": settings.tokenize_chinese_chars.unwrap_or(true),
               "strip_accents": settings.strip_accents}),
        json!({"type": "BertPreTokenizer"}),
        specials.template(false),
        json!({"type": "WordPiece", "prefix": "##", "cleanup": true}),
        json!({"type": "WordPiece", "unk_token": specials.unk.0, "continuing_subword_prefix": "##",
               "max_input_chars_per_word": 100, "vocab": vocabulary}),
    ))
}

/// RoBERTa's and DeBERTa's vocabulary: byte pairs, merged in order. The two differ in special tokens and template.
fn byte_pairs(folder: &Folder) -> Result<Value> {
    let vocabulary: Map<String, Value> = folder.json(PAIR_VOCABULARY, MAX_TOKENIZER)?;
    let settings = folder.settings()?;
    folder.require_all_in(&vocabulary, &settings)?;
    let specials = Specials::of(&settings, &vocabulary).map_err(|problem| folder.wrong(PAIR_VOCABULARY, problem))?;
    let prefix_space = settings.add_prefix_space.unwrap_or(false);
    let byte_level = json!({"type": "ByteLevel", "add_prefix_space": prefix_space, "trim_offsets": true,
                            "use_regex": true});
    let template = specials.template(prefix_space);
    let merges = merges(folder)?;
    Ok(tokenizer(
        specials.added(true),
        Value::Null,
        byte_level.clone(),
        template,
        byte_level,
        json!({"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": "",
               "end_of_word_suffix": "", "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
               "vocab": vocabulary, "merges": merges}),
    ))
}

/// Each line is a pair; earlier lines are merged first. A line that begins with `#version` is skipped.
fn merges(folder: &Folder) -> Result<Vec<Value>> {
    let lines = folder.lines(MERGES)?;
    let pairs = lines.iter().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with("#version"));
    let pair = |(i, line): (usize, &String)| match line.split_once(' ') {
        Some((first, second)) if !second.contains(' ') => Ok(json!([first, second])),
        _ => Err(folder.wrong(MERGES, format!("line {}: {:?} is not a pair", i + 1, shown(line, 40)))),
    };
    pairs.map(pair).collect()
}
