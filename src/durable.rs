//! File operations that survive: what they return from is on the disk, and nobody ever meets half a file.
//!
//! All pass through [`fault::operation`], so that tests can stop the program after any one of them.

use crate::error::{Error, ErrorKind, Result};
use crate::fault;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;
use tempfile::TempPath;

/// Length in bytes and SHA-256 of a file, by which a changed one is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDigest {
    pub bytes: u64,
    pub sha256: String,
}

impl FileDigest {
    /// # Errors
    /// `MissingInput`, `Io`.
    pub fn of_file(path: &Path) -> Result<Self> {
        File::open(path).and_then(|mut file| Self::of_open(&mut file)).map_err(|error| Error::reading(path, &error))
    }

    fn of_open(file: &mut File) -> io::Result<Self> {
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        let mut buffer = vec![0; 1 << 20];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(FileDigest { bytes, sha256: hex(&hash.finalize()) }),
                read => {
                    hash.update(&buffer[..read]);
                    bytes += read as u64;
                }
            }
        }
    }
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn at<T>(path: &Path, result: io::Result<T>) -> Result<T> {
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

/// Makes a file last that `make` writes.
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

/// Puts a file in the place of another of that name, whole or not at all.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_with(path, |part| at(path, fs::write(part, bytes)))
}

/// Puts a file that `make` writes in the place of another of that name, whole or not at all.
pub fn replace_with(path: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let part = at(path, beside(path, |part| File::create_new(part)))?;
    write_with(&part, make)?;
    put(part, path)
}

/// Gives a file that was made beside `path` that name.
fn put(part: TempPath, path: &Path) -> Result<()> {
    at(path, fault::operation(|| part.persist(path).map_err(io::Error::from)))?;
    sync_parent(path)
}

/// Lets a file hold these bytes. One that grows, so that what it holds is a beginning of them, is appended to (whoever
/// reads along keeps its place); any other is replaced.
pub fn extend(path: &Path, bytes: &[u8]) -> Result<()> {
    let held = fs::read(path).unwrap_or_default();
    match bytes.strip_prefix(held.as_slice()) {
        Some([]) if !bytes.is_empty() => Ok(()),
        Some(rest) if !held.is_empty() => {
            let appended = fault::operation(|| {
                let mut file = fs::OpenOptions::new().append(true).open(path)?;
                file.write_all(rest)?;
                Ok(file)
            });
            at(path, appended.and_then(|file| fault::operation(|| file.sync_all())))
        }
        _ => replace(path, bytes),
    }
}

/// Lets `path` be `source`'s content too (a hard link; a copy where there are none), in the place of what was there.
pub fn link(source: &Path, path: &Path) -> Result<()> {
    if at(path, is_same_file(source, path))? {
        return Ok(());
    }
    let copy = |part: &Path| {
        let mut file = File::create_new(part)?;
        let copied = File::open(source).and_then(|mut source| io::copy(&mut source, &mut file));
        // Half a copy has no owner yet who would remove it.
        copied.and_then(|_| file.sync_all()).inspect_err(|_| drop(fs::remove_file(part)))
    };
    let make = |part: &Path| match fs::hard_link(source, part) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => copy(part),
        made => made,
    };
    let part = at(path, fault::operation(|| beside(path, make)))?;
    put(part, path)
}

/// A rename onto another link of the same file would do nothing and leave both.
fn is_same_file(a: &Path, b: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| path.metadata().map(|data| (data.dev(), data.ino()));
    Ok(b.exists() && identity(a)? == identity(b)?)
}

pub fn create_folder(path: &Path) -> Result<()> {
    at(path, fault::operation(|| fs::create_dir_all(path)))
}

pub fn rename(from: &Path, to: &Path) -> Result<()> {
    at(to, fault::operation(|| fs::rename(from, to)))
}

/// Makes what was created, renamed or removed in a folder last.
pub fn sync_folder(path: &Path) -> Result<()> {
    at(path, fault::operation(|| File::open(path)?.sync_all()))
}

/// The same for the folder that `path` is in.
pub fn sync_parent(path: &Path) -> Result<()> {
    sync_folder(parent(path))
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

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

/// Appends a line.
pub fn append(path: &Path, line: &str) -> Result<()> {
    let file = fs::OpenOptions::new().create(true).append(true).open(path);
    at(path, file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())))
}

