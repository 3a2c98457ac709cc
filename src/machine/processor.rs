//! What Linux says of the processor.

/// Processor features that decide how matmuls are computed and how fast. Named as in `/proc/cpuinfo`.
pub const FEATURES: [&str; 5] = ["avx2", "avx512f", "avx512_bf16", "amx_bf16", "bf16"];

/// The [`FEATURES`] that a `/proc/cpuinfo` lists; `None` if it lists no features at all.
pub fn features(cpuinfo: &str) -> Option<Vec<&'static str>> {
    let flags = proc_value(cpuinfo, "flags").or_else(|| proc_value(cpuinfo, "Features"))?;
    Some(FEATURES.into_iter().filter(|feature| flags.split_whitespace().any(|flag| flag == *feature)).collect())
}

/// The first `name : value` in a file of `/proc`.
pub(super) fn proc_value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let of_line = |line: &'a str| line.split_once(':').filter(|(n, _)| n.trim() == name).map(|(_, value)| value.trim());
    text.lines().find_map(of_line)
}

/// The number of threads with which libtorch computes where no config sets it: `OMP_NUM_THREADS`, else one for each core
/// that this process may use. OpenMP does not know the CPU quota of a container.
pub fn default_threads() -> i32 {
    let threads = tch::get_num_threads();
    match (std::env::var_os("OMP_NUM_THREADS"), std::thread::available_parallelism()) {
        (None, Ok(cores)) => threads.min(cores.get() as i32),
        _ => threads,
    }
}

/// The contents of `/proc/cpuinfo`; empty where there is none.
pub fn cpuinfo() -> String {
    std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_files_are_read() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Some CPU: X\nflags\t\t: fpu avx2 avx512_bf16 avx512foo\n";
        assert_eq!(proc_value(cpuinfo, "model name"), Some("Some CPU: X"));
        assert_eq!(features(cpuinfo), Some(vec!["avx2", "avx512_bf16"]));
        assert_eq!(features(""), None);
    }
}
