//! The way `forced`: each token of the continuation is forced after those before it, and the server reports how likely
//! it was before it was forced. Options that begin alike share requests.

use super::answer::TokenScore;
use super::asker::{Asker, TokenScores, scores};
use super::cut::Cut;
use crate::error::{Error, Result};
use crate::untrusted::shown;
use std::collections::HashMap;

pub struct Forced<'a> {
    asker: &'a Asker,
    /// The score of the last token after all before it.
    seen: HashMap<Vec<u32>, (TokenScore, bool)>,
}

impl<'a> Forced<'a> {
    pub fn new(asker: &'a Asker) -> Self {
        Forced { asker, seen: HashMap::new() }
    }

    /// # Errors
    /// As [`Asker::next`]; `Data` if another token was generated than the forced one.
    pub fn score(&mut self, cut: &Cut) -> Result<TokenScores> {
        scores(cut, |number| self.token(cut, number))
    }

    fn token(&mut self, cut: &Cut, number: usize) -> Result<(TokenScore, bool)> {
        let so_far = cut.prompt + number;
        let key = &cut.ids[..=so_far];
        if let Some(score) = self.seen.get(key) {
            return Ok(*score);
        }
        let token = cut.token(number);
        let next = self.asker.next(cut.before(number, self.asker.cutter.sends_ids), so_far, Some(token), 1)?;
        if next.token.is(token) == Some(false) {
            let instead = shown(&next.token.text, 40);
            return Err(Error::data(format!("the server generated {instead:?} where token {} was forced", token.id)));
        }
        let is_greedy = next.highest().is_some_and(|highest| next.score.value() >= highest);
        self.seen.insert(key.to_vec(), (next.score, is_greedy));
        Ok((next.score, is_greedy))
    }
}
