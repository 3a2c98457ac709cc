//! SIGTERM, SIGINT, SIGHUP (the terminal was closed) and SIGUSR1 make a run save and stop. A second signal ends it at
//! once. SIGXFSZ is ignored.

use crate::error::{Error, ErrorKind, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const SIGNALS: [(i32, &str); 4] = [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT"), (SIGHUP, "SIGHUP"), (SIGUSR1, "SIGUSR1")];

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
        let (received, again) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let register = |signal: i32| {
            // In this order: the first signal finds `again` false, sets it and is noted.
            flag::register_conditional_default(signal, Arc::clone(&again))?;
            flag::register(signal, Arc::clone(&again))?;
            flag::register_usize(signal, Arc::clone(&received), signal as usize)
        };
        for (signal, name) in SIGNALS.into_iter().filter(|&(signal, _)| signal != SIGHUP || !is_ignored(SIGHUP)) {
            register(signal)
                .map_err(|error| Error::new(ErrorKind::Internal, format!("{name} can't be handled: {error}")))?;
        }
        Ok(Signals { received })
    }

    /// The name of the signal that was received.
    pub fn received(&self) -> Option<&'static str> {
        let received = self.received.load(Ordering::Relaxed);
        SIGNALS.into_iter().find(|(signal, _)| *signal as usize == received).map(|(_, name)| name)
    }
}
