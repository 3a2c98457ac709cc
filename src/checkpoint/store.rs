//! The checkpoints of a run: `checkpoints/step-STEP/`, each complete or absent.
//!
//! Files are never overwritten. Names that begin with a dot are not checkpoints: `.NAME.part` is being written,
//! `.NAME.old` is being removed, and `.NAME.skipped` was skipped when the run resumed; the next checkpoint removes it.

use super::manifest::{Damage, MANIFEST, Manifest};
use crate::durable::{self, FileDigest};
use crate::error::{Error, Result};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder `checkpoints/` of a run.
pub struct CheckpointStore {
    folder: PathBuf,
}

/// A checkpoint that was verified.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// The name of its folder: `step-STEP`, or `step-STEP-2` and so on.
    pub name: String,
    /// The path of its folder.
    pub folder: PathBuf,
    /// What the folder holds; every file had its checksum when this was read or written.
    pub manifest: Manifest,
}

impl Checkpoint {
    /// The path of a file in its folder; whether it exists is not checked.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// The newest checkpoint that is intact, and why newer ones were skipped.
#[derive(Debug)]
pub struct LatestCheckpoint {
    /// The one to resume from.
    pub checkpoint: Checkpoint,
    /// The weights of its best epoch are missing or damaged.
    pub best_is_lost: bool,
    /// From the newest on; empty if the newest checkpoint is used.
    pub skipped: Vec<SkippedCheckpoint>,
}

/// A newer checkpoint that is not used.
#[derive(Debug)]
pub struct SkippedCheckpoint {
    /// The name of its folder.
    pub name: String,
    /// The first damage found, in it or in the checkpoint of its best epoch.
    pub why: Damage,
}

impl CheckpointStore {
    /// The store in this folder, which need not exist yet.
    pub fn new(folder: PathBuf) -> Self {
        CheckpointStore { folder }
    }

    /// Where the checkpoint with this name is, or would be.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// An unused name: `step-STEP`, or `step-STEP-2` and so on if that step was saved before.
    pub fn free_name(&self, step: u64) -> String {
        let name = |again: u64| if again < 2 { format!("step-{step:08}") } else { format!("step-{step:08}-{again}") };
        (1..).map(name).find(|name| !self.path(name).exists()).expect("numbers do not end")
    }

    /// Saves a checkpoint. `write` writes its files into a temporary folder; `describe` makes its manifest from their
    /// checksums. One rename gives the folder its name; [`CheckpointStore::sync`] makes that durable.
    pub fn save(
        &self,
        name: &str,
        write: impl FnOnce(&Path) -> Result<()>,
        describe: impl FnOnce(BTreeMap<String, FileDigest>) -> Result<Manifest>,
    ) -> Result<Checkpoint> {
        let part = self.path(&format!(".{name}.part"));
        if part.exists() {
            durable::remove_folder(&part)?;
        }
        durable::create_folder(&part)?;
        let made = self.make(name, &part, write, describe);
        if made.is_err() && part.exists() {
            // Frees the space. If this fails too, the error that is returned still says what is wrong.
            let _ = fs::remove_dir_all(&part);
        }
        made
    }

    fn make(
        &self,
        name: &str,
        part: &Path,
        write: impl FnOnce(&Path) -> Result<()>,
        describe: impl FnOnce(BTreeMap<String, FileDigest>) -> Result<Manifest>,
    ) -> Result<Checkpoint> {
        write(part)?;
        let mut files = BTreeMap::new();
        for name in names(part)? {
            files.insert(name.clone(), FileDigest::of_file(&part.join(&name))?);
        }
        let manifest = describe(files)?;
        durable::write(&part.join(MANIFEST), &manifest.to_json()?)?;
        durable::sync_folder(part)?;
        let folder = self.path(name);
        durable::rename(part, &folder)?;
        Ok(Checkpoint { name: name.to_owned(), folder, manifest })
    }

    /// Syncs the folder: what was saved, renamed or removed stays so after a crash.
    pub fn sync(&self) -> Result<()> {
        durable::sync_folder(&self.folder)
    }

