//! The way `echo`: the server repeats prompt and continuation with the log-probability of every token.

use super::asker::{Asker, TokenScores};
use super::cut::Cut;
use crate::error::{Error, Result};

/// # Errors
/// As [`Asker::echo`]; `Data` if a token of the continuation has no log-probability.
pub fn score(asker: &Asker, cut: &Cut) -> Result<TokenScores> {
    let places = asker.echo(cut.before(cut.len(), asker.cutter.sends_ids), cut.ids.len())?;
    let place = |place: &Option<super::wire::Place>| match place {
        Some(place) => Ok((place.score, place.is_greedy)),
        None => Err(Error::data("the server's log-probability is null")),
    };
    places[cut.prompt..].iter().map(place).collect()
}
