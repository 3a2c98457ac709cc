//! `tiered`: which of two household stories is physically possible, which two sentences conflict, and which
//! physical states make them conflict.
//!
//! # The way of the data
//! stories (JSON) -> pairs with labels -> deduplicated token batches -> encoder -> state heads -> conflict
//! detector -> beliefs and scores -> predictions -> metrics -> report. A module imports only from modules of a
//! lower order in this table, never from one of its own order (`tests/it/layering.rs` reads the table and the code):
//!
//! | order | module | what |
//! |---|---|---|
//! | 0 | [`attribute`] | the 20 attributes, label spaces, defaults |
//! | 0 | [`error`] | one error type: a message for a person, an exit code for a script |
//! | 0 | [`fault`] | faults put in on purpose, for tests |
//! | 0 | [`language`] | the language that a story is told in |
//! | 0 | [`outside`] | files and names from outside: how much is read, what stays in its folder |
//! | 0 | [`say`] | what is said while something runs; a closed stream stops nothing |
//! | 0 | [`seed`] | every random choice from (seed, purpose, number) |
//! | 1 | [`data`] | files -> pairs; every irregularity is a named finding |
//! | 1 | [`durable`] | file operations that survive |
//! | 1 | [`prediction`] | what a system said about a pair: the seam between models and metrics |
//! | 2 | [`fetch`] | models of the hub and data, from the network to the disk, verified |
//! | 2 | [`world`] | a small physics of the household -> labelled stories, in English and Italian |
//! | 2 | [`baseline`] | pairs -> predictions by chance, and by the labels of other pairs |
//! | 2 | [`metrics`] | predictions -> counts -> numbers |
//! | 2 | [`decode`] | beliefs -> the sentences in conflict; probabilities -> the states asserted |
//! | 2 | [`batch`] | pairs -> inputs and targets, two structs |
//! | 2 | [`checkpoint`] | checkpoints on disk: whole or not at all, verified, rotated |
//! | 3 | [`report`] | one `Report`, one small exporter a format; an answer about one pair in words |
//! | 3 | [`tune`] | predictions on dev -> temperature and state threshold |
//! | 3 | [`model`] | tensors -> named outputs |
//! | 4 | [`analysis`] | predictions -> what was right for which reasons; its formats |
//! | 4 | [`card`] | what is known of a run -> its model card |
//! | 4 | [`loss`] | output + targets + weights -> named losses |
//! | 4 | [`machine`] | where and in what precision to compute |
//! | 5 | [`eval`] | a model on pairs -> predictions and losses |
//! | 6 | [`train`] | optimisation only: loop, optimiser, schedule |
//! | 7 | [`tensorboard`] | the records of epochs -> TensorBoard's event file |
//! | 7 | [`config`] | the experiment file, read strictly |
//! | 8 | [`experiment`] | one config -> one run folder -> a model that predicts |
//! | 9 | [`study`] | many experiments: cells, their runs, one table over seeds |
//! | 9 | [`bench`] | how fast all that is, and where the time goes |
//! | 9 | [`export`] | a run -> a folder that `transformers` reads |
//! | 9 | [`page`] | run folders -> one HTML page |
//! | 10 | [`cli`] | one file a subcommand: arguments, call, print |
//!
//! `attribute`, `baseline`, `data`, `fetch`, `prediction`, `metrics`, `decode`, `tune`, `report`, `analysis`, `card`, `world` and
//! `language` know no tensors: they never name `tch`.

#![deny(clippy::print_stdout, clippy::print_stderr)] // `say` survives a closed stream, they don't

pub mod analysis;
pub mod attribute;
pub mod baseline;
pub mod batch;
pub mod bench;
pub mod card;
pub mod checkpoint;
pub mod cli;
pub mod config;
pub mod data;
pub mod decode;
pub mod durable;
pub mod error;
pub mod eval;
pub mod experiment;
pub mod export;
pub mod fault;
pub mod fetch;
pub mod language;
pub mod loss;
pub mod machine;
pub mod metrics;
pub mod model;
pub mod outside;
pub mod page;
pub mod prediction;
pub mod report;
mod say;
pub mod seed;
pub mod study;
pub mod tensorboard;
pub mod train;
pub mod tune;
pub mod world;
