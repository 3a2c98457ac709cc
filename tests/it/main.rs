//! The one integration-test binary: a module for each part of the crate.

mod arrays;
mod bad_input;
mod bench;
mod configs;
mod data_cli;
mod encoders;
mod faults;
mod findings;
mod gita;
mod joint;
mod layering;
mod metrics;
mod mutation;
mod overfit;
mod parity;
mod parity_families;
mod predict;
mod resume;
mod run_folder;
mod score;
mod support;
mod tiny;
mod tokenizers;
mod tune;
mod world;
