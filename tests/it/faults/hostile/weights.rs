//! Weights that are none, or not what they say: refused by content in a tenth of a second, with file and place.

use super::{has_place, timed};
use crate::faults::row;
use crate::support::{stderr, text};
use crate::tiny::Tiny;
use safetensors::SafeTensors;
use serde_json::{Value, json};
use std::io::Cursor;
use std::path::Path;
use std::time::Duration;
use tch::{Device, Tensor, nn};
use tempfile::TempDir;
use tiered::error::ErrorKind;
use tiered::model::header::{Header, MAX_HEADER};
use tiered::model::{EncoderConfig, weights};

const TIME: Duration = Duration::from_millis(100);

/// A file of that header and data.
fn file(header: &[u8], data: usize) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header, &vec![0; data]].concat()
}

/// A file of one float32 tensor "a" of these fields and 16 bytes of data.
fn one(shape: Value, offsets: Value) -> Vec<u8> {
    file(json!({"a": {"dtype": "F32", "shape": shape, "data_offsets": offsets}}).to_string().as_bytes(), 16)
}

/// Two tensors of 8 bytes at these offsets in 16 bytes of data.
fn two(first: [u64; 2], second: [u64; 2]) -> Vec<u8> {
    let tensor = |offsets| json!({"dtype": "F32", "shape": [2], "data_offsets": offsets});
    file(json!({"a": tensor(first), "b": tensor(second)}).to_string().as_bytes(), 16)
}

