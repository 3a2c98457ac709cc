//! `results.json`: what a run of `tiered llm eval` was, and what came out.

use crate::durable::sha256;
use crate::llm::server::Settled;
use crate::llm::{AskedStory, Choice, OptionScore, QuestionAnswer, TierAnswers};
use serde::Serialize;

/// The whole document.
#[derive(Serialize)]
pub(super) struct AnswerSummary<'a> {
    #[serde(flatten)]
    pub settled: &'a Settled,
    /// Start tokens that the model saw before the first prompt.
    pub bos_seen: usize,
    /// Scored options whose prompt's tokens are not the first tokens of prompt and option.
    pub unaligned: u64,
    /// Parameters of questions that the server refused, so that they were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<&'static str>,
    pub tiers: Vec<TierSummary>,
}

/// One tier.
#[derive(Serialize)]
pub(super) struct TierSummary {
    pub tier: usize,
    pub task: &'static str,
    /// Stories asked about.
    pub asked: usize,
    /// Of those, how many were right: not the protocol's measure, whose denominator is all stories.
    pub right: usize,
    pub ties: usize,
    /// A bound was too weak to decide.
    pub undecided: usize,
    /// An answer in words that was no option.
    pub invalid: usize,
    /// Options of which only a bound is known.
    pub bounds: usize,
    /// SHA-256 of the hexadecimal SHA-256 of all prompts, joined in order.
    pub prompts_sha256: String,
    pub remarks: Vec<String>,
}

impl TierSummary {
    pub fn of(answers: &TierAnswers, stories: &[AskedStory]) -> Self {
        let count =
            |matches: &dyn Fn(&QuestionAnswer) -> bool| answers.answers.iter().filter(|answer| matches(answer)).count();
        let bound = |score: &&OptionScore| matches!(score, OptionScore::AtMost(_));
        let hashes = answers.answers.iter().map(|answer| sha256(answer.question.prompt.as_bytes()));
        TierSummary {
            tier: answers.tier.number(),
            task: answers.tier.task(),
            asked: answers.answers.len(),
            right: count(&|answer| answer.is_right(&stories[answer.question.story])),
            ties: count(&|answer| answer.choice.is_tied()),
            undecided: count(&|answer| answer.choice == Choice::Undecided),
            invalid: count(&|answer| answer.choice == Choice::Invalid),
            bounds: answers.answers.iter().flat_map(|answer| &answer.scores).filter(bound).count(),
            prompts_sha256: sha256(hashes.collect::<String>().as_bytes()),
            remarks: answers.remarks.clone(),
        }
    }

    /// "tier 1: 208 of 356 right, 17 tied", and a line for each remark.
    pub fn lines(&self) -> String {
        let counts = [(self.ties, "tied"), (self.undecided, "undecided"), (self.invalid, "answered with no option")];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts: String = counts.map(|(count, what)| format!(", {count} {what}")).collect();
        let remarks: String = self.remarks.iter().map(|remark| format!("\n  {remark}")).collect();
        format!("tier {}: {} of {} right{counts}{remarks}", self.tier, self.right, self.asked)
    }
}
