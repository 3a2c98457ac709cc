//! The C library's allocator.

/// Asks the allocator to keep freed memory. Every step frees about one gigabyte and allocates it again, and each page
/// that was given back costs a page fault. Without this, training spends a quarter of its time on them
/// (benches/README.md).
pub fn keep_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: sets two numbers of glibc's allocator.
    unsafe {
        libc::mallopt(libc::M_MMAP_MAX, 0);
        libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
    }
}

/// Lets all threads allocate from one heap. Other heaps grow by single pages, each with a call of the system, and a
/// tokenizer is many small pieces. For commands that compute for moments only: threads wait for each other here.
pub fn share_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: sets a number of glibc's allocator.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
