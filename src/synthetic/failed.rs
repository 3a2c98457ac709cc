//! Why a random draw is repeated.

/// These random choices gave no story; others may.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failed;
