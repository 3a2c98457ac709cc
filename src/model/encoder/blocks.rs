//! How DeBERTa's attention reads packed tokens: as dense blocks of sequences.

use crate::batch::{LengthGroup, PaddedBlocks, Tokens};
use crate::model::layers::Mode;
use tch::Tensor;

/// The blocks of a batch.
pub struct AttentionBlocks<'a> {
    /// In the order of the tokens.
    pub blocks: Vec<AttentionBlock>,
    /// If sequences are padded. Otherwise there is a block for each length, and nothing is padded.
    padded: Option<&'a PaddedBlocks>,
}

/// `count` sequences of `length` tokens.
pub struct AttentionBlock {
    pub count: i64,
    pub length: i64,
    /// `[count, 1, 1, length]` added to the scores, where sequences are padded.
    pub bias: Option<Tensor>,
}

impl<'a> AttentionBlocks<'a> {
    /// A block for each length where our kernels may be used ([`Mode::fuses_on`]), few padded blocks elsewhere.
    pub fn of(tokens: &'a Tokens, mode: Mode) -> Self {
        if mode.fuses_on(tokens.ids.device()) {
            let block = |&LengthGroup { count, length }: &LengthGroup| AttentionBlock { count, length, bias: None };
            return AttentionBlocks { blocks: tokens.groups.iter().map(block).collect(), padded: None };
        }
        let padded = &tokens.padded;
        let blocks = padded.blocks.iter().zip(padded.biases(mode.precision.kind()));
        let blocks =
            blocks.map(|(&LengthGroup { count, length }, bias)| AttentionBlock { count, length, bias: Some(bias) });
        AttentionBlocks { blocks: blocks.collect(), padded: Some(padded) }
    }

    /// The length of the longest block.
    pub fn longest(&self) -> i64 {
        self.blocks.iter().map(|block| block.length).max().unwrap_or(1)
    }

    /// # Shapes
    /// `rows [T, width]` -> for each block `[count, length, width]`
    pub fn split(&self, rows: &Tensor) -> Vec<Tensor> {
        let width = rows.size()[1];
        let rows = self.padded.map_or_else(|| rows.shallow_clone(), |padded| rows.index_select(0, &padded.token));
        let mut start = 0;
        let block = |&AttentionBlock { count, length, .. }: &AttentionBlock| {
            let block = rows.narrow(0, start, count * length).view([count, length, width]);
            start += count * length;
            block
        };
        self.blocks.iter().map(block).collect()
    }

    /// # Shapes
    /// for each block `[count, length, width]` -> `[T, width]`
    pub fn join(&self, blocks: &[Tensor]) -> Tensor {
        let rows: Vec<Tensor> = blocks.iter().map(|block| block.flatten(0, 1)).collect();
        let rows = match rows.as_slice() {
            [only] => only.shallow_clone(),
            several => Tensor::cat(several, 0),
        };
        self.padded.map_or_else(|| rows.shallow_clone(), |padded| rows.index_select(0, &padded.place))
    }

    /// Sets padding to zero. `blocks` as [`AttentionBlocks::split`] returns them
    pub fn without_padding(&self, blocks: Vec<Tensor>) -> Vec<Tensor> {
        let Some(padded) = self.padded else { return blocks };
        let mut start = 0;
        let cleared = blocks.into_iter().map(|block| {
            let (count, length, _) = block.size3().expect("blocks are [count, length, width]");
            let is_token = padded.is_token.narrow(0, start, count * length).view([count, length, 1]);
            start += count * length;
            block.masked_fill(&is_token.logical_not(), 0.)
        });
        cleared.collect()
    }
}
