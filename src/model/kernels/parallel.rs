//! Runs kernels on libtorch's threads, compiled for the widest vectors of the processor.

use std::ops::Range;
use std::sync::LazyLock;

/// Work that can be divided by rows.
pub trait Rows: Sync {
    /// Works on these rows, the `part`-th share. No other thread has them. Must be `#[inline(always)]`.
    fn work(&self, part: usize, rows: Range<usize>);
}

/// Divides `rows` into equal parts, one for each thread.
pub fn even(rows: usize) -> Vec<Range<usize>> {
    let parts = threads();
    (0..parts).map(|part| rows * part / parts..rows * (part + 1) / parts).collect()
}

/// A single part if a second thread would cost more than it saves, else [`even`] parts.
pub fn split_if_large(count: usize, least: usize) -> Vec<Range<usize>> {
    if count < least { std::iter::once(0..count).collect() } else { even(count) }
}

/// Divides rows of different sizes into parts of about equal size. `ends[i]` is the sum of the sizes up to and
/// including row i.
pub fn balanced(ends: &[usize]) -> Vec<Range<usize>> {
    let (parts, total) = (threads(), ends.last().copied().unwrap_or(0));
    let cut = |part: usize| match part == parts {
        true => ends.len(),
        false => ends.partition_point(|&end| end <= total * part / parts),
    };
    (0..parts).map(|part| cut(part)..cut(part + 1)).collect()
}

pub fn threads() -> usize {
    tch::get_num_threads().max(1) as usize
}

/// Runs a kernel with one thread for each part.
pub fn run<K: Rows>(kernel: &K, parts: &[Range<usize>]) {
    let work = |part: usize| {
        if let Some(rows) = parts.get(part) {
            widest(kernel, part, rows.clone());
        }
    };
    match (&*TEAM, parts.len()) {
        (_, 0 | 1) => work(0),
        (Some(team), count) => team.run(count, &work),
        (None, count) => std::thread::scope(|scope| {
            for part in 1..count {
                scope.spawn(move || work(part));
            }
            work(0);
        }),
    }
}

/// The cores that this process had before [`pin`].
#[cfg(target_os = "linux")]
static ALLOWED: std::sync::OnceLock<rustix::thread::CpuSet> = std::sync::OnceLock::new();

/// The number of cores that this process may use, also after [`pin`].
pub fn cores() -> usize {
    static CORES: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Lets a thread that does not compute run on every core again: it was started by one that [`pin`] has bound.
pub fn unpin() {
    #[cfg(target_os = "linux")]
    if let Some(allowed) = ALLOWED.get() {
        // If that fails, the thread is slower and no result changes.
        let _ = rustix::thread::sched_setaffinity(None, allowed);
    }
}

/// Lets all computing threads run on every core again, if [`pin`] has bound them.
pub fn unpin_all() {
    #[cfg(target_os = "linux")]
    if ALLOWED.get().is_some() {
        match (&*TEAM, threads()) {
            (Some(team), count @ 2..) => team.run(count, &|_| unpin()),
            _ => unpin(),
        }
    }
}

/// Binds each computing thread to a core of its own, until [`unpin_all`]. Some matmuls divide their work by the
/// core that a thread runs on (MKL's with AVX-512 on Intel), and with it the order of their sums.
///
/// # Errors
/// The reason, if this is not possible.
#[cfg(target_os = "linux")]
pub fn pin() -> Result<(), String> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    use std::sync::OnceLock;
    cores(); // counted before this thread has one only
    let failed = |error: rustix::io::Errno| format!("threads can't be bound to cores: {error}");
    // Read once only: afterwards this thread is allowed one core.
    let allowed = match ALLOWED.get() {
        Some(allowed) => allowed,
        None => {
            let now = sched_getaffinity(None).map_err(failed)?;
            ALLOWED.get_or_init(|| now)
        }
    };
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect();
    let count = threads();
    let Some(cores) = cores.get(..count) else {
        return Err(format!("{count} threads need as many cores, but there are {}; lower `threads`", cores.len()));
    };
    let pinned: Vec<_> = (0..count).map(|_| OnceLock::new()).collect();
    let pin = |part: usize| {
        let mut core = CpuSet::new();
        core.set(cores[part]);
        let _ = pinned[part].set(sched_setaffinity(None, &core));
    };
    match &*TEAM {
        _ if count == 1 => pin(0),
        Some(team) => team.run(count, &pin),
        None => {
            return Err("libtorch was not built with GNU's OpenMP; threads can be bound to cores with that only".into());
        }
    }
    pinned.into_iter().try_for_each(|result| result.into_inner().unwrap_or(Ok(())).map_err(failed))
}

