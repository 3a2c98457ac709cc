//! What is fuzzed. The tests run the same functions over the seeds, and over seeds damaged at random.

use std::io::Cursor;
use std::path::Path;
use tiered::data::{Sentences, pairs, read_bytes, read_plain};
use tiered::error::ErrorKind;
use tiered::model::header::Header;
use tiered::outside;

/// Reads bytes as a story file, and as stories that a person types.
pub fn stories(bytes: &[u8]) {
    let refused = |message: &str| {
        assert!(message.starts_with("hostile: "), "{message}");
        assert!(message.len() < 4000 && !message.chars().any(char::is_control), "{message}");
    };
    match read_bytes(Path::new("hostile"), bytes) {
        Err(error) => refused(&error.message),
        Ok(file) => {
            file.findings.iter().for_each(|finding| refused(&finding.to_string()));
            for (_, stories) in &file.partitions {
                for story in stories {
                    let sentences = story.sentences.len();
                    assert!(sentences > 0 && !story.entities.is_empty());
                    assert!(story.entities.iter().all(|entity| entity.effects.len() == sentences));
                }
                for pair in pairs(stories, 0) {
                    assert!(pair.conflict.evidence < pair.conflict.breakpoint);
                    assert!(pair.conflict.breakpoint < pair.implausible_story().sentences.len());
                }
            }
        }
    }
    if let Ok(text) = outside::text(bytes) {
        for sentences in [Sentences::AsGiven, Sentences::Split] {
            if let Err(error) = read_plain(text, "hostile", &[], sentences) {
                refused(&error.message);
            }
        }
    }
}

/// Reads bytes as a safetensors file. What is read, the safetensors crate reads too, and finds the same.
pub fn safetensors_header(bytes: &[u8]) {
    match Header::read(&mut Cursor::new(bytes), bytes.len() as u64) {
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::Refused, "{error}");
            assert!(error.message.len() < 4000 && !error.message.chars().any(char::is_control), "{error}");
        }
        Ok(header) => {
            let theirs = safetensors::SafeTensors::deserialize(bytes).expect("what we read, safetensors reads");
            assert_eq!(header.tensors.len(), theirs.len());
            for (name, info) in &header.tensors {
                let tensor = theirs.tensor(name).expect("a tensor of that name");
                assert_eq!((tensor.dtype(), tensor.shape()), (info.dtype, info.shape.as_slice()));
                let (begin, end) = info.data_offsets;
                let data_start = header.data_start as usize;
                assert_eq!(tensor.data(), &bytes[data_start + begin..data_start + end]);
            }
        }
    }
}
