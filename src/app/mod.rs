//! The local page of `tiered app`: a server for this machine's user only, with the page embedded in the program.
//!
//! The page asks a JSON API (`docs/app.md`). Every request passes the [`security`] checks. Runs compute on one thread of
//! their own ([`Models`]).

mod annotate;
mod answer;
mod assets;
mod browser;
mod explain;
mod models;
mod predict;
mod security;
mod server;
mod token;
mod words;

pub use models::Models;
pub use server::{App, DEFAULT_PORT, routes};
