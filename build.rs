//! Lets the binary and the tests find libtorch where it was linked from, without LD_LIBRARY_PATH, and tells the
//! crate which libtorch that is.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let Ok(lib) = std::env::var("DEP_TCH_LIBTORCH_LIB") else { return };
    println!("cargo:rustc-link-arg=-Wl,-rpath,{lib}");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-link-arg=-Wl,--no-as-needed");
        println!("cargo:rustc-link-arg=-ltorch");
    }
    println!("cargo:rustc-env=TIERED_LIBTORCH_FOLDER={lib}");
    if let Some(version) = Path::new(&lib).parent().and_then(libtorch_version) {
        println!("cargo:rustc-env=TIERED_LIBTORCH_VERSION={version}");
    }
}

/// What the file `build-version` of a libtorch folder says, else its header: libtorch has no function that tells.
fn libtorch_version(folder: &Path) -> Option<String> {
    let read = |file: &str| {
        let path = folder.join(file);
        println!("cargo:rerun-if-changed={}", path.display());
        std::fs::read_to_string(path).ok()
    };
    let of_header = || {
        let header = read("include/torch/headeronly/version.h")?;
        let number = |part: &str| {
            let line = header.lines().find_map(|line| line.strip_prefix(&format!("#define TORCH_VERSION_{part} ")));
            line.map(str::trim)
        };
        Some(format!("{}.{}.{}", number("MAJOR")?, number("MINOR")?, number("PATCH")?))
    };
    read("build-version").map(|version| version.trim().to_owned()).or_else(of_header)
}
