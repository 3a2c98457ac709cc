//! How fast this machine multiplies matrices.

use crate::model::Precision;
use crate::model::layers::affine;
use crate::torch::read;
use serde::Serialize;
use std::time::Instant;
use tch::{Device, Kind, Tensor};

/// Matmul rates in billions of floating-point operations a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MatmulRates {
    /// With inputs in float32.
    pub fp32: f64,
    /// With inputs in bfloat16.
    pub bf16: f64,
}

impl MatmulRates {
    /// Times a matmul with the shape of one in an encoder layer. The two precisions take turns, so that another busy
    /// program slows both. Takes a fifth of a second on a CPU. On a GPU the matmul is far larger (1.2 GB), since starting a
    /// small one takes longer than computing it.
    pub fn measure(device: Device) -> Self {
        let nothing = MatmulRates { fp32: 0., bf16: 0. };
        if device.is_cuda() {
            return nothing.or_better(8, Shape { tokens: 8192, inputs: 8192, outputs: 8192 }, device);
        }
        nothing.or_better(16, Shape { tokens: 1024, inputs: 384, outputs: 1536 }, device)
    }

    /// The fastest matmuls here: those of [`MatmulRates::measure`], or far larger ones if they are faster. Takes one
    /// or two seconds.
    pub fn peak(device: Device) -> Self {
        let rates = Self::measure(device);
        match device.is_cuda() {
            true => rates,
            false => rates.or_better(5, Shape { tokens: 4096, inputs: 1024, outputs: 4096 }, device),
        }
    }

    /// The larger rate of each precision.
    pub fn max(self, other: Self) -> Self {
        MatmulRates { fp32: self.fp32.max(other.fp32), bf16: self.bf16.max(other.bf16) }
    }

    /// The rate of one precision.
    pub fn of(&self, precision: Precision) -> f64 {
        match precision {
            Precision::Fp32 => self.fp32,
            Precision::Bf16 => self.bf16,
        }
    }

    /// These rates, or those of a matmul where it is faster. Where bfloat16 is emulated, it is timed once: five of the
    /// large ones would take 20 seconds.
    fn or_better(self, rounds: usize, shape: Shape, device: Device) -> Self {
        let precisions = [Precision::Fp32, Precision::Bf16].into_iter().filter(|precision| self.is_worth(*precision));
        let matmuls: Vec<Matmul> = precisions.map(|precision| Matmul::new(shape, device, precision)).collect();
        let mut rates = self;
        for matmul in (0..rounds).flat_map(|_| &matmuls) {
            if rates.is_worth(matmul.precision) {
                rates = rates.max(matmul.rates(shape));
            }
        }
        rates
    }

    /// Whether a precision is to be timed further: bfloat16 is not if it is far slower than float32.
    fn is_worth(&self, precision: Precision) -> bool {
        precision == Precision::Fp32 || self.bf16 == 0. || 4. * self.bf16 > self.fp32
    }
}

/// x `[tokens, inputs]` times the transpose of a weight `[outputs, inputs]`.
#[derive(Clone, Copy)]
struct Shape {
    tokens: i64,
    inputs: i64,
    outputs: i64,
}

impl Shape {
    fn operations(self) -> f64 {
        (2 * self.tokens * self.inputs * self.outputs) as f64
    }
}

/// A matmul whose inputs are already in the precision.
struct Matmul {
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    precision: Precision,
}

impl Matmul {
    fn new(Shape { tokens, inputs, outputs }: Shape, device: Device, precision: Precision) -> Self {
        // Ones would let a GPU save power and run faster than it does with a model's numbers.
        let input = |shape: &[i64]| precision.cast(&Tensor::rand(shape, (Kind::Float, device)));
        let [x, weight, bias] = [input(&[tokens, inputs]), input(&[outputs, inputs]), input(&[outputs])];
        let matmul = Matmul { x, weight, bias, precision };
        matmul.seconds(); // the first one starts threads and generates code
        matmul
    }

    /// The rate of its precision, and 0 for the other one.
    fn rates(&self, shape: Shape) -> MatmulRates {
        let rate = shape.operations() / self.seconds() / 1e9;
        match self.precision {
            Precision::Fp32 => MatmulRates { fp32: rate, bf16: 0. },
            Precision::Bf16 => MatmulRates { fp32: 0., bf16: rate },
        }
    }

    fn seconds(&self) -> f64 {
        let _guard = tch::no_grad_guard();
        let started = Instant::now();
        let y = affine(&self.x, &self.weight, &self.bias, self.precision);
        read::float(&y.get(0).get(0)); // waits for the device
        started.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emulated_bfloat16_is_not_timed_again() {
        let is_worth = |fp32, bf16| [Precision::Fp32, Precision::Bf16].map(|p| MatmulRates { fp32, bf16 }.is_worth(p));
        assert_eq!(is_worth(0., 0.), [true, true]);
        assert_eq!(is_worth(140., 0.), [true, true]);
        assert_eq!(is_worth(140., 10.), [true, false]);
        assert_eq!(is_worth(310., 160.), [true, true]);
        assert_eq!(is_worth(200., 900.), [true, true]);
    }
}
