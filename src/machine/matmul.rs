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
        if device.is_cuda() {
            return Self::best_of(8, Shape { tokens: 8192, inputs: 8192, outputs: 8192 }, device);
        }
        Self::best_of(16, Shape { tokens: 1024, inputs: 384, outputs: 1536 }, device)
    }

    /// The fastest matmuls here: those of [`MatmulRates::measure`], or far larger ones if they are faster. Takes one
    /// or two seconds.
    pub fn peak(device: Device) -> Self {
        if device.is_cuda() {
            return Self::measure(device);
        }
        let large = Self::best_of(5, Shape { tokens: 4096, inputs: 1024, outputs: 4096 }, device);
        Self::measure(device).max(large)
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

    fn best_of(rounds: usize, shape: Shape, device: Device) -> Self {
        let [fp32, bf16] = [Precision::Fp32, Precision::Bf16].map(|precision| Matmul::new(shape, device, precision));
        let mut best = [f64::INFINITY; 2];
        for _ in 0..rounds {
            best = [best[0].min(fp32.seconds()), best[1].min(bf16.seconds())];
        }
        let [fp32, bf16] = best.map(|seconds| shape.operations() / seconds / 1e9);
        MatmulRates { fp32, bf16 }
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
        Matmul { x: input(&[tokens, inputs]), weight: input(&[outputs, inputs]), bias: input(&[outputs]), precision }
    }

    fn seconds(&self) -> f64 {
        let _guard = tch::no_grad_guard();
        let started = Instant::now();
        let y = affine(&self.x, &self.weight, &self.bias, self.precision);
        read::float(&y.get(0).get(0)); // waits for the device
        started.elapsed().as_secs_f64()
    }
}
