//! The styles of synthetic stories.

use super::number::{rate, weights};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The data set whose stories the synthetic ones resemble: in what is left unsaid, tense, compound sentences, names for
/// things, and where the conflict stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // comments of variants become help text
pub enum Style {
    Trip,
    Gita,
}

/// A rate for each style.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PerStyle {
    #[serde(deserialize_with = "rate")]
    trip: f64,
    #[serde(deserialize_with = "rate")]
    gita: f64,
}

impl PerStyle {
    pub fn of(self, style: Style) -> f64 {
        match style {
            Style::Trip => self.trip,
            Style::Gita => self.gita,
        }
    }
}

/// For each style, the weights of 0, 1, 2 ... of something. The last weight is for all larger numbers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WeightsPerStyle {
    #[serde(deserialize_with = "weights")]
    trip: Vec<f64>,
    #[serde(deserialize_with = "weights")]
    gita: Vec<f64>,
}

impl WeightsPerStyle {
    pub fn of(&self, style: Style, count: usize) -> f64 {
        let weights = match style {
            Style::Trip => &self.trip,
            Style::Gita => &self.gita,
        };
        weights.get(count).or(weights.last()).copied().unwrap_or(0.0)
    }
}
