//! The way `top`: each token of the continuation is looked for among the likeliest ones, one request a node of the
//! options' prefix tree. What is not listed is at most as likely as the last one listed.

use super::answer::TokenScore;
use super::asker::{Asker, TokenScores, scores};
use super::cut::Cut;
use super::wire::{Next, Token};
use crate::error::{Error, Result};
use std::collections::HashMap;

pub struct TopTokens<'a> {
    asker: &'a Asker,
    /// What follows the tokens so far.
    nodes: HashMap<Vec<u32>, Next>,
}

impl<'a> TopTokens<'a> {
    pub fn new(asker: &'a Asker) -> Self {
        TopTokens { asker, nodes: HashMap::new() }
    }

    /// # Errors
    /// As [`Asker::next`]; `Data` if the server lists no tokens, or none that can be compared with ours.
    pub fn score(&mut self, cut: &Cut) -> Result<TokenScores> {
        scores(cut, |number| find(self.node(cut, number)?, cut.token(number)))
    }

    fn node(&mut self, cut: &Cut, number: usize) -> Result<&Next> {
        let so_far = cut.prompt + number;
        let key = &cut.ids[..so_far];
        if !self.nodes.contains_key(key) {
            let prompt = cut.before(number, self.asker.cutter.sends_ids);
            let next = self.asker.next(prompt, so_far, None, self.asker.alternatives)?;
            self.nodes.insert(key.to_vec(), next);
        }
        Ok(&self.nodes[key])
    }
}

fn find(next: &Next, token: Token) -> Result<(TokenScore, bool)> {
    let highest = next.highest().ok_or_else(|| Error::data("the server lists no likely tokens"))?;
    let own = (&next.token, &next.score);
    let all = next.listed.iter().map(|(name, score)| (name, score)).chain([own]);
    let found = all.clone().find(|(name, _)| name.is(token) == Some(true));
    match found {
        Some((_, score)) => Ok((*score, score.value() >= highest)),
        None if next.listed.iter().all(|(name, _)| name.is(token).is_none()) => {
            Err(Error::data("the server lists tokens that can't be compared with ours"))
        }
        None => {
            let lowest = all.map(|(_, score)| score.value()).min_by(f64::total_cmp);
            Ok((TokenScore::AtMost(lowest.unwrap_or(highest)), false))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::TokenName;
    use super::*;

    #[test]
    fn an_unlisted_token_is_at_most_as_likely_as_the_last_one_listed() {
        let name = |id: u32| TokenName { id: Some(id), text: String::new() };
        let listed = vec![(name(1), TokenScore::Known(-0.5)), (name(2), TokenScore::Known(-3.))];
        let next = Next { token: name(1), score: TokenScore::Known(-0.5), listed, prompt_tokens: None };
        let find = |id| find(&next, Token { id, text: None }).unwrap();
        assert_eq!(find(1), (TokenScore::Known(-0.5), true));
        assert_eq!(find(2), (TokenScore::Known(-3.), false));
        assert_eq!(find(3), (TokenScore::AtMost(-3.), false));
    }
}
