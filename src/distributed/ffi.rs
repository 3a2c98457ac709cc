//! The functions of `c10d.cc`. Where it was not compiled, functions that are never called stand in for them.

use std::ffi::{c_char, c_int, c_void};

/// The group of processes, as C++ sees it.
#[repr(C)]
pub struct RawGroup {
    _private: [u8; 0],
}

/// `at::Tensor*`, which [`tch::Tensor::as_ptr`] returns.
pub type RawTensor = *const c_void;

#[cfg(c10d)]
unsafe extern "C" {
    pub fn tiered_c10d_open(
        group: *mut *mut RawGroup,
        host: *const c_char,
        port: c_int,
        rank: c_int,
        size: c_int,
        serves: bool,
        prefix: *const c_char,
        timeout_ms: i64,
        message: *mut c_char,
        length: usize,
    ) -> c_int;
    pub fn tiered_c10d_close(group: *mut RawGroup);
    pub fn tiered_c10d_sum(group: *mut RawGroup, tensor: RawTensor, message: *mut c_char, length: usize) -> c_int;
    pub fn tiered_c10d_sum_by_pairs(
        group: *mut RawGroup,
        tensor: RawTensor,
        message: *mut c_char,
        length: usize,
    ) -> c_int;
    pub fn tiered_c10d_broadcast(
        group: *mut RawGroup,
        tensor: RawTensor,
        from: c_int,
        message: *mut c_char,
        length: usize,
    ) -> c_int;
}

#[cfg(not(c10d))]
pub use absent::*;

/// [`super::group::ProcessGroup::open`] refuses first, so that there is no group to call these with.
#[cfg(not(c10d))]
#[allow(clippy::too_many_arguments)]
mod absent {
    use super::*;

    pub unsafe fn tiered_c10d_open(
        _: *mut *mut RawGroup,
        _: *const c_char,
        _: c_int,
        _: c_int,
        _: c_int,
        _: bool,
        _: *const c_char,
        _: i64,
        _: *mut c_char,
        _: usize,
    ) -> c_int {
        unreachable!()
    }

    pub unsafe fn tiered_c10d_close(_: *mut RawGroup) {
        unreachable!()
    }

    pub unsafe fn tiered_c10d_sum(_: *mut RawGroup, _: RawTensor, _: *mut c_char, _: usize) -> c_int {
        unreachable!()
    }

    pub unsafe fn tiered_c10d_sum_by_pairs(_: *mut RawGroup, _: RawTensor, _: *mut c_char, _: usize) -> c_int {
        unreachable!()
    }

    pub unsafe fn tiered_c10d_broadcast(_: *mut RawGroup, _: RawTensor, _: c_int, _: *mut c_char, _: usize) -> c_int {
        unreachable!()
    }
}
