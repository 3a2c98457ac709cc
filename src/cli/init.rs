//! `tiered init`: starts a project with the sample stories.

use super::output::print;
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Start a project: a folder with a config, sample stories and a README
///
/// The README has the commands that train on the English sample stories and test on the Italian ones.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A new or empty folder
    folder: PathBuf,
}

/// The files of a project. Those of the demo are as `make demo` reads them, but for the encoder.
const FILES: [(&str, &str); 5] = [
    ("README.md", include_str!("../../templates/project.md")),
    ("configs/demo.toml", include_str!("../../configs/demo.toml")),
    ("data/sample/en.json", include_str!("../../data/sample/en.json")),
    ("data/sample/en-dev.json", include_str!("../../data/sample/en-dev.json")),
    ("data/sample/it.json", include_str!("../../data/sample/it.json")),
];

/// The encoder of the demo's config in a checkout, where a script assembles it.
const ASSEMBLED: &str = "\"checkpoints/encoders/e5-small\"";

/// The same encoder on the Hugging Face hub.
const ON_HUB: &str = "\"intfloat/multilingual-e5-small\" # tiered model fetch intfloat/multilingual-e5-small";

pub(super) fn run(args: &Args) -> Result<()> {
    let folder = &args.folder;
    make(folder)?;
    let name = folder.display();
    print(&format!("made {name}: configs/demo.toml, data/sample, README.md with what to do next\n"))
}

/// Writes everything under another name first, so that a new folder is complete or not there. An empty one stays: it may
/// be the folder in which the user is.
fn make(folder: &Path) -> Result<()> {
    if let Some(problem) = taken(folder) {
        let message = format!("{}: {problem}; name a new or an empty folder", folder.display());
        return Err(Error::new(ErrorKind::CantCreate, message));
    }
    let failed = |error| Error::writing(folder, &error);
    let is_there = folder.is_dir();
    if !is_there {
        durable::require_creatable(folder)?;
    }
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = if is_there { folder } else { parent };
    fs::create_dir_all(parent).map_err(failed)?;
    let part = tempfile::Builder::new().prefix(".tiered-init-").tempdir_in(parent).map_err(failed)?;
    for (name, text) in FILES {
        let path = part.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(failed)?;
        durable::write(&path, text.replace(ASSEMBLED, ON_HUB).as_bytes())?;
    }
    // A temporary folder is for its owner only; a project is as open as the user's folders are.
    let open = fs::metadata(part.path().join("data")).map_err(failed)?.permissions();
    if is_there {
        let mut entries = fs::read_dir(part.path()).map_err(failed)?;
        let mut into = |entry: fs::DirEntry| fs::rename(entry.path(), folder.join(entry.file_name()));
        return entries.try_for_each(|entry| entry.and_then(&mut into)).map_err(failed);
    }
    fs::set_permissions(part.path(), open).map_err(failed)?;
    fs::rename(part.path(), folder).map_err(failed)
}

/// Why no project can be made at a path where something is.
fn taken(path: &Path) -> Option<String> {
    fs::symlink_metadata(path).ok()?;
    match fs::read_dir(path) {
        Ok(mut entries) => entries.next().map(|_| "is not empty".to_owned()),
        Err(_) if !path.is_dir() => Some("is no folder".to_owned()),
        Err(error) => Some(format!("can't be read ({error})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::data::read_file;

    #[test]
    fn a_project_is_complete_and_its_config_names_an_encoder_of_the_hub() {
        let parent = tempfile::TempDir::new().unwrap();
        let folder = parent.path().join("a/project");
        make(&folder).unwrap();
        let config = Config::open(&folder.join("configs/demo.toml"), &[]).unwrap();
        assert_eq!(config.encoder.path, Path::new("intfloat/multilingual-e5-small"));
        for source in config.data.train.0.iter().chain(&config.data.dev.unwrap().0) {
            let (file, split) = source.story_file().unwrap();
            read_file(&folder.join(file)).unwrap().split(split).unwrap();
        }
        assert_eq!(fs::read_dir(parent.path().join("a")).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn what_is_there_is_kept() {
        let folder = tempfile::TempDir::new().unwrap();
        // An empty folder by another name, as "." is one.
        make(&folder.path().join(".")).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "configs, data, README.md");
        fs::write(folder.path().join("README.md"), "mine").unwrap();
        let error = make(folder.path()).unwrap_err();
        assert!(error.kind == ErrorKind::CantCreate && error.message.contains("is not empty"), "{error}");
        assert_eq!(fs::read_to_string(folder.path().join("README.md")).unwrap(), "mine");
        let error = make(&folder.path().join("README.md")).unwrap_err();
        assert!(error.kind == ErrorKind::CantCreate && error.message.contains("is no folder"), "{error}");
    }
}
