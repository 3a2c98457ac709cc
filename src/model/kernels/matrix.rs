//! Tensors as rows that threads divide among themselves.
//!
//! A kernel reads a [`Matrix`] and writes a [`MatrixMut`]. The second takes its tensor by `&mut`, so that no kernel reads
//! what another one writes. What Rust can't see is a shallow clone or a view of that tensor, which shares its memory:
//! callers of a kernel that works in place pass a tensor whose clones nobody uses while the kernel runs.

use super::element::Element;
use std::marker::PhantomData;
use std::ops::Range;
use tch::{Device, Tensor};

/// A contiguous matrix on the CPU, to read.
#[derive(Clone, Copy)]
pub struct Matrix<'a, S> {
    values: &'a [S],
    width: usize,
}

/// A contiguous matrix on the CPU, to write. Each thread has rows or spans of its own.
pub struct MatrixMut<'a, S> {
    start: *mut S,
    rows: usize,
    width: usize,
    tensor: PhantomData<&'a mut Tensor>,
}

// SAFETY: it is written through `row_mut` and `span_mut` only, whose callers promise that nobody else has the numbers.
unsafe impl<S: Send> Sync for MatrixMut<'_, S> {}

/// The rows and columns of a tensor's last dimension.
///
/// # Panics
/// If it is not contiguous, not on the CPU, or of another kind.
fn shape<S: Element>(tensor: &Tensor) -> (usize, usize) {
    assert!(tensor.device() == Device::Cpu && tensor.kind() == S::KIND && tensor.is_contiguous());
    let width = tensor.size().last().map_or(1, |&width| width as usize);
    (tensor.numel() / width.max(1), width)
}

impl<'a, S: Element> Matrix<'a, S> {
    /// # Panics
    /// If the tensor is not contiguous, not on the CPU, or of another kind.
    pub fn of(tensor: &'a Tensor) -> Self {
        let (rows, width) = shape::<S>(tensor);
        let values = match rows * width {
            0 => &[],
            // SAFETY: so many numbers of this kind are in the tensor, which outlives 'a and is not written meanwhile (see
            // the module's doc).
            numbers => unsafe { std::slice::from_raw_parts(tensor.data_ptr().cast(), numbers) },
        };
        Matrix { values, width }
    }

    pub fn rows(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    pub fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    pub fn row(&self, row: usize) -> &'a [S] {
        &self.values[row * self.width..][..self.width]
    }

    /// A range of the matrix's numbers.
    #[inline(always)]
    pub fn span(&self, span: Range<usize>) -> &'a [S] {
        &self.values[span]
    }
}

impl<'a, S: Element> MatrixMut<'a, S> {
    /// # Panics
    /// If the tensor is not contiguous, not on the CPU, or of another kind.
    pub fn of(tensor: &'a mut Tensor) -> Self {
        let (rows, width) = shape::<S>(tensor);
        MatrixMut { start: tensor.data_ptr().cast(), rows, width, tensor: PhantomData }
    }

    /// # Safety
    /// Nothing else may have this row while the result lives.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // the safety rule above allows it
    pub unsafe fn row_mut(&self, row: usize) -> &'a mut [S] {
        assert!(row < self.rows);
        // SAFETY: the row is inside the tensor, which outlives 'a; the caller promises the rest.
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
