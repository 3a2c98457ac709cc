//! Checks names from outside that become files or folders.

use super::file::{is_invisible, shown};
use std::path::{Path, PathBuf};

/// The longest name, in bytes. File systems allow 255, and we may add a suffix.
const LONGEST: usize = 200;
/// The largest number of names in a relative path.
const DEEPEST: usize = 8;
/// The longest name in a model id.
const LONGEST_IN_ID: usize = 96;

/// A name that might lead out of its folder, or mean something to a shell, a terminal or another operating system.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{name}\" can't be used as a path: {why}")]
pub struct UnsafeName {
    name: String,
    why: String,
}

impl UnsafeName {
    fn new(name: &str, why: impl Into<String>) -> Self {
        UnsafeName { name: shown(name, 80), why: why.into() }
    }
}

/// Returns the name if it can be the name of one file or folder. Allowed are letters of any script, digits, inner
/// spaces and `-_.,+=@#()[]'&!`. It must not begin with a dash or a dot, or be the name of a device.
pub fn component(name: &str) -> Result<&str, UnsafeName> {
    let refuse = |why: &str| Err(UnsafeName::new(name, why));
    match name {
        "" => return refuse("it is empty"),
        _ if name.len() > LONGEST => return refuse("it is longer than 200 bytes"),
        _ if name.starts_with('.') => return refuse("it begins with a dot"),
        _ if name.starts_with('-') => return refuse("it begins with a dash"),
        _ if name.starts_with(' ') || name.ends_with([' ', '.']) => {
            return refuse("it begins or ends with a space, or ends with a dot");
        }
        _ if is_device(name) => return refuse("it is the name of a device on some systems"),
        _ => {}
    }
    match name.chars().find(|&c| !is_safe(c)) {
        Some(c) => refuse(&format!("it holds {} (U+{:04X})", c.escape_debug(), u32::from(c))),
        None => Ok(name),
    }
}

/// Characters that only look like a slash or a dot are not safe.
fn is_safe(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || "-_.,+=@#()[]'&! ".contains(c);
    }
    // Combining vowel signs and accents are not letters, but they are part of words.
    let mark = ('\u{300}'..='\u{1cff}').contains(&c) && !c.is_whitespace() && !c.is_control();
    (c.is_alphanumeric() || mark) && !is_invisible(c)
}

/// On Windows, files with these names open devices, whatever their extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_lowercase();
    let numbered = |prefix| stem.strip_prefix(prefix).is_some_and(|n: &str| n.len() == 1 && n != "0");
    ["con", "prn", "aux", "nul"].contains(&stem.as_str())
        || (numbered("com") || numbered("lpt")) && stem.ends_with(|c: char| c.is_ascii_digit())
}

/// Returns the path if it is one to eight names ([`component`]) separated by slashes. Such a path can leave its folder
/// only through a link ([`within`]).
pub fn relative(path: &str) -> Result<&str, UnsafeName> {
    if path.split('/').count() > DEEPEST {
        return Err(UnsafeName::new(path, "it has more than 8 parts"));
    }
    for part in path.split('/') {
        component(part).map_err(|error| match part == path {
            true => error,
            false => UnsafeName::new(path, format!("in its part \"{}\", {}", shown(part, 40), error.why)),
        })?;
    }
    Ok(path)
}

/// `folder/path` for a relative path from outside; it need not exist yet. No link on the way leads out of the folder.
/// (Someone who can change the folder can still put a link there afterwards.)
pub fn within(folder: &Path, path: &str) -> Result<PathBuf, UnsafeName> {
    let refuse = |why: String| Err(UnsafeName::new(path, why));
    let joined = folder.join(relative(path)?);
    let root = match folder.canonicalize() {
        Ok(root) => root,
        Err(error) => return refuse(format!("its folder {} can't be found: {error}", folder.display())),
    };
    for existing in joined.ancestors() {
        match existing.canonicalize() {
            Ok(real) if real.starts_with(&root) => return Ok(joined),
            Ok(_) => return refuse(format!("{} is a link out of {}", existing.display(), folder.display())),
            Err(_) if existing.is_symlink() => return refuse(format!("{} is a broken link", existing.display())),
            Err(_) => {}
        }
    }
    refuse(format!("no part of it is in {}", folder.display()))
}

/// Returns the id of a model, `ORG/NAME` or (for a few old ones) `NAME`, if it follows the rules of the Hugging Face
/// hub.
pub fn model_id(id: &str) -> Result<&str, UnsafeName> {
    let refuse = |why: &str| Err(UnsafeName::new(id, why));
    if id.split('/').count() > 2 {
        return refuse("it is neither ORG/NAME nor NAME");
    }
    for part in id.split('/') {
        component(part).map_err(|error| UnsafeName::new(id, error.why))?;
        if !part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
            return refuse("a model id has letters, digits, dashes, dots and underscores only");
        }
        if part.len() > LONGEST_IN_ID || part.contains("--") || part.contains("..") || part.ends_with('-') {
            return refuse("it has a name of over 96 letters, two dashes or dots in a row, or a dash at an end");
        }
    }
    if id.ends_with(".git") { refuse("it ends in .git") } else { Ok(id) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_are_allowed() {
        let names =
            ["en-dev-all", "GITA_test-test#2-cloze", "città (due)", "città", "हिन्दी-test", "数据", "console", "comb1"];
        assert_eq!(names.map(component), names.map(Ok));
        assert_eq!(relative("best/model.safetensors"), Ok("best/model.safetensors"));
        assert_eq!(relative("refs/pr/12"), Ok("refs/pr/12"));
        assert_eq!(["FacebookAI/xlm-roberta-base", "bert-base-uncased"].map(|id| model_id(id) == Ok(id)), [true; 2]);
    }

    #[test]
    fn the_reason_is_given_with_the_name() {
        let said = |name: &str| relative(name).unwrap_err().to_string();
        assert_eq!(said("-rf"), "\"-rf\" can't be used as a path: it begins with a dash");
        assert_eq!(said("a/../b"), "\"a/../b\" can't be used as a path: in its part \"..\", it begins with a dot");
        assert_eq!(said("a\0"), "\"a\\u{0}\" can't be used as a path: it holds \\0 (U+0000)");
    }
}
