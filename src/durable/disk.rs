//! Whether something can be written, and how much.

use crate::error::{Error, ErrorKind, Result};
use std::path::Path;

/// Checks that `path` and the folders above it can be created, as far as possible without creating them.
///
/// # Errors
/// `CantCreate`, naming the path that prevents it.
pub fn require_creatable(path: &Path) -> Result<()> {
    let existing = path.ancestors().skip(1).find(|path| path.exists()).unwrap_or(Path::new("."));
    let problem = match rustix::fs::access(existing, rustix::fs::Access::WRITE_OK) {
        _ if !existing.is_dir() => "is not a folder",
        Err(_) => "can't be written to",
        Ok(()) => return Ok(()),
    };
    let message =
        format!("{}: can't be created: {} {problem}; choose another path", path.display(), existing.display());
    Err(Error::new(ErrorKind::CantCreate, message))
}

/// Bytes that an ordinary user may still write on the disk of `path`; `None` if unknown.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let existing = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let disk = rustix::fs::statvfs(existing).ok()?;
    Some(disk.f_bavail * disk.f_frsize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_in_the_way_is_named_before_anything_is_made() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = require_creatable(&file.join("new/run")).unwrap_err();
        assert!(error.kind == ErrorKind::CantCreate && error.message.contains("file is not a folder"), "{error}");
        require_creatable(&folder.path().join("new/run")).unwrap();
        require_creatable(Path::new("run")).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }
}
