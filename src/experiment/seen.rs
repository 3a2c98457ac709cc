//! What a run has seen of story files: in its own training, before a resume changed its dev pairs, and in the training of
//! the run with whose weights it started, or whose export its encoder is.

use super::folder::RunFolder;
use crate::checkpoint::{Inputs, SeenSource};
use crate::config::{Config, DataSource, Sources, expand};
use crate::data::{Kind, StoryFile, pairs};
use crate::error::{Error, Result};
use crate::report::Seen;
use crate::schema;
use crate::untrusted::{self, MAX_CONFIG, json_error};
use serde::Deserialize;
use std::path::Path;

/// A split of a story file, of which pairs are scored.
pub struct ScoredSplit<'a> {
    /// Of the file.
    pub sha256: &'a str,
    /// Its name.
    pub split: &'a str,
    /// The kind of each pair of the split, in the order of the file.
    pub kinds: Vec<Kind>,
    /// The kind of the pairs that are scored; `None` for both.
    pub scored: Option<Kind>,
}

impl<'a> ScoredSplit<'a> {
    /// # Errors
    /// `Data` if the file has no such split.
    pub fn new(file: &'a StoryFile, split: &'a str, scored: Option<Kind>) -> Result<Self> {
        let kinds = pairs(file.split(split)?, 0).iter().map(|pair| pair.kind).collect();
        Ok(ScoredSplit { sha256: &file.sha256, split, kinds, scored })
    }

    /// What was seen of each of the scored pairs.
    pub fn seen(&self, sources: &[SeenSource]) -> Vec<Seen> {
        let mut seen = vec![Seen::Nothing; self.kinds.len()];
        for source in sources.iter().filter(|source| source.sha256 == self.sha256 && source.split == self.split) {
            let as_what = if source.trained_on { Seen::TrainedOn } else { Seen::ChosenOn };
            let read = self.of_kind(source.kind).take(source.pairs.unwrap_or(usize::MAX));
            read.for_each(|pair| seen[pair] = seen[pair].max(as_what));
        }
        self.of_kind(self.scored).map(|pair| seen[pair]).collect()
    }

    /// The numbers of the pairs of a kind.
    fn of_kind(&self, wanted: Option<Kind>) -> impl Iterator<Item = usize> {
        (0..self.kinds.len()).filter(move |&pair| wanted.is_none_or(|wanted| self.kinds[pair] == wanted))
    }
}

/// Everything that a run was trained on or chosen on.
///
/// # Errors
/// `Io` or `Data` if the run's `run.json` can't be read.
pub fn seen_by(folder: &RunFolder, config: &Config) -> Result<Vec<SeenSource>> {
    let Some(inputs) = folder.inputs()? else { return Ok(Vec::new()) };
    let mut seen = each(config, &config.data.train, &inputs.train, &inputs, true);
    seen.extend(chosen_on(config, &inputs));
    seen.extend(inputs.earlier);
    Ok(seen)
}

/// The dev pairs of a run.
pub fn chosen_on(config: &Config, inputs: &Inputs) -> Vec<SeenSource> {
    let dev = config.data.dev.as_ref().zip(inputs.dev.as_deref());
    dev.map(|(sources, digests)| each(config, sources, digests, inputs, false)).unwrap_or_default()
}

fn each(
    config: &Config,
    Sources(sources): &Sources,
    digests: &str,
    inputs: &Inputs,
    trained_on: bool,
) -> Vec<SeenSource> {
    // Without a fold, a limit reaches pairs beyond the first ones.
    let limit = inputs.limit.filter(|_| config.data.leave_out.is_none());
    let seen = |(source, sha256): (&DataSource, &str)| SeenSource {
        sha256: sha256.to_owned(),
        split: source.split_name().to_owned(),
        trained_on,
        kind: source.kind,
        pairs: source.pairs.into_iter().chain(limit).min(),
    };
    sources.iter().zip(digests.split(' ')).map(seen).collect()
}

/// What the run of `init_from` has seen; without it, what the run has seen whose export the encoder is. Of other encoders,
/// and of exports of earlier versions, nothing is known.
///
/// # Errors
/// `MissingInput` if there is no such run folder or encoder; `Config` if the description of an export is damaged; those of
/// [`seen_by`] and [`Config::open`].
pub fn seen_before(config: &Config) -> Result<Vec<SeenSource>> {
    let Some(run) = &config.init_from else { return seen_by_export(&config.encoder.folder()?) };
    let folder = RunFolder::open(&expand(run)?)?;
    let config = Config::open(&folder.config_file(), &[]).map_err(|error| error.about("init_from"))?;
    seen_by(&folder, &config)
}

/// The file that describes an export.
pub const EXPORT: &str = "tiered.json";

fn seen_by_export(encoder: &Path) -> Result<Vec<SeenSource>> {
    #[derive(Deserialize)]
    struct SeenByExport {
        #[serde(default)]
        seen: Vec<SeenSource>,
    }
    let file = encoder.join(EXPORT);
    let Some(bytes) = untrusted::read_if_there(&file, MAX_CONFIG).map_err(|error| Error::reading(&file, &error))?
    else {
        return Ok(Vec::new());
    };
    let export: SeenByExport = schema::from_slice(&bytes).map_err(|error| {
        let message = format!("{}: {}; export the run again", file.display(), json_error(&error));
        Error::config(message).caused_by(error)
    })?;
    Ok(export.seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Kind::{Cloze, Order};
    use Seen::{ChosenOn, Nothing, TrainedOn};

    fn source(split: &str, trained_on: bool, kind: Option<Kind>, pairs: Option<usize>) -> SeenSource {
        SeenSource { sha256: "file".into(), split: split.into(), trained_on, kind, pairs }
    }

    fn seen(sources: &[SeenSource], scored: Option<Kind>) -> Vec<Seen> {
        let kinds = vec![Cloze, Order, Cloze, Order, Cloze];
        ScoredSplit { sha256: "file", split: "dev", kinds, scored }.seen(sources)
    }

    #[test]
    fn pairs_beyond_the_kind_or_the_first_of_a_source_are_not_seen() {
        let all = [source("dev", false, None, None)];
        assert_eq!(seen(&all, None), [ChosenOn; 5]);
        let cloze = [source("dev", false, Some(Cloze), Some(2)), source("train", true, None, None)];
        assert_eq!(seen(&cloze, None), [ChosenOn, Nothing, ChosenOn, Nothing, Nothing]);
        assert_eq!(seen(&cloze, Some(Order)), [Nothing; 2]);
        assert_eq!(seen(&cloze, Some(Cloze)), [ChosenOn, ChosenOn, Nothing]);
        let both = [cloze[0].clone(), source("dev", true, None, Some(2)), source("dev", false, Some(Order), None)];
        assert_eq!(seen(&both, None), [TrainedOn, TrainedOn, ChosenOn, ChosenOn, Nothing]);
    }
}
