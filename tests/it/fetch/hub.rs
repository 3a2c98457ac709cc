//! A hub as Hugging Face's is: it tells hashes, and has another server send large files.

use super::server::{Answer, Request, Server};
use crate::support::{stderr, stdout, temporary};
use sha1::{Digest, Sha1};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use tempfile::TempDir;
use tiered::durable;

pub const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
pub const TOKEN: &str = "hf_verysecret";
pub const MODEL: &str = "org/tiny";

pub type Files = BTreeMap<String, Vec<u8>>;

pub struct Hub {
    pub hub: Server,
    /// Another origin.
    pub storage: Server,
    home: TempDir,
}

/// Some content of that length, no two parts of it alike.
pub fn content(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i.wrapping_mul(2_654_435_761) >> 7) as u8).collect()
}

pub fn files() -> Files {
    let small = [("config.json", "{\"a\": 1}"), ("tokenizer.json", "{}"), ("README.md", "not needed")];
    let mut files: Files = small.iter().map(|(name, text)| (name.to_string(), text.as_bytes().to_vec())).collect();
    files.insert("model.safetensors".into(), content(200_000));
    files
}

pub fn git_hash(content: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", content.len()));
    hash.update(content);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn is_large(name: &str) -> bool {
    name.ends_with(".safetensors")
}

impl Hub {
    /// A good one.
    pub fn new(files: Files) -> Self {
        Self::twisted(files, |_| None, |_| None)
    }

    /// With what the hub, and its storage, do otherwise.
    pub fn twisted(
        files: Files,
        of_hub: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static,
        of_storage: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let files = Arc::new(files);
        let stored = files.clone();
        let storage = Server::start(move |request| {
            let name = request.path.split(['/', '?']).nth(1).unwrap_or_default();
            of_storage(request).unwrap_or_else(|| Answer::file(request, &stored[name]))
        });
        let url = storage.url.clone();
        let hub = Server::start(move |request| of_hub(request).unwrap_or_else(|| answer(request, &files, &url)));
        Hub { hub, storage, home: temporary() }
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn model(&self) -> PathBuf {
        self.home().join("hub/models--org--tiny")
    }

    pub fn snapshot(&self) -> PathBuf {
        self.model().join("snapshots").join(COMMIT)
    }

    pub fn blob(&self, sha256: &str) -> PathBuf {
        self.model().join("blobs").join(sha256)
    }

    pub fn incomplete(&self, content: &[u8]) -> PathBuf {
        self.blob(&format!("{}.incomplete", durable::sha256(content)))
    }

    /// The program, with nothing of Hugging Face's in its environment but this hub.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars() {
            let upper = name.to_ascii_uppercase();
            if upper.starts_with("HF_") || upper.starts_with("HUGGING") || upper.ends_with("_PROXY") {
                command.env_remove(name);
            }
        }
        command.env_remove("TRANSFORMERS_OFFLINE").env_remove("SSL_CERT_FILE").env_remove("REQUESTS_CA_BUNDLE");
        command.env("HF_HOME", self.home()).env("HF_ENDPOINT", &self.hub.url);
        command.env("HF_TOKEN", TOKEN).env("HF_HUB_DOWNLOAD_TIMEOUT", "2").env("TIERED_RETRY_MS", "1");
        command
    }

    pub fn tiered(&self, arguments: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_tiered")).args(arguments).output().unwrap()
    }

    pub fn fetch(&self) -> Output {
        self.tiered(&["model", "fetch", MODEL])
    }

    /// Fetches, which must end with this code and say all these words and the token never; returns what it said.
    pub fn fetch_ends(&self, code: i32, words: &[&str]) -> String {
        ends(&self.fetch(), code, words)
    }
}

/// Ended so, saying all these words, and the token never.
pub fn ends(output: &Output, code: i32, words: &[&str]) -> String {
    let said = format!("{}{}", stdout(output), stderr(output));
    assert_eq!(output.status.code(), Some(code), "{said}");
    words.iter().for_each(|word| assert!(said.contains(word), "no {word:?} in: {said}"));
    assert!(!said.contains(TOKEN), "{said}");
    said
}

fn answer(request: &Request, files: &Files, storage: &str) -> Answer {
    let resolve = format!("/{MODEL}/resolve/");
    if request.path.starts_with(&format!("/api/models/{MODEL}/revision/")) {
        return listing(files.keys().map(String::as_str), COMMIT);
    }
    match request.path.strip_prefix(&resolve).and_then(|rest| rest.split_once('/')) {
        Some((COMMIT | "main", name)) if files.contains_key(name) => file(request, name, &files[name], storage),
        _ => Answer::new(404, "").with("x-error-message", "Entry not found"),
    }
}

/// As the hub answers for a file.
pub fn file(request: &Request, name: &str, content: &[u8], storage: &str) -> Answer {
    let answer = if is_large(name) {
        Answer::redirect(format!("{storage}/{name}?Signature=of-the-storage"))
            .with("x-linked-etag", format!("\"{}\"", durable::sha256(content)))
            .with("x-linked-size", content.len())
    } else {
        Answer::file(request, content).with("etag", format!("\"{}\"", git_hash(content)))
    };
    answer.with("x-repo-commit", COMMIT)
}

pub fn listing<'a>(names: impl Iterator<Item = &'a str>, commit: &str) -> Answer {
    let siblings: Vec<_> = names.map(|name| serde_json::json!({"rfilename": name})).collect();
    Answer::new(200, serde_json::json!({"id": MODEL, "sha": commit, "siblings": siblings}).to_string())
}