/// Like the function for Linux, which is the only one that works.
#[cfg(not(target_os = "linux"))]
pub fn pin() -> Result<(), String> {
    Err("threads can be bound to cores on Linux only".into())
}

/// Runs the kernel's version for this processor.
fn widest<K: Rows>(kernel: &K, part: usize, rows: Range<usize>) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
        fn avx512<K: Rows>(kernel: &K, part: usize, rows: Range<usize>) {
            kernel.work(part, rows);
        }
        #[target_feature(enable = "avx2,fma")]
        fn avx2<K: Rows>(kernel: &K, part: usize, rows: Range<usize>) {
            kernel.work(part, rows);
        }
        let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        let has_avx512 = has_avx2
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        if has_avx512 {
            // SAFETY: the processor has these features.
            return unsafe { avx512(kernel, part, rows) };
        }
        if has_avx2 {
            // SAFETY: the processor has these features.
            return unsafe { avx2(kernel, part, rows) };
        }
    }
    kernel.work(part, rows);
}

/// The threads of GNU's OpenMP, with which libtorch computes. Threads of our own would compete with them: after a
/// matmul they keep spinning for a while, waiting for the next one.
struct Team {
    parallel: Parallel,
    thread_num: Number,
    num_threads: Number,
}

type Parallel = unsafe extern "C" fn(extern "C" fn(*mut libc::c_void), *mut libc::c_void, libc::c_uint, libc::c_uint);
type Number = unsafe extern "C" fn() -> libc::c_int;

/// `None` if libtorch was built with another OpenMP.
static TEAM: LazyLock<Option<Team>> = LazyLock::new(|| {
    // SAFETY: the names are literals that end in NUL; the functions have had these types since OpenMP 4.0.
    unsafe {
        let find = |name: &std::ffi::CStr| libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        let parallel = find(c"GOMP_parallel");
        let [thread_num, num_threads] = [find(c"omp_get_thread_num"), find(c"omp_get_num_threads")];
        if [parallel, thread_num, num_threads].iter().any(|function| function.is_null()) {
            return None;
        }
        Some(Team {
            parallel: std::mem::transmute::<*mut libc::c_void, Parallel>(parallel),
            thread_num: std::mem::transmute::<*mut libc::c_void, Number>(thread_num),
            num_threads: std::mem::transmute::<*mut libc::c_void, Number>(num_threads),
        })
    }
});

impl Team {
    /// Calls `work(0)` to `work(count - 1)`, each on a thread of its own. If OpenMP or the machine allows fewer
    /// threads, these take turns.
    fn run<F: Fn(usize) + Sync>(&self, count: usize, work: &F) {
        struct Call<'a, F> {
            work: &'a F,
            count: usize,
            team: &'a Team,
        }
        extern "C" fn enter<F: Fn(usize) + Sync>(call: *mut libc::c_void) {
            // SAFETY: `call` is the one below, which waits until all threads are done.
            let Call { work, count, team } = unsafe { &*call.cast::<Call<F>>() };
            // SAFETY: both are functions of the OpenMP that runs this thread.
            let (number, threads) = unsafe { ((team.thread_num)(), (team.num_threads)()) };
            (number as usize..*count).step_by(threads.max(1) as usize).for_each(work);
        }
        let mut call = Call { work, count, team: self };
        // SAFETY: GOMP_parallel returns after all threads have returned from `enter`.
        unsafe { (self.parallel)(enter::<F>, (&raw mut call).cast(), count as libc::c_uint, 0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Count(Vec<AtomicUsize>);

    impl Rows for Count {
        #[inline(always)]
        fn work(&self, _: usize, rows: Range<usize>) {
            rows.for_each(|row| {
                self.0[row].fetch_add(1, Ordering::Relaxed);
            });
        }
    }

    #[test]
    fn every_row_is_worked_on_once() {
        for parts in [vec![0..10, 10..10, 10..37], balanced(&(1..=37).map(|i| i * i).collect::<Vec<_>>()), even(37)] {
            let count = Count((0..37).map(|_| AtomicUsize::new(0)).collect());
            run(&count, &parts);
            assert!(count.0.iter().all(|rows| rows.load(Ordering::Relaxed) == 1), "{parts:?}");
        }
    }
}
