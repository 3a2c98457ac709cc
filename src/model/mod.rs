//! Tensors -> named outputs -> predictions.

pub mod detector;
pub mod encoder;
pub mod header;
pub mod heads;
pub mod kernels;
pub mod layers;
pub mod noise;
pub mod pretrained;
pub mod tiered;
pub mod weights;

pub use detector::{Conflicts, Context, DetectorConfig, DetectorInputs, DetectorKind, Norm, Places};
pub use encoder::{Encoder, EncoderConfig};
pub use layers::{Mode, Precision};
pub use noise::Noise;
pub use pretrained::PretrainedWeights;
pub use tiered::{ModelConfig, Output, TieredModel};
