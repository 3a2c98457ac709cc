//! Lets the binary and the tests find libtorch where it was linked from, without LD_LIBRARY_PATH, and tells the
//! crate which libtorch that is, and from which commit it is built.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let lib = std::env::var("DEP_TCH_LIBTORCH_LIB").ok();
    let libtorch = lib.as_ref().and_then(|lib| libtorch_version(Path::new(lib).parent()?));
    let known = |version: Option<&str>| version.unwrap_or("unknown").to_owned();
    let (commit, of_libtorch) = (known(commit().as_deref()), known(libtorch.as_deref()));
    let version = env!("CARGO_PKG_VERSION");
    println!("cargo:rustc-env=TIERED_VERSION={version} (commit {commit}, libtorch {of_libtorch})");
    let Some(lib) = lib else { return };
    println!("cargo:rustc-link-arg=-Wl,-rpath,{lib}");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // Cargo refuses arguments for tests where there are none: they are not in the package.
        let tests = Path::new("tests").exists().then_some("tests");
        for target in ["bin=tiered-torch", "examples"].into_iter().chain(tests) {
            println!("cargo:rustc-link-arg-{target}=-Wl,--no-as-needed");
            println!("cargo:rustc-link-arg-{target}=-ltorch");
        }
        // The other program computes nothing. Where none of libtorch's symbols is exported, it isn't linked either.
        println!("cargo:rustc-link-arg-bin=tiered=-Wl,--exclude-libs,ALL");
    }
    println!("cargo:rustc-env=TIERED_LIBTORCH_FOLDER={lib}");
    if let Some(version) = libtorch {
        println!("cargo:rustc-env=TIERED_LIBTORCH_VERSION={version}");
    }
}

/// The commit that is checked out, "-dirty" where tracked files differ from it; none of what was unpacked from an archive.
fn commit() -> Option<String> {
    Path::new(".git").exists().then_some(())?;
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    println!("cargo:rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    for built_from in ["src", "templates", "data/world", "scripts/read_export.py", "Cargo.toml", "Cargo.lock"] {
        println!("cargo:rerun-if-changed={built_from}");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let is_changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(format!("{commit}{}", if is_changed { "-dirty" } else { "" }))
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
