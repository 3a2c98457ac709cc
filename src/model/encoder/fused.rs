//! The encoder by kernels of our own, forward and backward: the same mathematics as [`Layer::forward`] under libtorch's
//! automatic differentiation, with the operations between the products fused ([`kernels`](crate::model::kernels)).

use super::layer::Layer;
use crate::model::kernels::{Attention, Bf16, Dropout, Element, Gelu, NormGradients, Normed, ResidualNorm, Sequences};
use crate::model::layers::{Mode, Precision};
use tch::{Kind, Tensor, nn};

/// What a layer computed from T packed tokens, as far as its backward pass and the next layer need it.
pub struct LayerPass {
    weights: Weights,
    dropouts: Dropouts,
    /// `[T, H]` operand
    input: Tensor,
    /// `[T, 3H]` operand, without the bias
    queries_keys_values: Tensor,
    /// `[T, H]` operand
    context: Tensor,
    /// After attention.
    attended: Hidden,
    /// `[T, F]` operand, without the bias
    inner: Tensor,
    /// `[T, F]` operand
    activated: Tensor,
    output: Hidden,
}

/// Hidden states twice: as a norm left them, and rounded to an operand of the products that read them.
pub struct Hidden {
    normed: Normed,
    /// `[T, H]`
    operand: Tensor,
}

/// A layer's weights as operands, each `[O, I]`.
struct Weights {
    queries_keys_values: Tensor,
    /// `[3H]` float32
    queries_keys_values_bias: Tensor,
    attention_output: Tensor,
    intermediate: Tensor,
    output: Tensor,
}

#[derive(Clone, Copy)]
struct Dropouts {
    attention: Dropout,
    attention_output: Dropout,
    output: Dropout,
}

/// The gradient of the hidden states, in two parts that add up.
struct HiddenGradient {
    /// `[T, H]` float32: along the residual connections.
    stream: Tensor,
    /// `[T, H]` operand: from the products that read the states.
    operand: Option<Tensor>,
}

/// A variable and its gradient.
pub type Gradient = (Tensor, Tensor);

/// A forward pass of all layers, kept for the backward pass.
pub struct Pass {
    precision: Precision,
    sequences: Sequences,
    layers: Vec<LayerPass>,
}

impl Hidden {
    /// The states of T tokens, with rows of zeros up to a size that comes again.
    fn new(values: &Tensor, precision: Precision) -> Self {
        let rows = rows_for(values.size()[0]);
        let padded = values.detach().constant_pad_nd([0, 0, 0, rows - values.size()[0]]);
        Hidden { normed: Normed::unscaled(&padded), operand: precision.cast(&padded) }
    }

    /// `[T, H]` float32
    fn values(&self, tokens: i64) -> Tensor {
        self.normed.values().narrow(0, 0, tokens)
    }
}

/// Rows to compute with for so many tokens. Few sizes, since libtorch compiles its products anew for each, and memory
/// is best used again by what has the size of what left it. The rows in excess are in no sequence, and their gradient
/// is zero.
fn rows_for(tokens: i64) -> i64 {
    let step = if tokens < 1024 { 32 } else { 128 };
    (tokens + step - 1) / step * step
}

/// The hidden states after all layers, nothing kept.
pub fn forward(layers: &[Layer], embedded: &Tensor, sequences: &Sequences, mode: Mode) -> Tensor {
    let _guard = tch::no_grad_guard();
    let first = Hidden::new(embedded, mode.precision);
    let last = layers.iter().fold(first, |hidden, layer| layer.pass(&hidden, sequences, mode).output);
    last.values(embedded.size()[0])
}

impl Pass {
    /// `embedded [T, H]` -> the pass, and the hidden states after all layers `[T, H]`
    pub fn new(layers: &[Layer], embedded: &Tensor, sequences: Sequences, mode: Mode) -> (Self, Tensor) {
        let _guard = tch::no_grad_guard();
        let first = Hidden::new(embedded, mode.precision);
        let mut passes: Vec<LayerPass> = Vec::with_capacity(layers.len());
        for layer in layers {
            let pass = layer.pass(passes.last().map_or(&first, |pass| &pass.output), &sequences, mode);
            passes.push(pass);
        }
        let hidden = passes.last().map_or(&first, |pass| &pass.output).values(embedded.size()[0]);
        (Pass { precision: mode.precision, sequences, layers: passes }, hidden)
    }

