//! Of the model, what knows no tensors.

#[path = "../../src/model/header.rs"]
pub mod header;
