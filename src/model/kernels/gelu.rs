//! The activation of the feed-forward block, together with the bias of the matmul before it.

use super::element::Element;
use super::matrix::{Matrix, MatrixMut};
use super::parallel::{self, Rows};
use super::vector::{normal, normal_below};
use std::ops::Range;
use tch::{Kind, Tensor};

/// gelu(x + b), with the error function.
pub struct Gelu<'a, S> {
    inputs: Matrix<'a, S>,
    bias: &'a [f32],
}

impl<'a, S: Element> Gelu<'a, S> {
    /// `inputs [T, inner]` (the matmul without its bias), `bias [inner]`
    pub fn new(inputs: &'a Tensor, bias: &'a Tensor) -> Self {
        Gelu { inputs: Matrix::of(inputs), bias: Matrix::of(bias).row(0) }
    }

    /// -> `[T, inner]`
    pub fn forward(&self) -> Tensor {
        let mut outputs = Tensor::empty(self.shape(), (S::KIND, tch::Device::Cpu));
        parallel::run(
            &Forward { gelu: self, outputs: MatrixMut::of(&mut outputs) },
            &parallel::even(self.inputs.rows()),
        );
        outputs
    }

    /// Replaces the gradient of the outputs by that of the inputs, in place; returns the gradient of the bias.
    pub fn backward(&self, gradient: &mut Tensor) -> Tensor {
        let parts = parallel::even(self.inputs.rows());
        let mut sums = Tensor::zeros([parts.len() as i64, self.bias.len() as i64], (Kind::Float, tch::Device::Cpu));
        let kernel = Backward { gelu: self, gradient: MatrixMut::of(gradient), sums: MatrixMut::of(&mut sums) };
        parallel::run(&kernel, &parts);
        sums.sum_dim_intlist(0, false, Kind::Float)
    }

    fn shape(&self) -> [i64; 2] {
        [self.inputs.rows() as i64, self.inputs.width() as i64]
    }
}

struct Forward<'a, 'g, S> {
    gelu: &'g Gelu<'a, S>,
    outputs: MatrixMut<'g, S>,
}

impl<S: Element> Rows for Forward<'_, '_, S> {
    #[inline(always)]
    fn work(&self, _: usize, rows: Range<usize>) {
        let bias = self.gelu.bias;
        for row in rows {
            // SAFETY: this part's own row.
            let (inputs, outputs) = (self.gelu.inputs.row(row), unsafe { self.outputs.row_mut(row) });
            for ((output, input), bias) in outputs.iter_mut().zip(inputs).zip(bias) {
                let x = input.get() + bias;
                *output = S::put(x * normal_below(x));
            }
        }
    }
}

struct Backward<'a, 'g, S> {
    gelu: &'g Gelu<'a, S>,
    gradient: MatrixMut<'g, S>,
    /// The gradient of the bias, one row for each part.
    sums: MatrixMut<'g, f32>,
}

impl<S: Element> Rows for Backward<'_, '_, S> {
    #[inline(always)]
    fn work(&self, part: usize, rows: Range<usize>) {
        let bias = self.gelu.bias;
        // SAFETY: this part's own rows.
        let sums = unsafe { self.sums.row_mut(part) };
        for row in rows {
            let inputs = self.gelu.inputs.row(row);
            // SAFETY: this part's own row.
            let gradients = unsafe { self.gradient.row_mut(row) };
            for (((gradient, input), bias), sum) in gradients.iter_mut().zip(inputs).zip(bias).zip(sums.iter_mut()) {
                let x = input.get() + bias;
                let (below, density) = normal(x);
                let value = gradient.get() * (below + x * density);
                *gradient = S::put(value);
                *sum += value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Device;

    #[test]
    fn nan_stays_nan() {
        let float = (Kind::Float, Device::Cpu);
        let inputs = Tensor::rand([2, 20], float);
        let _ = inputs.get(1).narrow(0, 3, 1).fill_(f64::NAN);
        let bias = Tensor::zeros([20], float);
        let gelu = Gelu::<f32>::new(&inputs, &bias);
        let mut gradient = Tensor::ones([2, 20], float);
        let of_bias = gelu.backward(&mut gradient);
        for values in [gelu.forward(), gradient] {
            let nan = Vec::<i64>::try_from(values.isnan().nonzero().view([-1])).unwrap();
            assert_eq!(nan, [1, 3]);
        }
        assert_eq!(Vec::<i64>::try_from(of_bias.isnan().nonzero().view([-1])).unwrap(), [3]);
    }
}
