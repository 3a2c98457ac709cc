//! The layers of DeBERTa (He et al., 2021; versions 2 and 3: He et al., 2023), with libtorch's operations. Their
//! attention treats content and relative position separately. [`fused`](super::fused) computes those of version 3 too.

mod attention;
pub(super) mod config;
mod convolution;
mod layer;
mod position;

pub use config::{ConvolutionActivation, DebertaConfig, PositionNorm, PositionTerms};
pub use position::log_buckets;
pub(super) use position::{Distances, RelativePositions};

use super::config::EncoderConfig;
use crate::model::encoder::blocks::AttentionBlocks;
use crate::model::encoder::fused::FusedLayers;
use crate::model::layers::Mode;
use convolution::Convolution;
use layer::DebertaLayer;
use tch::{Tensor, nn};

/// A stack of layers that share their vectors of relative positions.
pub struct Deberta {
    layers: Vec<DebertaLayer>,
    positions: Option<RelativePositions>,
    convolution: Option<Convolution>,
}

impl Deberta {
    /// `p` is the `encoder` of the checkpoint.
    pub fn new(p: &nn::Path, config: &EncoderConfig, deberta: &DebertaConfig) -> Self {
        let layers = p / "layer";
        let layer = |i| DebertaLayer::new(&(&layers / i), config, deberta);
        Deberta {
            layers: (0..config.num_hidden_layers).map(layer).collect(),
            positions: deberta.relative_attention.then(|| RelativePositions::new(p, config, deberta)),
            convolution: Convolution::new(&(p / "conv"), config, deberta),
        }
    }

    /// The same for our kernels, if they can compute it: all terms of attention, with shared projections, and no
    /// convolution.
    pub fn fused(&self) -> Option<FusedLayers<'_>> {
        let layers = self.layers.iter().map(DebertaLayer::fused).collect::<Option<Vec<_>>>()?;
        let positions = Some(self.positions.as_ref()?);
        self.convolution.is_none().then_some(FusedLayers { layers, positions })
    }

    /// # Shapes
    /// `embedded [T, H]` -> `[T, H]`
    pub fn forward(&self, embedded: &Tensor, blocks: &AttentionBlocks, mode: Mode) -> Tensor {
        let distances = self.positions.as_ref().map(|positions| positions.of(blocks.longest()));
        let mut hidden = embedded.shallow_clone();
        for (i, layer) in self.layers.iter().enumerate() {
            let output = layer.forward(&hidden, distances.as_ref(), blocks, mode);
            hidden = match &self.convolution {
                Some(convolution) if i == 0 => convolution.forward(&hidden, &output, blocks, mode),
                _ => output,
            };
        }
        hidden
    }
}
