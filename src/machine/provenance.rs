//! What the last digits of a run's numbers depend on.

use super::gpu::Gpu;
use super::processor::{cpuinfo, features, proc_value};
use crate::checkpoint::Environment;
use crate::torch::has_kernels;
use std::path::{Path, PathBuf};
use tch::Device;

/// The version of libtorch at build time. libtorch has no function that returns it.
pub const LIBTORCH_VERSION: Option<&str> = option_env!("TIERED_LIBTORCH_VERSION");

/// What the last digits of a run's numbers depend on, as of now.
pub fn made_with(device: Device) -> Environment {
    Environment {
        tiered: env!("CARGO_PKG_VERSION").to_owned(),
        libtorch: LIBTORCH_VERSION.unwrap_or("unknown").to_owned(),
        device: device_path(device),
        threads: tch::get_num_threads(),
        gpu: Gpu::of(device).map(|gpu| gpu.words()),
        processor: processor(&cpuinfo()),
    }
}

/// Its maker and its features: MKL, and `precision = "auto"`, choose by both.
fn processor(cpuinfo: &str) -> Vec<String> {
    let features = features(cpuinfo).unwrap_or_default();
    proc_value(cpuinfo, "vendor_id").into_iter().chain(features).map(str::to_owned).collect()
}

/// Our kernels draw other dropout masks than libtorch's operations.
fn device_path(device: Device) -> String {
    match device {
        Device::Cpu if !has_kernels(device) => "cpu with TIERED_KERNELS=off".to_owned(),
        _ => format!("{device:?}").to_lowercase(),
    }
}

/// The folder of the libtorch that is loaded, which need not be the one at build time; where that can't be found out,
/// the one at build time.
pub fn libtorch_folder() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    loaded_from(&maps).or_else(|| option_env!("TIERED_LIBTORCH_FOLDER").map(PathBuf::from))
}

fn loaded_from(maps: &str) -> Option<PathBuf> {
    let mut files = maps.lines().filter_map(|line| line.find('/').map(|path| Path::new(&line[path..])));
    files.find(|file| file.ends_with("libtorch_cpu.so"))?.parent().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libtorch_is_found_where_it_was_loaded_from() {
        let maps = "7f00-7f01 r--p 00000000 fe:00 12   /usr/lib/libc.so.6\n7f02-7f03 r--p 00000000 fe:00 34   \
                    /home/a b/torch/lib/libtorch_cpu.so\n7f04-7f05 rw-p 00000000 00:00 0\n";
        assert_eq!(loaded_from(maps), Some("/home/a b/torch/lib".into()));
        assert_eq!(loaded_from(""), None);
    }

    #[test]
    fn a_processor_is_its_maker_and_its_features() {
        assert_eq!(processor("vendor_id : GenuineIntel\nflags\t: avx2 fma\n"), ["GenuineIntel", "avx2"]);
        assert_eq!(processor("Features : asimd bf16\n"), ["bf16"], "arm64 names no maker");
    }

    #[test]
    fn this_process_has_loaded_one() {
        assert!(libtorch_folder().is_some_and(|folder| folder.is_dir()));
    }
}