    /// Gradient of the hidden states `[T, H]` -> those of the layers' variables, and of the embedded tokens `[T, H]`
    /// where `to_embeddings`.
    pub fn backward(self, layers: &[Layer], gradient: &Tensor, to_embeddings: bool) -> (Vec<Gradient>, Option<Tensor>) {
        let _guard = tch::no_grad_guard();
        let lowest = if to_embeddings { 0 } else { layers.iter().position(Layer::is_trained).unwrap_or(layers.len()) };
        let tokens = gradient.size()[0];
        let stream = gradient.constant_pad_nd([0, 0, 0, rows_for(tokens) - tokens]);
        let mut hidden = HiddenGradient { stream, operand: None };
        let mut gradients = Vec::new();
        for (i, (layer, pass)) in layers.iter().zip(self.layers).enumerate().skip(lowest).rev() {
            let further = to_embeddings || i > lowest;
            hidden = match self.precision {
                Precision::Fp32 => layer.backward::<f32>(&pass, hidden, &self.sequences, further, &mut gradients),
                Precision::Bf16 => layer.backward::<Bf16>(&pass, hidden, &self.sequences, further, &mut gradients),
            };
        }
        let embedded = to_embeddings.then(|| match &hidden.operand {
            Some(operand) => &hidden.stream + operand.to_kind(Kind::Float),
            None => hidden.stream.shallow_clone(),
        });
        (gradients, embedded.map(|embedded| embedded.narrow(0, 0, tokens)))
    }
}

impl Layer {
    fn pass(&self, hidden: &Hidden, sequences: &Sequences, mode: Mode) -> LayerPass {
        match mode.precision {
            Precision::Fp32 => self.pass_in::<f32>(hidden, sequences, mode),
            Precision::Bf16 => self.pass_in::<Bf16>(hidden, sequences, mode),
        }
    }

    fn pass_in<S: Element>(&self, hidden: &Hidden, sequences: &Sequences, mode: Mode) -> LayerPass {
        let (weights, dropouts) = (self.weights(mode.precision), self.dropouts(mode));
        let input = hidden.operand.shallow_clone();
        let queries_keys_values = input.mm(&weights.queries_keys_values.tr());
        let context = self.attention::<S>(&queries_keys_values, &weights, sequences, dropouts).forward();
        let product = context.mm(&weights.attention_output.tr());
        let attended = self.close_attention(dropouts).forward::<S>(&product, &hidden.normed);
        let attended = Hidden { normed: attended.0, operand: attended.1 };
        let inner = attended.operand.mm(&weights.intermediate.tr());
        let activated = Gelu::<S>::new(&inner, bias(&self.intermediate)).forward();
        let product = activated.mm(&weights.output.tr());
        let (normed, operand) = self.close_feed_forward(dropouts).forward::<S>(&product, &attended.normed);
        let output = Hidden { normed, operand };
        LayerPass { weights, dropouts, input, queries_keys_values, context, attended, inner, activated, output }
    }

