//! Files and folders: written, replaced, linked, renamed and removed.

use crate::error::{Error, ErrorKind, Result};
use crate::fault;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;
use tempfile::{TempDir, TempPath};

/// Names the path in the error.
pub(super) fn at<T>(path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|error| Error::writing(path, &error))
}

/// Writes a new file.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = fault::operation(|| {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        Ok(file)
    });
    at(path, written.and_then(|file| fault::operation(|| file.sync_all())))
}

/// Lets `make` write a new file, and syncs it to the disk.
pub fn write_with(path: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let mut made = Ok(());
    at(
        path,
        fault::operation(|| {
            made = make(path);
            Ok(())
        }),
    )?;
    made?;
    at(path, fault::operation(|| File::open(path)?.sync_all()))
}

/// Replaces a file, or creates it; readers see the old file or the new one.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_with(path, |part| at(path, fs::write(part, bytes)))
}

/// Like [`replace`], with a file that `make` writes.
pub fn replace_with(path: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let part = at(path, beside(path, |part| File::create_new(part)))?;
    write_with(&part, make)?;
    put(part, path)
}

/// Renames a file that was made beside `path` to `path`.
fn put(part: TempPath, path: &Path) -> Result<()> {
    at(path, fault::operation(|| part.persist(path).map_err(io::Error::from)))?;
    sync_parent(path)
}

/// Makes a file hold these bytes. If its bytes are a prefix of the new ones, the rest is appended, so that a program
/// that follows the file keeps its position. Otherwise the file is replaced. After an error the next try writes everything
/// again: what a failed sync left can be read, but may not be on the disk.
pub fn extend(path: &Path, bytes: &[u8]) -> Result<()> {
    let held = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        held => held.map_err(|error| Error::reading(path, &error))?,
    };
    match bytes.strip_prefix(held.as_slice()) {
        // Written by a program that was killed before it synced them, or not yet synced with the folder.
        Some([]) if !bytes.is_empty() => {
            at(path, fault::operation(|| File::open(path)?.sync_all()))?;
            sync_parent(path)
        }
        Some(rest) if !held.is_empty() => {
            let appended = fault::operation(|| {
                let mut file = fs::OpenOptions::new().append(true).open(path)?;
                file.write_all(rest)?;
                Ok(file)
            });
            let synced = appended.and_then(|file| fault::operation(|| file.sync_all()));
            let cut = |_: &io::Error| {
                drop(File::options().write(true).open(path).and_then(|file| file.set_len(held.len() as u64)))
            };
            at(path, synced.inspect_err(cut))
        }
        _ => replace(path, bytes),
    }
}

/// Makes `path` a hard link to `source` (a copy where links are not possible). Replaces what was there.
pub fn link(source: &Path, path: &Path) -> Result<()> {
    if at(path, is_same_file(source, path))? {
        return sync_parent(path); // a try before may have failed at this
    }
    let copy = |part: &Path| {
        let mut file = File::create_new(part)?;
        let copied = File::open(source).and_then(|mut source| io::copy(&mut source, &mut file));
        // Nobody else would remove an incomplete copy.
        copied.and_then(|_| file.sync_all()).inspect_err(|_| drop(fs::remove_file(part)))
    };
    let make = |part: &Path| match fs::hard_link(source, part) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => copy(part),
        made => made,
    };
    let part = at(path, fault::operation(|| beside(path, make)))?;
    put(part, path)
}

/// Whether the second path is there and names the same file. Renaming a file to another link of itself does nothing and
/// leaves both names.
pub fn is_same_file(a: &Path, b: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| path.metadata().map(|data| (data.dev(), data.ino()));
    Ok(b.exists() && identity(a)? == identity(b)?)
}

/// Creates a folder and those above it, durably; one that exists stays as it is.
pub fn create_folder(path: &Path) -> Result<()> {
    let above = path.ancestors().find(|above| above.symlink_metadata().is_ok());
    if let Some(file) = above.filter(|above| !above.is_dir()) {
        let message = format!("{}: is not a folder; choose another path", file.display());
        return Err(Error::new(ErrorKind::CantCreate, message));
    }
    let is_new = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let new: Vec<&Path> = path.ancestors().take_while(is_new).collect();
    at(
        path,
        fault::operation(|| {
            fs::create_dir_all(path)?;
            new.iter().try_for_each(|folder| match File::open(parent(folder)) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()), // it can't be read, and so not synced
                above => above?.sync_all(),
            })
        }),
    )
}

