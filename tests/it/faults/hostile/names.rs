//! Names that lead out of their folder, or only look as if they did not.

use super::timed;
use crate::faults::row;
use std::fs;
use std::time::Duration;
use tempfile::TempDir;
use tiered::error::ErrorKind;
use tiered::experiment::RunFolder;
use tiered::untrusted::{component, model_id, relative, within};

const TIME: Duration = Duration::from_millis(100);

/// None may be used as the name of a file, as a relative path or as a model id.
const TRAVERSALS: [&str; 64] = [
    "",
    ".",
    "..",
    "...",
    "../x",
    "../../etc/passwd",
    "a/..",
    "a/../b",
    "a/../../b",
    "./a",
    "a/./b",
    "a//b",
    "/",
    "//",
    "/etc/passwd",
    "//server/share",
    "a/",
    "~",
    "~root/.ssh",
    "-rf",
    "--help",
    "a/-x",
    ".git/config",
    ".bashrc",
    "..\\x",
    "..\\..\\windows",
    "a\\b",
    "\\\\server\\share",
    "\\\\?\\C:\\x",
    "C:",
    "C:\\x",
    "c:x",
    "C:/x",
    "a:b",
    "file.txt::$DATA",
    "x\0",
    "\0",
    "x\0/../y",
    "a\nb",
    "a\r",
    "a\tb",
    "\u{1b}[2J",
    "\u{7f}",
    "\u{85}",
    "%2e%2e%2fx",
    "..%2fx",
    "%2e%2e",
    "..%c0%afx",
    "\u{2024}\u{2024}/x",
    "\u{ff0e}\u{ff0e}/x",
    "a\u{ff0f}b",
    "a\u{2215}b",
    "a\u{2044}b",
    "a\u{29f5}b",
    "\u{202e}txt",
    "a\u{200b}b",
    "\u{feff}a",
    "a\u{2028}b",
    "nul",
    "CON.txt",
    "com1",
    "lpt9.safetensors",
    "a ",
    "a.",
];

#[test]
fn path_traversals() {
    let directory = TempDir::new().unwrap();
    let run = directory.path().join("run");
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("model.json"), "{}").unwrap();
    let folder = RunFolder::open(&run).unwrap();
    let long = "x".repeat(201);
    let deep = ["x"; 9].join("/");
    let names: Vec<&str> = TRAVERSALS.into_iter().chain([long.as_str(), deep.as_str()]).collect();
    let mut passed = 0;
    for name in &names {
        let (outcome, time) = timed(TIME, || {
            let id = format!("org/{name}");
            let refused = component(name).is_err() && relative(name).is_err() && within(&run, name).is_err();
            let as_id =
                model_id(name).is_err() && model_id(&id).is_err() && model_id(&format!("{name}/model")).is_err();
            let error = folder.evaluation_file(name, "predictions.jsonl").unwrap_err();
            assert_eq!(error.kind, ErrorKind::Refused);
            assert!(!error.message.chars().any(char::is_control) && error.message.len() < 600, "{}", error.message);
            refused && as_id
        });
        assert_eq!(outcome, Some(true), "{name:?}");
        assert!(time < TIME, "{name:?}: {time:?}");
        passed += 1;
    }
    let left: Vec<_> = fs::read_dir(directory.path()).unwrap().chain(fs::read_dir(&run).unwrap()).collect();
    assert_eq!(left.len(), 2, "nothing was made: {left:?}");
    row("path traversals", passed, names.len());
}

#[cfg(unix)]
#[test]
fn links_out_of_a_folder_are_not_followed() {
    use std::os::unix::fs::symlink;
    let directory = TempDir::new().unwrap();
    let [run, elsewhere] = ["run", "elsewhere"].map(|name| directory.path().join(name));
    for folder in [run.join("eval/kept"), run.join("inside"), elsewhere.clone()] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(run.join("model.json"), "{}").unwrap();
    fs::write(elsewhere.join("precious"), "as it was").unwrap();
    symlink(&elsewhere, run.join("eval/out")).unwrap();
    symlink(elsewhere.join("precious"), run.join("eval/kept/predictions.jsonl")).unwrap();
    symlink(elsewhere.join("not-yet"), run.join("eval/broken")).unwrap();
    symlink("../inside", run.join("eval/in")).unwrap();

    let folder = RunFolder::open(&run).unwrap();
    for name in ["out", "kept", "broken"] {
        let error = folder.write_evaluation(name, "predictions.jsonl", "overwritten").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused, "{name}");
        assert!(error.message.contains("link") && error.message.contains(name), "{error}");
    }
    folder.write_evaluation("in", "report.json", "{}").unwrap();
    assert!(run.join("inside/report.json").is_file());
    assert_eq!(fs::read_to_string(elsewhere.join("precious")).unwrap(), "as it was");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
    assert!(within(&run, "inside/new/file").is_ok() && within(&elsewhere.join("none"), "a").is_err());

    // The folder itself may be a link: its owner made that.
    symlink(&run, directory.path().join("linked")).unwrap();
    RunFolder::open(&directory.path().join("linked")).unwrap().write_evaluation("new", "report.json", "{}").unwrap();
    assert!(run.join("eval/new/report.json").is_file());
}
