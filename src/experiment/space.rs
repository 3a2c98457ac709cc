//! Whether a run fits on its disk.

use crate::checkpoint::Every;
use crate::config::Config;
use crate::say::counted;
use std::path::Path;

/// How many checkpoints a run has at most: the recent ones that it keeps, the best one and the one being saved.
pub fn checkpoints(config: &Config) -> usize {
    let keep = config.checkpoint.keep;
    let made = (config.checkpoint.every == Every::Epoch).then(|| usize::try_from(config.train.epochs).ok()).flatten();
    let most = keep.saturating_add(2);
    made.map_or(most, |made| most.min(made))
}

/// A warning if so many checkpoints do not fit on the disk, but for those that are there.
pub fn little_space(out: &Path, free: u64, checkpoint: u64, checkpoints: usize) -> Option<String> {
    let there = std::fs::read_dir(out.join("checkpoints")).map_or(0, Iterator::count);
    let needed = checkpoints.saturating_sub(there).max(1);
    let bytes = checkpoint.saturating_mul(needed as u64);
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
        let warning = |free| little_space(Path::new("runs/x"), free, 1_000_000_000, 4);
        assert_eq!(warning(4_000_000_000), None);
        let said = warning(3_990_000_000).unwrap();
        assert_eq!(said, "runs/x: 3.99 GB are free, but up to 4 more checkpoints take 4.00 GB");
        let run = tempfile::TempDir::new().unwrap();
        for step in ["step-00000001", "step-00000002"] {
            std::fs::create_dir_all(run.path().join("checkpoints").join(step)).unwrap();
        }
        let warning = |free| little_space(run.path(), free, 1_000_000_000, 4).is_some();
        assert!(warning(1_990_000_000) && !warning(2_000_000_000), "two are there");
        assert!(little_space(run.path(), u64::MAX - 1, 1_000_000_000, usize::MAX).is_some());
    }

    #[test]
    fn a_run_has_no_more_checkpoints_than_it_makes() {
        let config = |checkpoint: &str| {
            let text = "encoder.path = ''\ndata.train = { file = '', split = '' }\ntrain.epochs = 8";
            checkpoints(&toml::from_str(&format!("{text}\n{checkpoint}")).unwrap())
        };
        assert_eq!(config("checkpoint = { every = 'epoch', keep = 3 }"), 5);
        assert_eq!(config("checkpoint = { every = 'epoch', keep = 100 }"), 8);
        assert_eq!(config("checkpoint = { every = '5 steps', keep = 100 }"), 102);
        assert_eq!(
            config(&format!("checkpoint = {{ every = '5 steps', keep = {} }}", i64::MAX)),
            i64::MAX as usize + 2
        );
    }
}
