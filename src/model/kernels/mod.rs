//! What an encoder layer does between its matrix products, each thing in one pass over memory, forward and backward.
//!
//! libtorch would take a dozen passes and fresh memory for each. Everything here works on contiguous tensors of the
//! CPU, in float32; only the operands of the products are rounded to their precision.

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
pub use norm::{NormGradients, Normed, ResidualNorm};
