//! `tiered` judges two household stories: which one is physically possible, which two sentences of the other one
//! conflict, and which physical states explain the conflict.
//!
//! # How data flows
//! story file (JSON) -> pairs with labels -> deduplicated token batches -> encoder -> state heads -> conflict detector
//! -> conflict probabilities and story scores -> predictions -> metrics -> report.
//!
//! # Use
//! Read the pairs of a story file:
//!
//! ```no_run
//! # fn main() -> tiered::error::Result<()> {
//! use std::path::Path;
//!
//! let file = tiered::data::read_file(Path::new("data/sample/it.json"))?;
//! let pairs = tiered::data::pairs(file.split("test")?, 0); // the seed decides which story comes first
//! println!("{} pairs; the first conflict: {:?}", pairs.len(), pairs[0].conflict);
//! # Ok(()) }
//! ```
//!
//! Load a run and predict:
//!
//! ```no_run
//! # fn main() -> tiered::error::Result<()> {
//! # let pairs = Vec::new();
//! use std::path::Path;
//! use tiered::experiment::{CheckpointKind, TrainedRun};
//! use tiered::machine::ComputeChoice;
//!
//! let run = TrainedRun::open(Path::new("runs/demo"), CheckpointKind::Best, &ComputeChoice::default())?;
//! let predictions = run.evaluate(pairs, |_| ())?.predictions;
//! # Ok(()) }
//! ```
//!
//! Score predictions, here those in a file:
//!
//! ```no_run
//! # fn main() -> tiered::error::Result<()> {
//! use std::path::Path;
//! use tiered::decode::Decode;
//! use tiered::metrics::TierCounts;
//!
//! let file = tiered::prediction::read_predictions(Path::new("predictions.jsonl"))?;
//! let counts = TierCounts::of(&Decode::Pair.apply(&file.pairs));
//! println!("accurate {}, consistent {}, of {} pairs", counts.accurate, counts.consistent, counts.pairs);
//! # Ok(()) }
//! ```
//!
//! `examples/` has whole programs: one predicts and scores, one trains with a conflict detector of its own.
//!
//! # Modules
//! A module imports only from modules of a lower order, never from one of its own order. `tests/it/layering.rs` reads
//! this table and checks the code.
//!
//! | order | module | what |
//! |---|---|---|
//! | 0 | [`attribute`] | defines the 20 attributes, their classes and their default labels |
//! | 0 | [`error`] | defines the one error type: a message for a person, an exit code for a script |
//! | 0 | [`fault`] | injects faults for tests |
//! | 0 | [`language`] | guesses the language of a story, and knows titles ("Mr.") and letters with accents |
//! | 0 | [`untrusted`] | limits how much of a file is read, and checks names and text that come from outside |
//! | 0 | [`schema`] | writes and checks the version of our JSON formats |
//! | 0 | [`say`] | prints progress and warnings; a closed stream does not stop the program |
//! | 0 | [`seed`] | derives every random choice from (seed, purpose, number) |
//! | 0 | [`torch`] | adds to `tch` what it lacks of libtorch |
//! | 1 | [`data`] | reads story files into pairs; every irregularity becomes a named finding |
//! | 1 | [`durable`] | writes files so that a crash never leaves half a file |
//! | 1 | [`tokenizer`] | reads tokenizer files, and turns text into token ids |
//! | 1 | [`distributed`] | connects the processes that train one model together |
//! | 1 | [`http`] | connects to servers: addresses, secrets, authorities, when to try again |
//! | 2 | [`prediction`] | holds what a system predicts about a pair; models write it, metrics read it |
//! | 3 | [`fetch`] | downloads models and data and verifies them |
//! | 3 | [`synthetic`] | writes labelled stories, in English and Italian, from a small physics of the household |
//! | 3 | [`baseline`] | predicts at random, or with the labels of other pairs |
//! | 3 | [`metrics`] | computes scores from predictions |
//! | 3 | [`decode`] | reads the sentences in conflict and the predicted states from probabilities |
//! | 3 | [`batch`] | turns pairs into the model's inputs and the loss's targets |
//! | 3 | [`checkpoint`] | saves, verifies and rotates checkpoints; each is complete or absent |
//! | 4 | [`report`] | builds the score table, prints it in each format, and puts the answer about one pair into words |
//! | 4 | [`entities`] | finds the people and things of a story in its sentences |
//! | 4 | [`calibrate`] | chooses the temperature and the threshold of states on dev |
//! | 4 | [`model`] | computes named outputs from token tensors |
//! | 5 | [`analysis`] | shows what was right and why, and prints it in each format |
//! | 5 | [`llm`] | asks language models the questions of the three tiers, and scores their answers |
//! | 5 | [`model_card`] | writes the model card of a run |
//! | 5 | [`loss`] | computes the named losses from outputs and targets |
//! | 5 | [`machine`] | chooses the device and the precision, and measures how fast this machine multiplies |
//! | 6 | [`eval`] | computes a model's predictions and losses on pairs |
//! | 7 | [`train`] | runs the training loop: steps, optimiser, schedule |
//! | 8 | [`tensorboard`] | writes the records of epochs as TensorBoard's event file |
//! | 8 | [`config`] | reads and checks the config of a run |
//! | 9 | [`experiment`] | trains a run from its config, and loads the model of a run folder |
//! | 10 | [`annotate`] | annotates stories: projects on disk, hints, proposals by a run |
//! | 10 | [`sweep`] | runs many configs and seeds, and puts their scores into one table |
//! | 10 | [`bench`](mod@bench) | measures how fast training and evaluation are, and where the time goes |
//! | 10 | [`export`] | exports a run as a folder that `transformers` reads |
//! | 10 | [`html_report`] | writes one HTML page about run folders |
//! | 10 | [`question`] | reads the stories that a person asks about, and answers with a run |
//! | 11 | [`app`] | serves the local page on which to try runs and annotate stories |
//! | 12 | [`cli`] | defines the commands: one file each, which parses arguments, calls and prints |
//!
//! `annotate`, `attribute`, `baseline`, `data`, `http`, `fetch`, `prediction`, `metrics`, `decode`, `calibrate`, `report`,
//! `analysis`, `model_card`, `synthetic`, `entities`, `llm` and `language` do not use tensors: they never name `tch`.
//!
//! # Shapes
//! In comments about tensors a capital letter means the same everywhere:
//!
//! | letter | what is counted |
//! |---|---|
//! | B | pairs |
//! | S | stories (2B where both stories of every pair count) |
//! | E | entities of a story |
//! | N | sentences of a story: the longest one's, or more; shorter stories are padded |
//! | T | tokens |
//! | O | those of them whose output is read: the first ones of inputs, and the sentences of whole stories |
//! | H | hidden size of the encoder |
//! | A | attributes: 20 |
//! | K | classes of an attribute |
//! | U | unique (entity, sentence) inputs of a batch |
//! | V | vocabulary: token ids |
//! | C | cells (entity, sentence) that the losses average over |
//! | R | rows of a batch: one for each entity of each story |
//! | D | distinct rows of a batch |
//!
//! A side (preconditions or effects) has 66 logits: one for each class of each attribute. Sizes that matter in one
//! module only are written as words, such as `[heads, length, depth]`.

#![deny(clippy::print_stdout, clippy::print_stderr)] // `say` survives a closed stream, they don't

pub mod analysis;
pub mod annotate;
#[cfg(feature = "app")]
pub mod app;
pub mod attribute;
pub mod baseline;
pub mod batch;
pub mod bench;
pub mod calibrate;
pub mod checkpoint;
pub mod cli;
pub mod config;
pub mod data;
pub mod decode;
pub mod distributed;
pub mod durable;
pub mod entities;
pub mod error;
pub mod eval;
pub mod experiment;
pub mod export;
pub mod fault;
pub mod fetch;
pub mod html_report;
pub mod http;
pub mod language;
pub mod llm;
pub mod loss;
pub mod machine;
pub mod metrics;
pub mod model;
pub mod model_card;
pub mod prediction;
pub mod question;
pub mod report;
mod say;
pub mod schema;
pub mod seed;
pub mod sweep;
pub mod synthetic;
pub mod tensorboard;
pub mod tokenizer;
pub mod torch;
pub mod train;
pub mod untrusted;
