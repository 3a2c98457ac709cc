use super::super::manifest::{Environment, Inputs};
use super::*;
use crate::error::ErrorKind;
use tempfile::TempDir;

/// Saves a checkpoint of two files at this step.
fn save(store: &CheckpointStore, step: u64, best: Option<&str>) -> String {
    let name = store.free_name(step);
    let inputs = Inputs {
        train: "t".into(),
        dev: None,
        tokenizer: "k".into(),
        encoder_config: "e".into(),
        soft_labels: None,
        initial_weights: None,
        limit: None,
        earlier: Vec::new(),
    };
    let made_with = Environment { libtorch: "2".into(), threads: 1, ..Environment::default() };
    let write = |folder: &Path| {
        durable::write(&folder.join("a"), &step.to_le_bytes())?;
        durable::write(&folder.join("b"), b"b")
    };
    let best = Some(best.unwrap_or(&name).to_owned());
    store.save(&name, write, |files| Manifest::new(step, best, inputs, made_with, files)).unwrap();
    name
}

fn store() -> (TempDir, CheckpointStore) {
    let folder = TempDir::new().unwrap();
    let store = CheckpointStore::new(folder.path().join("checkpoints"));
    (folder, store)
}

fn newest(store: &CheckpointStore) -> LatestCheckpoint {
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
fn a_damaged_one_is_skipped_and_named() {
    let (_folder, store) = store();
    let names = [1, 2, 3].map(|step| save(&store, step, None));
    fs::write(store.path(&names[2]).join("b"), b"c").unwrap();
    fs::remove_file(store.path(&names[1]).join("a")).unwrap();
    let found = newest(&store);
    assert_eq!(found.checkpoint.name, names[0]);
    let files: Vec<&Path> = found.skipped.iter().map(|skipped| skipped.why.file.as_path()).collect();
    assert_eq!(files, [store.path(&names[2]).join("b"), store.path(&names[1]).join("a")]);
    store.put_aside(&found.skipped).unwrap();
    assert!(newest(&store).skipped.is_empty());
    fs::write(store.path(&names[0]).join(MANIFEST), b"{}").unwrap();
    assert_eq!(store.newest().unwrap_err().kind, ErrorKind::Data);
}

#[test]
fn one_whose_best_is_lost_counts_only_if_there_is_no_other() {
    let (_folder, store) = store();
    let one = save(&store, 1, None);
    let two = save(&store, 2, Some("step-00000005"));
    let found = newest(&store);
    assert_eq!((found.checkpoint.name.as_str(), found.best_is_lost, found.skipped.len()), (one.as_str(), false, 1));
    durable::remove_folder(&store.path(&one)).unwrap();
    let found = newest(&store);
    assert_eq!((found.checkpoint.name.as_str(), found.best_is_lost, found.skipped.len()), (two.as_str(), true, 0));
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
    // If the best could not be saved, an earlier checkpoint stays, and the best of that one too.
    store.rotate(1, Some("step-00000005-2")).unwrap();
    assert_eq!(store.names().unwrap(), ["step-00000001", "step-00000005"]);
    save(&store, 8, Some("step-00000006"));
    store.rotate(1, Some("step-00000006")).unwrap();
    assert_eq!(store.names().unwrap(), ["step-00000001", "step-00000005", "step-00000008"]);
    let found = newest(&store);
    assert_eq!((found.checkpoint.name.as_str(), found.best_is_lost), ("step-00000005", false));
    // What can't be removed is an error, but the others go.
    fs::write(store.path(".step-00000001.old"), b"a file").unwrap();
    fs::create_dir(store.path(".step-00000002.old")).unwrap();
    assert_eq!(store.rotate(2, Some("step-00000006")).unwrap_err().kind, ErrorKind::CantCreate);
    let left = [".step-00000001.old", "step-00000001", "step-00000005", "step-00000008"];
    assert_eq!(store.names().unwrap(), left);
}

#[test]
fn a_manifest_can_not_name_files_elsewhere() {
    let (_folder, store) = store();
    let name = save(&store, 1, None);
    let manifest = Manifest::verify(&store.path(&name)).unwrap();
    for outside in ["../a", "/etc/passwd", "a/b", "..", ""] {
        let digest = FileDigest { bytes: 1, sha256: durable::sha256(b"b") };
        let Manifest { step, best, inputs, made_with, .. } = manifest.clone();
        let forged = Manifest::new(step, best, inputs, made_with, [(outside.to_owned(), digest)].into()).unwrap();
        fs::write(store.path(&name).join(MANIFEST), forged.to_json().unwrap()).unwrap();
        let damage = Manifest::verify(&store.path(&name)).unwrap_err();
        assert!(damage.what.contains(&format!("{outside:?}")), "{damage}");
    }
}
