//! One error type, so that every failure has a message for a person and an exit code for a script.

use std::fmt;
use std::path::Path;

/// What went wrong, as an exit code (those of `sysexits.h` where one fits).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ErrorKind {
    /// The command line makes no sense.
    Usage = 2,
    /// A data file was read and is wrong.
    Data = 65,
    /// An input does not exist.
    MissingInput = 66,
    /// Something the command needs is not available here (a device, a network).
    Unavailable = 69,
    /// A bug of ours.
    Internal = 70,
    /// An output can't be created, or exists already.
    CantCreate = 73,
    /// Reading or writing failed.
    Io = 74,
    /// Training met a loss or gradient that is not finite.
    Diverged = 76,
    /// A file was refused for what it is.
    Refused = 77,
    /// A configuration (ours, or a checkpoint's against its weights) is wrong.
    Config = 78,
}

/// An error with its kind; the message names the file, the place and the remedy.
#[derive(Debug, thiserror::Error)]
pub struct Error {
    pub kind: ErrorKind,
    pub message: String,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into() }
    }

    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    pub fn config(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, message)
    }

    /// The same error, with what it is about (a file) in front of its message.
    pub fn about(self, source: impl fmt::Display) -> Self {
        Error { message: format!("{source}: {}", self.message), ..self }
    }

    /// A failed read of `path`: a missing file is a missing input, anything else an I/O error.
    pub fn reading(path: &Path, error: &std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::MissingInput,
            _ => ErrorKind::Io,
        };
        Self::new(kind, format!("{}: cannot be read: {error}", path.display()))
    }

    /// A failed write to `path`.
    pub fn writing(path: &Path, error: &std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound
            | std::io::ErrorKind::PermissionDenied
            | std::io::ErrorKind::AlreadyExists
            | std::io::ErrorKind::NotADirectory => ErrorKind::CantCreate,
            _ => ErrorKind::Io,
        };
        Self::new(kind, format!("{}: cannot be written: {error}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
