//! Scores continuations in one of the ways, option by option.

use super::asker::Asker;
use super::cut::Cut;
use super::kind::Way;
use super::scored::Scored;
use super::{echo, forced, top};
use crate::error::{Error, ErrorKind, Result};

impl Asker {
    /// Scores cuts of one prompt; `on_scored` receives each with its number as soon as it is there.
    ///
    /// # Errors
    /// As [`Asker::next`]; those of `on_scored`.
    pub fn score(&self, cuts: &[Cut], on_scored: &mut dyn FnMut(usize, Scored) -> Result<()>) -> Result<()> {
        if let Some(cut) = cuts.first() {
            self.begin(cut.before(0, self.cutter.sends_ids))?;
        }
        let (mut forced, mut listed) = (forced::Forced::new(self), top::TopTokens::new(self));
        for (number, cut) in cuts.iter().enumerate() {
            let tokens = match self.way {
                Way::Echo => echo::score(self, cut)?,
                Way::Forced => forced.score(cut)?,
                Way::Top => listed.score(cut)?,
                Way::TopChat | Way::Said => {
                    return Err(Error::new(ErrorKind::Internal, "a chat has no tokens to score"));
                }
            };
            on_scored(number, Scored::of(&tokens, cut.is_unaligned))?;
        }
        Ok(())
    }
}
