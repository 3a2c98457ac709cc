//! McNemar's exact test: is the difference between two systems on the same pairs more than chance?

/// The probability of at most so many heads in so many tosses, which is never 0.
fn at_most(heads: u64, tosses: u64) -> f64 {
    let mut log_term = -(tosses as f64) * std::f64::consts::LN_2;
    let mut tail = log_term.exp();
    for k in 1..=heads {
        log_term += ((tosses - k + 1) as f64 / k as f64).ln();
        tail += log_term.exp();
    }
    tail.clamp(f64::MIN_POSITIVE, 1.)
}

/// The two-sided p-value over one or several seeds on the same pairs, from the numbers of pairs that only the first and
/// only the second system gets right with each. By chance alone, each of these pairs is the toss of a fair coin. For each
/// direction the one-sided p-values are combined ([`combined_p`]), and the smaller result counts twice. So seeds that
/// contradict each other are no evidence. `None` if there are none.
pub fn mcnemar_over_seeds(only_one: &[[u64; 2]]) -> Option<f64> {
    let for_first = combined_p(only_one.iter().map(|[first, second]| at_most(*second, first + second)).collect())?;
    let for_second = combined_p(only_one.iter().map(|[first, second]| at_most(*first, first + second)).collect())?;
    Some((2. * for_first.min(for_second)).min(1.))
}

/// Combines p-values that may depend on each other in any way, such as those of several seeds on the same pairs:
/// p(k)·n/k of the k-th smallest of n (Rüger, "Das maximale Signifikanzniveau des Tests", 1978), with k in the middle.
/// `None` if there are none.
fn combined_p(mut p_values: Vec<f64>) -> Option<f64> {
    p_values.sort_unstable_by(f64::total_cmp);
    let (n, k) = (p_values.len(), p_values.len() / 2 + 1);
    p_values.get(k - 1).map(|p| (p * n as f64 / k as f64).min(1.))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_pairs_are_counted_by_hand() {
        let of_one_seed = |first, second| mcnemar_over_seeds(&[[first, second]]).unwrap();
        assert_eq!(of_one_seed(0, 0), 1.);
        assert_eq!(of_one_seed(0, 5), 2. / 32.);
        assert!((of_one_seed(1, 4) - 12. / 32.).abs() < 1e-15);
        assert!(of_one_seed(2000, 3000) > 0. && of_one_seed(0, 1200) > 0., "no underflow");
    }

    /// The one-sided values are scipy's `binomtest(first, first + second, alternative="greater")`.
    #[test]
    fn seeds_of_opposite_directions_are_no_evidence() {
        assert_eq!(mcnemar_over_seeds(&[]), None);
        let opposite = mcnemar_over_seeds(&[[18, 0], [13, 7], [0, 13]]).unwrap();
        assert!((opposite - 2. * 0.131_587_982_177_734_38 * 3. / 2.).abs() < 1e-12, "{opposite}");
        let alike = mcnemar_over_seeds(&[[18, 0], [13, 7], [13, 0]]).unwrap();
        assert!((alike - 2. * 0.000_122_070_312_5 * 3. / 2.).abs() < 1e-12, "{alike}");
        assert_eq!(mcnemar_over_seeds(&[[0, 18], [7, 13], [0, 13]]), Some(alike));
    }

    #[test]
    fn p_values_of_seeds_are_one() {
        assert_eq!(combined_p(vec![]), None);
        assert_eq!(combined_p(vec![0.03]), Some(0.03));
        assert_eq!(combined_p(vec![0.03, 0.01]), Some(0.03));
        assert_eq!(combined_p(vec![0.5, 0.01, 0.02]), Some(0.03));
        assert_eq!(combined_p(vec![0.9, 0.8, 0.9]), Some(1.));
    }
}