    /// The gradient of the output -> that of the input, and of the variables.
    fn backward<S: Element>(
        &self,
        pass: &LayerPass,
        hidden: HiddenGradient,
        sequences: &Sequences,
        further: bool,
        gradients: &mut Vec<Gradient>,
    ) -> HiddenGradient {
        let HiddenGradient { stream, operand } = hidden;
        let weights = &pass.weights;

        let (product, norm) =
            self.close_feed_forward(pass.dropouts).backward::<S>(&pass.output.normed, &stream, operand.as_ref());
        gradients.extend(of_closing(&self.output, &self.output_norm, product.tr().mm(&pass.activated), norm));
        let inner = product.mm(&weights.output);
        let bias_gradient = Gelu::<S>::new(&pass.inner, bias(&self.intermediate)).backward(&inner);
        gradients.extend(of_linear(&self.intermediate, inner.tr().mm(&pass.attended.operand), bias_gradient));
        let operand = inner.mm(&weights.intermediate);

        let (product, norm) =
            self.close_attention(pass.dropouts).backward::<S>(&pass.attended.normed, &stream, Some(&operand));
        let weight_gradient = product.tr().mm(&pass.context);
        gradients.extend(of_closing(&self.attention_output, &self.attention_norm, weight_gradient, norm));
        let context = product.mm(&weights.attention_output);
        let (products, bias_gradient) =
            self.attention::<S>(&pass.queries_keys_values, weights, sequences, pass.dropouts).backward(&context);
        let weight_gradient = products.tr().mm(&pass.input);
        for (layer, (weight, bias)) in [&self.query, &self.key, &self.value]
            .into_iter()
            .zip(weight_gradient.chunk(3, 0).into_iter().zip(bias_gradient.chunk(3, 0)))
        {
            gradients.extend(of_linear(layer, weight, bias));
        }
        HiddenGradient { stream, operand: further.then(|| products.mm(&weights.queries_keys_values)) }
    }

    fn is_trained(&self) -> bool {
        self.query.ws.requires_grad()
    }

    fn weights(&self, precision: Precision) -> Weights {
        let parts = [&self.query, &self.key, &self.value];
        Weights {
            queries_keys_values: Tensor::cat(&parts.map(|part| precision.cast(&part.ws)), 0),
            queries_keys_values_bias: Tensor::cat(&parts.map(bias), 0),
            attention_output: precision.cast(&self.attention_output.ws),
            intermediate: precision.cast(&self.intermediate.ws),
            output: precision.cast(&self.output.ws),
        }
    }

    fn dropouts(&self, mode: Mode) -> Dropouts {
        let dropout = |p| mode.noise.filter(|_| p > 0.).map_or(Dropout::NONE, |noise| noise.dropout(p));
        Dropouts {
            attention: dropout(self.attention_dropout),
            attention_output: dropout(self.hidden_dropout),
            output: dropout(self.hidden_dropout),
        }
    }

    fn attention<'a, S: Element>(
        &self,
        queries_keys_values: &'a Tensor,
        weights: &'a Weights,
        sequences: &'a Sequences,
        dropouts: Dropouts,
    ) -> Attention<'a, S> {
        let bias = &weights.queries_keys_values_bias;
        Attention::new(queries_keys_values, bias, sequences, self.heads, dropouts.attention)
    }

    fn close_attention(&self, dropouts: Dropouts) -> ResidualNorm<'_> {
        self.closing(&self.attention_output, &self.attention_norm, dropouts.attention_output)
    }

    fn close_feed_forward(&self, dropouts: Dropouts) -> ResidualNorm<'_> {
        self.closing(&self.output, &self.output_norm, dropouts.output)
    }

    fn closing<'a>(&self, linear: &'a nn::Linear, norm: &'a nn::LayerNorm, dropout: Dropout) -> ResidualNorm<'a> {
        let (scale, shift) = scale_and_shift(norm);
        ResidualNorm { bias: bias(linear), scale, shift, eps: self.norm_eps, dropout }
    }
}

fn bias(linear: &nn::Linear) -> &Tensor {
    linear.bs.as_ref().expect("every linear layer here is made with a bias")
}

fn scale_and_shift(norm: &nn::LayerNorm) -> (&Tensor, &Tensor) {
    let made = "every norm here is made with scale and shift";
    (norm.ws.as_ref().expect(made), norm.bs.as_ref().expect(made))
}

fn of_linear(linear: &nn::Linear, weight: Tensor, bias_gradient: Tensor) -> [Gradient; 2] {
    [(linear.ws.shallow_clone(), weight), (bias(linear).shallow_clone(), bias_gradient)]
}

fn of_closing(linear: &nn::Linear, norm: &nn::LayerNorm, weight: Tensor, of: NormGradients) -> [Gradient; 4] {
    let (scale, shift) = scale_and_shift(norm);
    let [weight, bias] = of_linear(linear, weight, of.bias);
    [weight, bias, (scale.shallow_clone(), of.scale), (shift.shallow_clone(), of.shift)]
}
