//! Finds out whether a way tells the truth, before anything is measured.
//!
//! A token that the server generates by itself has a log-probability; asked for by the way, the same token after the same
//! prompt must have the same one. An unlikely continuation must have a lower one, and not 0. So a server that ignores
//! `echo`, shifts it by a token, or reports what a bias made of the probabilities is refused.

use super::answer::TokenScore;
use super::asker::Asker;
use super::cut::Cut;
use super::scored::Scored;
use super::wire::TokenName;
use crate::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// The largest difference between two log-probabilities of one token: float noise of a server that batches.
pub const TOLERANCE: f64 = 0.05;
/// Short prompts whose next token is open, so that log-probabilities are far from 0.
const PROMPTS: [&str; 5] = [
    "Yesterday she went to the shop and bought a new",
    "In the kitchen there is a",
    "The capital of Italy is",
    "My favourite colour has always been",
    "1, 2, 3,",
];
/// How many prompts are tried to the end.
const ENOUGH: usize = 3;
/// Continuations that nothing above asks for.
const UNLIKELY: &str = " zyxwv Thursdays";

/// What one prompt showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// The short text whose next token was asked for.
    pub prompt: String,
    /// The token that the server generates, as it names it; by `top-chat` the likeliest that it lists.
    pub token: String,
    /// Its log-probability when generated, and by the way.
    pub generated: f64,
    /// At most [`TOLERANCE`] from `generated`, else the way is refused.
    pub by_way: f64,
    /// The log-probability, or its bound, of an unlikely continuation by the way.
    pub unlikely: f64,
}

/// What all prompts showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeReport {
    /// One for each prompt whose next token could be compared.
    pub probes: Vec<Probe>,
    /// The largest distance between what a generated token has and what the way says of it.
    pub largest_difference: f64,
}

/// Compares the way with what the server generates.
///
/// # Errors
/// `Unavailable`, with the reason, if they differ; as [`Asker::next`].
pub fn probe(asker: &Asker) -> Result<ProbeReport> {
    let mut probes = Vec::new();
    for prompt in PROMPTS {
        if let Some(probe) = one(asker, prompt)? {
            probes.push(probe);
        }
        if probes.len() == ENOUGH {
            break;
        }
    }
    if probes.is_empty() {
        return Err(unfit("it generates nothing that could be compared"));
    }
    let differences = probes.iter().map(|probe| (probe.generated - probe.by_way).abs());
    Ok(ProbeReport { largest_difference: differences.fold(0., f64::max), probes })
}

fn unfit(reason: &str) -> Error {
    Error::new(ErrorKind::Unavailable, reason)
}

/// `None` if the token that follows this prompt can't be compared.
fn one(asker: &Asker, prompt: &str) -> Result<Option<Probe>> {
    let ids = asker.cutter.encode(&asker.client, prompt)?;
    let unlikely = asker.cut(prompt, &[UNLIKELY.to_owned()])?;
    let sent = unlikely[0].before(0, asker.cutter.sends_ids);
    asker.begin(sent)?;
    let next = match asker.next(sent, ids.len(), None, 1) {
        // A model that ends here generates nothing.
        Err(error) if error.kind == ErrorKind::Data && error.message.contains("reports 0 tokens") => return Ok(None),
        next => next?,
    };
    let TokenScore::Known(generated) = next.score else {
        return Err(unfit("it says that its likeliest token has probability 0"));
    };
    let Some(cut) = same_token(asker, prompt, &ids, &next.token)? else { return Ok(None) };
    let mut scored = Vec::new();
    let cuts = [vec![cut], unlikely].concat();
    asker.score(&cuts, &mut |_, score| {
        scored.push(score);
        Ok(())
    })?;
    let probe = Probe {
        prompt: prompt.to_owned(),
        token: next.token.text.clone(),
        generated,
        by_way: scored[0].sum(),
        unlikely: scored[1].sum(),
    };
    check(&probe, &scored).map(|()| Some(probe))
}

/// The cut whose continuation is this very token.
fn same_token(asker: &Asker, prompt: &str, ids: &[u32], token: &TokenName) -> Result<Option<Cut>> {
    if let Some(id) = token.id.filter(|_| asker.cutter.sends_ids) {
        return Ok(Some(Cut::of_ids(ids, id)));
    }
    if token.text.is_empty() || token.text.contains('\u{fffd}') {
        return Ok(None);
    }
    let mut cuts = match asker.cut(prompt, std::slice::from_ref(&token.text)) {
        Err(error) if matches!(error.kind, ErrorKind::Config | ErrorKind::Data) => return Ok(None),
        cuts => cuts?,
    };
    Ok(cuts.pop().filter(|cut| cut.len() == 1 && !cut.is_unaligned))
}

fn check(probe: &Probe, scored: &[Scored]) -> Result<()> {
    let Probe { generated, by_way, unlikely, .. } = probe;
    if scored.iter().all(|score| score.sum() == 0.) {
        return Err(unfit(
            "every log-probability is 0, so the first option would always win: it ignores what it is asked, or \
             reports what a bias made of it",
        ));
    }
    if (generated - by_way).abs() > TOLERANCE {
        return Err(unfit(&format!(
            "after {:?} it generates a token with log-probability {generated:.3}, and asked for that token says \
             {by_way:.3}: what it reports is shifted, or changed by the bias or the temperature",
            probe.prompt
        )));
    }
    if *unlikely == 0. || unlikely >= generated {
        return Err(unfit(&format!(
            "an unlikely continuation has log-probability {unlikely:.3}, and the likeliest token {generated:.3}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(generated: f64, by_way: f64, unlikely: f64) -> Result<()> {
        let scored = |sum: f64| Scored { logprobs: vec![sum], is_greedy: false, is_bound: false, is_unaligned: false };
        let probe = Probe { prompt: "a".into(), token: "b".into(), generated, by_way, unlikely };
        check(&probe, &[scored(by_way), scored(unlikely)])
    }

    #[test]
    fn what_lies_is_refused_with_the_reason() {
        assert!(checked(-0.5, -0.54, -20.).is_ok());
        let reason = |generated, by_way, unlikely| checked(generated, by_way, unlikely).unwrap_err().message;
        assert!(reason(-0.01, 0., 0.).contains("every log-probability is 0"));
        assert!(reason(-0.5, -0.56, -20.).contains("shifted"));
        assert!(reason(-0.01, -0.01, 0.).contains("unlikely"));
        assert!(reason(-0.5, -0.5, -0.4).contains("unlikely"));
    }
}
