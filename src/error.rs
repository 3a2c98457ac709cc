//! The one error type: every failure has a message for a person and an exit code for a script.

use std::any::Any;
use std::fmt;
use std::path::Path;

/// What went wrong, as an exit code (those of `sysexits.h` where one fits).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ErrorKind {
    /// Usage error: an unknown or contradictory argument.
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
    /// Stopped before its end; it can be resumed.
    Resumable = 75,
    /// Training met a loss or gradient that is not finite.
    Diverged = 76,
    /// A file was refused because of what it is, such as weights that are not safetensors.
    Refused = 77,
    /// A configuration (ours, or a checkpoint's against its weights) is wrong.
    Config = 78,
}

impl ErrorKind {
    /// Every kind, by exit code.
    pub const ALL: [ErrorKind; 11] = [
        ErrorKind::Usage,
        ErrorKind::Data,
        ErrorKind::MissingInput,
        ErrorKind::Unavailable,
        ErrorKind::Internal,
        ErrorKind::CantCreate,
        ErrorKind::Io,
        ErrorKind::Resumable,
        ErrorKind::Diverged,
        ErrorKind::Refused,
        ErrorKind::Config,
    ];

    /// The kind with this exit code, if it is one of ours.
    pub fn of_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == code)
    }
}

/// Every exit code and what it means, for the manual page; docs/exit-codes.md says the same.
pub const EXIT_CODES: [(u8, &str); 12] = [
    (0, "done"),
    (ErrorKind::Usage as u8, "usage error"),
    (ErrorKind::Data as u8, "a data file that was read or fetched is invalid, or no checkpoint is intact"),
    (ErrorKind::MissingInput as u8, "an input file or folder does not exist"),
    (
        ErrorKind::Unavailable as u8,
        "something needed is not available here, such as a GPU, enough memory or a server to download from, or a server refuses",
    ),
    (ErrorKind::Internal as u8, "a bug of ours (101 likewise)"),
    (ErrorKind::CantCreate as u8, "an output can't be created, exists already or is in use"),
    (ErrorKind::Io as u8, "reading or writing failed"),
    (
        ErrorKind::Resumable as u8,
        "stopped before its end, or a model's server is away; resume with `train --resume`, or with the same `sweep run`, `llm eval` or `llm piqa eval`",
    ),
    (ErrorKind::Diverged as u8, "training met a loss or gradient that is not finite; the last checkpoint is kept"),
    (
        ErrorKind::Refused as u8,
        "a file or a name was refused as unsafe: weights that are not safetensors, a name that leads out of its folder",
    ),
    (ErrorKind::Config as u8, "a config is invalid, or does not match the weights or the run"),
];

/// An error with its kind. The message says what is wrong, where, and what to do; it tells the cause too. Of a file that
/// could not be read, written or parsed, programs find what the operating system or the parser reported by
/// [`source`](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
pub struct Error {
    /// Decides the exit code.
    pub kind: ErrorKind,
    /// Text for a person, without "error:" before it.
    pub message: String,
    /// What the operating system or a crate reported.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// A result whose error is [`Error`] unless another is named.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// For every kind; [`Error::data`] and [`Error::config`] are short forms for two of them.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), source: None }
    }

    /// An error of [`ErrorKind::Data`].
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// An error of [`ErrorKind::Config`].
    pub fn config(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, message)
    }

    /// Keeps the cause for programs. The message should tell it.
    #[must_use]
    pub fn caused_by(self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        Error { source: Some(Box::new(cause)), ..self }
    }

    /// Puts the subject (a file) in front of the message.
    pub fn about(self, source: impl fmt::Display) -> Self {
        Error { message: format!("{source}: {}", self.message), ..self }
    }

    /// A failed read of `path`: a missing file is a missing input, anything else an I/O error.
    pub fn reading(path: &Path, error: &std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::MissingInput,
            std::io::ErrorKind::IsADirectory => {
                return Self::new(ErrorKind::MissingInput, format!("{}: is a folder; name a file", path.display()))
                    .caused_by(copy(error));
            }
            _ => ErrorKind::Io,
        };
        Self::new(kind, format!("{}: cannot be read: {error}", path.display())).caused_by(copy(error))
    }

    /// A failed write to `path`.
    pub fn writing(path: &Path, error: &std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound
            | std::io::ErrorKind::PermissionDenied
            | std::io::ErrorKind::AlreadyExists
            | std::io::ErrorKind::ReadOnlyFilesystem
            | std::io::ErrorKind::DirectoryNotEmpty
            | std::io::ErrorKind::NotADirectory => ErrorKind::CantCreate,
            _ => ErrorKind::Io,
        };
        Self::new(kind, format!("{}: cannot be written: {error}", path.display())).caused_by(copy(error))
    }
}

/// The same error once more: the operating system's if it has a number.
fn copy(error: &std::io::Error) -> std::io::Error {
    let others = || std::io::Error::new(error.kind(), error.to_string());
    error.raw_os_error().map_or_else(others, std::io::Error::from_raw_os_error)
}

/// The part of a panic's message that says that memory is short, if it does.
pub fn lack_of_memory(payload: &dyn Any) -> Option<&str> {
    let text =
        payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied())?;
    let words = [
        "you tried to allocate",
        "Tried to allocate",
        "out of memory",
        "CUBLAS_STATUS_ALLOC_FAILED",
        "std::bad_alloc",
        "global thread pool has not been initialized",
        // libtorch lacked the memory even for its own message.
        "Error computing Error::what()",
    ];
    let start = words.iter().find_map(|words| text.find(words))?;
    // tch shows libtorch's message as Rust's source code would: with `\n` instead of a line's end.
    let line = text[start..].split(['"', '>', '\n']).next()?.split("\\n").next()?;
    Some(line.split(". ").next()?.trim_end_matches('.'))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn a_failed_read_tells_its_cause_to_people_and_to_programs() {
        let path = Path::new("/does/not/exist");
        let error = Error::reading(path, &std::fs::read(path).unwrap_err()).about("the config");
        assert!(error.to_string().contains("cannot be read: No such file"), "{error}");
        let cause = error.source().unwrap().downcast_ref::<std::io::Error>().unwrap();
        assert_eq!((cause.kind(), error.kind), (std::io::ErrorKind::NotFound, ErrorKind::MissingInput));
        assert!(Error::data("wrong").source().is_none());
    }

    /// The messages are libtorch's.
    #[test]
    fn a_lack_of_memory_is_told_with_its_size() {
        let told = |text: &str| lack_of_memory(&text.to_owned()).map(str::to_owned);
        let of_gpu = "Torch(\"CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.10 GiB";
        assert_eq!(told(of_gpu).as_deref(), Some("Tried to allocate 20.00 MiB"));
        let of_cublas =
            "Torch(\"CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\\nException raised\")";
        assert_eq!(told(of_cublas).as_deref(), Some("CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"));
        assert_eq!(told("Torch(\"CUDA error: out of memory\\nCUDA kernel errors\")").as_deref(), Some("out of memory"));
        assert_eq!(
            told("you tried to allocate 64 bytes. Error code 12").as_deref(),
            Some("you tried to allocate 64 bytes")
        );
        assert_eq!(told("no such tensor"), None);
    }
}
