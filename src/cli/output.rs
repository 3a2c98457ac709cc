//! Standard output that may be closed early (`| head`) without a fuss.

use crate::error::{Error, ErrorKind, Result};
use std::io::{ErrorKind as IoErrorKind, Write};

/// Prints text as it is. A reader that has gone away is no error.
pub(super) fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != IoErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Io, format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}
