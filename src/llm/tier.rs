//! The three tiers, and what they are called in files.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// One of the three questions about a story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Is the story plausible?
    Story,
    /// Which two sentences of an implausible story conflict?
    Conflict,
    /// Which physical state causes the conflict?
    State,
}

impl Tier {
    /// In the order in which they are asked.
    pub const ALL: [Tier; 3] = [Tier::Story, Tier::Conflict, Tier::State];

    /// 1, 2 or 3.
    pub const fn number(self) -> usize {
        self as usize + 1
    }

    /// The tier with this number, from 1.
    pub fn from_number(number: usize) -> Option<Self> {
        Self::ALL.get(number.checked_sub(1)?).copied()
    }

    /// What GITA4CALAMITA's program calls the task, which is in the names of its files.
    pub const fn task(self) -> &'static str {
        match self {
            Tier::Story => "story_class",
            Tier::Conflict => "conflict_detec",
            Tier::State => "physical_state",
        }
    }

    /// What is measured by being right in this tier and those before it.
    pub const fn measure(self) -> &'static str {
        match self {
            Tier::Story => "accuracy",
            Tier::Conflict => "consistency",
            Tier::State => "verifiability",
        }
    }
}

impl std::fmt::Display for Tier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "tier {}", self.number())
    }
}

/// A way to ask language models about stories. Figures of different protocols are never in one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lower")]
pub enum Protocol {
    /// As GITA4CALAMITA asked: story by story, and a tier asks only what the tier before got right
    Gita4calamita,
    /// The same questions for stories of any length and dense states (TRIP, GITA): any gold state is right
    Trip,
    /// Pairs ranked by the margin of "true" over "false"; tiers 2 and 3 asked of every implausible story
    Pairs,
    /// HAR's prompts for TRIP: four fixed shots, both stories in one prompt, the tiers one after another in one text
    Har,
}

impl Protocol {
    /// As on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Gita4calamita => "gita4calamita",
            Protocol::Trip => "trip",
            Protocol::Pairs => "pairs",
            Protocol::Har => "har",
        }
    }
}

impl std::fmt::Display for Protocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
