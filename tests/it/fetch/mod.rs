//! `tiered model fetch` and `tiered data fetch`, against servers on this machine that keep to the rules, and that do not.

mod data;
mod hub;
mod layout;
mod misbehaving;
mod server;

pub use hub::{Hub, MODEL, files};
pub use server::{Answer, Ends, Request, Server};
