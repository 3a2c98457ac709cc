//! What Linux says of the processor.

/// Processor features that decide how matmuls are computed and how fast. Named as in `/proc/cpuinfo`.
pub const FEATURES: [&str; 5] = ["avx2", "avx512f", "avx512_bf16", "amx_bf16", "bf16"];

/// The [`FEATURES`] that a `/proc/cpuinfo` lists; `None` if it lists no features at all.
pub fn features(cpuinfo: &str) -> Option<Vec<&'static str>> {
    let flags = proc_value(cpuinfo, "flags").or_else(|| proc_value(cpuinfo, "Features"))?;
    Some(FEATURES.into_iter().filter(|feature| flags.split_whitespace().any(|flag| flag == *feature)).collect())
}

/// The first `name : value` in a file of `/proc`.
pub fn proc_value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let of_line = |line: &'a str| line.split_once(':').filter(|(n, _)| n.trim() == name).map(|(_, value)| value.trim());
    text.lines().find_map(of_line)
}

/// The contents of `/proc/cpuinfo`; empty where there is none.
pub(super) fn cpuinfo() -> String {
    std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()
}
