//! Tensors as rows that threads divide among themselves.

use super::element::Element;
use std::marker::PhantomData;
use std::ops::Range;
use tch::{Device, Tensor};

/// A contiguous matrix on the CPU. Its tensor outlives it.
#[derive(Clone, Copy)]
pub struct Matrix<'a, S> {
    start: *mut S,
    rows: usize,
    width: usize,
    tensor: PhantomData<&'a Tensor>,
}

// SAFETY: a matrix is read, or written through `row_mut`, whose callers promise that nobody else has the row.
unsafe impl<S: Sync> Sync for Matrix<'_, S> {}
unsafe impl<S: Send> Send for Matrix<'_, S> {}

impl<'a, S: Element> Matrix<'a, S> {
    /// The rows of a tensor's last dimension.
    ///
    /// # Panics
    /// If it is not contiguous, not on the CPU, or of another kind.
    pub fn of(tensor: &'a Tensor) -> Self {
        assert!(tensor.device() == Device::Cpu && tensor.kind() == S::KIND && tensor.is_contiguous());
        let width = tensor.size().last().map_or(1, |&width| width as usize);
        Matrix { start: tensor.data_ptr().cast(), rows: tensor.numel() / width.max(1), width, tensor: PhantomData }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    pub fn row(&self, row: usize) -> &'a [S] {
        assert!(row < self.rows);
        // SAFETY: the row is inside of the tensor, which outlives 'a.
        unsafe { std::slice::from_raw_parts(self.start.add(row * self.width), self.width) }
    }

    /// # Safety
    /// Nothing else may have this row while the result lives.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // the safety rule above allows it
    pub unsafe fn row_mut(&self, row: usize) -> &'a mut [S] {
        assert!(row < self.rows);
        // SAFETY: as above, and by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(row * self.width), self.width) }
    }

    /// A range of the matrix's numbers.
    ///
    /// # Safety
    /// Nothing else may have these numbers while the result lives.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn span_mut(&self, span: Range<usize>) -> &'a mut [S] {
        assert!(span.start <= span.end && span.end <= self.rows * self.width);
        // SAFETY: the range is inside the tensor; the caller promises the rest.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(span.start), span.len()) }
    }
}
