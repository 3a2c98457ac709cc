//! The operations of an encoder layer between its matmuls. Each takes one pass over memory, forward and backward.
//!
//! libtorch would need a dozen passes and new memory for each. Everything here works on contiguous CPU tensors in
//! float32; only the inputs of matmuls are rounded to their precision.

mod attention;
mod dropout;
mod element;
mod gelu;
mod matrix;
mod norm;
pub mod parallel;
mod vector;

pub use attention::{Attention, Sequences};
pub use dropout::Dropout;
pub use element::{Bf16, Element};
pub use gelu::Gelu;
pub use matrix::Matrix;
pub use norm::{BiasDropoutAddNorm, NormGradients, Normed};
