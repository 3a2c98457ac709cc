//! One step of AdamW for one parameter, in one pass over memory.

use super::element::Element;
use super::matrix::{Matrix, MatrixMut};
use super::parallel::{self, Rows};
use std::ops::Range;
use tch::Tensor;

/// The constants of one step for one parameter.
#[derive(Clone, Copy)]
pub struct AdamWUpdate {
    pub gradient_scale: f32,
    pub beta1: f32,
    pub beta2: f32,
    /// The factor for the parameter: 1 − rate · decay.
    pub keep: f32,
    /// rate / (1 − β1ᵗ)
    pub step_size: f32,
    /// 1 / √(1 − β2ᵗ)
    pub denominator_scale: f32,
    pub epsilon: f32,
}

impl AdamWUpdate {
    /// Updates a parameter and its moments, all contiguous float32 tensors on the CPU, in place.
    pub fn apply<S: Element>(
        self,
        parameter: &mut Tensor,
        first_moment: &mut Tensor,
        second_moment: &mut Tensor,
        gradient: &Tensor,
    ) {
        let parts = parallel::split_if_large(parameter.numel(), WORTH_A_THREAD);
        let kernel = Apply::<S> {
            parameter: MatrixMut::of(parameter),
            first_moment: MatrixMut::of(first_moment),
            second_moment: MatrixMut::of(second_moment),
            gradient: Matrix::of(gradient),
            update: self,
        };
        parallel::run(&kernel, &parts);
    }

    /// Updates one value; returns (parameter, first moment, second moment) after the step.
    #[inline(always)]
    fn value(self, p: f32, g: f32, m: f32, v: f32) -> (f32, f32, f32) {
        let g = g * self.gradient_scale;
        let m = self.beta1 * m + (1. - self.beta1) * g;
        let v = self.beta2 * v + (1. - self.beta2) * g * g;
        let p = p * self.keep - self.step_size * m / (v.sqrt() * self.denominator_scale + self.epsilon);
        (p, m, v)
    }
}

/// With fewer numbers, a second thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 16;

/// Applies [`AdamWUpdate::value`] to every number of a parameter.
struct Apply<'a, S> {
    parameter: MatrixMut<'a, f32>,
    first_moment: MatrixMut<'a, f32>,
    second_moment: MatrixMut<'a, f32>,
    gradient: Matrix<'a, S>,
    update: AdamWUpdate,
}

impl<S: Element> Rows for Apply<'_, S> {
    #[inline(always)]
    fn work(&self, _: usize, numbers: Range<usize>) {
        // SAFETY: only this part has these numbers.
        let (p, m, v) = unsafe {
            (
                self.parameter.span_mut(numbers.clone()),
                self.first_moment.span_mut(numbers.clone()),
                self.second_moment.span_mut(numbers.clone()),
            )
        };
        for (((p, m), v), g) in p.iter_mut().zip(m).zip(v).zip(self.gradient.span(numbers)) {
            (*p, *m, *v) = self.update.value(*p, g.get(), *m, *v);
        }
    }
}
