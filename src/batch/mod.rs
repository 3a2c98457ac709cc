//! Pairs -> deduplicated token batches.
//!
//! A pair of stories repeats itself. The two stories share all but one or two sentences, and the pairs of a group share
//! one story. So every (entity, sentence) is tokenized once for a corpus ([`Corpus`]) and encoded once for a batch
//! ([`Batch`]). The rows of a batch point to its unique inputs:
//!
//! ```text
//! R rows of N cells: an entity of a story, sentence by sentence        (Row, Cell, CellIndex = N·row + sentence)
//!
//!   pair 0, story 0   cup     s0 s1 s2 .      s2 is where the two stories differ;
//!                     table   s0 s1 s2 .      a dot is padding: no story has a fourth sentence here
//!   pair 0, story 1   cup     s0 s1 s3 .
//!                     table   s0 s1 s3 .
//!          |
//!          | cells[row, n]                                             each cell reads one unique input
//!          v
//! U unique inputs, the shorter ones first                              (UniqueInput)
//!
//!   padding | cup+s0 | cup+s1 | cup+s2 | cup+s3 | table+s0 | ...       here 9 for 12 cells
//!          |                            \
//!          v                              v inputs[u]
//! T tokens, end to end, no padding      inputs of the whole corpus     (ReadIndex; InputNumber, 0 is the padding)
//!
//!   <s> </s></s> </s> <s> cup </s></s> The cup ... </s> ...            of an input only the first token is read
//! ```
//!
//! A model that reads whole stories also has S distinct stories among its T tokens ([`StoryTokens`]): `StoryNumber` in
//! the corpus, `DistinctStory` in the batch, and each of their sentences is a `SentenceIndex` = N·story + sentence.
//! The O tokens that are read are those of the stories' sentences and the first ones of the inputs. With
//! [`InputText::Story`] an entity has one sequence for a whole story (`SequenceNumber`), and its inputs read their
//! sentences' tokens in it.
//!
//! | file | what |
//! |---|---|
//! | `corpus`, `numbered` | number the distinct inputs and stories of all pairs |
//! | `input` | what is encoded for an input, and which of its tokens are read |
//! | `sample` | draws the entities and inputs that a step reads |
//! | `rows` | stories -> rows of cells |
//! | `packed` | inputs and stories -> tokens, each sequence once |
//! | `collate`, `input_tokens`, `story_tokens`, `targets`, `soft_targets` | rows and packed sequences -> the tensors of the model and of the loss |
//! | `distinct` | rows -> the different ones |
//! | `bins`, `blocks` | packed sequences -> bins of several, which a GPU's attention reads; padded blocks, which DeBERTa's reads there |
//! | `sent` | the tensors of a batch -> the device, in one copy |

mod bins;
mod blocks;
mod collate;
mod corpus;
mod distinct;
mod index;
mod input;
mod input_tokens;
mod numbered;
mod packed;
mod rows;
mod sample;
mod sent;
mod soft_targets;
mod story_tokens;
mod targets;
mod tokens;

pub use bins::Bins;
pub use blocks::{LengthGroup, PaddedBlocks};
pub use collate::Batch;
pub use corpus::{ClassFrequencies, Corpus};
pub use distinct::DistinctRows;
pub use index::InputNumber;
pub use input::{InputText, Reads, WholeStories};
pub use input_tokens::InputTokens;
pub use rows::Layout;
pub use sample::{Sample, Strata};
pub use sent::SentBatch;
pub use soft_targets::{SoftAnswers, SoftTargets};
pub use story_tokens::StoryTokens;
pub use targets::Targets;
pub use tokens::Tokens;
