//! An encoder that no step changes: every input is encoded once, before the first step.

use crate::batch::{Batch, Corpus};
use crate::eval::{EvalConfig, Evaluation, evaluate_by};
use crate::model::encoder::Trace;
use crate::model::{Encoder, Mode, TieredModel};
use tch::{Device, Kind, Tensor};

/// The encoder's vector of every (entity, sentence) input of a corpus, without dropout, as in evaluation.
///
/// Dropout inside of the encoder is training noise of an encoder that is trained; a frozen one has nothing to gain.
pub struct Vectors {
    /// Numbers of the inputs, in the order they are encoded in: each batch of them comes out the same, whatever a run
    /// was stopped and resumed.
    order: Vec<usize>,
    encoded: usize,
    /// `[inputs, H]`
    vectors: Tensor,
}

/// Inputs that are encoded at once.
const INPUTS: usize = 256;

impl Vectors {
    /// None is encoded yet.
    pub fn new(corpus: &Corpus, hidden: i64, device: Device) -> Self {
        let order = corpus.by_length();
        let vectors = Tensor::zeros([order.len() as i64, hidden], (Kind::Float, device));
        Vectors { order, encoded: 0, vectors }
    }

    /// Inputs that are encoded, and all.
    pub fn progress(&self) -> (usize, usize) {
        (self.encoded, self.order.len())
    }

    pub fn is_done(&self) -> bool {
        self.encoded == self.order.len()
    }

    /// Encodes the next inputs.
    pub fn advance(&mut self, encoder: &Encoder, corpus: &Corpus, mode: Mode) {
        let _guard = tch::no_grad_guard();
        let next = &self.order[self.encoded..][..INPUTS.min(self.order.len() - self.encoded)];
        let tokens = corpus.tokens(next).to_device(self.vectors.device());
        let numbers = self.numbers(next);
        let _ = self.vectors.index_copy_(0, &numbers, &encoder.first_tokens(&tokens, mode).to_kind(Kind::Float));
        self.encoded += next.len();
    }

    /// `[inputs, H]` in the order of [`Corpus::by_length`], which is the same for every seed.
    pub fn by_length(&self) -> Tensor {
        self.vectors.index_select(0, &self.numbers(&self.order))
    }

    /// Takes up what [`Vectors::by_length`] gave another run, if they are as many and as wide.
    pub fn take_up(&mut self, vectors: &Tensor) {
        if vectors.size() == self.vectors.size() {
            let numbers = self.numbers(&self.order);
            let _ = self.vectors.index_copy_(0, &numbers, &vectors.to_device(self.vectors.device()));
            self.encoded = self.order.len();
        }
    }

    fn numbers(&self, inputs: &[usize]) -> Tensor {
        let numbers: Vec<i64> = inputs.iter().map(|&input| input as i64).collect();
        Tensor::from_slice(&numbers).to_device(self.vectors.device())
    }

    /// What the encoder says about a batch, and the batch that reads this.
    pub fn of(&self, batch: Batch) -> (Tensor, Batch) {
        assert!(self.is_done(), "every input is encoded before the first step");
        (self.vectors.index_select(0, &batch.inputs), batch.of_vectors())
    }

    /// Evaluates a model whose encoder said this.
    pub fn evaluate(&self, model: &TieredModel, corpus: &Corpus, config: EvalConfig) -> Evaluation {
        let forward = |batch| {
            let (hidden, batch) = self.of(batch);
            (model.read(&hidden, &batch, Mode::eval(config.precision)), batch)
        };
        evaluate_by(corpus, config, forward, |_| ())
    }

    /// The same as the pass of an encoder to which gradients don't go back.
    pub fn trace(&self, batch: Batch) -> (Trace<'_>, Batch) {
        let (vectors, batch) = self.of(batch);
        (Trace::fixed(vectors), batch)
    }
}
