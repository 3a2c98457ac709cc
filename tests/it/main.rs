//! The one integration-test binary: a module for each part of the crate.

mod bad_input;
mod configs;
mod data_cli;
mod findings;
mod gita;
mod joint;
mod layering;
mod metrics;
mod mutation;
mod overfit;
mod parity;
mod predict;
mod run_folder;
mod score;
mod support;
mod tiny;
mod world;
