//! Tokenizers made of the files that came before `tokenizer.json`, against Hugging Face's of the same files.

use crate::support::{fixture, stderr, text, tiered};
use crate::tiny::Tiny;
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;
use tiered::error::{Error, ErrorKind};
use tiered::tokenizer::{InputTokenizer, TokenSequence, tokenizer_json};

fn made(folder: &Path) -> InputTokenizer {
    InputTokenizer::from_json(&tokenizer_json(folder).unwrap()).unwrap()
}

#[test]
fn ids_and_types_equal_hugging_faces() {
    let folder = fixture("tokenizers");
    let rows: Vec<Value> = serde_json::from_slice(&std::fs::read(folder.join("ids.json")).unwrap()).unwrap();
    assert_eq!(rows.len(), 4 * 7);
    for row in rows {
        let tokenizer = made(&folder.join(row["tokenizer"].as_str().unwrap()));
        let pair: (String, String) = serde_json::from_value(row["pair"].clone()).unwrap();
        let numbers = |key: &str| serde_json::from_value::<Vec<i64>>(row[key].clone()).unwrap();
        let expected = TokenSequence { ids: numbers("ids"), types: numbers("types") };
        assert_eq!(tokenizer.encode(vec![pair]).unwrap(), [expected], "{row}");
    }
}

#[test]
fn tokens_of_a_story_are_in_their_sentences() {
    let sentences = ["Rosa filled the kettle.".to_owned(), "È già notte, Ada!".to_owned(), "Ada slept.".to_owned()];
    for name in ["bert-uncased", "bert-cased", "roberta", "deberta"] {
        let story = &made(&fixture("tokenizers").join(name)).encode_stories(&[sentences.to_vec()]).unwrap()[0];
        let of = &story.sentences;
        assert_eq!((of[0], of[of.len() - 1]), (None, None), "{name}: [CLS] and [SEP] are in none");
        let inner: Vec<usize> = of.iter().flatten().copied().collect(); // a token that is only a space is in none
        assert!(inner.is_sorted() && inner[0] == 0 && inner[inner.len() - 1] == 2, "{name}: {of:?}");
        assert!(inner.len() * 5 > of.len() * 4, "{name}: {of:?}");
    }
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    files.iter().for_each(|(name, content)| std::fs::write(folder.path().join(name), content).unwrap());
    folder
}

fn refused(files: &[(&str, &str)]) -> Error {
    tokenizer_json(folder(files).path()).unwrap_err()
}

const PIECES: &str = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\n";

#[test]
fn sentencepiece_alone_is_no_tokenizer_and_the_error_says_how_to_convert_it() {
    for name in ["sentencepiece.bpe.model", "spm.model", "bpe_encoder.bin"] {
        let error = refused(&[(name, "")]);
        assert_eq!(error.kind, ErrorKind::MissingInput);
        assert!(error.message.contains(name) && error.message.contains("save_pretrained("), "{error}");
    }
    assert!(refused(&[]).message.contains("tokenizer.json: does not exist, and neither does vocab.txt"));
}

