//! Counts the operations that libtorch carries out. On a GPU each one that computes starts at least one kernel.

use super::bridge;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often each operation was called, by its name, such as `aten::addmm`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OperationCounts {
    calls: BTreeMap<String, Calls>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Calls {
    all: u64,
    /// Those that called no other operation.
    leaves: u64,
}

/// Operations that compute nothing: they look at a tensor in another way, or allocate one, or find that nothing needs
/// to be done.
const WITHOUT_KERNEL: [&str; 24] = [
    "alias",
    "as_strided",
    "contiguous",
    "detach",
    "detach_",
    "dropout",
    "empty",
    "empty_like",
    "empty_strided",
    "expand",
    "expand_as",
    "lift_fresh",
    "narrow",
    "permute",
    "reshape",
    "resolve_conj",
    "resolve_neg",
    "result_type",
    "select",
    "set_",
    "slice",
    "to",
    "view",
    "_unsafe_view",
];

/// Operations that wait for the device.
const WAITING: [&str; 4] = ["aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::unique_dim"];

impl OperationCounts {
    /// Calls of operations that call no other operation and compute something.
    pub fn kernels(&self) -> u64 {
        let is_view = |name: &str| WITHOUT_KERNEL.contains(&name.trim_start_matches("aten::"));
        self.calls.iter().filter(|(name, _)| !is_view(name)).map(|(_, calls)| calls.leaves).sum()
    }

    /// Calls of operations that wait for the device.
    pub fn waits(&self) -> u64 {
        WAITING.iter().map(|name| self.of(name)).sum()
    }

    /// Calls of one operation.
    pub fn of(&self, name: &str) -> u64 {
        self.calls.get(name).map_or(0, |calls| calls.all)
    }

    /// Reads lines of a name, its calls, and its calls that called no other operation.
    fn parse(lines: &str) -> Self {
        let calls = lines.lines().filter_map(|line| {
            let mut parts = line.rsplitn(3, ' ');
            let (leaves, all) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            Some((parts.next()?.to_owned(), Calls { all, leaves }))
        });
        OperationCounts { calls: calls.collect() }
    }
}

/// Counts the operations of all threads. One at a time: a second one waits until the first is dropped.
pub struct OperationCounter {
    counting: Option<bridge::Counting>,
    _one: MutexGuard<'static, ()>,
}

impl OperationCounter {
    /// Starts now.
    pub fn start() -> Self {
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        OperationCounter { counting: Some(bridge::Counting::start()), _one }
    }

    /// The operations since the start or the last lap.
    pub fn lap(&mut self) -> OperationCounts {
        let counts = self.counting.take().map(|counting| OperationCounts::parse(&counting.stop()));
        self.counting = Some(bridge::Counting::start());
        counts.unwrap_or_default()
    }
}

impl Drop for OperationCounter {
    fn drop(&mut self) {
        drop(self.counting.take().map(bridge::Counting::stop));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::{Device, Kind, Tensor};

    #[test]
    fn views_are_no_kernels_and_reads_wait() {
        let counts = OperationCounts::parse(
            "aten::view 3 3\naten::add 2 2\naten::linear 1 0\naten::addmm 1 1\naten::_local_scalar_dense 1 1\n",
        );
        assert_eq!((counts.of("aten::add"), counts.of("aten::mul")), (2, 0));
        assert_eq!((counts.kernels(), counts.waits()), (4, 1), "two additions, a product, a read");
    }

    #[test]
    fn what_runs_is_counted() {
        let x = Tensor::ones([2, 3], (Kind::Float, Device::Cpu));
        let mut counter = OperationCounter::start();
        (x.view([3, 2]) + 1.).sum(Kind::Float).double_value(&[]);
        let counts = counter.lap();
        // Other tests run beside this one, and their operations are counted too.
        let run = ["aten::view", "aten::add", "aten::sum", "aten::_local_scalar_dense"];
        assert!(run.iter().all(|name| counts.of(name) >= 1) && counts.waits() >= 1, "{counts:?}");
    }
}