/// Makes a new file beside `path`, of a name that nothing has: it meets no file and follows no link. It is gone when it
/// is dropped, unless the program was killed meanwhile ([`remove_leftovers`]).
fn beside<T>(path: &Path, make: impl FnMut(&Path) -> io::Result<T>) -> io::Result<TempPath> {
    let prefix = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let mut builder = tempfile::Builder::new();
    let made = builder.prefix(&prefix).suffix(PART).rand_bytes(12).make_in(parent(path), make)?;
    Ok(made.into_temp_path())
}

const PART: &str = ".part";

/// How old a file is that no process can still be writing.
const LEFT_OVER: Duration = Duration::from_secs(3600);

/// Removes from a folder what a program that was killed left of files it was replacing.
pub fn remove_leftovers(folder: &Path) -> Result<()> {
    for entry in at(folder, fs::read_dir(folder))? {
        let entry = at(folder, entry)?;
        let name = entry.file_name();
        let is_part = name.as_encoded_bytes().starts_with(b".") && name.as_encoded_bytes().ends_with(PART.as_bytes());
        let age =
            entry.metadata().ok().filter(|data| data.is_file()).and_then(|data| data.modified().ok()?.elapsed().ok());
        if is_part && age.is_some_and(|age| age > LEFT_OVER) {
            remove_file(&entry.path())?;
        }
    }
    Ok(())
}

/// A file that only one process can hold; given back when dropped, or when the process ends.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// # Errors
    /// `CantCreate` if another process holds it.
    pub fn take(path: &Path) -> Result<Self> {
        let held = || {
            let message = format!("{}: another process is at work in this folder; wait for it", path.display());
            Error::new(ErrorKind::CantCreate, message)
        };
        Self::try_take(path)?.ok_or_else(held)
    }

    /// Waits until no other process holds it: for work of a moment.
    ///
    /// # Errors
    /// `CantCreate`, `Io`.
    pub fn wait_for(path: &Path) -> Result<Self> {
        let file = at(path, fs::OpenOptions::new().create(true).append(true).open(path))?;
        at(path, file.lock())?;
        Ok(Lock { _file: file })
    }

    /// `None` if another process holds it.
    ///
    /// # Errors
    /// `CantCreate`, `Io`.
    pub fn try_take(path: &Path) -> Result<Option<Self>> {
        let file = at(path, fs::OpenOptions::new().create(true).append(true).open(path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::writing(path, &error)),
        }
    }
}

/// Whether `path` and the folders above it can be made, as far as that can be told without making them.
///
/// # Errors
/// `CantCreate`, naming what is in the way.
pub fn require_creatable(path: &Path) -> Result<()> {
    let existing = path.ancestors().skip(1).find(|path| path.exists()).unwrap_or(Path::new("."));
    let problem = match rustix::fs::access(existing, rustix::fs::Access::WRITE_OK) {
        _ if !existing.is_dir() => "is no folder",
        Err(_) => "can't be written to",
        Ok(()) => return Ok(()),
    };
    let message = format!("{}: can't be made: {} {problem}; name another place", path.display(), existing.display());
    Err(Error::new(ErrorKind::CantCreate, message))
}

/// What an ordinary user may still write where `path` is or will be; `None` if that can't be learned.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let existing = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let disk = rustix::fs::statvfs(existing).ok()?;
    Some(disk.f_bavail * disk.f_frsize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once_and_given_back() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("lock");
        let held = Lock::take(&path).unwrap();
        assert_eq!(Lock::take(&path).err().unwrap().kind, ErrorKind::CantCreate);
        drop(held);
        assert!(Lock::take(&path).is_ok());
    }

    #[test]
    fn what_is_in_the_way_is_named_before_anything_is_made() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = require_creatable(&file.join("new/run")).unwrap_err();
        assert!(error.kind == ErrorKind::CantCreate && error.message.contains("file is no folder"), "{error}");
        require_creatable(&folder.path().join("new/run")).unwrap();
        require_creatable(Path::new("run")).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
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
