//! The one integration-test binary: a module for each part of the crate.

mod analyse;
mod bad_input;
mod bench;
mod configs;
mod data_cli;
mod faults;
mod findings;
mod gita;
mod joint;
mod layering;
mod metrics;
mod mutation;
mod overfit;
mod page;
mod parity;
mod predict;
mod readers;
mod resume;
mod run_folder;
mod score;
mod support;
mod tiny;
mod tune;
mod world;
