//! Opens the page in the user's browser.

use crate::error::{Error, ErrorKind, Result};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempPath;

/// How long the browser may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser that is being opened.
pub struct Opened {
    /// Leads to the page.
    file: TempPath,
    browser: Child,
}

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
/// `CantCreate` or `Io` if the file can't be written; `Unavailable` if there is no program to open it.
pub fn open(address: &str) -> Result<Option<Opened>> {
    let Some(opener) = opener() else { return Ok(None) };
    let folder = std::env::temp_dir();
    let failed = |error: std::io::Error| Error::writing(&folder, &error);
    let mut file = tempfile::Builder::new().prefix("tiered-").suffix(".html").tempfile().map_err(failed)?;
    write!(file, "<!doctype html><meta http-equiv=refresh content=\"0; url={address}\"><title>tiered</title>")
        .map_err(failed)?;
    let file = file.into_temp_path();
    let mut command = Command::new(opener);
    command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let missing = |error| Error::new(ErrorKind::Unavailable, format!("{opener} can't be started: {error}"));
    let browser = command.spawn().map_err(missing)?;
    Ok(Some(Opened { file, browser }))
}

impl Opened {
    /// Removes the file when the browser has read it.
    pub async fn forget(mut self) {
        tokio::time::sleep(PATIENCE).await;
        drop(self.file);
        // The browser may go on; if it has ended, the system forgets it too.
        let _ = self.browser.try_wait();
    }
}
