//! The modules of `tiered` that read files from outside and know no tensors, under the same paths.

#![allow(dead_code)]

// `entry.rs` is compiled in the tests of the whole crate too, and names it.
extern crate self as tiered;

#[path = "../../src/attribute.rs"]
pub mod attribute;
#[path = "../../src/data/mod.rs"]
pub mod data;
pub mod entry;
#[path = "../../src/error.rs"]
pub mod error;
pub mod model;
#[path = "../../src/outside/mod.rs"]
pub mod outside;
#[path = "../../src/seed.rs"]
pub mod seed;