/// Makes an empty folder beside `path`, in which a folder is completed before it is renamed to `path`. Dropping it removes
/// it. What a program that was killed left there an hour ago or earlier is removed.
pub fn folder_beside(path: &Path) -> Result<TempDir> {
    create_folder(parent(path))?;
    let prefix = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    for entry in at(parent(path), fs::read_dir(parent(path)))? {
        let entry = at(parent(path), entry)?;
        let name = entry.file_name();
        let is_ours = name.to_string_lossy().starts_with(&prefix) && is_leftover(&entry, fs::Metadata::is_dir);
        if is_ours {
            let _ = fs::remove_dir_all(entry.path()); // somebody else's, or gone already
        }
    }
    at(path, fault::operation(|| tempfile::Builder::new().prefix(&prefix).suffix(PART).tempdir_in(parent(path))))
}

/// Whether it is a temporary file or folder that nobody still writes.
fn is_leftover(entry: &fs::DirEntry, is_kind: impl FnOnce(&fs::Metadata) -> bool) -> bool {
    let name = entry.file_name();
    let is_part = name.as_encoded_bytes().starts_with(b".") && name.as_encoded_bytes().ends_with(PART.as_bytes());
    let age = entry.metadata().ok().filter(is_kind).and_then(|data| data.modified().ok()?.elapsed().ok());
    is_part && age.is_some_and(|age| age > LEFT_OVER)
}

/// Renames a file or folder. [`sync_parent`] makes that durable.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    at(to, fault::operation(|| fs::rename(from, to)))
}

/// Syncs a folder: files created, renamed or removed in it stay so after a crash.
pub fn sync_folder(path: &Path) -> Result<()> {
    at(path, fault::operation(|| File::open(path)?.sync_all()))
}

