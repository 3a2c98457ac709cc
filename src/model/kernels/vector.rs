//! Loops that the compiler turns into vector instructions: sixteen numbers at a time, then the rest.

pub const LANES: usize = 16;

/// The sum of `value(i)` over `0..n`, always in the same order.
#[inline(always)]
pub fn sum(n: usize, value: impl Fn(usize) -> f32) -> f32 {
    let mut lanes = [0f32; LANES];
    let whole = n / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        for (lane, total) in lanes.iter_mut().enumerate() {
            *total += value(start + lane);
        }
    }
    for i in whole..n {
        lanes[i - whole] += value(i);
    }
    across(lanes, |a, b| a + b)
}

/// Joins all lanes, half with half: a chain of sixteen operations would wait for each of them.
#[inline(always)]
pub fn across(lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    let eight: [f32; 8] = std::array::from_fn(|i| join(lanes[i], lanes[i + 8]));
    let four: [f32; 4] = std::array::from_fn(|i| join(eight[i], eight[i + 4]));
    join(join(four[0], four[2]), join(four[1], four[3]))
}

/// e to the power x, for x of at most 0; 0 for x below -87, NaN for NaN. Within 2 units in the last place.
#[inline(always)]
pub fn exp_of_negative(x: f32) -> f32 {
    const TO_NEAREST: f32 = 12_582_912.; // 1.5 * 2^23: adding and subtracting it rounds
    const LN2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let bounded = if x < -87. { -87. } else { x };
    let rounded = bounded * std::f32::consts::LOG2_E + TO_NEAREST;
    let power = rounded - TO_NEAREST;
    let r = bounded - power * LN2[0] - power * LN2[1];
    // Cephes' expf
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_2e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 5e-1;
    let exp_r = p * r * r + r + 1.;
    let exponent = (rounded.to_bits() as i32).wrapping_sub(TO_NEAREST.to_bits() as i32).wrapping_add(127);
    let scale = f32::from_bits((exponent as u32).wrapping_mul(1 << 23));
    if x < -87. { 0. } else { exp_r * scale }
}

/// (Φ(x), φ(x)) of the normal distribution. Φ within 1e-7 (Abramowitz and Stegun, 7.1.26).
#[inline(always)]
pub fn normal(x: f32) -> (f32, f32) {
    const DENSITY_AT_ZERO: f32 = 0.398_942_3;
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1. / (1. + 0.327_591_1 * z);
    let p = 1.061_405_4;
    let p = p * t - 1.453_152;
    let p = p * t + 1.421_413_7;
    let p = p * t - 0.284_496_74;
    let p = p * t + 0.254_829_6;
    let e = exp_of_negative(-z * z);
    let tail = 0.5 * p * t * e; // Φ(-|x|)
    (if x < 0. { tail } else { 1. - tail }, DENSITY_AT_ZERO * e)
}

/// Φ(x) of the normal distribution alone, within 1e-6, in two thirds of the time (Abramowitz and Stegun, 7.1.28).
#[inline(always)]
pub fn normal_below(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let p = 0.000_043_063_8;
    let p = p * z + 0.000_276_567_2;
    let p = p * z + 0.000_152_014_3;
    let p = p * z + 0.009_270_527;
    let p = p * z + 0.042_282_01;
    let p = p * z + 0.070_523_076;
    let p = p * z + 1.;
    let p = p * p;
    let p = p * p;
    let p = p * p;
    let tail = 0.5 / (p * p);
    if x < 0. { tail } else { 1. - tail }
}

/// C = A·B for small matrices that fit the first-level cache. The rows of `b` and `c` have a multiple of [`LANES`]
/// numbers.
///
/// # Shapes
/// A `[m, k]` with `a[i·a_strides.0 + j·a_strides.1]`, `b [k, n]`, `c [m, n]`
#[inline(always)]
pub fn small_product(a: &[f32], a_strides: (usize, usize), b: &[f32], c: &mut [f32], sizes: (usize, usize, usize)) {
    product::<false>(a, a_strides, (b, sizes.2), c, sizes);
}

/// C += A·B, otherwise like [`small_product`].
#[inline(always)]
pub fn add_small_product(a: &[f32], a_strides: (usize, usize), b: &[f32], c: &mut [f32], sizes: (usize, usize, usize)) {
    product::<true>(a, a_strides, (b, sizes.2), c, sizes);
}

/// [`small_product`] with the first n columns of a wider matrix, which comes with the length of its rows.
#[inline(always)]
pub fn window_product(
    a: &[f32],
    a_strides: (usize, usize),
    b: (&[f32], usize),
    c: &mut [f32],
    sizes: (usize, usize, usize),
) {
    product::<false>(a, a_strides, b, c, sizes);
}

