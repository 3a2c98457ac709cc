//! The folder where a run was made. Relative paths of its config refer to this folder, so the run can resume from
//! elsewhere.

use crate::config::{Config, DataSource, expand};
use crate::say::aside;
use crate::schema;
use crate::untrusted::{self, MAX_CONFIG};
use serde::{Deserialize, Serialize};
use std::path::{Component, Path, PathBuf, absolute};

/// `origin.json` of a run folder.
#[derive(Serialize, Deserialize)]
pub struct Origin {
    /// The folder in which `tiered train` was run.
    absolute: PathBuf,
    /// The same, relative to the run folder, if the run folder is inside it. It stays right if both are moved together.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_run: Option<PathBuf>,
}

impl Origin {
    pub const FILE: &str = "origin.json";

    /// The origin of a run that is made in `run` now.
    pub fn of(run: &Path) -> std::io::Result<Self> {
        let here = std::env::current_dir()?;
        let run = real(run)?;
        let below = run.as_deref().and_then(|run| run.strip_prefix(here.canonicalize().ok()?).ok());
        let from_run = below.map(|below| below.iter().map(|_| "..").collect());
        Ok(Origin { absolute: here, from_run })
    }

    /// The origin of a run, for another folder; `None` if the run does not say it.
    pub fn of_run(run: &Path) -> std::io::Result<Option<Self>> {
        let Some(Origin { absolute: there, from_run }) = read(run) else { return Ok(None) };
        // A run that was moved alone is in some folder too.
        let is_origin = |moved: &PathBuf| moved.is_dir() && (!there.is_dir() || has_inputs(moved, run));
        let moved = from_run.map(|from_run| run.join(from_run)).filter(is_origin);
        let there = moved.map_or(Ok(there), |moved| moved.canonicalize())?;
        Ok(Some(Origin { absolute: there, from_run: None }))
    }
}

/// The path without links and `..`. Its last parts may not exist yet; `None` if there is a `..` among them.
fn real(path: &Path) -> std::io::Result<Option<PathBuf>> {
    let path = absolute(path)?;
    let found = path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?)));
    let is_plain = |new: &Path| new.components().all(|part| matches!(part, Component::Normal(_)));
    Ok(found.filter(|(_, new)| is_plain(new)).map(|(above, new)| above.join(new)))
}

/// Whether a file that the config of the run names by a relative path is in this folder.
fn has_inputs(folder: &Path, run: &Path) -> bool {
    let Ok(mut config) = Config::open(&run.join("config.toml"), &[]) else { return false };
    let is_there = |path: PathBuf| path.is_relative() && folder.join(path).exists();
    paths(&mut config).any(|path| expand(path).is_ok_and(is_there))
}

fn read(run: &Path) -> Option<Origin> {
    let origin = untrusted::read_regular(&run.join(Origin::FILE), MAX_CONFIG).ok()?;
    schema::from_slice(&origin).ok()
}

/// The folder in which the run was made, by both ways to name it; `None` if the run does not say it.
fn made_in(run: &Path) -> Option<[Option<PathBuf>; 2]> {
    read(run).map(|origin| [origin.from_run.map(|from_run| run.join(from_run)), Some(origin.absolute)])
}

/// Makes paths absolute that exist here and that the config of the run does not have, unless the run was made here: its
/// other paths are relative to the folder in which it was made.
pub fn anchor(now: &mut Config, then: &Config, run: &Path) -> std::io::Result<()> {
    let (here, mut then) = (std::env::current_dir()?, then.clone());
    let is_here = |folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| folder == here);
    if made_in(run).is_none_or(|folders| folders.iter().flatten().any(is_here)) {
        return Ok(());
    }
    let known: Vec<PathBuf> = paths(&mut then).map(|path| path.clone()).collect();
    for path in paths(now).filter(|path| !known.contains(path)) {
        if let Ok(expanded) = expand(path)
            && expanded.is_relative()
            && expanded.exists()
        {
            *path = here.join(expanded);
        }
    }
    Ok(())
}

/// If a path does not exist from here, resolves it as when the run was made, and prints that.
pub fn follow<'a>(paths: impl IntoIterator<Item = &'a mut PathBuf>, run: &Path) {
    let file = run.join(Origin::FILE);
    let folders = made_in(run);
    for path in paths {
        let Ok(expanded) = expand(path) else { continue };
        if expanded.is_absolute() || expanded.exists() {
            continue;
        }
        let there =
            folders.iter().flatten().flatten().map(|folder| folder.join(&expanded)).find(|there| there.exists());
        if let Some(there) = there.and_then(|there| there.canonicalize().ok()) {
            aside!(
                "{}: not found from here; reading {} instead, as when the run was made",
                path.display(),
                there.display()
            );
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
    let files = sources.flat_map(|sources| &mut sources.0).flat_map(|source| {
        let DataSource { file, soft_labels, .. } = source;
        file.iter_mut().chain(soft_labels)
    });
    files.chain([&mut config.encoder.path]).chain(config.init_from.as_mut())
}