#[test]
fn what_the_files_lack_is_named() {
    let settings = r#"{"do_lower_case": true}"#;
    let pairs = r#"{"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 4, "a": 5, "b": 6, "ab": 7}"#;
    for (files, words) in [
        (vec![("vocab.txt", PIECES)], "tokenizer_config.json: does not say whether letters keep their case"),
        (
            vec![("vocab.txt", "the\ncat\n"), ("tokenizer_config.json", settings)],
            "vocab.txt: it lacks the special token \"<s>\"",
        ),
        (vec![("vocab.txt", PIECES), ("tokenizer_config.json", "[")], "tokenizer_config.json: EOF"),
        (
            vec![("vocab.txt", PIECES), ("tokenizer_config.json", r#"{"do_lower_case": true, "cls_token": "<c>"}"#)],
            "it lacks the special token \"<c>\"",
        ),
        (
            vec![("vocab.json", pairs), ("merges.txt", "#version: 0.2\na b\nab\n")],
            "merges.txt: line 3: \"ab\" is not a pair",
        ),
        (vec![("vocab.json", "{}"), ("merges.txt", "")], "vocab.json: it lacks the special token \"<s>\""),
        (
            vec![("vocab.txt", PIECES), ("tokenizer_config.json", settings), ("added_tokens.json", r#"{"kettle": 7}"#)],
            "added_tokens.json: adds \"kettle\" to the vocabulary, without a tokenizer.json; where Python has transformers",
        ),
        (
            vec![
                ("vocab.json", pairs),
                ("merges.txt", ""),
                (
                    "tokenizer_config.json",
                    r#"{"added_tokens_decoder": {"0": {"content": "<s>"}, "8": {"content": "cup"}}}"#,
                ),
            ],
            "tokenizer_config.json: adds \"cup\" to the vocabulary",
        ),
    ] {
        let error = refused(&files);
        assert_eq!(error.kind, ErrorKind::Config, "{error}");
        assert!(error.message.contains(words), "{error}");
    }
}

#[test]
fn case_and_accents_are_as_the_folder_says() {
    let pieces = format!("{PIECES}The\ncafe\ncafé\n");
    for (settings, the, cafe) in [
        (json!({"do_lower_case": true}), 5, 8),
        (json!({"do_lower_case": false}), 7, 9),
        (json!({"do_lower_case": true, "strip_accents": false}), 5, 9),
        (json!({"do_lower_case": false, "strip_accents": true, "cls_token": {"content": "[CLS]"}}), 7, 8),
    ] {
        let folder = folder(&[("vocab.txt", &pieces), ("tokenizer_config.json", &settings.to_string())]);
        let input = made(folder.path()).encode(vec![("The".into(), "café".into())]).unwrap().remove(0);
        assert_eq!(input.ids, [2, the, 3, cafe, 3], "{settings}");
        assert_eq!(input.types, [0, 0, 0, 1, 1]);
    }
}

/// As transformers' `MPNetTokenizer`: BERT's pieces with RoBERTa's special tokens.
#[test]
fn the_pieces_of_mpnet_have_the_special_tokens_of_roberta() {
    let pieces = format!("<s>\n<pad>\n</s>\n<unk>\n{PIECES}<mask>\n");
    let unknown = pieces.lines().position(|piece| piece == "[UNK]").unwrap() as i64;
    let the = pieces.lines().position(|piece| piece == "the").unwrap() as i64;
    let folder = folder(&[("vocab.txt", &pieces), ("tokenizer_config.json", r#"{"do_lower_case": true}"#)]);
    let input = made(folder.path()).encode(vec![("The".into(), "zzz".into())]).unwrap().remove(0);
    assert_eq!((input.ids, input.types), (vec![0, the, 2, 2, unknown, 2], vec![0; 6]));
}

#[test]
fn a_tokenizer_that_puts_no_special_token_first_is_refused() {
    let tiny = Tiny::of("bert");
    let path = tiny.encoder().join("tokenizer.json");
    let mut tokenizer: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    tokenizer["post_processor"] = Value::Null;
    std::fs::write(&path, tokenizer.to_string()).unwrap();
    let output = tiny.train("run", &["--dry-run"]);
    assert_eq!(output.status.code(), Some(78));
    assert!(stderr(&output).contains("puts no special token"), "{}", stderr(&output));
}

/// A run on an encoder without `tokenizer.json` has one in its folder, predicts with it, and can be gone on with.
#[test]
fn a_run_keeps_the_tokenizer_that_was_made() {
    let tiny = Tiny::of("bert");
    std::fs::remove_file(tiny.encoder().join("tokenizer.json")).unwrap();
    for name in ["vocab.txt", "tokenizer_config.json"] {
        std::fs::copy(fixture("tokenizers/bert-uncased").join(name), tiny.encoder().join(name)).unwrap();
    }
    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    let kept = std::fs::read(run.join("encoder/tokenizer.json")).unwrap();
    assert_eq!(kept, tokenizer_json(&tiny.encoder()).unwrap());
    std::fs::remove_dir_all(tiny.encoder()).unwrap();
    let output = tiered(["eval", text(&run), "--data", text(&tiny.stories()), "--split", "dev"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let output = tiered(["train", "--resume", text(&run), "--set", "train.epochs=2"]);
    assert!(output.status.success(), "{}", stderr(&output));
}
