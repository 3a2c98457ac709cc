//! The way `echo`: the server repeats prompt and continuation with the log-probability of every token.

use super::asker::{Asker, TokenScores};
use super::cut::Cut;
use super::kind::ServerKind;
use crate::error::{Error, Result};

/// # Errors
/// As [`Asker::echo`]; `Data` if a token of the continuation has no log-probability.
pub fn score(asker: &Asker, cut: &Cut) -> Result<TokenScores> {
    // llama-cpp-python leaves start tokens out of its list.
    let left_out = match asker.identity.kind {
        ServerKind::LlamaCppPython => asker.cutter.bos.count(&cut.ids),
        _ => 0,
    };
    let places = asker.echo(cut.before(cut.len(), asker.cutter.sends_ids), cut.ids.len() - left_out)?;
    let place = |place: &Option<super::wire::Place>| match place {
        Some(place) => Ok((place.score, place.is_greedy)),
        None => Err(Error::data("the server's log-probability is null")),
    };
    places[cut.prompt - left_out..].iter().map(place).collect()
}
