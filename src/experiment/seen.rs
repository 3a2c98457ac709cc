//! What a run has seen of story files: in its own training, and in that of the run with whose weights it started.

use super::folder::RunFolder;
use crate::checkpoint::SeenSource;
use crate::config::{Config, DataSource, Sources, expand};
use crate::error::Result;

/// Everything that a run was trained on or chosen on.
///
/// # Errors
/// `Io` or `Data` if the run's `run.json` can't be read.
pub fn seen_by(folder: &RunFolder, config: &Config) -> Result<Vec<SeenSource>> {
    let Some(inputs) = folder.inputs()? else { return Ok(Vec::new()) };
    let of = |Sources(sources): &Sources, digests: &str, trained_on: bool| -> Vec<SeenSource> {
        let each = sources.iter().zip(digests.split(' '));
        let seen = |(source, sha256): (&DataSource, &str)| SeenSource {
            sha256: sha256.to_owned(),
            split: source.split_name().to_owned(),
            trained_on,
        };
        each.map(seen).collect()
    };
    let dev = config.data.dev.as_ref().zip(inputs.dev.as_deref());
    let mut seen = of(&config.data.train, &inputs.train, true);
    seen.extend(dev.into_iter().flat_map(|(sources, digests)| of(sources, digests, false)));
    seen.extend(inputs.earlier);
    Ok(seen)
}

/// What the run of `init_from` has seen; nothing if the config has none.
///
/// # Errors
/// `MissingInput` if it is not a run folder; those of [`seen_by`] and [`Config::open`].
pub fn seen_before(config: &Config) -> Result<Vec<SeenSource>> {
    let Some(run) = &config.init_from else { return Ok(Vec::new()) };
    let folder = RunFolder::open(&expand(run)?)?;
    seen_by(&folder, &Config::open(&folder.config_file(), &[])?)
}
