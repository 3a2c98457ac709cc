//! SIGTERM, SIGINT, SIGHUP (the terminal was closed) and SIGUSR1 make a run save and stop. A second signal ends it at
//! once, but neither SIGHUP nor a SIGTERM that follows the first signal closely does: whoever stops all processes
//! sends some of them two. A command that writes a file removes what it has written. SIGXFSZ is ignored.

use crate::error::{Error, ErrorKind, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals as Arriving;
use signal_hook::{flag, low_level};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::Duration;

const SIGNALS: [(i32, &str); 4] = [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT"), (SIGHUP, "SIGHUP"), (SIGUSR1, "SIGUSR1")];

/// A SIGTERM within this time after the first signal is part of the same stop.
const CLOSELY: Duration = Duration::from_secs(2);

fn unhandled(what: &str, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("{what} can't be handled: {error}"))
}

/// Records signals instead of letting them end the program.
pub struct Signals {
    received: Arc<AtomicUsize>,
}

/// Whether the program was started to ignore this signal (`nohup`).
fn is_ignored(signal: i32) -> bool {
    // SAFETY: a zeroed sigaction is a valid one, and with a null second argument nothing is changed.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// The signals that [`Signals`] records.
fn caught() -> impl Iterator<Item = (i32, &'static str)> {
    SIGNALS.into_iter().filter(|&(signal, _)| signal != SIGHUP || !is_ignored(SIGHUP))
}

/// Makes writing beyond the largest file that the system allows (`ulimit -f`) an error that names the file, not a signal
/// that ends the program.
pub fn ignore_file_size_signal() {
    // SAFETY: to ignore a signal needs no handler.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

impl Signals {
    /// # Errors
    /// `Internal` if the system refuses.
    pub fn watch() -> Result<Self> {
        let received = Arc::new(AtomicUsize::new(0));
        let [again, later] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let register = |signal: i32| {
            // In this order: the first signal finds `again` false, sets it and is noted.
            match signal {
                SIGHUP => {} // a shell passes it on to a program that the system has sent it to
                SIGTERM => drop(flag::register_conditional_default(signal, Arc::clone(&later))?),
                _ => drop(flag::register_conditional_default(signal, Arc::clone(&again))?),
            }
            flag::register(signal, Arc::clone(&again))?;
            flag::register_usize(signal, Arc::clone(&received), signal as usize)
        };
        for (signal, name) in caught() {
            register(signal).map_err(|error| unhandled(name, &error))?;
        }
        let signals = Signals { received };
        signals.announced(move || {
            thread::sleep(CLOSELY);
            later.store(true, Ordering::Relaxed);
        })
    }

    /// Has `announce` called at the first signal, whatever the program is waiting for.
    ///
    /// # Errors
    /// `Internal` if the system refuses.
    pub fn announced(self, announce: impl FnOnce() + Send + 'static) -> Result<Self> {
        let mut signals =
            Arriving::new(caught().map(|(signal, _)| signal)).map_err(|error| unhandled("signals", &error))?;
        thread::spawn(move || {
            if signals.forever().next().is_some() {
                announce();
            }
        });
        Ok(self)
    }

    /// The name of the signal that was received.
    pub fn received(&self) -> Option<&'static str> {
        let received = self.received.load(Ordering::Relaxed);
        SIGNALS.into_iter().find(|(signal, _)| *signal as usize == received).map(|(_, name)| name)
    }
}

/// The unfinished file that a signal removes before it ends the program.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// From now on a signal removes this file, until [`finished`].
///
/// # Errors
/// `Internal` if the system refuses.
pub fn unfinished(path: &Path) -> Result<()> {
    static WATCHED: Once = Once::new();
    let mut started = Ok(());
    WATCHED.call_once(|| started = end_without_unfinished());
    set_unfinished(Some(path.to_owned()));
    started
}

/// The file is complete, or is removed already.
pub fn finished() {
    set_unfinished(None);
}

fn set_unfinished(file: Option<PathBuf>) {
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = file;
}

/// Starts a thread that ends the program at a signal, as the system would. It stays for as long as the program runs.
fn end_without_unfinished() -> Result<()> {
    let ending = SIGNALS.into_iter().map(|(signal, _)| signal).filter(|&signal| !is_ignored(signal));
    let mut signals = Arriving::new(ending).map_err(|error| unhandled("signals", &error))?;
    thread::spawn(move || {
        for signal in signals.forever() {
            if let Some(file) = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take() {
                let _ = std::fs::remove_file(file); // the program ends either way
            }
            let _ = low_level::emulate_default_handler(signal);
        }
    });
    Ok(())
}
