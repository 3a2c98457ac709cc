//! Whether a run fits on its disk.

use std::path::Path;

/// A warning if three checkpoints do not fit on the disk: the one being saved and the two that are kept by default.
pub fn little_space(out: &Path, free: u64, checkpoint: u64) -> Option<String> {
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    (free < 3 * checkpoint).then(|| {
        format!(
            "{}: {:.2} GB are free, but three checkpoints take {:.2} GB",
            out.display(),
            gigabytes(free),
            gigabytes(3 * checkpoint)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_for_less_than_three_checkpoints_is_warned_of() {
        let warning = |free| little_space(Path::new("runs/x"), free, 1_000_000_000);
        assert_eq!(warning(3_000_000_000), None);
        assert_eq!(warning(2_990_000_000).unwrap(), "runs/x: 2.99 GB are free, but three checkpoints take 3.00 GB");
    }
}
