//! The checkpoints of a run: `checkpoints/step-STEP/`, each made whole or not at all.
//!
//! Nothing is ever written over. Names that begin with a dot are not checkpoints: one being made (`.NAME.part`), one
//! being removed (`.NAME.old`), one that was passed over at a resume (`.NAME.passed-over`).

use super::manifest::{Damage, MANIFEST, Manifest};
use crate::durable::{self, FileDigest};
use crate::error::{Error, Result};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub struct Store {
    folder: PathBuf,
}

/// A checkpoint that was verified.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    pub name: String,
    pub folder: PathBuf,
    pub manifest: Manifest,
}

impl Checkpoint {
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// The newest checkpoint that can be trusted, and why others were not.
#[derive(Debug)]
pub struct Found {
    pub checkpoint: Checkpoint,
    /// The weights of its best epoch are gone.
    pub best_is_lost: bool,
    pub passed_over: Vec<PassedOver>,
}

/// A newer checkpoint that is not used.
#[derive(Debug)]
pub struct PassedOver {
    pub name: String,
    pub why: Damage,
}

impl Store {
    pub fn new(folder: PathBuf) -> Self {
        Store { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A name that is free: `step-STEP`, or `step-STEP-2` and so on if that step was saved before.
    pub fn free_name(&self, step: u64) -> String {
        let name = |again: u64| if again < 2 { format!("step-{step:08}") } else { format!("step-{step:08}-{again}") };
        (1..).map(name).find(|name| !self.path(name).exists()).expect("numbers do not end")
    }

    /// Makes a checkpoint: `write` writes its files into a folder beside, `describe` its manifest from their digests.
    /// It appears under its name by one rename; [`Store::sync`] makes that last.
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
            // Gives its space back; if that fails too, the error that is returned says what is wrong.
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

    pub fn sync(&self) -> Result<()> {
        durable::sync_folder(&self.folder)
    }

    /// The newest checkpoint that verifies and whose best verifies; if there is none, the newest that verifies
    /// itself. `None` if no checkpoint was ever made.
    ///
    /// # Errors
    /// `Data` if there are checkpoints and none can be trusted; `Io`.
    pub fn newest(&self) -> Result<Option<Found>> {
        let mut passed_over = Vec::new();
        let mut without_best = None;
        let mut bests: BTreeMap<String, Result<(), Damage>> = BTreeMap::new();
        for name in self.newest_first()? {
            let folder = self.path(&name);
            let manifest = match Manifest::verify(&folder) {
                Ok(manifest) => manifest,
                Err(why) => {
                    passed_over.push(PassedOver { name, why });
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
                Ok(()) => return Ok(Some(Found { checkpoint, best_is_lost: false, passed_over })),
                Err(why) => {
                    let newer = passed_over.len();
                    without_best.get_or_insert((checkpoint, newer, why.clone()));
                    passed_over.push(PassedOver { name, why });
                }
            }
        }
        if let Some((checkpoint, newer, _)) = without_best {
            passed_over.truncate(newer);
            return Ok(Some(Found { checkpoint, best_is_lost: true, passed_over }));
        }
        if passed_over.is_empty() {
            return Ok(None);
        }
        let list: Vec<String> = passed_over.iter().map(|passed| passed.why.to_string()).collect();
        let message = format!(
            "{}: no checkpoint can be trusted: {}; restore one from a copy, or remove the folder to begin anew",
            self.folder.display(),
            list.join("; ")
        );
        Err(Error::data(message))
    }

    /// Puts checkpoints aside that are not gone on from, so that no later start takes them for its own.
    pub fn pass_over(&self, passed: &[PassedOver]) -> Result<()> {
        for PassedOver { name, .. } in passed {
            let aside = self.path(&format!(".{name}.passed-over"));
            if aside.exists() {
                durable::remove_folder(&aside)?;
            }
            durable::rename(&self.path(name), &aside)?;
        }
        if passed.is_empty() { Ok(()) } else { self.sync() }
    }

    /// Removes all but the `keep` newest, `best`, and what was the best to each of these newest, lest it be missing when
    /// an older one has to be gone back to; and what else lies about. While `best` could not be saved, the newest before
    /// it is kept as well: from there it can be had again.
    pub fn rotate(&self, keep: usize, best: Option<&str>) -> Result<()> {
        let names = self.newest_first()?;
        let before_best = best.filter(|best| !self.path(best).exists()).and_then(|best| {
            let best = order(best)?;
            names.iter().find(|name| order(name).is_some_and(|order| order < best))
        });
        let best_of = |name: &String| Manifest::read(&self.path(name).join(MANIFEST)).ok()?.best;
        let earlier_bests: Vec<String> = names.iter().take(keep).filter_map(best_of).collect();
        let kept =
            |name: &&String| best == Some(name.as_str()) || before_best == Some(name) || earlier_bests.contains(name);
        for name in names.iter().skip(keep).filter(|name| !kept(name)) {
            // In two moves, so that a folder that is half removed is not taken for a damaged checkpoint.
            durable::rename(&self.path(name), &self.path(&format!(".{name}.old")))?;
        }
        for name in self.names()?.iter().filter(|name| name.starts_with(".step-")) {
            durable::remove_folder(&self.path(name))?;
        }
        Ok(())
    }

    fn newest_first(&self) -> Result<Vec<String>> {
        let mut names: Vec<(Reverse<(u64, u64)>, String)> =
            self.names()?.into_iter().filter_map(|name| Some((Reverse(order(&name)?), name))).collect();
        names.sort_unstable();
        Ok(names.into_iter().map(|(_, name)| name).collect())
    }

    /// Of all that is in the folder; none if there is no folder yet.
    fn names(&self) -> Result<Vec<String>> {
        if self.folder.exists() { names(&self.folder) } else { Ok(Vec::new()) }
    }
}

/// Step and number of a checkpoint's name, which are the order they were made in.
fn order(name: &str) -> Option<(u64, u64)> {
    let rest = name.strip_prefix("step-")?;
    match rest.split_once('-') {
        Some((step, again)) => Some((step.parse().ok()?, again.parse().ok()?)),
        None => Some((rest.parse().ok()?, 1)),
    }
}

/// Of what is in a folder, but for names that are no text, which are none of ours.
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
mod tests {
    use super::super::manifest::{Inputs, MadeWith};
    use super::*;
    use crate::error::ErrorKind;
    use tempfile::TempDir;

    /// A checkpoint of two files at that step.
    fn save(store: &Store, step: u64, best: Option<&str>) -> String {
        let name = store.free_name(step);
        let inputs =
            Inputs { train: "t".into(), dev: None, tokenizer: "k".into(), encoder_config: "e".into(), limit: None };
        let made_with = MadeWith {
            tiered: "0".into(),
            libtorch: "2".into(),
            device: "cpu".into(),
            threads: 1,
            processor: vec!["avx2".into()],
        };
        let write = |folder: &Path| {
            durable::write(&folder.join("a"), &step.to_le_bytes())?;
            durable::write(&folder.join("b"), b"b")
        };
        let best = Some(best.unwrap_or(&name).to_owned());
        store.save(&name, write, |files| Manifest::new(step, best, inputs, made_with, files)).unwrap();
        name
    }

    fn store() -> (TempDir, Store) {
        let folder = TempDir::new().unwrap();
        let store = Store::new(folder.path().join("checkpoints"));
        (folder, store)
    }

    fn newest(store: &Store) -> Found {
        store.newest().unwrap().unwrap()
    }

    #[test]
    fn the_newest_is_found_by_number_and_not_by_letters() {
        let (_folder, store) = store();
        assert!(store.newest().unwrap().is_none());
        let nine = save(&store, 999_999_999, None);
        assert_eq!(newest(&store).checkpoint.name, nine);
        let ten = save(&store, 1_000_000_000, None);
        assert_eq!(newest(&store).checkpoint.name, ten);
        let again = save(&store, 1_000_000_000, None);
        assert_eq!((again.as_str(), newest(&store).checkpoint.name.as_str()), ("step-1000000000-2", again.as_str()));
    }

    #[test]
    fn a_damaged_one_is_passed_over_and_named() {
        let (_folder, store) = store();
        let names = [1, 2, 3].map(|step| save(&store, step, None));
        fs::write(store.path(&names[2]).join("b"), b"c").unwrap();
        fs::remove_file(store.path(&names[1]).join("a")).unwrap();
        let found = newest(&store);
        assert_eq!(found.checkpoint.name, names[0]);
        let files: Vec<&Path> = found.passed_over.iter().map(|passed| passed.why.file.as_path()).collect();
        assert_eq!(files, [store.path(&names[2]).join("b"), store.path(&names[1]).join("a")]);
        store.pass_over(&found.passed_over).unwrap();
        assert!(newest(&store).passed_over.is_empty());
        fs::write(store.path(&names[0]).join(MANIFEST), b"{}").unwrap();
        assert_eq!(store.newest().unwrap_err().kind, ErrorKind::Data);
    }

    #[test]
    fn one_whose_best_is_lost_counts_only_if_there_is_no_other() {
        let (_folder, store) = store();
        let one = save(&store, 1, None);
        let two = save(&store, 2, Some("step-00000005"));
        let found = newest(&store);
        assert_eq!(
            (found.checkpoint.name.as_str(), found.best_is_lost, found.passed_over.len()),
            (one.as_str(), false, 1)
        );
        durable::remove_folder(&store.path(&one)).unwrap();
        let found = newest(&store);
        assert_eq!(
            (found.checkpoint.name.as_str(), found.best_is_lost, found.passed_over.len()),
            (two.as_str(), true, 0)
        );
    }

    #[test]
    fn best_and_the_last_are_kept() {
        let (_folder, store) = store();
        let best = save(&store, 1, None);
        for step in 2..=5 {
            save(&store, step, Some(&best));
            fs::create_dir(store.path(".step-00000009.part")).unwrap();
            store.rotate(2, Some(&best)).unwrap();
        }
        assert_eq!(store.names().unwrap(), ["step-00000001", "step-00000004", "step-00000005"]);
        // A best that could not be saved: one from before it stays, with what is the best to that one.
        store.rotate(1, Some("step-00000005-2")).unwrap();
        assert_eq!(store.names().unwrap(), ["step-00000001", "step-00000005"]);
        save(&store, 8, Some("step-00000006"));
        store.rotate(1, Some("step-00000006")).unwrap();
        assert_eq!(store.names().unwrap(), ["step-00000005", "step-00000008"]);
    }

    #[test]
    fn a_manifest_can_not_name_files_elsewhere() {
        let (_folder, store) = store();
        let name = save(&store, 1, None);
        let manifest = Manifest::verify(&store.path(&name)).unwrap();
        for outside in ["../a", "/etc/passwd", "a/b", "..", ""] {
            let digest = FileDigest { bytes: 1, sha256: durable::sha256(b"b") };
            let Manifest { step, best, inputs, made_with, .. } = manifest.clone();
            let files = [(outside.to_owned(), digest)].into();
            let forged = Manifest::new(step, best, inputs, made_with, files).unwrap();
            fs::write(store.path(&name).join(MANIFEST), forged.to_json().unwrap()).unwrap();
            let damage = Manifest::verify(&store.path(&name)).unwrap_err();
            assert!(damage.what.contains(&format!("{outside:?}")), "{damage}");
        }
    }
}
