//! The one integration-test binary: a module for each part of the crate.

mod bad_input;
mod bench;
mod configs;
mod data_cli;
mod export;
mod faults;
mod fetch;
mod findings;
mod gita;
mod joint;
mod layering;
mod metrics;
mod mutation;
mod overfit;
mod parity;
mod predict;
mod random;
mod resume;
mod run_folder;
mod score;
mod sources;
mod study;
mod support;
mod tiny;
mod tune;
mod world;
