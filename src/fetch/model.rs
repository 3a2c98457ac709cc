//! Fetches a model of the hub into Hugging Face's cache or into a folder.

use super::cache::{CONFIG, Cache, INDEX, ModelName, TOKENIZERS, WEIGHTS, is_commit, shards};
use super::client::HubClient;
use super::download::{Checksum, Expected, Wanted};
use super::settings::HubSettings;
use super::{FetchEvent, How, Listener};
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Address, escaped};
use crate::untrusted::{self, MAX_CONFIG, MAX_INDEX, MAX_TOKENIZER, json_error, shown};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The limit for the hub's description of a model, in bytes.
const MAX_LISTING: u64 = 16 << 20;
/// The limit for a file of weights, in bytes: more than any encoder has.
const MAX_WEIGHTS: u64 = 64 << 30;
/// Files that are also fetched if they exist.
const BESIDE: [&str; 4] = ["tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "tiered.json"];

/// A model that was fetched.
#[derive(Debug)]
pub struct Fetched {
    /// The snapshot in the cache, or the folder that was asked for.
    pub folder: PathBuf,
    /// Its commit, if it was requested from the hub.
    pub commit: Option<String>,
}

/// The hub's description of a model at a revision.
#[derive(Deserialize)]
struct Listing {
    sha: String,
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
}

/// Fetches the files that training needs: into the cache, or into the folder `out`. Existing files are kept.
///
/// # Errors
/// `Unavailable` without network, or if access is restricted; `MissingInput` if there is no such model; `Refused` if it
/// has no weights or tokenizer that we read, or if the server misbehaves; `Data` if the content is not what was
/// announced; `CantCreate`, `Io`.
pub fn fetch_model(settings: &HubSettings, model: &ModelName, out: Option<&Path>, on: Listener) -> Result<Fetched> {
    let cache = Cache::new(&settings.cache);
    if let (Some(_), None) = (settings.offline, out)
        && let Ok(folder) = cache.find(model)
    {
        return Ok(Fetched { folder, commit: None });
    }
    settings.require_network(&model.to_string())?;
    let client = HubClient::hub(settings);
    let listing = Listing::ask(&client, model, on)?;
    let destination = match out {
        Some(folder) => Destination::Folder(folder),
        None => Destination::Cache(&cache),
    };
    let files = Files { client: &client, model, commit: &listing.sha, destination };
    let mut names = listing.chosen(model)?;
    if listing.has(WEIGHTS) {
        names.push(WEIGHTS.to_owned());
    } else {
        let index = files.fetch(INDEX, on)?;
        let bytes = untrusted::read_regular(&index, MAX_INDEX).map_err(|error| Error::reading(&index, &error))?;
        names.extend(shards(&bytes).map_err(|error| error.about(format!("{model}: {INDEX}")))?);
    }
    for name in names {
        files.fetch(&name, on)?;
    }
    if out.is_none() {
        cache.note(model, &listing.sha)?;
    }
    Ok(Fetched { folder: files.folder(), commit: Some(listing.sha) })
}

impl Listing {
    fn ask(client: &HubClient, model: &ModelName, on: Listener) -> Result<Self> {
        let path = format!("/api/models/{}/revision/{}", model.id(), escaped(&model.revision));
        let address = client.home().join(&path)?;
        let bytes = client.read(&address, MAX_LISTING, on).map_err(|error| error.about(model))?;
        let listing: Listing = serde_json::from_slice(&bytes).map_err(|error| {
            let message = format!("{address}: is not the hub's description of a model: {}", json_error(&error));
            Error::new(ErrorKind::Unavailable, message).caused_by(error)
        })?;
        if !is_commit(&listing.sha) {
            let message = format!("{address}: \"{}\" is not a commit", shown(&listing.sha, 80));
            return Err(Error::new(ErrorKind::Refused, message));
        }
        Ok(listing)
    }

    fn has(&self, name: &str) -> bool {
        self.siblings.iter().any(|file| file.rfilename == name)
    }

    /// The files to fetch, except weights.
    ///
    /// # Errors
    /// `Refused`, with the remedy, if the model has no safetensors or no tokenizer.
    fn chosen(&self, model: &ModelName) -> Result<Vec<String>> {
        let refuse = |why: String| Err(Error::new(ErrorKind::Refused, format!("{model}: {why}")));
        if !self.has(CONFIG) {
            return refuse(format!("has no {CONFIG}; it is not a model for `transformers`"));
        }
        if !self.has(WEIGHTS) && !self.has(INDEX) {
            let has =
                if self.has("pytorch_model.bin") { "its weights are a pickle file, which we do not read" } else { "" };
            return refuse(match has {
                "" => format!("has no {WEIGHTS}"),
                has => format!("has no {WEIGHTS}; {has}. {}", converted(model)),
            });
        }
        let tokenizer: Vec<&str> = TOKENIZERS.concat().into_iter().filter(|name| self.has(name)).collect();
        if !TOKENIZERS.iter().any(|files| files.iter().all(|file| self.has(file))) {
            let found = if tokenizer.is_empty() { "" } else { " in full" };
            return refuse(format!(
                "has no tokenizer.json, vocab.txt, or vocab.json with merges.txt{found}. {}",
                converted(model)
            ));
        }
        let beside = BESIDE.into_iter().filter(|name| self.has(name));
        Ok([CONFIG].into_iter().chain(tokenizer).chain(beside).map(str::to_owned).collect())
    }
}

/// The instruction to convert a model with `transformers` into a folder that we can read.
fn converted(model: &ModelName) -> String {
    let ModelName { revision, .. } = model;
    let from = format!("from_pretrained(\"{}\", revision=\"{revision}\").save_pretrained(\"FOLDER\")", model.id());
    format!(
        "If you trust the model, convert it with Python (transformers 4: version 5 makes another tokenizer of DeBERTa's \
         first version) and set encoder.path to the folder:\n  python -c 'from transformers import AutoModel, AutoTokenizer; AutoModel.{from}; AutoTokenizer.{from}'"
    )
}

/// Where the files of a model are saved.
enum Destination<'a> {
    Cache(&'a Cache),
    Folder(&'a Path),
}

/// The files of a model at a commit.
struct Files<'a> {
    client: &'a HubClient,
    model: &'a ModelName,
    commit: &'a str,
    destination: Destination<'a>,
}

/// What the hub announces about a file.
struct Announced {
    address: Address,
    etag: String,
    expected: Expected,
}

impl Files<'_> {
    fn folder(&self) -> PathBuf {
        match self.destination {
            Destination::Cache(cache) => cache.snapshot(self.model, self.commit),
            Destination::Folder(folder) => folder.to_owned(),
        }
    }

    /// Fetches a file unless it exists; returns its path.
    fn fetch(&self, name: &str, on: Listener) -> Result<PathBuf> {
        let path = self.folder().join(name);
        match self.destination {
            // A file of a commit never changes, so one in the cache is current.
            Destination::Cache(_) if path.is_file() => on(FetchEvent::Done { name, how: How::Kept }),
            Destination::Cache(cache) => self.fetch_into_cache(cache, name, on)?,
            Destination::Folder(_) => self.fetch_into_folder(&path, name, on)?,
        }
        Ok(path)
    }

    fn fetch_into_cache(&self, cache: &Cache, name: &str, on: Listener) -> Result<()> {
        let Announced { address, etag, expected } = self.ask(name, on)?;
        let blob = cache.blob(self.model, &etag);
        let _lock = cache.lock(self.model, &etag)?;
        if blob.metadata().is_ok_and(|data| data.is_file() && expected.bytes.is_none_or(|bytes| bytes == data.len())) {
            on(FetchEvent::Done { name, how: How::Kept });
        } else {
            Wanted { name, address, expected, path: &blob }.fetch(self.client, on)?;
        }
        cache.link(self.model, self.commit, name, &etag)
    }

    fn fetch_into_folder(&self, path: &Path, name: &str, on: Listener) -> Result<()> {
        let Announced { address, expected, .. } = self.ask(name, on)?;
        if !path.exists() {
            return Wanted { name, address, expected, path }.fetch(self.client, on);
        }
        let (is_it, problem) = match (&expected.checksum, expected.bytes) {
            (Some(checksum), _) => (checksum.is_of(path)?, "exists, but is not the file of"),
            // Weights of two models of one architecture are of one length.
            (None, Some(bytes)) if !name.ends_with(".safetensors") => (
                path.metadata().is_ok_and(|data| data.is_file() && data.len() == bytes),
                "exists, but is not as long as that of",
            ),
            (None, _) => (false, "exists, and the server announces no hash by which to tell whether it is the file of"),
        };
        if is_it {
            on(FetchEvent::Done { name, how: How::Kept });
            return Ok(());
        }
        let remedy = "choose another folder with --output, or remove it";
        let message = format!("{}: {problem} {}; {remedy}", path.display(), self.model);
        Err(Error::new(ErrorKind::CantCreate, message))
    }

    fn ask(&self, name: &str, on: Listener) -> Result<Announced> {
        let address =
            self.client.home().join(&format!("/{}/resolve/{}/{}", self.model.id(), self.commit, escaped(name)))?;
        let reply = self.client.head(&address, on)?;
        let unquoted = |etag: &str| etag.trim_start_matches("W/").trim_matches('"').to_owned();
        let etag = reply.linked.etag.as_deref().or(reply.header("etag")).map(unquoted).unwrap_or_default();
        // It becomes the name of a file.
        if untrusted::component(&etag).is_err() || !etag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            let message = format!("{address}: has the ETag \"{}\", which is not a hash", shown(&etag, 80));
            return Err(Error::new(ErrorKind::Refused, message));
        }
        let is_final = (200..300).contains(&reply.status);
        let bytes = reply.linked.bytes.or(reply.length().filter(|_| is_final));
        Ok(Announced {
            address,
            expected: Expected { bytes, checksum: Checksum::of_etag(&etag), most: most(name) },
            etag,
        })
    }
}

/// The limit for a file with this name, in bytes.
fn most(name: &str) -> u64 {
    match name {
        INDEX => MAX_INDEX,
        _ if name.ends_with(".safetensors") => MAX_WEIGHTS,
        _ if TOKENIZERS.concat().contains(&name) => MAX_TOKENIZER,
        _ => MAX_CONFIG,
    }
}