    /// The newest checkpoint that is intact and whose best is intact. If there is none, the newest that is intact
    /// itself. `None` if no checkpoint was ever saved.
    ///
    /// # Errors
    /// `Data` if there are checkpoints, but none is intact; `Io`.
    pub fn newest(&self) -> Result<Option<LatestCheckpoint>> {
        let mut skipped = Vec::new();
        let mut without_best = None;
        let mut bests: BTreeMap<String, Result<(), Damage>> = BTreeMap::new();
        for name in self.newest_first()? {
            let folder = self.path(&name);
            let manifest = match Manifest::verify(&folder) {
                Ok(manifest) => manifest,
                Err(why) => {
                    skipped.push(SkippedCheckpoint { name, why });
                    continue;
                }
            };
            let best = match manifest.best.clone().filter(|best| *best != name) {
                None => Ok(()),
                Some(best) => {
                    let verify = || Manifest::verify(&self.path(&best)).map(|_| ());
                    bests.entry(best.clone()).or_insert_with(verify).clone()
                }
            };
            let checkpoint = Checkpoint { name: name.clone(), folder, manifest };
            match best {
                Ok(()) => return Ok(Some(LatestCheckpoint { checkpoint, best_is_lost: false, skipped })),
                Err(why) => {
                    let newer = skipped.len();
                    without_best.get_or_insert((checkpoint, newer, why.clone()));
                    skipped.push(SkippedCheckpoint { name, why });
                }
            }
        }
        if let Some((checkpoint, newer, _)) = without_best {
            skipped.truncate(newer);
            return Ok(Some(LatestCheckpoint { checkpoint, best_is_lost: true, skipped }));
        }
        if skipped.is_empty() {
            return Ok(None);
        }
        let list: Vec<String> = skipped.iter().map(|skipped| skipped.why.to_string()).collect();
        let message = format!(
            "{}: no checkpoint is intact: {}; restore one from a copy, or start another run",
            self.folder.display(),
            list.join("; ")
        );
        Err(Error::data(message))
    }

    /// Puts skipped checkpoints aside, so that no later start uses them.
    pub fn put_aside(&self, skipped: &[SkippedCheckpoint]) -> Result<()> {
        for SkippedCheckpoint { name, .. } in skipped {
            let aside = self.path(&format!(".{name}.skipped"));
            if aside.exists() {
                durable::remove_folder(&aside)?;
            }
            durable::rename(&self.path(name), &aside)?;
        }
        if skipped.is_empty() { Ok(()) } else { self.sync() }
    }

    /// Removes old checkpoints and leftovers. It keeps the `keep` newest ones, `best`, and the best of each of the
    /// newest, because that must exist if training goes back to an older one. If `best` could not be saved, it also
    /// keeps the newest one before it, from which the best can be computed again, and the best of that one.
    pub fn rotate(&self, keep: usize, best: Option<&str>) -> Result<()> {
        let names = self.newest_first()?;
        let before_best = best.filter(|best| !self.path(best).exists()).and_then(|best| {
            let best = order(best)?;
            names.iter().find(|name| order(name).is_some_and(|order| order < best))
        });
        let best_of = |name: &String| Manifest::read(&self.path(name).join(MANIFEST)).ok()?.best;
        let earlier_bests: Vec<String> = names.iter().take(keep).chain(before_best).filter_map(best_of).collect();
        let kept =
            |name: &&String| best == Some(name.as_str()) || before_best == Some(name) || earlier_bests.contains(name);
        // What can't be removed does not keep the others.
        let mut done = Vec::new();
        for name in names.iter().skip(keep).filter(|name| !kept(name)) {
            // In two steps, so that a half-removed folder is not taken for a damaged checkpoint.
            done.push(durable::rename(&self.path(name), &self.path(&format!(".{name}.old"))));
        }
        let leftovers = self.names()?.into_iter().filter(|name| name.starts_with(".step-"));
        done.extend(leftovers.map(|name| durable::remove_folder(&self.path(&name))));
        done.into_iter().collect()
    }

    /// Removes what a save or a rotation that was killed has left: it may take the room of the next checkpoint. What was
    /// put aside stays until one is saved.
    pub fn remove_unfinished(&self) -> Result<()> {
        let is_unfinished = |name: &String| name.starts_with(".step-") && !name.ends_with(".skipped");
        self.names()?
            .iter()
            .filter(|name| is_unfinished(name))
            .try_for_each(|name| durable::remove_folder(&self.path(name)))
    }

    /// The step of the newest checkpoint, by its name; `None` if there is none.
    ///
    /// # Errors
    /// `Io` if the folder can't be read.
    pub fn newest_step(&self) -> Result<Option<u64>> {
        Ok(self.newest_first()?.first().and_then(|name| order(name)).map(|(step, _)| step))
    }

    fn newest_first(&self) -> Result<Vec<String>> {
        let mut names: Vec<(Reverse<(u64, u64)>, String)> =
            self.names()?.into_iter().filter_map(|name| Some((Reverse(order(&name)?), name))).collect();
        names.sort_unstable();
        Ok(names.into_iter().map(|(_, name)| name).collect())
    }

    /// The names of everything in the folder; none if the folder does not exist yet.
    fn names(&self) -> Result<Vec<String>> {
        if self.folder.exists() { names(&self.folder) } else { Ok(Vec::new()) }
    }
}

/// The step and the number in a checkpoint's name. They give the order in which checkpoints were saved.
fn order(name: &str) -> Option<(u64, u64)> {
    let rest = name.strip_prefix("step-")?;
    match rest.split_once('-') {
        Some((step, again)) => Some((step.parse().ok()?, again.parse().ok()?)),
        None => Some((rest.parse().ok()?, 1)),
    }
}

/// The names of everything in a folder, except names that are not UTF-8, which are not ours.
fn names(folder: &Path) -> Result<Vec<String>> {
    let read = |error| Error::reading(folder, &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(read)? {
        names.extend(entry.map_err(read)?.file_name().into_string().ok());
    }
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests;
