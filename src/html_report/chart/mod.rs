//! Small charts as SVG. Their colours are placeholders, which the page's style replaces in its light and dark themes.

mod bars;
mod canvas;
mod curve;
mod dots;
mod reliability;

pub use bars::{Bar, bar_chart};
pub use canvas::{Figure, colour};
pub use curve::{Curve, Scale, curve_chart};
pub use dots::{DotRow, dot_chart};
pub use reliability::reliability_chart;
