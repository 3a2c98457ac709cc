//! Computes named outputs, and from them predictions, from token tensors.

pub mod config;
pub mod detector;
pub mod dropout_rng;
pub mod encoder;
pub mod header;
pub mod heads;
pub(crate) mod kernels;
pub mod layers;
pub mod pretrained;
pub mod tiered;
pub mod weight_copies;
pub mod weights;

pub use config::ModelConfig;
pub use detector::{
    ConflictDetector, Conflicts, Context, DetectorConfig, DetectorInput, DetectorInputs, DetectorKind, NewDetector,
    Norm, SentencePairs,
};
pub use dropout_rng::DropoutRng;
pub use encoder::{Encoder, EncoderConfig};
pub use layers::{Mode, Precision};
pub use pretrained::{PretrainedWeights, weights_files};
pub use tiered::{Output, TieredModel};
pub use weight_copies::WeightCopies;
