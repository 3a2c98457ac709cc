//! The keys of `config.json` that only DeBERTa has.

use crate::model::encoder::sizes::{MAX_SIZE, Sizes};
use crate::untrusted::shown;
use serde::{Deserialize, Serialize};

/// The keys of versions 1 to 3. An absent key is off, as in Hugging Face's code. A checkpoint that has weights for it
/// all the same is refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DebertaConfig {
    /// Whether attention scores depend on relative positions.
    #[serde(default)]
    pub relative_attention: bool,
    /// The terms of the scores from relative positions, if there are any.
    #[serde(default)]
    pub pos_att_type: PositionTerms,
    /// k, the largest distance that is distinguished; below 1 means `max_position_embeddings`.
    #[serde(default = "unlimited")]
    pub max_relative_positions: i64,
    /// Whether absolute positions are added to the words.
    #[serde(default = "yes")]
    pub position_biased_input: bool,
    /// Width of the word embeddings, if it is not `hidden_size`.
    #[serde(default)]
    pub embedding_size: Option<i64>,
    /// Whether relative positions share the projections of the content.
    #[serde(default)]
    pub share_att_key: bool,
    /// If above 0, this many distances on either side have a vector. Those from the half on share vectors with more and
    /// more neighbours.
    #[serde(default = "unlimited")]
    pub position_buckets: i64,
    /// Whether the vectors of relative positions are normalised, for all layers alike.
    #[serde(default)]
    pub norm_rel_ebd: PositionNorm,
    /// If above 0, a convolution over this many tokens is added to the first layer.
    #[serde(default)]
    pub conv_kernel_size: i64,
    /// Groups of channels that the convolution keeps apart; their number divides `hidden_size`.
    #[serde(default = "one")]
    pub conv_groups: i64,
    /// Required if there is a convolution.
    #[serde(default)]
    pub conv_act: Option<ConvolutionActivation>,
}

const fn unlimited() -> i64 {
    -1
}

const fn yes() -> bool {
    true
}

const fn one() -> i64 {
    1
}

/// Which terms the attention scores have in addition to content to content (`pos_att_type`, as `c2p|p2c` or a list).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Option<Terms>", into = "String")]
pub struct PositionTerms {
    /// `c2p`: the query's content and the relative position of the key.
    pub content_to_position: bool,
    /// `p2c`: the key's content and the relative position of the query.
    pub position_to_content: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Terms {
    Text(String),
    List(Vec<String>),
}

impl TryFrom<Option<Terms>> for PositionTerms {
    type Error = String;

    fn try_from(terms: Option<Terms>) -> Result<Self, String> {
        let names = match terms {
            None => Vec::new(),
            Some(Terms::Text(text)) if text.is_empty() => Vec::new(),
            Some(Terms::Text(text)) => text.split('|').map(str::to_owned).collect(),
            Some(Terms::List(names)) => names,
        };
        let mut terms = PositionTerms::default();
        for name in names {
            let term = match name.trim().to_lowercase().as_str() {
                "c2p" => &mut terms.content_to_position,
                "p2c" => &mut terms.position_to_content,
                _ => return Err(format!("pos_att_type has {:?}; it can have c2p and p2c", shown(&name, 40))),
            };
            if std::mem::replace(term, true) {
                return Err(format!("pos_att_type has {:?} twice", shown(&name, 40)));
            }
        }
        Ok(terms)
    }
}

impl From<PositionTerms> for String {
    fn from(terms: PositionTerms) -> Self {
        let names = [(terms.content_to_position, "c2p"), (terms.position_to_content, "p2c")];
        names.into_iter().filter(|(has, _)| *has).map(|(_, name)| name).collect::<Vec<_>>().join("|")
    }
}

impl PositionTerms {
    /// The number of terms of the scores, including content to content.
    pub fn count(self) -> i64 {
        1 + i64::from(self.content_to_position) + i64::from(self.position_to_content)
    }
}

/// Whether the vectors of relative positions are normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", try_from = "String")]
pub enum PositionNorm {
    /// They are used as they are stored.
    #[default]
    None,
    /// By one norm for all layers.
    LayerNorm,
}

impl TryFrom<String> for PositionNorm {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match name.trim().to_lowercase().as_str() {
            "none" => Ok(PositionNorm::None),
            "layer_norm" => Ok(PositionNorm::LayerNorm),
            _ => Err(format!("norm_rel_ebd is {:?}; it can be none or layer_norm", shown(&name, 40))),
        }
    }
}

