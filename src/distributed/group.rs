//! PyTorch's process group: Gloo between CPUs, found through a TCPStore.

use super::ffi::{self, RawGroup, RawTensor};
use super::rendezvous::Rendezvous;
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::{self, NonNull};
use std::time::Duration;
use tch::{Device, Tensor};

/// Why this build has no process group; `None` if it has one.
const ABSENT: Option<&str> = option_env!("TIERED_WITHOUT_C10D");

/// The longest message of libtorch, in bytes.
const MESSAGE: usize = 4096;

/// The processes of a run, connected. Every method must be called by all of them, in the same order.
pub struct ProcessGroup {
    raw: NonNull<RawGroup>,
    is_power_of_two: bool,
}

impl ProcessGroup {
    /// Whether this build can connect processes.
    ///
    /// # Errors
    /// Why not.
    pub fn check_build() -> Result<(), &'static str> {
        ABSENT.map_or(Ok(()), Err)
    }

    /// Waits for the other processes, and connects to them. Each later method waits as long for them.
    ///
    /// # Errors
    /// What libtorch says.
    pub fn open(at: &Rendezvous, timeout: Duration) -> Result<Self, String> {
        Self::check_build()?;
        let text = |text: &str| CString::new(text).map_err(|_| format!("{text:?} has a zero byte"));
        let (host, prefix) = (text(&at.host)?, text(&format!("tiered/{}", at.attempt))?);
        let mut group = ptr::null_mut();
        call(|message, length| {
            // SAFETY: all pointers are valid during the call, and `group` is set if it succeeds.
            unsafe {
                ffi::tiered_c10d_open(
                    &mut group,
                    host.as_ptr(),
                    c_int::from(at.port),
                    at.rank as c_int,
                    at.size as c_int,
                    at.serves,
                    prefix.as_ptr(),
                    timeout.as_millis() as i64,
                    message,
                    length,
                )
            }
        })?;
        let raw = NonNull::new(group).ok_or("libtorch returned no group")?;
        Ok(ProcessGroup { raw, is_power_of_two: at.size.is_power_of_two() })
    }

    /// Adds up a tensor over all processes, in place. Of a power of two processes the sum is that of a binary tree over
    /// their ranks, halves first; else in an order that depends on their number only.
    ///
    /// # Errors
    /// What libtorch says if another process is gone or late.
    pub fn sum(&self, tensor: &Tensor) -> Result<(), String> {
        let tensor = plain(tensor);
        // SAFETY: the group is open, and the tensor lives during the call.
        call(|message, length| unsafe {
            match self.is_power_of_two {
                true => ffi::tiered_c10d_sum_by_pairs(self.raw.as_ptr(), tensor, message, length),
                false => ffi::tiered_c10d_sum(self.raw.as_ptr(), tensor, message, length),
            }
        })
    }

    /// Sets a tensor to that of one process.
    ///
    /// # Errors
    /// As [`ProcessGroup::sum`].
    pub fn broadcast(&self, tensor: &Tensor, from: usize) -> Result<(), String> {
        let tensor = plain(tensor);
        // SAFETY: the group is open, and the tensor lives during the call.
        call(|message, length| unsafe {
            ffi::tiered_c10d_broadcast(self.raw.as_ptr(), tensor, from as c_int, message, length)
        })
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // SAFETY: it was opened, and is used no more.
        unsafe { ffi::tiered_c10d_close(self.raw.as_ptr()) }
    }
}

/// # Panics
/// Unless its numbers lie side by side in the memory of the CPU, as Gloo reads them.
fn plain(tensor: &Tensor) -> RawTensor {
    assert!(tensor.device() == Device::Cpu && tensor.is_contiguous(), "only plain tensors are exchanged");
    tensor.as_ptr().cast()
}

/// Calls a function that returns 0, or fills in a message.
fn call(function: impl FnOnce(*mut c_char, usize) -> c_int) -> Result<(), String> {
    let mut message = vec![0 as c_char; MESSAGE];
    if function(message.as_mut_ptr(), message.len()) == 0 {
        return Ok(());
    }
    // SAFETY: snprintf has ended it with a zero.
    let message = unsafe { CStr::from_ptr(message.as_ptr()) }.to_string_lossy();
    Err(first_sentence(&message).to_owned())
}

/// Without the place in Gloo's source before it, and the advice and stack trace after it.
fn first_sentence(message: &str) -> &str {
    let line = message.lines().next().unwrap_or_default();
    let line = if line.starts_with('[') { line.split_once("] ").map_or(line, |(_, rest)| rest) } else { line };
    line.split_once(". ").map_or(line, |(first, _)| first)
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn messages_are_one_sentence() {
        let closed = "[/a/gloo/pair.cc:553] Connection closed [127.0.0.1]:14. This is typically ... GLHF!\n#0";
        assert_eq!(first_sentence(closed), "Connection closed [127.0.0.1]:14");
        assert_eq!(first_sentence("Timed out\nException raised from"), "Timed out");
        assert_eq!(first_sentence(""), "");
    }
}