/// Syncs the folder that `path` is in.
pub fn sync_parent(path: &Path) -> Result<()> {
    sync_folder(parent(path))
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes a file. [`sync_parent`] makes that durable.
pub fn remove_file(path: &Path) -> Result<()> {
    at(path, fault::operation(|| fs::remove_file(path)))
}

/// Removes a folder of files.
pub fn remove_folder(path: &Path) -> Result<()> {
    for entry in at(path, fs::read_dir(path))? {
        remove_file(&at(path, entry)?.path())?;
    }
    at(path, fault::operation(|| fs::remove_dir(path)))
}

/// Appends a line. A power cut may lose it; a crash of the program does not. If a full disk has cut the line before, it
/// is ended first.
pub fn append(path: &Path, line: &str) -> Result<()> {
    let end = if path.is_file() && is_cut(path).unwrap_or(false) { "\n" } else { "" };
    let file = fs::OpenOptions::new().create(true).append(true).open(path);
    at(path, file.and_then(|mut file| file.write_all(format!("{end}{line}\n").as_bytes())))
}

/// Whether the last line of a file has no end.
fn is_cut(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Makes a new file beside `path` with an unused name; it follows no link. Dropping it removes it. A program that was
/// killed leaves it behind ([`remove_leftovers`]).
fn beside<T>(path: &Path, make: impl FnMut(&Path) -> io::Result<T>) -> io::Result<TempPath> {
    let prefix = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let mut builder = tempfile::Builder::new();
    let made = builder.prefix(&prefix).suffix(PART).rand_bytes(12).make_in(parent(path), make)?;
    Ok(made.into_temp_path())
}

const PART: &str = ".part";

/// No process still writes a file that is this old.
const LEFT_OVER: Duration = Duration::from_secs(3600);

/// Removes temporary files and folders from a folder: a program that was killed while it replaced others left them.
pub fn remove_leftovers(folder: &Path) -> Result<()> {
    for entry in at(folder, fs::read_dir(folder))? {
        let entry = at(folder, entry)?;
        if is_leftover(&entry, fs::Metadata::is_file) {
            remove_file(&entry.path())?;
        } else if is_leftover(&entry, fs::Metadata::is_dir) {
            remove_folder(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durable::digest::FileDigest;
    use crate::untrusted::sha256;

    #[test]
    fn a_line_that_was_cut_does_not_swallow_the_next_one() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("events.jsonl");
        append(&path, "one").unwrap();
        fs::write(&path, "one\ntw").unwrap();
        append(&path, "three").unwrap();
        append(&path, "four").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntw\nthree\nfour\n");
    }

    #[test]
    fn what_a_killed_program_left_beside_a_folder_is_removed_when_it_is_old() {
        let folder = tempfile::TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [".out.1.part", ".out.2.part", ".other.1.part"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("weights"), "half").unwrap();
        }
        let old = std::time::SystemTime::now() - 2 * LEFT_OVER;
        for name in [".out.1.part", ".other.1.part"] {
            File::open(at(name)).unwrap().set_modified(old).unwrap();
        }
        drop(folder_beside(&at("out")).unwrap());
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".other.1.part", ".out.2.part"]);
        assert!(folder_beside(&at(".other.1.part/weights/out")).unwrap_err().message.contains("is not a folder"));
    }

    #[test]
    fn a_file_that_was_cut_in_the_middle_of_an_extension_is_made_whole() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("events");
        for bytes in ["abc", "abcdef", "abcdef", "abX", "abXdef"] {
            extend(&path, bytes.as_bytes()).unwrap();
            assert_eq!(fs::read(&path).unwrap(), bytes.as_bytes());
        }
        fs::write(&path, "abXd").unwrap();
        extend(&path, b"abXdefghi").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"abXdefghi");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn what_is_beside_a_file_is_neither_met_nor_followed() {
        let folder = tempfile::TempDir::new().unwrap();
        let [path, mine, part] = ["a.json", "mine", "a.part"].map(|name| folder.path().join(name));
        fs::write(&mine, "mine").unwrap();
        std::os::unix::fs::symlink(&mine, &part).unwrap();
        replace(&path, b"one").unwrap();
        assert!(part.is_symlink() && fs::read(&mine).unwrap() == b"mine" && fs::read(&path).unwrap() == b"one");
        std::os::unix::fs::symlink(&mine, folder.path().join("b.json")).unwrap();
        replace(&folder.path().join("b.json"), b"two").unwrap();
        assert_eq!(fs::read(&mine).unwrap(), b"mine", "a link is replaced, not followed");
    }

    #[test]
    fn leftovers_go_when_they_are_old() {
        let folder = tempfile::TempDir::new().unwrap();
        for name in [".a.json.old.part", ".a.json.new.part", "a.part", ".hidden"] {
            let file = File::create(folder.path().join(name)).unwrap();
            if !name.contains("new") {
                file.set_modified(std::time::SystemTime::now() - 2 * LEFT_OVER).unwrap();
            }
        }
        fs::create_dir(folder.path().join(".b.old.part")).unwrap();
        fs::write(folder.path().join(".b.old.part/file"), "").unwrap();
        let old = File::open(folder.path().join(".b.old.part")).unwrap();
        old.set_modified(std::time::SystemTime::now() - 2 * LEFT_OVER).unwrap();
        remove_leftovers(folder.path()).unwrap();
        let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".a.json.new.part", ".hidden", "a.part"]);
    }

    #[test]
    fn replacing_and_linking_leave_nothing_beside() {
        let folder = tempfile::TempDir::new().unwrap();
        let [a, b] = ["a.json", "b.json"].map(|name| folder.path().join(name));
        replace(&a, b"one").unwrap();
        link(&a, &b).unwrap();
        link(&a, &b).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "a link made twice");
        replace(&a, b"two").unwrap();
        assert_eq!((fs::read(&a).unwrap(), fs::read(&b).unwrap()), (b"two".to_vec(), b"one".to_vec()));
        link(&a, &b).unwrap();
        assert_eq!(FileDigest::of_file(&b).unwrap(), FileDigest { bytes: 3, sha256: sha256(b"two") });
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    }
}
