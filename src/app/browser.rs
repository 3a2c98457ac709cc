//! Opens the page in the user's browser.

use crate::error::{Error, Result};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempPath;

/// How long the browser may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program that opens a file in the user's browser, if there is one to be expected.
fn opener() -> Option<&'static str> {
    let has_screen = || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    match std::env::consts::OS {
        "macos" => Some("open"),
        _ => has_screen().then_some("xdg-open"),
    }
}

/// Opens an address that holds a secret. Other users see the arguments of programs, so the browser gets a file that only
/// this user can read, and that leads to the address. `None` if there is no screen.
///
/// # Errors
/// `CantCreate` or `Io` if the file can't be written; `MissingInput` if there is no program to open it.
pub fn open(address: &str) -> Result<Option<TempPath>> {
    let Some(opener) = opener() else { return Ok(None) };
    let folder = std::env::temp_dir();
    let failed = |error: std::io::Error| Error::writing(&folder, &error);
    let mut file = tempfile::Builder::new().prefix("tiered-").suffix(".html").tempfile().map_err(failed)?;
    write!(file, "<!doctype html><meta http-equiv=refresh content=\"0; url={address}\"><title>tiered</title>")
        .map_err(failed)?;
    let path = file.into_temp_path();
    let mut command = Command::new(opener);
    command.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(|error| Error::reading(opener.as_ref(), &error))?;
    Ok(Some(path))
}

/// Removes the file when the browser has read it.
pub async fn forget(path: TempPath) {
    tokio::time::sleep(PATIENCE).await;
    drop(path);
}
