//! What a bench measures.

/// What to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchOptions {
    /// The step sizes, with one report for each.
    pub pairs_per_step: Vec<usize>,
    /// The number of measured steps of each size. Without it, as many as a fixed number of pairs needs.
    pub steps: Option<usize>,
    /// After so many seconds no new round of a size is started. The first round always is.
    pub seconds: f64,
}
