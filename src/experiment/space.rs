//! Whether a run fits on its disk.

use crate::say::counted;
use std::path::Path;

/// A warning if the checkpoints of a run do not fit on the disk: the `keep` recent ones, the best one and the one being
/// saved, but for those that are there.
pub fn little_space(out: &Path, free: u64, checkpoint: u64, keep: usize) -> Option<String> {
    let there = std::fs::read_dir(out.join("checkpoints")).map_or(0, Iterator::count);
    let needed = (keep + 2).saturating_sub(there).max(1);
    let bytes = checkpoint * needed as u64;
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    (free < bytes).then(|| {
        let checkpoints = counted(needed, "more checkpoint");
        let (free, bytes) = (gigabytes(free), gigabytes(bytes));
        format!("{}: {free:.2} GB are free, but up to {checkpoints} take {bytes:.2} GB", out.display())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_room_for_the_checkpoints_that_a_run_keeps_is_warned_of() {
        let warning = |free| little_space(Path::new("runs/x"), free, 1_000_000_000, 2);
        assert_eq!(warning(4_000_000_000), None);
        let said = warning(3_990_000_000).unwrap();
        assert_eq!(said, "runs/x: 3.99 GB are free, but up to 4 more checkpoints take 4.00 GB");
        let run = tempfile::TempDir::new().unwrap();
        for step in ["step-00000001", "step-00000002"] {
            std::fs::create_dir_all(run.path().join("checkpoints").join(step)).unwrap();
        }
        let warning = |free| little_space(run.path(), free, 1_000_000_000, 2).is_some();
        assert!(warning(1_990_000_000) && !warning(2_000_000_000), "two are there");
    }
}
