//! The vectors of a frozen encoder, kept on disk for other runs with the same encoder and inputs.

use crate::batch::Corpus;
use crate::durable::{self, FileDigest, sha256};
use crate::error::{Error, ErrorKind, Result};
use crate::model::EncoderConfig;
use crate::model::weights::{self, NamedTensors};
use crate::train::Frozen;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// A file of vectors, in a folder that several runs share. Beside it is its SHA-256, in the form of `sha256sum`.
pub struct KeptVectors {
    file: PathBuf,
}

const TRAIN: &str = "train";
const DEV: &str = "dev";

impl KeptVectors {
    /// The file's name is a hash of everything that decides the vectors to their last digit: the encoder's config and
    /// weights, the tokens, how it is computed (`precision`, `tf32`) and the machine.
    pub fn new(
        folder: &Path,
        (config, encoder): (&EncoderConfig, &NamedTensors),
        corpora: &[&Corpus],
        computed: impl Serialize,
        machine: &impl Serialize,
    ) -> Result<Self> {
        let described = serde_json::to_string(&(config, computed, machine))
            .map_err(|error| Error::new(ErrorKind::Internal, format!("JSON: {error}")))?;
        let mut parts = vec![weights::sha256(encoder), described];
        parts.extend(corpora.iter().map(|corpus| corpus.sha256_of_inputs()));
        let name = sha256(parts.join("\n").as_bytes());
        Ok(KeptVectors { file: folder.join(format!("{}.safetensors", &name[..32])) })
    }

    /// Loads the vectors that another run kept, if the file can be read and is as it was written.
    pub fn load(&self, frozen: &mut Frozen) {
        let expected = fs::read_to_string(self.digest_file());
        let is_whole = |digest: FileDigest| expected.is_ok_and(|expected| expected == self.digest_line(&digest));
        if !FileDigest::of_file(&self.file).is_ok_and(is_whole) {
            return;
        }
        let Ok(kept) = weights::read(&self.file) else { return };
        for (name, vectors) in [(TRAIN, Some(&mut frozen.train)), (DEV, frozen.dev.as_mut())] {
            if let Some((vectors, kept)) = vectors.zip(kept.get(name)) {
                vectors.take_up(kept);
            }
        }
    }

    /// # Errors
    /// `CantCreate`, `Io`.
    pub fn save(&self, frozen: &Frozen) -> Result<()> {
        let dev = frozen.dev.as_ref().map(|dev| (DEV.to_owned(), dev.by_length()));
        let tensors = std::iter::once((TRAIN.to_owned(), frozen.train.by_length())).chain(dev).collect();
        // In a folder of its own, which goes with all that is in it: `safetensors` too writes another file and renames it.
        let beside = durable::folder_beside(&self.file)?;
        self.file.parent().map_or(Ok(()), durable::remove_leftovers)?;
        let part = beside.path().join("vectors");
        durable::write_with(&part, |part| weights::write(part, &tensors))?;
        durable::rename(&part, &self.file)?;
        let line = self.digest_line(&FileDigest::of_file(&self.file)?);
        durable::replace(&self.digest_file(), line.as_bytes())
    }

    fn digest_file(&self) -> PathBuf {
        self.file.with_extension("sha256")
    }

    fn digest_line(&self, digest: &FileDigest) -> String {
        format!("{}  {}\n", digest.sha256, self.file.file_name().unwrap_or_default().display())
    }
}
