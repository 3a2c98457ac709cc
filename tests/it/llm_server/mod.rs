//! Asking language models through servers on this machine, which keep to their programs' ways, and which do not.

mod eval;
mod misbehaving;
pub mod mock;
mod toy;
mod ways;
