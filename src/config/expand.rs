//! Environment variables in paths.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// A path in which every `${NAME}` is replaced by the environment variable of that name.
///
/// # Errors
/// `Config` if the variable is not set.
pub fn expand(path: &Path) -> Result<PathBuf> {
    let path_text = path.to_string_lossy();
    let (mut expanded, mut rest) = (String::new(), path_text.as_ref());
    while let Some((before, after)) = rest.split_once("${") {
        let variable = after.split_once('}');
        let (name, after) = variable
            .ok_or_else(|| Error::config(format!("{}: `${{` without `}}`; write ${{NAME}}", path.display())))?;
        let value = std::env::var(name).map_err(|_| {
            Error::config(format!("{}: the environment variable {name} is not set; set it to a folder", path.display()))
        })?;
        expanded += before;
        expanded += &value; // not expanded again: a variable that names itself would never end
        rest = after;
    }
    Ok((expanded + rest).into())
}