/// Files that would be safetensors, with what is said of each.
fn hostile() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let tensor = r#"{"dtype":"F32","shape":[4],"data_offsets":[0,16]}"#;
    let nested = format!(r#"{{"a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let dimensions = json!(vec![1; 100_000]);
    vec![
        (
            "a header longer than the file",
            [&1000u64.to_le_bytes()[..], b"[]"].concat(),
            "announce a header of 1000 bytes",
        ),
        (
            "a header of 16 exabytes",
            [&u64::MAX.to_le_bytes()[..], b"{}"].concat(),
            "announce a header of 18446744073709551615",
        ),
        ("a header over the limit", file(&vec![b' '; MAX_HEADER as usize + 8], 0), "at most 8388608 are allowed"),
        ("a header that is not JSON", file(b"{\"a\": nonsense}", 0), "line 1 column 8"),
        ("a header that is not text", file(b"{\"a\xff\": 1}", 0), "not UTF-8 at byte 11"),
        ("a header that is nested deeply", file(nested.as_bytes(), 0), "line 1 column"),
        ("a header that is no object", file(b" [1, 2]", 0), "byte 8"),
        ("a tensor named twice", file(format!(r#"{{"a":{tensor},"a":{tensor}}}"#).as_bytes(), 16), "\"a\" is repeated"),
        ("overlapping tensors", two([0, 8], [4, 12]), "tensor \"b\": its offset 4 overlaps"),
        ("one tensor instead of another", two([0, 8], [0, 8]), "overlaps the previous tensor"),
        ("a gap between tensors", two([0, 8], [12, 20]), "lead out of the 16 bytes"),
        ("a gap", file(br#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#, 8), "leaves a gap after 0"),
        ("offsets out of the file", one(json!([4]), json!([0, 1u64 << 40])), "lead out of the 16 bytes of data"),
        ("offsets that go backwards", one(json!([4]), json!([16, 0])), "go backwards"),
        ("negative offsets", one(json!([4]), json!([-16, 0])), "line 1 column"),
        ("a negative shape", one(json!([-4]), json!([0, 16])), "line 1 column"),
        ("a shape that overflows", one(json!([1u64 << 40, 1u64 << 40]), json!([0, 16])), "larger than any memory"),
        ("a shape of nothing that overflows", one(json!([0, u64::MAX]), json!([0, 0])), "larger than any memory"),
        ("a shape that is not that of its bytes", one(json!([5]), json!([0, 16])), "does not take 16 bytes"),
        ("a shape of 100,000 dimensions", one(dimensions, json!([0, 4])), "100000 dimensions"),
        ("data after the last tensor", one(json!([2]), json!([0, 8])), "bytes 8 to 16 of the data belong to no tensor"),
        ("an unknown type", file(br#"{"a":{"dtype":"PY","shape":[],"data_offsets":[0,4]}}"#, 4), "line 1 column"),
        ("half a byte", file(br#"{"a":{"dtype":"F4","shape":[1],"data_offsets":[0,0]}}"#, 0), "does not take 0 bytes"),
        (
            "a name that moves the cursor",
            file(br#"{"\u001b[2J":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#, 0),
            "\\u{1b}[2J",
        ),
        ("metadata that is no text", file(br#"{"__metadata__":{"a":{}}}"#, 0), "line 1 column"),
    ]
}

/// Files of other formats, some of them safetensors too, with what is said of each.
fn other_formats() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let good = one(json!([4]), json!([0, 16]));
    let zip_end = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let code = b"cposix\nsystem\n(S'touch /tmp/owned'\ntR.";
    let inside = |at: &[u8], length: usize| {
        let mut bytes = vec![0; length.max(at.len())];
        let from = bytes.len() - at.len();
        bytes[from..].copy_from_slice(at);
        let header = json!({"a": {"dtype": "U8", "shape": [bytes.len()], "data_offsets": [0, bytes.len()]}});
        [file(header.to_string().as_bytes(), 0), bytes].concat()
    };
    let mut tar = vec![0; 512];
    tar[257..262].copy_from_slice(b"ustar");
    vec![
        ("a pickle, protocol 0", code.to_vec(), "is a pickle"),
        ("a pickle, protocol 2", [b"\x80\x02", &code[..]].concat(), "is a pickle"),
        ("a pickle, protocol 3", [b"\x80\x03", &code[..]].concat(), "is a pickle"),
        ("a pickle, protocol 4", [b"\x80\x04\x95\x20\0\0\0\0\0\0\0", &code[..]].concat(), "is a pickle"),
        ("a pickle, protocol 5", [b"\x80\x05\x95\x20\0\0\0\0\0\0\0", &code[..]].concat(), "is a pickle"),
        (
            "torch.save before 1.6",
            b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.".to_vec(),
            "an old PyTorch",
        ),
        ("torch.save, a zip", [b"PK\x03\x04\0\0\x08\x08\0\0\0\0\0\0", &zip_end[..]].concat(), "is a zip archive"),
        ("an empty zip", zip_end.to_vec(), "is a zip archive"),
        ("a tar archive", tar, "is a tar archive"),
        ("gzip", b"\x1f\x8b\x08\0\0\0\0\0\x02\x03".to_vec(), "compressed (gzip)"),
        ("a NumPy array", b"\x93NUMPY\x01\0v\0{'descr': '<f4'}".to_vec(), "is a NumPy array"),
        ("HDF5", b"\x89HDF\r\n\x1a\n\0\0\0\0".to_vec(), "is an HDF5 file"),
        ("GGUF", b"GGUF\x03\0\0\0\0\0\0\0".to_vec(), "is a GGUF file"),
        (
            "a zip, and safetensors by its first bytes",
            [&0x0403_4b50u64.to_le_bytes()[..], b"{}"].concat(),
            "is a zip archive",
        ),
        ("safetensors with a zip as its data", inside(zip_end, 4096), "also a zip archive"),
        (
            "safetensors with a zip and its comment",
            inside(&[&zip_end[..20], b"\x05\0hello"].concat(), 200_000),
            "also a zip archive",
        ),
        ("safetensors and a zip after it", [&good[..], zip_end].concat(), "also a zip archive"),
        ("safetensors and a pickle after it", [&good[..], b"\x80\x02", code].concat(), "belong to no tensor"),
        (
            "a pickle whose number is a header",
            [b"\x80\x02G\0\0\0\0\0", &b"{".repeat(5_000_000)[..]].concat(),
            "is a pickle",
        ),
        (
            "a pointer of Git LFS",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n".to_vec(),
            "git lfs pull",
        ),
        ("a failed download", b"<!DOCTYPE html><title>404</title>".to_vec(), "failed download"),
        (
            "the index of a model in parts",
            br#"{"weight_map": {}}"#.to_vec(),
            "must be named model.safetensors.index.json",
        ),
        ("a script", b"#!/bin/sh\nexit 0\n".to_vec(), "is a script"),
    ]
}

/// Every case under every name is refused at once, with its file and a remedy; how many were.
fn refused(cases: &[(&str, Vec<u8>, &str)], name: &str) -> usize {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join(name);
    let mut passed = 0;
    for (case, bytes, said) in cases {
        std::fs::write(&path, bytes).unwrap();
        let (outcome, time) = timed(TIME, || weights::read(&path).map(|_| ()));
        let error = outcome.unwrap_or_else(|| panic!("{case}: panicked")).expect_err(case);
        assert_eq!(error.kind, ErrorKind::Refused, "{case}: {error}");
        let message = &error.message;
        for part in [name, *said, "safetensors.torch.save_file"] {
            assert!(message.contains(part), "{case}: no {part:?} in {message}");
        }
        assert!(message.len() < 1500 && !message.chars().any(char::is_control), "{case}: {message}");
        assert!(time < TIME, "{case}: {time:?}");
        passed += 1;
    }
    passed
}

#[test]
fn hostile_safetensors() {
    let cases = hostile();
    let passed = refused(&cases, "model.safetensors");
    for (case, bytes, _) in &cases {
        let message = Header::read(&mut Cursor::new(bytes), bytes.len() as u64).unwrap_err().message;
        assert!(has_place(&message), "{case}: no place in {message}");
    }
    row("hostile safetensors", passed, cases.len());
}

#[test]
fn pickles_and_polyglots() {
    let cases = other_formats();
    let passed = refused(&cases, "model.safetensors");
    assert_eq!(refused(&cases, "pytorch_model.bin"), passed);
    row("pickles and polyglots", passed, cases.len());
}

#[test]
fn a_header_whose_length_looks_like_a_pickle_is_read() {
    for (length, first) in [(0x280usize, [0x80, 2]), (0x380, [0x80, 3]), (0x480, [0x80, 4]), (0x1_0280, [0x80, 2])] {
        let mut header = br#"{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}"#.to_vec();
        header.resize(length, b' ');
        let bytes = file(&header, 16);
        assert_eq!(bytes[..2], first);
        let header = Header::read(&mut Cursor::new(&bytes), bytes.len() as u64).unwrap();
        assert_eq!((header.tensors.len(), header.data_start), (1, 8 + length as u64));
    }
}

#[test]
fn what_is_read_is_what_safetensors_reads() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("some.safetensors");
    let numbers: Vec<f32> = (0..24).map(|i| i as f32 / 7.0).collect();
    let tensor = Tensor::from_slice(&numbers);
    let tensors = [
        ("b", tensor.view([2, 3, 4])),
        ("a", tensor.narrow(0, 3, 5)),
        ("none", Tensor::zeros([0, 3], (tch::Kind::Float, Device::Cpu))),
    ];
    let tensors = tensors.into_iter().map(|(name, tensor)| (name.to_owned(), tensor)).collect();
    weights::write(&path, &tensors).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let theirs = SafeTensors::deserialize(&bytes).unwrap();
    let ours = weights::read(&path).unwrap();
    assert_eq!(ours.len(), theirs.len());
    for (name, tensor) in &ours {
        assert_eq!(*tensor, tensors[name]);
        assert_eq!(tensor.size(), theirs.tensor(name).unwrap().shape().iter().map(|&d| d as i64).collect::<Vec<_>>());
    }
}

#[test]
fn types_that_are_no_floats_are_named() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("model.safetensors");
    std::fs::write(&path, file(br#"{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}"#, 8)).unwrap();
    let error = weights::read(&path).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Config);
    assert!(error.message.contains("a is I64, which is not read"), "{error}");
}

#[test]
fn a_pipe_for_weights_does_not_hang() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("model.safetensors");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let (outcome, time) = timed(TIME, || weights::read(&path).map(|_| ()));
    assert!(outcome.unwrap().unwrap_err().message.contains("not a regular file"));
    assert!(time < TIME);
}

#[test]
fn a_pickle_beside_is_pointed_out() {
    let tiny = Tiny::new();
    std::fs::remove_file(tiny.encoder().join("model.safetensors")).unwrap();
    std::fs::write(tiny.encoder().join("pytorch_model.bin"), b"PK\x03\x04").unwrap();
    let output = tiny.train("run", &[]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(66), "{message}");
    assert!(message.contains("pytorch_model.bin is a pickle") && message.contains("save_file"), "{message}");
}

#[test]
fn sizes_that_the_weights_do_not_have_take_no_memory() {
    let tiny = Tiny::new();
    let path = tiny.encoder().join("config.json");
    let config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for (key, value) in [("vocab_size", 1 << 24), ("num_hidden_layers", 1 << 20), ("intermediate_size", 1 << 24)] {
        let mut config = config.clone();
        config[key] = json!(value);
        std::fs::write(&path, config.to_string()).unwrap();
        let output = tiny.train("run", &["--dry-run"]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(78), "{message}");
        assert!(message.contains("model.safetensors: holds") && message.contains("at least"), "{message}");
    }
}

#[test]
fn matrices_are_most_of_a_model() {
    let tiny = Tiny::new();
    let config = EncoderConfig::open(&tiny.encoder().join("config.json")).unwrap();
    let store = nn::VarStore::new(Device::Cpu);
    let _encoder = tiered::model::Encoder::new(&store.root(), &config);
    let all: usize = store.variables().values().map(Tensor::numel).sum();
    let least = config.least_parameters();
    assert!(least <= all as u128 && least * 20 >= all as u128 * 17, "{least} of {all}");
    for more in [&[][..], &["--set", "model.detector.kind=joint"]] {
        let run = tiny.trained(&format!("run{}", more.len()), more);
        let folder = tiered::experiment::RunFolder::open(&run).unwrap();
        let (least, all) = (folder.model_config().unwrap().least_parameters(), total(&run));
        assert!(least <= all as u128 && least * 20 >= all as u128 * 17, "{least} of {all}");
    }
}

fn total(run: &Path) -> usize {
    weights::read(&run.join("last/model.safetensors")).unwrap().values().map(Tensor::numel).sum()
}

#[test]
fn both_forms_of_a_name_in_one_file_are_refused() {
    let tiny = Tiny::new();
    let path = tiny.encoder().join("model.safetensors");
    let mut tensors = weights::read(&path).unwrap();
    let bias = tensors["embeddings.LayerNorm.bias"].shallow_clone();
    tensors.insert("roberta.embeddings.LayerNorm.bias".into(), bias);
    weights::write(&path, &tensors).unwrap();
    let output = tiny.train("run", &["--dry-run"]);
    assert_eq!(output.status.code(), Some(78));
    assert!(stderr(&output).contains("embeddings.LayerNorm.bias twice: with and without"), "{}", stderr(&output));
    assert!(text(&path).ends_with("model.safetensors"));
}
