//! A straight line through points.

use serde::Serialize;

/// y = intercept + slope · x by least squares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BenchLine {
    /// y where x is 0.
    pub intercept: f64,
    /// How much y grows when x grows by 1.
    pub slope: f64,
    /// The share of the variance of y that the line explains.
    pub r_squared: f64,
}

impl BenchLine {
    /// `None` for fewer than three points, or if all x or all y are equal.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let n = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
        let (x, y) = (mean(|p| p.0), mean(|p| p.1));
        let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| of(p.0 - x, p.1 - y)).sum::<f64>();
        let (xx, xy, yy) = (sum(&|dx, _| dx * dx), sum(&|dx, dy| dx * dy), sum(&|_, dy| dy * dy));
        if points.len() < 3 || xx == 0. || yy == 0. {
            return None;
        }
        Some(BenchLine { intercept: y - xy / xx * x, slope: xy / xx, r_squared: xy * xy / (xx * yy) })
    }

    /// y of the line at this x.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_with_what_it_explains() {
        let line = BenchLine::through(&[(1., 5.), (2., 7.), (4., 11.)]).unwrap();
        assert!((line.intercept - 3.).abs() < 1e-12 && (line.slope - 2.).abs() < 1e-12);
        assert!((line.r_squared - 1.).abs() < 1e-12 && (line.at(10.) - 23.).abs() < 1e-12);
        // By hand: means 2 and 1; xx = 2, xy = 1, yy = 2.
        let line = BenchLine::through(&[(1., 0.), (2., 2.), (3., 1.)]).unwrap();
        assert!((line.slope - 0.5).abs() < 1e-12 && line.intercept.abs() < 1e-12);
        assert!((line.r_squared - 0.25).abs() < 1e-12);
    }

    #[test]
    fn too_few_or_equal_points_have_none() {
        assert_eq!(BenchLine::through(&[(1., 1.), (2., 2.)]), None);
        assert_eq!(BenchLine::through(&[(1., 1.), (1., 2.), (1., 3.)]), None);
        assert_eq!(BenchLine::through(&[(1., 2.), (2., 2.), (3., 2.)]), None);
    }
}
