//! The file named by `--output`: one rule for all commands.

use super::output::stream;
use super::signal::{finished, unfinished};
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use clap::builder::{PathBufValueParser, TypedValueParser};
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Parses the folder of `--output`. "-" is refused: where a file is named it is standard output.
pub(super) fn output_folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path == Path::new("-") {
        true => Err("a folder can't be standard output; ./- is a folder of this name"),
        false => Ok(path),
    })
}

/// Whether a file that exists may be replaced.
#[derive(clap::Args, Clone, Copy)]
pub(super) struct Replacing {
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
}

/// Where a command writes.
pub(super) struct OutFile<'a> {
    path: &'a Path,
    replacing: Replacing,
}

impl<'a> OutFile<'a> {
    /// # Errors
    /// `CantCreate` if it exists and may not be replaced, is a folder, or can't be created or replaced.
    pub fn new(path: &'a Path, replacing: Replacing) -> Result<Self> {
        let file = OutFile { path, replacing };
        let refused = |why: &str| Err(file.refused(why));
        match path.symlink_metadata() {
            _ if file.is_standard_output() => Ok(file),
            Ok(_) if path.is_dir() => refused("is a folder; name a file"),
            _ if path.as_os_str().as_encoded_bytes().ends_with(b"/") => refused("is the name of a folder; name a file"),
            Ok(_) if file.is_special() => Ok(file),
            Ok(_) if !replacing.force => refused("exists; --force replaces it"),
            _ => durable::require_creatable(path).map(|()| file),
        }
    }

    /// As [`OutFile::new`], for a command that reads `inputs`.
    ///
    /// # Errors
    /// `Usage` if it is one of them; those of [`OutFile::new`].
    pub fn beside<P: AsRef<Path>>(inputs: &[P], path: &'a Path, replacing: Replacing) -> Result<Self> {
        if path != Path::new("-") {
            require_other(inputs, path)?;
        }
        OutFile::new(path, replacing)
    }

    fn refused(&self, why: &str) -> Error {
        Error::new(ErrorKind::CantCreate, format!("{}: {why}", self.path.display()))
    }

    pub fn path(&self) -> &Path {
        self.path
    }

    /// Whether both paths lead to one file, which may not exist yet.
    pub fn is_same(&self, other: &OutFile) -> bool {
        let place = |path: &Path| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some((folder.canonicalize().or_else(|_| std::path::absolute(folder)).ok()?, path.file_name()?.to_owned()))
        };
        self.path == other.path || place(self.path).is_some_and(|of_this| Some(of_this) == place(other.path))
    }

    /// Whether the path is "-". The command then prints nothing else to standard output.
    pub fn is_standard_output(&self) -> bool {
        self.path == Path::new("-")
    }

    /// A pipe or a device, which can't be replaced.
    fn is_special(&self) -> bool {
        self.path.metadata().is_ok_and(|data| !data.is_file() && !data.is_dir())
    }

    /// Writes the file and creates the folders above it. A regular file is written whole or not at all: a
    /// signal leaves nothing behind.
    ///
    /// # Errors
    /// Those of `make`; `CantCreate`, `Io`.
    pub fn write(&self, make: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        if self.is_standard_output() {
            return stream(make);
        }
        if self.is_special() {
            return self.fill(OpenOptions::new().write(true).open(self.path), make);
        }
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
            durable::create_folder(folder)?;
        }
        let written = durable::replace_with(self.path, |part| {
            unfinished(part)?;
            self.fill(File::create(part), make)?;
            match !self.replacing.force && self.path.exists() {
                true => Err(self.refused("another program has made it meanwhile; --force replaces it")),
                false => Ok(()),
            }
        });
        finished();
        written
    }

    fn fill(&self, file: std::io::Result<File>, make: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        let failed = |error: std::io::Error| Error::writing(self.path, &error);
        let mut file = BufWriter::new(file.map_err(failed)?);
        make(&mut file)?;
        file.flush().map_err(failed)
    }

    /// Writes these bytes.
    ///
    /// # Errors
    /// As [`OutFile::write`].
    pub fn write_bytes(&self, bytes: &[u8]) -> Result<()> {
        self.write(|file| file.write_all(bytes).map_err(|error| Error::writing(self.path, &error)))
    }
}

/// # Errors
/// `Usage` if the file to write is one of `inputs`.
pub(super) fn require_other<P: AsRef<Path>>(inputs: &[P], path: &Path) -> Result<()> {
    let place = path.canonicalize();
    let is_input =
        |input: &P| place.as_ref().is_ok_and(|place| input.as_ref().canonicalize().is_ok_and(|i| i == *place));
    match path.is_file() && inputs.iter().any(is_input) {
        true => {
            let problem = "is read by this command, and would be lost; name another place to write to";
            Err(Error::new(ErrorKind::Usage, format!("{}: {problem}", path.display())))
        }
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, force: bool, bytes: &[u8]) -> Result<()> {
        OutFile::new(path, Replacing { force })?.write_bytes(bytes)
    }

    #[test]
    fn what_exists_is_replaced_only_when_that_is_wanted() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("new/folder/a.json");
        write(&path, false, b"one").unwrap();
        let error = write(&path, false, b"two").unwrap_err();
        assert!(error.kind == ErrorKind::CantCreate && error.message.contains("--force"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        write(&path, true, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(write(&path.join("b.json"), false, b"one").unwrap_err().kind, ErrorKind::CantCreate);
        assert!(write(folder.path(), true, b"three").unwrap_err().message.contains("is a folder"));
        let error = write(&folder.path().join("new.json/"), false, b"four").unwrap_err();
        assert!(error.message.contains("is the name of a folder"), "{error}");
    }

    #[test]
    fn what_another_program_has_made_meanwhile_stays() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a.json");
        for force in [false, true] {
            let file = OutFile::new(&path, Replacing { force }).unwrap();
            let written = file.write(|part| {
                std::fs::write(&path, "theirs").unwrap();
                part.write_all(b"ours").map_err(|error| Error::writing(&path, &error))
            });
            let held = std::fs::read_to_string(&path).unwrap();
            match written {
                Err(error) => assert!(!force && held == "theirs" && error.message.contains("meanwhile"), "{error}"),
                Ok(()) => assert!(force && held == "ours"),
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no part is left");
    }

    #[test]
    fn an_input_is_not_replaced() {
        let folder = tempfile::TempDir::new().unwrap();
        let [input, link, other] = ["a.json", "link.json", "b.json"].map(|name| folder.path().join(name));
        std::fs::write(&input, "one").unwrap();
        std::os::unix::fs::symlink(&input, &link).unwrap();
        for path in [&input, &link, &folder.path().join("../").join(folder.path().file_name().unwrap()).join("a.json")]
        {
            let error = OutFile::beside(&[&other, &input], path, Replacing { force: true }).err().unwrap();
            assert!(error.kind == ErrorKind::Usage && error.message.contains("would be lost"), "{error}");
        }
        assert!(OutFile::beside(&[&input], &other, Replacing { force: false }).is_ok());
        assert!(OutFile::beside(&[Path::new("-")], Path::new("-"), Replacing { force: false }).is_ok());
    }

    #[test]
    fn devices_and_pipes_stay_what_they_are() {
        if cfg!(target_os = "linux") {
            assert_eq!(write(Path::new("/dev/full"), false, b"one").unwrap_err().kind, ErrorKind::Io);
        }
        write(Path::new("/dev/null"), false, b"one").unwrap();
        assert!(!Path::new("/dev/full").is_file() && !Path::new("/dev/null").is_file());
    }
}
