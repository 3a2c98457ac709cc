//! The modules of `tiered` that read files from outside and know no tensors, under the same paths.

#![allow(dead_code)]

// `entry.rs` is compiled in the tests of the whole crate too, and names it.
extern crate self as tiered;

#[path = "../../src/attribute.rs"]
pub mod attribute;
pub mod checkpoint;
#[path = "../../src/config.rs"]
pub mod config;
#[path = "../../src/data/mod.rs"]
pub mod data;
#[path = "../../src/decode/mod.rs"]
pub mod decode;
#[path = "../../src/durable/mod.rs"]
pub mod durable;
pub mod entry;
#[path = "../../src/error.rs"]
pub mod error;
#[path = "../../src/fault.rs"]
pub mod fault;
pub mod fetch;
pub mod loss;
pub mod machine;
#[path = "../../src/metrics/mod.rs"]
pub mod metrics;
pub mod model;
#[path = "../../src/untrusted/mod.rs"]
pub mod untrusted;
#[path = "../../src/prediction/mod.rs"]
pub mod prediction;
pub mod report;
#[path = "../../src/schema.rs"]
pub mod schema;
#[path = "../../src/seed.rs"]
pub mod seed;
pub mod sweep;
#[path = "../../src/tokenizer/mod.rs"]
pub mod tokenizer;
pub mod train;
