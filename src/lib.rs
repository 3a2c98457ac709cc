//! `tiered`: which of two household stories is physically possible, which two sentences conflict, and which
//! physical states make them conflict.
//!
//! # The way of the data
//! stories (JSON) -> pairs with labels -> deduplicated token batches -> encoder -> state heads -> conflict
//! detector -> beliefs and scores -> predictions -> metrics -> report. A module imports only from modules above
//! it in this list (a test reads the `use crate::` lines):
//!
//! | order | module | what |
//! |---|---|---|
//! | 0 | [`attribute`] | the 20 attributes, label spaces, defaults |
//! | 1 | [`data`] | files -> pairs; every irregularity is a named finding |
//! | 1 | [`prediction`] | what a system said about a pair: the seam between models and metrics |
//! | 2 | [`metrics`] | predictions -> counts -> numbers |
//! | 2 | [`batch`] | pairs -> inputs and targets, two structs |
//! | 3 | [`report`] | one `Report`, one small exporter a format |
//! | 3 | [`model`] | tensors -> named outputs |
//! | 4 | [`loss`] | output + targets + weights -> named losses |

pub mod attribute;
pub mod batch;
pub mod cli;
pub mod config;
pub mod data;
pub mod decode;
pub mod error;
pub mod eval;
pub mod experiment;
pub mod loss;
pub mod machine;
pub mod metrics;
pub mod model;
pub mod prediction;
pub mod report;
pub mod seed;
pub mod train;
