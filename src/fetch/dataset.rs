//! Fetches TRIP and GITA from their authors' repositories.

use super::client::HubClient;
use super::download::{Checksum, Expected, Wanted, is_hex};
use super::settings::HubSettings;
use super::{FetchEvent, How, Listener};
use crate::data;
use crate::durable::{self, FileDigest};
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Address, escaped};
use crate::untrusted::{self, MAX_PREDICTIONS};
use std::path::{Path, PathBuf};

/// The server of files in GitHub repositories.
pub const MIRRORED: &str = "https://raw.githubusercontent.com";
/// SHA-256 of the reduced TRIP that this repository's results use. Upstream's file differs.
pub const REDUCED_TRIP: &str = "1b0a6865d566f75a62313ffb35cf0d142a975a228c23c7187e464bbcd0b24913";

/// A data set that `tiered data fetch` fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Dataset {
    /// English: training, development and test splits (Storks et al., 2021)
    Trip,
    /// Italian: a test split, and the outputs of the authors' systems (Pensa et al., 2024)
    Gita,
}

/// A file of a repository.
struct Source {
    /// Its path in the repository.
    from: &'static str,
    /// Its path in the folder that `TIERED_DATA` names.
    to: &'static str,
    /// Bytes and SHA-256, if known.
    known: Option<(u64, &'static str)>,
    most: u64,
}

/// The limit for a published story file, in bytes: many times their size.
const MAX_STORIES: u64 = 64 << 20;
const TRIP: [Source; 1] =
    [Source { from: "all_data/www.json", to: "data/trip/www.json", known: None, most: MAX_STORIES }];

const GITA: [Source; 3] = [
    Source {
        from: "GITA_test.json",
        to: "data/gita/GITA_test.json",
        known: Some((1_759_216, "00b7659cfb25cd69c2721ed9d89f62c5fa16e6386c29f5795c66a16eee32da69")),
        most: MAX_STORIES,
    },
    Source {
        from: "Results_ITA_cloze/results_cloze_explanations_consistency_test.json",
        to: "data/gita/published/cloze.json",
        known: Some((195_288, "de4af7bcac4bb6abebe3e3395727e49aa07e5b90332ff937f3e1ff5057bd3e5f")),
        most: MAX_PREDICTIONS,
    },
    Source {
        from: "Results_ITA_order/results_order_explanations_consistency_test.json",
        to: "data/gita/published/order.json",
        known: Some((203_148, "4e5aa8b018128eb4452cf461af9e5f9d69ba3a04151530292327940e63c47163")),
        most: MAX_PREDICTIONS,
    },
];

impl Dataset {
    /// `OWNER/NAME` on GitHub.
    pub const fn repository(self) -> &'static str {
        match self {
            Dataset::Trip => "sled-group/Verifiable-Coherent-NLU",
            Dataset::Gita => "GiuliaAPensa/GITAdataset",
        }
    }

    /// The licence as `tiered data fetch` prints it.
    pub const fn licence(self) -> &'static str {
        match self {
            Dataset::Trip => "as its repository says; its README names none",
            Dataset::Gita => "CC BY-NC-SA 4.0",
        }
    }

    fn sources(self) -> &'static [Source] {
        match self {
            Dataset::Trip => &TRIP,
            Dataset::Gita => &GITA,
        }
    }
}

/// Fetches the files of a data set into `data/` in `out`; returns their paths with their SHA-256. Existing files are
/// kept. A file whose SHA-256 we do not know is compared with `sha256`, or with `FILE.sha256` beside it, which the
/// first download writes.
///
/// # Errors
/// `Usage` if `sha256` is invalid, or is given for files whose SHA-256 we know; `Unavailable`, `MissingInput`, `Data`,
/// `Refused` as for models; `CantCreate` if another file has this path; `Io`.
pub fn fetch_data(
    settings: &HubSettings,
    dataset: Dataset,
    mirror: &str,
    revision: &str,
    sha256: Option<&str>,
    out: &Path,
    on: Listener,
) -> Result<Vec<(PathBuf, FileDigest)>> {
    let usage = |message: String| Error::new(ErrorKind::Usage, message);
    untrusted::relative(revision).map_err(|error| usage(format!("--revision: {error}")))?;
    if sha256.is_some() && dataset.sources().iter().all(|source| source.known.is_some()) {
        return Err(usage("--sha256: not needed, the SHA-256 of these files is known; leave it out".into()));
    }
    if sha256.is_some_and(|hash| !is_hex(hash, 64)) {
        return Err(usage("--sha256: must be 64 digits from 0-9a-f".into()));
    }
    let home = Address::parse(mirror.trim_end_matches('/')).map_err(|why| usage(format!("--from: {why}")))?;
    let client = HubClient::anonymous(settings, home);
    let mut files = Vec::new();
    for source in dataset.sources() {
        let parts: Vec<String> = revision.split('/').chain(source.from.split('/')).map(escaped).collect();
        let address = client.home().join(&format!("/{}/{}", dataset.repository(), parts.join("/")))?;
        let path = out.join(source.to);
        let lock = LockFile::of(&path);
        let (bytes, known) = match (source.known, sha256) {
            (Some((bytes, hash)), _) => (Some(bytes), Some(hash.to_owned())),
            (None, Some(hash)) => (None, Some(hash.to_owned())),
            (None, None) => (None, lock.read()?),
        };
        let is_locked = source.known.is_none() && sha256.is_none() && known.is_some();
        let digest = if path.exists() {
            let digest = kept(&path, known.as_deref())?;
            on(FetchEvent::Done { name: source.to, how: How::Kept });
            digest
        } else {
            settings.require_network(&path.display().to_string())?;
            let checksum = known.clone().map(Checksum::Sha256);
            let expected = Expected { bytes, checksum, most: source.most };
            let wanted = Wanted { name: source.to, address, expected, path: &path };
            let fetched = wanted.fetch_checked(&client, on, |part| match &known {
                Some(_) => Ok(()),
                None => lock.write(&sha256_of_stories(part, &path)?),
            });
            fetched.map_err(|error| if is_locked { lock.explain(error) } else { error })?;
            FileDigest::of_file(&path)?
        };
        if source.known.is_none() {
            lock.write(&digest.sha256)?;
        }
        files.push((path, digest));
    }
    Ok(files)
}