/// The activation after the convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "String")]
pub enum ConvolutionActivation {
    /// With the error function, not with its approximation.
    Gelu,
    /// The hyperbolic tangent.
    Tanh,
}

impl TryFrom<String> for ConvolutionActivation {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match name.as_str() {
            "gelu" => Ok(ConvolutionActivation::Gelu),
            "tanh" => Ok(ConvolutionActivation::Tanh),
            _ => Err(format!("conv_act is {:?}; it can be gelu or tanh", shown(&name, 40))),
        }
    }
}

impl DebertaConfig {
    /// The largest distance that is distinguished.
    pub fn max_distance(&self, max_position_embeddings: i64) -> i64 {
        if self.max_relative_positions < 1 { max_position_embeddings } else { self.max_relative_positions }
    }

    /// Half the number of vectors of relative positions.
    pub fn span(&self, max_position_embeddings: i64) -> i64 {
        if self.position_buckets > 0 { self.position_buckets } else { self.max_distance(max_position_embeddings) }
    }

    /// # Errors
    /// A key that version 1 does not have.
    pub fn refuse_later_settings(&self) -> Result<(), String> {
        let later = [
            ("share_att_key", self.share_att_key),
            ("position_buckets", self.position_buckets > 0),
            ("norm_rel_ebd", self.norm_rel_ebd != PositionNorm::None),
            ("conv_kernel_size", self.conv_kernel_size > 0),
        ];
        match later.into_iter().find(|(_, set)| *set) {
            Some((key, _)) => Err(format!("{key} is set, but model_type deberta does not have it; deberta-v2 does")),
            None => Ok(()),
        }
    }

    /// # Errors
    /// A value that has the right type but is invalid.
    pub fn validate(&self, encoder: Sizes) -> Result<(), String> {
        let sizes = [
            ("embedding_size", self.embedding_size.unwrap_or(1), 1),
            ("max_relative_positions", self.max_relative_positions, -1),
            ("position_buckets", self.position_buckets, -1),
            ("conv_kernel_size", self.conv_kernel_size, 0),
            ("conv_groups", self.conv_groups, 1),
        ];
        let outside = |&(_, size, least): &(&str, i64, i64)| !(least..=MAX_SIZE).contains(&size);
        if let Some((name, size, least)) = sizes.into_iter().find(outside) {
            return Err(format!("{name} is {size}; it must be from {least} to {MAX_SIZE}"));
        }
        let distance = self.max_distance(encoder.positions);
        if self.position_buckets > 0 && !(2..2 * (distance - 1)).contains(&self.position_buckets) {
            return Err(format!(
                "position_buckets is {}; for distances up to {distance} it must be from 2 to {}",
                self.position_buckets,
                2 * (distance - 1) - 1
            ));
        }
        if self.conv_kernel_size > 0 {
            if self.conv_kernel_size % 2 == 0 {
                return Err(format!("conv_kernel_size is {}; it must be odd", self.conv_kernel_size));
            }
            if encoder.hidden % self.conv_groups != 0 {
                let (groups, hidden) = (self.conv_groups, encoder.hidden);
                return Err(format!("conv_groups is {groups}; it must divide hidden_size {hidden}"));
            }
            if self.conv_act.is_none() {
                return Err("conv_kernel_size is set, but conv_act is missing".into());
            }
        }
        Ok(())
    }

    /// The least number of parameters for relative positions and convolution.
    pub fn least_parameters(&self, encoder: Sizes) -> u128 {
        let hidden = encoder.hidden as u128;
        let mut numbers = 0;
        if self.relative_attention {
            let projections = if self.share_att_key { 0 } else { self.pos_att_type.count() as u128 - 1 };
            numbers += 2 * self.span(encoder.positions) as u128 * hidden;
            numbers += encoder.layers as u128 * projections * hidden * hidden;
        }
        numbers + self.conv_kernel_size as u128 * hidden * hidden / self.conv_groups as u128
    }
}
