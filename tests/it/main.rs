//! The one integration-test binary: a module for each part of the crate.

mod data_cli;
mod findings;
mod gita;
mod metrics;
mod mutation;
mod parity;
mod score;
mod support;
