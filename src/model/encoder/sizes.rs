//! The sizes of an encoder that the keys of its family depend on.

/// The largest size in a `config.json`.
pub(super) const MAX_SIZE: i64 = 1 << 24;

/// The sizes that every encoder has. A family's own keys are checked against them.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub hidden: i64,
    pub layers: i64,
    /// `max_position_embeddings`.
    pub positions: i64,
}
