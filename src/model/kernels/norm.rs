//! The end of each block of a layer: bias, dropout, residual, layer norm.

use super::dropout::{BLOCK, Dropout};
use super::element::Element;
use super::matrix::{Matrix, MatrixMut};
use super::parallel::{self, Rows};
use super::vector::sum;
use std::ops::Range;
use tch::{Device, Kind, Tensor};

/// The result of a layer norm before scale and shift. The backward pass needs it, and the full result follows from it.
pub struct Normed {
    /// `[T, H]` mean 0 and variance 1 in each row.
    standard: Tensor,
    /// `[T, 1]` one divided by the deviation of each row.
    inverse_deviation: Tensor,
    /// `[H]`
    pub scale: Tensor,
    /// `[H]`
    pub shift: Tensor,
}

impl Normed {
    /// A residual that does not come from a norm.
    pub fn unscaled(values: &Tensor) -> Self {
        let width = values.size()[1];
        let options = (Kind::Float, Device::Cpu);
        Normed {
            standard: values.contiguous(),
            inverse_deviation: Tensor::ones([values.size()[0], 1], options),
            scale: Tensor::ones([width], options),
            shift: Tensor::zeros([width], options),
        }
    }

    /// The residual of some of the rows. `rows`: `[T, H]` -> theirs
    pub fn select(&self, rows: impl Fn(&Tensor) -> Tensor) -> Self {
        Normed {
            standard: rows(&self.standard),
            inverse_deviation: rows(&self.inverse_deviation),
            scale: self.scale.shallow_clone(),
            shift: self.shift.shallow_clone(),
        }
    }

    /// `[T, H]` float32
    pub fn values(&self) -> Tensor {
        self.shift.addcmul(&self.standard, &self.scale)
    }
}

/// norm(residual + dropout(x + b)).
pub struct BiasDropoutAddNorm<'a> {
    /// `[H]`
    pub bias: &'a Tensor,
    /// `[H]`
    pub scale: &'a Tensor,
    /// `[H]`
    pub shift: &'a Tensor,
    pub eps: f64,
    pub dropout: Dropout,
}

/// Gradients of `[H]` vectors.
pub struct NormGradients {
    pub bias: Tensor,
    pub scale: Tensor,
    pub shift: Tensor,
}

impl BiasDropoutAddNorm<'_> {
    /// `x [T, H]` (a matmul without its bias), `residual [T, H]` -> the norm, and its values rounded for matmuls `[T,
    /// H]`.
    pub fn forward<S: Element>(&self, x: &Tensor, residual: &Normed) -> (Normed, Tensor) {
        let (t, h) = x.size2().expect("x is [T, H]");
        let float = (Kind::Float, Device::Cpu);
        let mut standard = Tensor::empty([t, h], float);
        let mut inverse_deviation = Tensor::empty([t, 1], float);
        let mut matmul_input = Tensor::empty([t, h], (S::KIND, Device::Cpu));
        let kernel = Forward::<S> {
            x: Matrix::of(x),
            bias: vector(self.bias),
            residual: Matrix::of(&residual.standard),
            residual_scale: vector(&residual.scale),
            residual_shift: vector(&residual.shift),
            scale: vector(self.scale),
            shift: vector(self.shift),
            eps: self.eps as f32,
            dropout: self.dropout,
            standard: MatrixMut::of(&mut standard),
            inverse_deviation: MatrixMut::of(&mut inverse_deviation),
            matmul_input: MatrixMut::of(&mut matmul_input),
        };
        parallel::run(&kernel, &parallel::even(t as usize));
        let (scale, shift) = (self.scale.shallow_clone(), self.shift.shallow_clone());
        (Normed { standard, inverse_deviation, scale, shift }, matmul_input)
    }

    /// Replaces the gradient of the result by that of the residual, in place; returns the gradient of `x [T, H]`.
    ///
    /// The gradient of the result is the sum of two parts: `residual_grad [T, H]` in float32, and `matmul_grad [T, H]`
    /// from the matmuls that read the result. The last layer has no second part.
    pub fn backward<S: Element>(
        &self,
        normed: &Normed,
        residual_grad: &mut Tensor,
        matmul_grad: Option<&Tensor>,
    ) -> (Tensor, NormGradients) {
        let (t, h) = residual_grad.size2().expect("residual_grad is [T, H]");
        let mut x = Tensor::empty([t, h], (S::KIND, Device::Cpu));
        let parts = parallel::even(t as usize);
        let mut sums = Tensor::zeros([parts.len() as i64, 3 * h], (Kind::Float, Device::Cpu));
        let kernel = Backward::<S> {
            residual_grad: MatrixMut::of(residual_grad),
            matmul_grad: matmul_grad.map(Matrix::of),
            standard: Matrix::of(&normed.standard),
            inverse_deviation: Matrix::of(&normed.inverse_deviation),
            scale: vector(self.scale),
            dropout: self.dropout,
            x: MatrixMut::of(&mut x),
            sums: MatrixMut::of(&mut sums),
        };
        parallel::run(&kernel, &parts);
        let sums = sums.sum_dim_intlist(0, false, Kind::Float);
        let part = |i| sums.narrow(0, i * h, h);
        (x, NormGradients { scale: part(0), shift: part(1), bias: part(2) })
    }
}

fn vector(tensor: &Tensor) -> &[f32] {
    Matrix::of(tensor).row(0)
}

