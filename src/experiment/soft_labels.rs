//! The soft labels of a source's pairs.

use crate::batch::Corpus;
use crate::config::{Config, DataSource, expand};
use crate::data::Pair;
use crate::durable::sha256;
use crate::error::{Error, Result};
use crate::prediction::{PredictionFormat, parse_predictions, set_soft_labels};
use crate::untrusted::{self, MAX_PREDICTIONS};

/// Sets the soft labels of a source's pairs. Returns the SHA-256 of the file; `None` if the source has none.
///
/// # Errors
/// Those of reading predictions; `Data` if a pair has no prediction, or none that can be learned.
pub fn read_soft_labels(source: &DataSource, pairs: &mut [Pair]) -> Result<Option<String>> {
    let Some(path) = &source.soft_labels else { return Ok(None) };
    let path = expand(path)?;
    let bytes = untrusted::read(&path, MAX_PREDICTIONS).map_err(|error| Error::reading(&path, &error))?;
    let file = parse_predictions(&path, &bytes).map_err(|error| error.about("data.train.soft_labels"))?;
    let advice = "make the file by `tiered eval` on these pairs, with a model whose detector is joint, or by `tiered score \
                  --output` from several such files";
    let wrong = |problem: &str| Error::data(format!("{}: {problem}; {advice}", path.display()));
    if file.format != PredictionFormat::Lines {
        return Err(wrong("is a published list, which has no probabilities"));
    }
    set_soft_labels(pairs, file.pairs).map_err(|problem| wrong(&format!("{problem}, for {}", source.name())))?;
    Ok(Some(sha256(&bytes)))
}

/// # Errors
/// `Config` if a model that judges single stories has a teacher that does not.
pub fn check_soft_labels(config: &Config, corpus: &Corpus) -> Result<()> {
    let has_none = |pair: &&Pair| {
        let mut soft = pair.soft.iter().flat_map(|soft| &soft.stories);
        soft.any(|story| story.single_story.is_none())
    };
    match corpus.pairs.iter().find(has_none).filter(|_| config.loss.single_story > 0.) {
        None => Ok(()),
        Some(pair) => Err(Error::config(format!(
            "data.train.soft_labels: pair {}: its teacher does not judge single stories; set loss.single_story = 0, or \
             train the teacher with this loss",
            pair.id
        ))),
    }
}
