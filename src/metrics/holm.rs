//! Holm's correction of p-values for multiple tests (Holm, 1979).

/// The adjusted p-values, in the given order. If all below 0.05 are called significant, the chance of any error is at
/// most 5 %.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.; p_values.len()];
    let mut least: f64 = 0.;
    for (rank, &i) in order.iter().enumerate() {
        least = least.max((p_values.len() - rank) as f64 * p_values[i]).min(1.);
        adjusted[i] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_is_multiplied_by_all_and_none_comes_before_a_smaller_one() {
        assert_eq!(holm(&[]), Vec::<f64>::new());
        assert_eq!(holm(&[0.04, 0.01, 0.03]), [0.06, 0.03, 0.06]);
        assert_eq!(holm(&[0.9, 0.8]), [1., 1.]);
    }
}
