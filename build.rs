//! Lets the binary and the tests find libtorch where it was linked from, without LD_LIBRARY_PATH, tells the crate which
//! libtorch that is, and from which commit it is built, and compiles what tch lacks of libtorch, and what lets several
//! processes train one model.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The libtorch that the declarations in `src/distributed/gloo` fit.
const LIBTORCH_OF_C10D: &str = "2.13.0";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let lib = std::env::var("DEP_TCH_LIBTORCH_LIB").ok();
    let libtorch = lib.as_ref().and_then(|lib| libtorch_version(Path::new(lib).parent()?));
    let known = |version: Option<&str>| version.unwrap_or("unknown").to_owned();
    let (commit, of_libtorch) = (known(commit().as_deref()), known(libtorch.as_deref()));
    let version = env!("CARGO_PKG_VERSION");
    println!("cargo:rustc-env=TIERED_VERSION={version} (commit {commit}, libtorch {of_libtorch})");
    println!("cargo:rustc-check-cfg=cfg(c10d)");
    match build_c10d(lib.as_deref().map(Path::new), &of_libtorch) {
        Ok(()) => println!("cargo:rustc-cfg=c10d"),
        Err(why) => println!("cargo:rustc-env=TIERED_WITHOUT_C10D={why}"),
    }
    let Some(lib) = lib else { return };
    compile_bridge(Path::new(&lib));
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

/// Compiles `src/torch/bridge.cc`, which takes 3 s, with the headers that belong to the libraries in `lib`.
fn compile_bridge(lib: &Path) {
    println!("cargo:rerun-if-changed=src/torch/bridge.cc");
    let headers = std::env::var_os("LIBTORCH_INCLUDE").map(PathBuf::from);
    let include = headers.as_deref().or(lib.parent()).unwrap_or(lib).join("include");
    cc::Build::new()
        .cpp(true)
        .warnings(false)
        .flag(format!("-isystem{}", include.display()))
        .std("c++17")
        .file("src/torch/bridge.cc")
        .compile("tiered_bridge");
}

/// Compiles `src/distributed/c10d.cc`, which takes 15 s, unless that was done with the same sources and headers.
///
/// # Errors
/// Why this build can't run several processes. It can do all else.
fn build_c10d(lib: Option<&Path>, libtorch: &str) -> Result<(), String> {
    println!("cargo:rerun-if-env-changed=TIERED_WITHOUT_C10D");
    println!("cargo:rerun-if-changed=src/distributed");
    if std::env::var_os("TIERED_WITHOUT_C10D").is_some() {
        return Err("TIERED_WITHOUT_C10D was set".to_owned());
    }
    let headers = std::env::var_os("LIBTORCH_INCLUDE").map(PathBuf::from);
    let headers = headers.as_deref().or(lib.and_then(Path::parent)).ok_or("there was no libtorch")?;
    let include = headers.join("include");
    if libtorch.split('+').next() != Some(LIBTORCH_OF_C10D) {
        return Err(format!("libtorch is {libtorch}, and {LIBTORCH_OF_C10D} is needed"));
    }
    if !include.join("torch/csrc/distributed/c10d/ProcessGroupGloo.hpp").is_file() {
        return Err(format!("{} has no headers of c10d", include.display()));
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let (stamp, made_from) = (out.join("c10d.stamp"), made_from(&include));
    if fs::read_to_string(&stamp).ok().as_deref() != Some(made_from.as_str()) {
        compile_c10d(&include);
        fs::write(&stamp, made_from).expect("OUT_DIR can be written");
    }
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=tiered_c10d");
    Ok(())
}

fn compile_c10d(include: &Path) {
    cc::Build::new()
        .cpp(true)
        .cargo_metadata(false)
        .warnings(false)
        .include("src/distributed") // gloo/
        .flag(format!("-isystem{}", include.display()))
        .flag(format!("-isystem{}", include.join("torch/csrc/api/include").display()))
        .std("c++20")
        .file("src/distributed/c10d.cc")
        .compile("tiered_c10d");
}

/// All that the compiled file depends on: the sources, the headers' folder and the compiler's variables.
fn made_from(include: &Path) -> String {
    let files = ["c10d.cc", "gloo/context.h", "gloo/rendezvous/store.h", "gloo/transport/device.h"];
    let sources = files.map(|file| {
        fs::read_to_string(Path::new("src/distributed").join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    });
    let variables = ["CXX", "CXXFLAGS", "OPT_LEVEL"].map(|name| std::env::var(name).unwrap_or_default());
    format!("{}\n{}\n{}", include.display(), variables.join("\n"), sources.join("\n"))
}

/// The commit that is checked out, "-dirty" where tracked files differ from it; none of what was unpacked from an archive.
fn commit() -> Option<String> {
    Path::new(".git").exists().then_some(())?;
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    println!("cargo:rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    for built_from in [
        "src",
        "templates",
        "configs",
        "data/lexicon",
        "data/sample",
        "data/world",
        "scripts/read_export.py",
        "Cargo.toml",
        "Cargo.lock",
    ] {
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
