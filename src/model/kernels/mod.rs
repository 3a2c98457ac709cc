//! The operations of an encoder layer between its matmuls, and the optimiser's. Each takes one pass over memory.
//!
//! docs/kernels.md says what each fuses, and why libtorch's own operations aren't used. Everything here works on
//! contiguous CPU tensors in float32; only the inputs of matmuls are rounded to their precision. What is exported is safe
//! to call: raw memory stays inside ([`matrix`]).

mod adamw;
mod attention;
mod distances;
mod dropout;
mod element;
mod finite;
mod gelu;
mod head;
mod matrix;
mod norm;
mod parallel;
mod sequences;
mod squares;
mod vector;

pub use adamw::AdamWUpdate;
pub use attention::{Attention, AttentionGradients};
pub use distances::DistanceVectors;
pub use dropout::Dropout;
pub use element::{Bf16, Element};
pub use finite::all_finite;
pub use gelu::Gelu;
pub use norm::{BiasDropoutAddNorm, NormGradients, Normed};
pub use parallel::{cores, pin as pin_threads, unpin, unpin_all};
pub use sequences::Sequences;
pub use squares::sum_of_squares;
