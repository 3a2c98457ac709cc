//! In the place of the cache of models: nothing is looked up.

use crate::error::{Error, ErrorKind, Result};
use std::path::PathBuf;

pub type ModelName = String;

pub struct Cache;

impl Cache {
    pub fn from_environment() -> Result<Self> {
        Ok(Cache)
    }

    pub fn find(&self, model: &ModelName) -> Result<PathBuf> {
        Err(Error::new(ErrorKind::MissingInput, model))
    }
}
