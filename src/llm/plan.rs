//! How stories are asked about: the protocol, and what differs from it.

use super::prompt::{PromptStyle, Wording};
use super::shots::SEED;
use super::story::AskedStory;
use super::tier::{Protocol, Tier};
use crate::say::counted;

/// The departure of a run with the wording [`Wording::FalseOrTrue`].
pub const OTHER_ORDER: &str = "options named in the other order";

/// Where shots come from.
#[derive(Debug, Clone, PartialEq)]
pub enum ShotSource {
    /// Drawn from the stories asked in the same tier.
    Own,
    /// Drawn from other stories, such as another split.
    Other(Vec<AskedStory>),
    /// The same ones for every story, in this order. A story that is one of them is asked without it.
    Fixed(Vec<AskedStory>),
}

/// A protocol and its settings.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The way to ask, which decides about questions, pools of shots and right answers.
    pub protocol: Protocol,
    /// One text, or a conversation in the model's template.
    pub style: PromptStyle,
    /// How many shots are shown, at most 5.
    pub shots: usize,
    /// Where the shots come from.
    pub source: ShotSource,
    /// Of the shots drawn.
    pub seed: u32,
    /// The order in which the instruction of tier 1 names its options.
    pub wording: Wording,
    /// Whether a blank stands before an option, as the harness puts one even in chats.
    pub leading_blank: bool,
    /// Whether a tier asks only about stories that the tier before got right; else about every implausible story.
    pub cascade: bool,
    /// The last tier asked.
    pub last: Tier,
    /// How many stories are asked about at once.
    pub concurrency: usize,
}

impl Plan {
    /// The protocol as it is, one story at a time.
    pub fn new(protocol: Protocol, style: PromptStyle) -> Self {
        Plan {
            protocol,
            style,
            shots: 3,
            source: ShotSource::Own,
            seed: SEED,
            wording: Wording::default(),
            leading_blank: true,
            cascade: protocol != Protocol::Pairs,
            last: Tier::State,
            concurrency: 1,
        }
    }

    fn draws_shots(&self) -> bool {
        self.shots > 0 && !matches!(self.source, ShotSource::Fixed(_))
    }

    /// What differs from the protocol, to stand beside every number; empty if nothing does.
    pub fn departures(&self) -> Vec<String> {
        let protocol = Plan::new(self.protocol, PromptStyle::Plain);
        let mut departures = Vec::new();
        if self.shots != protocol.shots {
            departures.push(counted(self.shots as u64, "shot"));
        }
        match &self.source {
            ShotSource::Own => (),
            ShotSource::Other(_) => departures.push("shots from other stories".to_owned()),
            ShotSource::Fixed(_) => departures.push("fixed shots".to_owned()),
        }
        let differences = [
            (self.draws_shots() && self.seed != protocol.seed, format!("shots drawn from seed {}", self.seed)),
            (self.wording != protocol.wording, OTHER_ORDER.to_owned()),
            (!self.leading_blank, "no blank before an option".to_owned()),
            (self.cascade != protocol.cascade, "every implausible story asked in every tier".to_owned()),
        ];
        departures.extend(differences.into_iter().filter(|(differs, _)| *differs).map(|(_, what)| what));
        departures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn departures_are_named_by_their_number() {
        let departures = |shots| Plan { shots, ..Plan::new(Protocol::Trip, PromptStyle::Plain) }.departures();
        assert_eq!([departures(0), departures(1)], [["0 shots"], ["1 shot"]]);
        assert!(departures(3).is_empty());
    }
}