struct Forward<'a, S> {
    x: Matrix<'a, S>,
    bias: &'a [f32],
    residual: Matrix<'a, f32>,
    residual_scale: &'a [f32],
    residual_shift: &'a [f32],
    scale: &'a [f32],
    shift: &'a [f32],
    eps: f32,
    dropout: Dropout,
    standard: MatrixMut<'a, f32>,
    inverse_deviation: MatrixMut<'a, f32>,
    matmul_input: MatrixMut<'a, S>,
}

impl<S: Element> Rows for Forward<'_, S> {
    #[inline(always)]
    fn work(&self, _: usize, rows: Range<usize>) {
        let h = self.bias.len();
        let (bias, scale, shift) = (self.bias, &self.scale[..h], &self.shift[..h]);
        let (residual_scale, residual_shift) = (&self.residual_scale[..h], &self.residual_shift[..h]);
        for row in rows {
            let (x, residual) = (&self.x.row(row)[..h], &self.residual.row(row)[..h]);
            // SAFETY: this part's own row.
            let (standard, inverse, matmul_input) = unsafe {
                (self.standard.row_mut(row), self.inverse_deviation.row_mut(row), self.matmul_input.row_mut(row))
            };
            let (standard, matmul_input) = (&mut standard[..h], &mut matmul_input[..h]);
            for i in 0..h {
                standard[i] = x[i].get() + bias[i];
            }
            self.dropout.apply(row * h.div_ceil(BLOCK), standard);
            for i in 0..h {
                standard[i] += residual[i] * residual_scale[i] + residual_shift[i];
            }
            let mean = sum(h, |i| standard[i]) / h as f32;
            let variance = sum(h, |i| (standard[i] - mean) * (standard[i] - mean)) / h as f32;
            let inverse_deviation = 1. / (variance + self.eps).sqrt();
            inverse[0] = inverse_deviation;
            for i in 0..h {
                let value = (standard[i] - mean) * inverse_deviation;
                standard[i] = value;
                matmul_input[i] = S::put(value * scale[i] + shift[i]);
            }
        }
    }
}

struct Backward<'a, S> {
    residual_grad: MatrixMut<'a, f32>,
    matmul_grad: Option<Matrix<'a, S>>,
    standard: Matrix<'a, f32>,
    inverse_deviation: Matrix<'a, f32>,
    scale: &'a [f32],
    dropout: Dropout,
    x: MatrixMut<'a, S>,
    /// The gradients of scale, shift and bias side by side, one row for each part.
    sums: MatrixMut<'a, f32>,
}

impl<S: Element> Rows for Backward<'_, S> {
    #[inline(always)]
    fn work(&self, part: usize, rows: Range<usize>) {
        let h = self.scale.len();
        let scale = self.scale;
        // SAFETY: this part's own rows.
        let (scale_sums, rest) = unsafe { self.sums.row_mut(part) }.split_at_mut(h);
        let (shift_sums, bias_sums) = rest.split_at_mut(h);
        let mut dropped = vec![0f32; h];
        for row in rows {
            let standard = &self.standard.row(row)[..h];
            // SAFETY: as above.
            let (residual_grad, x) =
                unsafe { (&mut self.residual_grad.row_mut(row)[..h], &mut self.x.row_mut(row)[..h]) };
            if let Some(matmul_grad) = &self.matmul_grad {
                residual_grad
                    .iter_mut()
                    .zip(matmul_grad.row(row))
                    .for_each(|(residual_grad, matmul_grad)| *residual_grad += matmul_grad.get());
            }
            for i in 0..h {
                scale_sums[i] += residual_grad[i] * standard[i];
                shift_sums[i] += residual_grad[i];
                residual_grad[i] *= scale[i];
            }
            let mean = sum(h, |i| residual_grad[i]) / h as f32;
            let along = sum(h, |i| residual_grad[i] * standard[i]) / h as f32;
            let inverse_deviation = self.inverse_deviation.row(row)[0];
            for i in 0..h {
                residual_grad[i] = inverse_deviation * (residual_grad[i] - mean - standard[i] * along);
            }
            dropped.copy_from_slice(residual_grad);
            self.dropout.apply(row * h.div_ceil(BLOCK), &mut dropped);
            for i in 0..h {
                bias_sums[i] += dropped[i];
                x[i] = S::put(dropped[i]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_stays_nan() {
        let float = (Kind::Float, Device::Cpu);
        let (bias, scale, shift) = (Tensor::zeros([20], float), Tensor::ones([20], float), Tensor::zeros([20], float));
        let norm =
            BiasDropoutAddNorm { bias: &bias, scale: &scale, shift: &shift, eps: 1e-5, dropout: Dropout::new(1, 0.9) };
        let is_nan = |rows: &Tensor| Vec::<bool>::try_from(rows.isnan().any_dim(1, false)).unwrap();
        for value in [f64::NAN, f64::INFINITY] {
            let residual = Tensor::rand([3, 20], float);
            let _ = residual.get(1).narrow(0, 7, 1).fill_(value);
            let (normed, matmul_grad) =
                norm.forward::<f32>(&Tensor::rand([3, 20], float), &Normed::unscaled(&residual));
            assert_eq!(is_nan(&matmul_grad), [false, true, false]);
            let mut residual_grad = Tensor::rand([3, 20], float);
            let (x, gradients) = norm.backward::<f32>(&normed, &mut residual_grad, None);
            assert_eq!((is_nan(&residual_grad), is_nan(&x)), (vec![false, true, false], vec![false, true, false]));
            assert!(gradients.bias.isnan().all().int64_value(&[]) == 1);
        }
    }
}
