//! What the command line says of itself: help, version, completions, manual.

use crate::support::{stderr, stdout, text, tiered, tiered_with};
use crate::tiny::Tiny;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use tiered::error::EXIT_CODES;

#[test]
fn exit_codes_are_in_the_documents_and_in_the_manual() {
    let document = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/exit-codes.md")).unwrap();
    let page = stdout(&tiered(["man"]));
    for (code, meaning) in EXIT_CODES {
        assert!(document.contains(&format!("| {code} | {meaning} |")), "docs/exit-codes.md: {code} {meaning}");
        assert!(page.contains(&format!("\\fB{code}\\fR")), "tiered man: {code}");
    }
}

#[test]
fn the_version_names_the_commit_and_libtorch() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(stdout(&tiered(["-V"])), format!("tiered {version}\n"));
    let long = stdout(&tiered(["--version"]));
    let rest = long.strip_prefix(&format!("tiered {version} (commit ")).unwrap();
    let (commit, libtorch) = rest.split_once(", libtorch ").unwrap();
    let commit = commit.strip_suffix("-dirty").unwrap_or(commit);
    let is_hash = commit.len() == 12 && commit.chars().all(|c| c.is_ascii_hexdigit());
    let is_checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join(".git").exists();
    assert!(if is_checkout { is_hash } else { commit == "unknown" }, "{long}");
    assert!(libtorch.starts_with("2."), "{long}");
}

/// libtorch ends a program there with words that say something else.
#[test]
fn a_current_folder_that_was_removed_is_named() {
    let above = tempfile::TempDir::new().unwrap();
    let script = format!("mkdir gone && cd gone && rmdir ../gone && exec '{}' doctor", env!("CARGO_BIN_EXE_tiered"));
    let output = Command::new("sh").args(["-c", &script]).current_dir(above.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    assert!(stderr(&output).contains("the current folder can't be used"), "{}", stderr(&output));
}

#[test]
fn a_folder_is_not_standard_output() {
    for command in [
        &["train", "--config", "c"][..],
        &["eval", "r", "--data", "f"],
        &["baseline", "--data", "f"],
        &["model", "export", "r"],
        &["model", "average", "r", "s"],
        &["model", "fetch", "o/n"],
        &["data", "fetch", "trip"],
        &["sweep", "run", "f"],
        &["llm", "eval"],
        &["llm", "piqa", "eval"],
        &["llm", "piqa", "score", "f", "--data", "d"],
    ] {
        let output = tiered(command.iter().copied().chain(["--output", "-"]));
        let said = stderr(&output);
        assert!(
            output.status.code() == Some(2) && said.contains("a folder can't be standard output"),
            "{command:?}: {said}"
        );
    }
}

#[test]
fn an_argument_that_is_not_utf_8_is_a_usage_error_if_unknown() {
    for arguments in [&["train", "--epochs", "3"][..], &[]] {
        let output = Command::new(env!("CARGO_BIN_EXE_tiered"))
            .args(arguments)
            .arg(OsStr::from_bytes(b"run\xff"))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    }
}

#[test]
fn the_help_fits_a_screen() {
    let help = stdout(&tiered(["--help"]));
    assert!(help.lines().count() <= 24, "{help}");
    for group in ["data", "model", "report", "sweep"] {
        assert!(stderr(&tiered([group])).contains("Commands:"), "{group}");
    }
}

#[test]
fn a_mistyped_command_leads_to_the_one_that_was_meant() {
    let of_data = stderr(&tiered(["data", "random"]));
    assert!(!of_data.contains("baseline"), "{of_data}");
    assert!(stderr(&tiered(["trian"])).contains("'train'"));
}

#[test]
fn a_key_of_the_config_is_no_flag_of_train() {
    for (flags, said) in [
        (vec!["--epochs", "3"], "`train` has no `--epochs`; it is a key of the config: write `--set train.epochs=3`"),
        (vec!["--learning-rate=1e-5"], "write `--set train.learning_rate=1e-5`"),
        (vec!["--model.detector.kind", "joint"], "write `--set model.detector.kind=joint`"),
        (vec!["--no-such-thing"], "keys of the config are set with '--set KEY=VALUE'"),
        (vec!["--outputs", "x"], "'--output'"),
    ] {
        let output = tiered(["train", "--config", "configs/demo.toml"].into_iter().chain(flags));
        assert_eq!(output.status.code(), Some(2));
        let message = stderr(&output);
        assert!(message.contains(said) && !message.contains("as a value"), "{message}");
    }
}

#[test]
fn help_that_cant_be_printed_is_an_error() {
    if cfg!(target_os = "linux") {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tiered"));
        assert_eq!(command.arg("--help").stdout(full).status().unwrap().code(), Some(74));
    }
}

#[test]
fn no_pairs_are_no_limit() {
    let output = tiered(["train", "--config", "configs/demo.toml", "--limit", "0", "--dry-run"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("'--limit <N>'"), "{}", stderr(&output));
}

#[test]
fn bash_completes_commands_and_flags() {
    let directory = tempfile::TempDir::new().unwrap();
    let script = directory.path().join("completions.sh");
    fs::write(&script, stdout(&tiered(["completions", "bash"]))).unwrap();
    let complete = |words: &[&str]| {
        let program = r#"source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _tiered tiered "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"; printf '%s\n' "${COMPREPLY[@]}""#;
        stdout(&Command::new("bash").args(["-c", program, "bash", text(&script)]).args(words).output().unwrap())
    };
    assert_eq!(complete(&["tiered", "tra"]), "train\n");
    assert_eq!(complete(&["tiered", "train", "--res"]), "--resume\n");
    for shell in ["zsh", "fish"] {
        assert!(stdout(&tiered(["completions", shell])).contains("dry-run"), "{shell}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    assert!(stdout(&tiered(["man"])).contains("tiered\\-train(1)"));
    assert!(stdout(&tiered(["man", "sweep", "run"])).contains("tiered\\-sweep\\-run"));
    let output = tiered(["man", "stdy"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("\"stdy\""), "{}", stderr(&output));
}

#[test]
fn flags_of_train_stand_above_the_config() {
    let tiny = Tiny::new();
    let config = tiny.config();
    let out = tiny.path("seeded");
    let flags = ["--seed", "7", "--device", "cpu", "--set", "seed=5", "--output", text(&out)];
    let output = tiered([&["train", "--config", text(&config)], &flags[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let written = fs::read_to_string(out.join("config.toml")).unwrap();
    assert!(written.contains("seed = 7\n") && written.contains("device = \"cpu\"\n"), "{written}");
    let output = tiered(["train", "--config", text(&config), "--device", "gpu", "--dry-run"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

/// Loading libtorch takes longer than everything else that these commands do. On other platforms the linker keeps it.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn help_needs_no_libtorch() {
    let loaded = tiered_with("LD_TRACE_LOADED_OBJECTS", "1", []);
    assert!(stdout(&loaded).contains("libc.so") && !stdout(&loaded).contains("torch"), "{}", stdout(&loaded));
}

#[test]
fn without_its_other_half_the_program_says_what_is_missing() {
    let folder = tempfile::TempDir::new().unwrap();
    let alone = folder.path().join("tiered");
    fs::copy(env!("CARGO_BIN_EXE_tiered"), &alone).unwrap();
    let run = |command| Command::new(&alone).arg(command).output().unwrap();
    assert!(run("--help").status.success());
    let output = run("doctor");
    assert_eq!(output.status.code(), Some(69));
    let said = stderr(&output);
    assert!(said.contains("tiered-torch: can't be started") && said.contains("install both"), "{said}");
}