/// The SHA-256 of the file that will be `path`, if it has stories. If the hash is not known, only the content can show that
/// it is the right file.
fn sha256_of_stories(part: &Path, path: &Path) -> Result<String> {
    let bytes = std::fs::read(part).map_err(|error| Error::reading(part, &error))?;
    let what = match data::read_bytes(path, &bytes) {
        Ok(file) if file.splits.iter().any(|(_, stories)| !stories.is_empty()) => return Ok(file.sha256),
        Ok(_) => "it has no stories".to_owned(),
        Err(error) => error.message,
    };
    Err(Error::data(format!("{}: the fetched file is not a story file and was removed: {what}", path.display())))
}

/// An existing file, if it is the known one.
fn kept(path: &Path, known: Option<&str>) -> Result<FileDigest> {
    let digest = FileDigest::of_file(path)?;
    let found = &digest.sha256;
    let remedy = "remove it, or choose another folder with --output";
    let message = match known {
        Some(known) if known == found => return Ok(digest),
        _ if found == REDUCED_TRIP => format!("is the reduced TRIP (docs/data.md), not upstream's file; {remedy}"),
        Some(known) => format!("exists, but its SHA-256 is {found} instead of {known}; {remedy}"),
        None => format!("exists, but there is no known SHA-256 to compare it with (its own is {found}); {remedy}"),
    };
    Err(Error::new(ErrorKind::CantCreate, format!("{}: {message}", path.display())))
}

/// `FILE.sha256`, in the format of `sha256sum --check`.
struct LockFile {
    path: PathBuf,
    name: String,
}

impl LockFile {
    fn of(file: &Path) -> Self {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        LockFile { path: file.with_file_name(format!("{name}.sha256")), name }
    }

    /// Where another version is fetched than the first time, the file has another SHA-256 than this one says.
    fn explain(&self, error: Error) -> Error {
        if error.kind != ErrorKind::Data {
            return error;
        }
        let path = self.path.display();
        let message =
            format!("{}; {path} has that of the first download: for another version, remove it", error.message);
        Error { message, ..error }
    }

    /// # Errors
    /// `Data` if it does not begin with a SHA-256; `Io`.
    fn read(&self) -> Result<Option<String>> {
        let bytes =
            untrusted::read_if_there(&self.path, 1 << 10).map_err(|error| Error::reading(&self.path, &error))?;
        let Some(bytes) = bytes else { return Ok(None) };
        let text = String::from_utf8_lossy(&bytes);
        match text.split_whitespace().next().filter(|hash| is_hex(hash, 64)) {
            Some(hash) => Ok(Some(hash.to_owned())),
            None => {
                let message = format!("{}: does not begin with a SHA-256; remove it", self.path.display());
                Err(Error::data(message))
            }
        }
    }

    fn write(&self, sha256: &str) -> Result<()> {
        if self.read()?.as_deref() == Some(sha256) {
            return Ok(());
        }
        durable::replace(&self.path, format!("{sha256}  {}\n", self.name).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_written_once_and_read() {
        let folder = tempfile::TempDir::new().unwrap();
        let lock = LockFile::of(&folder.path().join("www.json"));
        assert_eq!(lock.read().unwrap(), None);
        lock.write(REDUCED_TRIP).unwrap();
        assert_eq!(lock.read().unwrap().as_deref(), Some(REDUCED_TRIP));
        let path = folder.path().join("www.json.sha256");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{REDUCED_TRIP}  www.json\n"));
        std::fs::write(path, "not a hash").unwrap();
        assert_eq!(lock.read().unwrap_err().kind, ErrorKind::Data);
    }
}