#[inline(always)]
fn product<const ADD: bool>(
    a: &[f32],
    a_strides: (usize, usize),
    (b, b_stride): (&[f32], usize),
    c: &mut [f32],
    (m, k, n): (usize, usize, usize),
) {
    assert!(n.is_multiple_of(LANES) && c.len() >= m * n && (k == 0 || b.len() >= (k - 1) * b_stride + n));
    assert!(m == 0 || k == 0 || (m - 1) * a_strides.0 + (k - 1) * a_strides.1 < a.len());
    let mut row = 0;
    while row + 4 <= m {
        block::<4, ADD>(a, a_strides, (b, b_stride), c, row, (k, n));
        row += 4;
    }
    match m - row {
        3 => block::<3, ADD>(a, a_strides, (b, b_stride), c, row, (k, n)),
        2 => block::<2, ADD>(a, a_strides, (b, b_stride), c, row, (k, n)),
        1 => block::<1, ADD>(a, a_strides, (b, b_stride), c, row, (k, n)),
        _ => {}
    }
}

/// Computes `R` rows of [`product`].
#[inline(always)]
fn block<const R: usize, const ADD: bool>(
    a: &[f32],
    strides: (usize, usize),
    (b, b_stride): (&[f32], usize),
    c: &mut [f32],
    row: usize,
    (k, n): (usize, usize),
) {
    for column in (0..n).step_by(LANES) {
        let mut totals = [[0f32; LANES]; R];
        if ADD {
            for (r, total) in totals.iter_mut().enumerate() {
                total.copy_from_slice(&c[(row + r) * n + column..][..LANES]);
            }
        }
        for j in 0..k {
            // SAFETY: `product` has checked that `b` has n numbers from the beginning of its last row on.
            let from = unsafe { b.get_unchecked(j * b_stride + column..j * b_stride + column + LANES) };
            for (r, total) in totals.iter_mut().enumerate() {
                // SAFETY: `product` has checked the index of the last row and column of `a`.
                let factor = unsafe { *a.get_unchecked((row + r) * strides.0 + j * strides.1) };
                for lane in 0..LANES {
                    total[lane] += factor * from[lane];
                }
            }
        }
        for (r, total) in totals.iter().enumerate() {
            c[(row + r) * n + column..][..LANES].copy_from_slice(total);
        }
    }
}

/// `n` rounded up to a multiple of [`LANES`].
#[inline(always)]
pub fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_exp() {
        for i in 0..200_000 {
            let x = -(i as f32) * 4.5e-4;
            let (ours, theirs) = (exp_of_negative(x), x.exp());
            assert!((ours - theirs).abs() <= 3e-7 * theirs + 1e-37, "{x}: {ours}, {theirs}");
        }
        assert_eq!(exp_of_negative(f32::NEG_INFINITY), 0.);
        assert!(exp_of_negative(f32::NAN).is_nan() && exp_of_negative(-f32::NAN).is_nan());
    }

    #[test]
    fn the_normal_distribution_is_the_same_both_ways_and_symmetric() {
        for i in -80_000..=80_000 {
            let x = i as f32 * 1e-4;
            let (below, of_both) = (normal_below(x), normal(x).0);
            assert!((below - of_both).abs() < 1e-6, "{x}: {below}, {of_both}");
            assert!((below + normal_below(-x) - 1.).abs() < 2e-7, "{x}");
        }
        assert!((normal_below(1.) - 0.841_344_8).abs() < 1e-6);
        assert!(normal_below(f32::NAN).is_nan());
    }

    #[test]
    fn sums_every_number_once() {
        for n in [0, 1, 15, 16, 17, 100] {
            assert_eq!(sum(n, |i| i as f32), (0..n).sum::<usize>() as f32);
        }
    }

    #[test]
    fn small_products_are_products() {
        let (m, k, n) = (7, 5, 32);
        let a: Vec<f32> = (0..m * k).map(|i| (i % 11) as f32 - 5.).collect();
        let b: Vec<f32> = (0..k * n).map(|i| (i % 7) as f32).collect();
        let mut c = vec![0.; m * n];
        small_product(&a, (k, 1), &b, &mut c, (m, k, n));
        let mut by_columns = vec![0.; m * n];
        let a_columns: Vec<f32> = (0..k).flat_map(|j| (0..m).map(move |i| (i, j))).map(|(i, j)| a[i * k + j]).collect();
        small_product(&a_columns, (1, m), &b, &mut by_columns, (m, k, n));
        assert_eq!(c, by_columns);
        add_small_product(&a, (k, 1), &b, &mut by_columns, (m, k, n));
        assert!(c.iter().zip(&by_columns).all(|(once, twice)| 2. * once == *twice));
        let mut window = vec![0.; m * LANES];
        window_product(&a, (k, 1), (&b[3..], n), &mut window, (m, k, LANES));
        assert!((0..m).all(|i| window[i * LANES..][..LANES] == c[i * n + 3..][..LANES]));
        for i in 0..m {
            for j in 0..n {
                assert_eq!(c[i * n + j], (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum::<f32>());
            }
        }
    }
}
