//! A frozen encoder: every input is encoded once, before the first step.

use crate::batch::{Batch, Corpus, InputNumber};
use crate::eval::{EvalConfig, Evaluation, evaluate_by};
use crate::model::encoder::ForwardPass;
use crate::model::{Encoder, Mode, Output, TieredModel};
use tch::{Device, Kind, Tensor};

/// The encoder's vector of every (entity, sentence) input of a corpus, without dropout, as in evaluation.
///
/// Dropout inside the encoder is noise for training the encoder; a frozen one would gain nothing from it.
pub struct Vectors {
    /// The inputs in the order in which they are encoded. The order is fixed, so that a run that stopped and
    /// resumed has the same batches and the same vectors.
    order: Vec<InputNumber>,
    encoded: usize,
    /// `[inputs, H]`
    vectors: Tensor,
}

/// How many inputs are encoded at once.
const INPUTS: usize = 256;

impl Vectors {
    /// No input is encoded yet.
    pub fn new(corpus: &Corpus, hidden: i64, device: Device) -> Self {
        let order = corpus.by_length();
        let vectors = Tensor::zeros([order.len() as i64, hidden], (Kind::Float, device));
        Vectors { order, encoded: 0, vectors }
    }

    /// The number of encoded inputs, and of all inputs.
    pub fn progress(&self) -> (usize, usize) {
        (self.encoded, self.order.len())
    }

    /// Whether every input is encoded.
    pub fn is_done(&self) -> bool {
        self.encoded == self.order.len()
    }

    /// Encodes the next inputs.
    pub fn advance(&mut self, encoder: &Encoder, corpus: &Corpus, mode: Mode) {
        let _guard = tch::no_grad_guard();
        let next = &self.order[self.encoded..][..INPUTS.min(self.order.len() - self.encoded)];
        let tokens = corpus.tokens(next).to_device(self.vectors.device());
        let numbers = self.numbers(next);
        let _ = self.vectors.index_copy_(0, &numbers, &encoder.forward(&tokens, mode).to_kind(Kind::Float));
        self.encoded += next.len();
    }

    /// `[inputs, H]` in the order of [`Corpus::by_length`], which is the same for every seed.
    pub fn by_length(&self) -> Tensor {
        self.vectors.index_select(0, &self.numbers(&self.order))
    }

    /// Takes the vectors that [`Vectors::by_length`] returned in another run, if their number and width are the same.
    pub fn take_up(&mut self, vectors: &Tensor) {
        if vectors.size() == self.vectors.size() {
            let numbers = self.numbers(&self.order);
            let _ = self.vectors.index_copy_(0, &numbers, &vectors.to_device(self.vectors.device()));
            self.encoded = self.order.len();
        }
    }

    fn numbers(&self, inputs: &[InputNumber]) -> Tensor {
        let numbers: Vec<i64> = inputs.iter().map(|&InputNumber(number)| number as i64).collect();
        Tensor::from_slice(&numbers).to_device(self.vectors.device())
    }

    /// The vectors for a batch, and the batch that reads them.
    pub fn of(&self, batch: Batch) -> (Tensor, Batch) {
        assert!(self.is_done(), "every input is encoded before the first step");
        (self.vectors.index_select(0, &batch.inputs), batch.of_vectors())
    }

    /// Evaluates a model whose encoder computed these vectors.
    pub fn evaluate(&self, model: &TieredModel, corpus: &Corpus, config: EvalConfig) -> Evaluation {
        let mode = model.eval_mode(config.precision);
        evaluate_by(corpus, config, |batch| self.read(model, batch, mode), |_| ())
    }

    /// The output of that model for a batch, and the batch that it read.
    pub fn read(&self, model: &TieredModel, batch: Batch, mode: Mode) -> (Output, Batch) {
        let (hidden, batch) = self.of(batch);
        (model.read(&hidden, &batch, mode), batch)
    }

    /// The same in the form of a forward pass; gradients stop there. What reads it computes in this mode.
    pub fn trace<'a>(&self, batch: Batch, mode: Mode<'a>) -> (ForwardPass<'a>, Batch) {
        let (vectors, batch) = self.of(batch);
        (ForwardPass::fixed(vectors, mode), batch)
    }
}
