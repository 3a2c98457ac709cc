//! Where a run was made. The relative paths of its config are of that folder, so that the run can be gone on with from elsewhere.

use crate::config::{Config, expand};
use crate::outside::{self, MAX_CONFIG};
use crate::say::aside;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf, absolute};

/// `origin.json` of a run folder.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The folder that `tiered train` was run in.
    absolute: PathBuf,
    /// The same from the run folder, where that lies within it: it holds where both are moved together.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_run: Option<PathBuf>,
}

impl Origin {
    pub const FILE: &str = "origin.json";

    /// Of a run that is made in `run`, now.
    pub fn of(run: &Path) -> std::io::Result<Self> {
        let here = std::env::current_dir()?;
        let run = absolute(run)?;
        let from_run = run.strip_prefix(&here).ok().map(|below| below.iter().map(|_| "..").collect());
        Ok(Origin { absolute: here, from_run })
    }
}

/// Lets paths that lead nowhere from here lead where they did when the run was made, and says so.
pub fn follow<'a>(paths: impl IntoIterator<Item = &'a mut PathBuf>, run: &Path) {
    let file = run.join(Origin::FILE);
    let origin = outside::read_regular(&file, MAX_CONFIG).ok();
    let origin = origin.and_then(|origin| serde_json::from_slice::<Origin>(&origin).ok());
    let folders = origin.map(|origin| [origin.from_run.map(|from_run| run.join(from_run)), Some(origin.absolute)]);
    for path in paths {
        let Ok(expanded) = expand(path) else { continue };
        if expanded.is_absolute() || expanded.exists() {
            continue;
        }
        let there =
            folders.iter().flatten().flatten().map(|folder| folder.join(&expanded)).find(|there| there.exists());
        if let Some(there) = there.and_then(|there| there.canonicalize().ok()) {
            aside!("{}: not found from here; {} is read, as when the run was made", path.display(), there.display());
            *path = there;
        } else if folders.is_none() {
            let remedy = "run this from the folder that the run was made in";
            aside!(
                "{}: not found from here, and {} does not say what it is relative to; {remedy}",
                path.display(),
                file.display()
            );
        }
    }
}

/// The paths of a config that training reads.
pub fn paths(config: &mut Config) -> impl Iterator<Item = &mut PathBuf> {
    let sources = std::iter::once(&mut config.data.train).chain(config.data.dev.as_mut());
    let files = sources.flat_map(|sources| &mut sources.0).map(|source| &mut source.file);
    files.chain([&mut config.encoder.path]).chain(config.init_from.as_mut())
}
