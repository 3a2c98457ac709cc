//! What a run has seen of story files: in its own training, before a resume changed its dev pairs, and in the training of
//! the run with whose weights it started.

use super::folder::RunFolder;
use crate::checkpoint::{Inputs, SeenSource};
use crate::config::{Config, DataSource, Sources, expand};
use crate::error::Result;

/// Everything that a run was trained on or chosen on.
///
/// # Errors
/// `Io` or `Data` if the run's `run.json` can't be read.
pub fn seen_by(folder: &RunFolder, config: &Config) -> Result<Vec<SeenSource>> {
    let Some(inputs) = folder.inputs()? else { return Ok(Vec::new()) };
    let mut seen = each(&config.data.train, &inputs.train, true);
    seen.extend(chosen_on(config, &inputs));
    seen.extend(inputs.earlier);
    Ok(seen)
}

/// The dev pairs of a run.
pub fn chosen_on(config: &Config, inputs: &Inputs) -> Vec<SeenSource> {
    let dev = config.data.dev.as_ref().zip(inputs.dev.as_deref());
    dev.map(|(sources, digests)| each(sources, digests, false)).unwrap_or_default()
}

fn each(Sources(sources): &Sources, digests: &str, trained_on: bool) -> Vec<SeenSource> {
    let seen = |(source, sha256): (&DataSource, &str)| SeenSource {
        sha256: sha256.to_owned(),
        split: source.split_name().to_owned(),
        trained_on,
    };
    sources.iter().zip(digests.split(' ')).map(seen).collect()
}

/// What the run of `init_from` has seen; nothing if the config has none.
///
/// # Errors
/// `MissingInput` if it is not a run folder; those of [`seen_by`] and [`Config::open`].
pub fn seen_before(config: &Config) -> Result<Vec<SeenSource>> {
    let Some(run) = &config.init_from else { return Ok(Vec::new()) };
    let folder = RunFolder::open(&expand(run)?)?;
    let config = Config::open(&folder.config_file(), &[]).map_err(|error| error.about("init_from"))?;
    seen_by(&folder, &config)
}
