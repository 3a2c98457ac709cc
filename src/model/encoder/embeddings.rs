//! Word, position and token-type embeddings. Only those rows of the word table that occur in training are trained.

use super::config::EncoderConfig;
use crate::batch::Tokens;
use crate::model::layers::{Mode, dropout, layer_norm, linear, new_layer_norm};
use std::cell::{Cell, RefCell};
use tch::{Kind, Tensor, nn};

/// The name of the trained rows among the variables. Saved weights hold the whole table instead.
pub const TRAINED_ROWS: &str = "trained_rows";

/// How the name of the word table ends.
pub const WORD_TABLE: &str = "word_embeddings.weight";

/// The sum of the embeddings of words and, if the family has them, of positions and types; then a norm.
///
/// The word table is most of a multilingual encoder (96 of 117 M parameters of e5-small). Without weight decay, a row
/// changes only if its token occurs in training. So training keeps a compact table of those rows, and needs no gradient
/// or optimiser state for the others. This is exact.
pub struct Embeddings {
    /// `[V, width]`, not trained itself.
    words: Tensor,
    positions: Option<Tensor>,
    token_types: Option<Tensor>,
    /// Whether token types are read; otherwise all tokens have the first type.
    reads_types: bool,
    /// From the embeddings' width to H, if they differ.
    projection: Option<nn::Linear>,
    norm: nn::LayerNorm,
    trained: RefCell<Option<TrainedRows>>,
    position_offset: i64,
    dropout_prob: f64,
}

/// The rows of the word table that are trained.
struct TrainedRows {
    /// `[trained]` their token ids.
    ids: Tensor,
    /// `[V]` token id -> row, or 0.
    row_of: Tensor,
    /// `[trained, width]`
    rows: Tensor,
    /// The version of the rows that the table has; `None` if an optimiser has changed them since: our own kernels do so
    /// without a new version.
    merged: Cell<Option<i64>>,
}

impl Embeddings {
    /// Untrained tables; that of the words has no values until they are loaded or drawn.
    pub fn new(p: &nn::Path, config: &EncoderConfig) -> Self {
        let (width, hidden) = (config.embedding_size(), config.hidden_size);
        let table =
            |name: &str, rows: i64| (p / name).var("weight", &[rows, width], nn::Init::Randn { mean: 0., stdev: 0.02 });
        let (positions, types) = (config.max_position_embeddings, config.type_vocab_size);
        let without_bias = nn::LinearConfig { bias: false, ..Default::default() };
        Embeddings {
            words: without_values(&(p / "word_embeddings"), &[config.vocab_size, width]),
            positions: config.has_positions().then(|| table("position_embeddings", positions)),
            token_types: config.has_token_types().then(|| table("token_type_embeddings", types)),
            reads_types: config.token_types().is_some(),
            projection: (width != hidden).then(|| nn::linear(p / "embed_proj", width, hidden, without_bias)),
            norm: new_layer_norm(p / "LayerNorm", config.hidden_size, config.layer_norm_eps),
            trained: RefCell::new(None),
            position_offset: config.position_offset(),
            dropout_prob: config.hidden_dropout_prob,
        }
    }

    /// Makes the rows of these token ids trainable. Training must then use no other tokens. Call this once, after the
    /// weights are loaded and before the optimiser is created.
    pub fn train_rows(&self, p: &nn::Path, ids: &[i64]) {
        let ids = Tensor::from_slice(ids).to_device(self.words.device());
        let rows = (p / "word_embeddings").var_copy(TRAINED_ROWS, &self.words.index_select(0, &ids));
        let mut row_of = Tensor::zeros([self.words.size()[0]], (Kind::Int64, self.words.device()));
        let numbers = Tensor::arange(ids.size()[0], (Kind::Int64, self.words.device()));
        let _ = row_of.index_copy_(0, &ids, &numbers);
        *self.trained.borrow_mut() = Some(TrainedRows { ids, row_of, rows, merged: Cell::new(None) });
    }

    /// Writes the trained rows back into the whole table, unless it has them already.
    pub fn merge_trained_rows(&self) {
        if let Some(trained) = self.trained.borrow().as_ref() {
            let version = Some(trained.rows.internal_version());
            if trained.merged.replace(version) == version {
                return;
            }
            let _ = tch::no_grad(|| self.words.shallow_clone().index_copy_(0, &trained.ids, &trained.rows));
        }
    }

    /// To be called after each step of an optimiser: the table no longer has the trained rows.
    pub fn trained_rows_have_changed(&self) {
        if let Some(trained) = self.trained.borrow().as_ref() {
            trained.merged.set(None);
        }
    }

    /// # Shapes
    /// T packed tokens -> `[T, H]`
    pub fn forward(&self, tokens: &Tokens, mode: Mode) -> Tensor {
        let mut sum = self.word_rows(&tokens.ids, mode.noise.is_some()); // [T, width]
        if let Some(table) = &self.positions {
            sum += table.index_select(0, &(&tokens.positions + self.position_offset));
        }
        if let Some(table) = &self.token_types {
            sum += if self.reads_types { table.index_select(0, &tokens.types) } else { table.get(0) };
        }
        if let Some(projection) = &self.projection {
            sum = linear(&sum, projection, mode);
        }
        dropout(&layer_norm(&sum, &self.norm), self.dropout_prob, mode)
    }

    fn word_rows(&self, ids: &Tensor, train: bool) -> Tensor {
        match self.trained.borrow().as_ref() {
            Some(trained) if train => trained.rows.index_select(0, &trained.row_of.index_select(0, ids)),
            _ => {
                self.merge_trained_rows();
                self.words.index_select(0, ids)
            }
        }
    }
}

/// A variable of this shape that is not trained. Its memory is not touched: of a large table that takes time.
fn without_values(p: &nn::Path, shape: &[i64]) -> Tensor {
    let mut variable = p.zeros_no_train("weight", &[0]);
    variable.set_data(&Tensor::empty(shape, (Kind::Float, p.device())));
    variable
}
