//! The encoder with our own kernels, forward and backward: the same mathematics as [`Layer::forward`] with libtorch's
//! automatic differentiation, but the operations between the matmuls are fused ([`kernels`](crate::model::kernels)).

use super::layer::Layer;
use super::read_rows::{ReadRows, padded};
use crate::batch::Tokens;
use crate::model::kernels::{
    Attention, Bf16, BiasDropoutAddNorm, Dropout, Element, Gelu, NormGradients, Normed, Sequences,
};
use crate::model::layers::{Mode, Precision};
use tch::{Kind, Tensor, nn};

/// What a layer computed from T packed tokens and keeps for its backward pass and the next layer. "Rounded" means: in
/// the precision of matmuls.
pub struct LayerActivations {
    weights: Weights,
    dropouts: Dropouts,
    /// `[T, H]` rounded
    input: Tensor,
    /// `[T, 3H]` rounded, without the bias
    queries_keys_values: Tensor,
    /// Of the last layer: the tokens that are read. What follows is computed for them only.
    read: Option<ReadRows>,
    /// `[T, H]` rounded
    context: Tensor,
    /// The hidden states after attention.
    attended: Hidden,
    /// `[T, inner]` rounded, without the bias
    inner: Tensor,
    /// `[T, inner]` rounded
    activated: Tensor,
    output: Hidden,
}

/// Hidden states in two forms: as the norm computed them, and rounded for the matmuls that read them.
pub struct Hidden {
    normed: Normed,
    /// `[T, H]`
    matmul_input: Tensor,
}

/// A layer's weights, rounded for matmuls, each `[outputs, inputs]`.
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

/// The gradient of the hidden states: the sum of two parts.
struct HiddenGradient {
    /// `[T, H]` float32: from the residual connections.
    residual_grad: Tensor,
    /// `[T, H]` rounded: from the matmuls that read the states.
    matmul_grad: Option<Tensor>,
}

/// A variable and its gradient.
pub type Gradient = (Tensor, Tensor);

/// What the layers need to know of the tokens.
pub struct FusedInput {
    sequences: Sequences,
    read: ReadRows,
}

impl FusedInput {
    pub fn of(tokens: &Tokens) -> Self {
        FusedInput { sequences: Sequences::of(&tokens.groups), read: ReadRows::new(&tokens.read) }
    }
}

/// A forward pass of all layers, saved for the backward pass.
pub struct SavedActivations {
    precision: Precision,
    tokens: i64,
    sequences: Sequences,
    layers: Vec<LayerActivations>,
}

impl Hidden {
    /// The states of T tokens, padded with rows of zeros to one of a few sizes ([`rows_for`]).
    fn new(values: &Tensor, precision: Precision) -> Self {
        let padded = padded(&values.detach());
        Hidden { normed: Normed::unscaled(&padded), matmul_input: precision.cast(&padded) }
    }

    /// `[T, H]` float32
    fn values(&self, tokens: i64) -> Tensor {
        self.normed.values().narrow(0, 0, tokens)
    }
}

/// The hidden states of the O tokens that are read, after all layers. Nothing is saved.
pub fn forward(layers: &[Layer], embedded: &Tensor, FusedInput { sequences, read }: FusedInput, mode: Mode) -> Tensor {
    let _guard = tch::no_grad_guard();
    let (last, lower) = layers.split_last().expect("an encoder has layers");
    let first = Hidden::new(embedded, mode.precision);
    let hidden = lower.iter().fold(first, |hidden, layer| layer.pass(&hidden, &sequences, None, mode).output);
    let count = read.count();
    last.pass(&hidden, &sequences, Some(read), mode).output.values(count)
}

impl SavedActivations {
    /// `embedded [T, H]` -> the saved pass, and the hidden states of the O tokens that are read after all layers `[O, H]`
    pub fn new(layers: &[Layer], embedded: &Tensor, input: FusedInput, mode: Mode) -> (Self, Tensor) {
        let _guard = tch::no_grad_guard();
        let FusedInput { sequences, read } = input;
        let count = read.count();
        let mut read = Some(read);
        let first = Hidden::new(embedded, mode.precision);
        let mut passes: Vec<LayerActivations> = Vec::with_capacity(layers.len());
        for (i, layer) in layers.iter().enumerate() {
            let hidden = passes.last().map_or(&first, |pass| &pass.output);
            let read = if i + 1 == layers.len() { read.take() } else { None };
            let pass = layer.pass(hidden, &sequences, read, mode);
            passes.push(pass);
        }
        let hidden = passes.last().expect("an encoder has layers").output.values(count);
        let tokens = embedded.size()[0];
        (SavedActivations { precision: mode.precision, tokens, sequences, layers: passes }, hidden)
    }

    /// Gradient of the hidden states `[O, H]` -> the gradients of the layers' variables and, if `to_embeddings`, of the
    /// embedded tokens `[T, H]`.
    pub fn backward(self, layers: &[Layer], gradient: &Tensor, to_embeddings: bool) -> (Vec<Gradient>, Option<Tensor>) {
        let _guard = tch::no_grad_guard();
        let lowest = if to_embeddings { 0 } else { layers.iter().position(Layer::is_trained).unwrap_or(layers.len()) };
        let mut hidden = HiddenGradient { residual_grad: padded(gradient), matmul_grad: None };
        let mut gradients = Vec::new();
        for (i, (layer, pass)) in layers.iter().zip(self.layers).enumerate().skip(lowest).rev() {
            let further = to_embeddings || i > lowest;
            hidden = match self.precision {
                Precision::Fp32 => layer.backward::<f32>(&pass, hidden, &self.sequences, further, &mut gradients),
                Precision::Bf16 => layer.backward::<Bf16>(&pass, hidden, &self.sequences, further, &mut gradients),
            };
        }
        let embedded = to_embeddings.then(|| match &hidden.matmul_grad {
            Some(matmul_grad) => &hidden.residual_grad + matmul_grad.to_kind(Kind::Float),
            None => hidden.residual_grad.shallow_clone(),
        });
        (gradients, embedded.map(|embedded| embedded.narrow(0, 0, self.tokens)))
    }
}

impl Layer {
    /// `read` in the last layer only
    fn pass(&self, hidden: &Hidden, sequences: &Sequences, read: Option<ReadRows>, mode: Mode) -> LayerActivations {
        match mode.precision {
            Precision::Fp32 => self.pass_in::<f32>(hidden, sequences, read, mode),
            Precision::Bf16 => self.pass_in::<Bf16>(hidden, sequences, read, mode),
        }
    }

    fn pass_in<S: Element>(
        &self,
        hidden: &Hidden,
        sequences: &Sequences,
        read: Option<ReadRows>,
        mode: Mode,
    ) -> LayerActivations {
        let (weights, dropouts) = (self.weights(mode), self.dropouts(mode));
        let input = hidden.matmul_input.shallow_clone();
        let queries_keys_values = input.mm(&weights.queries_keys_values.tr());
        let context = self.attention::<S>(&queries_keys_values, &weights, sequences, dropouts).forward();
        let (context, residual) = match &read {
            Some(read) => (read.of(&context), &hidden.normed.select(|values| read.of(values))),
            None => (context, &hidden.normed),
        };
        let output = context.mm(&weights.attention_output.tr());
        let attended = self.close_attention(dropouts).forward::<S>(&output, residual);
        let attended = Hidden { normed: attended.0, matmul_input: attended.1 };
        let inner = attended.matmul_input.mm(&weights.intermediate.tr());
        let activated = Gelu::<S>::new(&inner, bias(&self.intermediate)).forward();
        let output = activated.mm(&weights.output.tr());
        let (normed, matmul_input) = self.close_feed_forward(dropouts).forward::<S>(&output, &attended.normed);
        let output = Hidden { normed, matmul_input };
        LayerActivations {
            weights,
            dropouts,
            input,
            queries_keys_values,
            read,
            context,
            attended,
            inner,
            activated,
            output,
        }
    }

    /// Gradient of the output -> gradients of the input and of the variables.
    fn backward<S: Element>(
        &self,
        pass: &LayerActivations,
        hidden: HiddenGradient,
        sequences: &Sequences,
        further: bool,
        gradients: &mut Vec<Gradient>,
    ) -> HiddenGradient {
        let HiddenGradient { mut residual_grad, matmul_grad } = hidden;
        let weights = &pass.weights;

        let (output_grad, norm) = self.close_feed_forward(pass.dropouts).backward::<S>(
            &pass.output.normed,
            &mut residual_grad,
            matmul_grad.as_ref(),
        );
        gradients.extend(of_bias_dropout_add_norm(
            &self.output,
            &self.output_norm,
            output_grad.tr().mm(&pass.activated),
            norm,
        ));
        let mut inner_grad = output_grad.mm(&weights.output);
        let bias_gradient = Gelu::<S>::new(&pass.inner, bias(&self.intermediate)).backward(&mut inner_grad);
        gradients.extend(of_linear(&self.intermediate, inner_grad.tr().mm(&pass.attended.matmul_input), bias_gradient));
        let matmul_grad = inner_grad.mm(&weights.intermediate);

        let (output_grad, norm) = self.close_attention(pass.dropouts).backward::<S>(
            &pass.attended.normed,
            &mut residual_grad,
            Some(&matmul_grad),
        );
        let weight_gradient = output_grad.tr().mm(&pass.context);
        gradients.extend(of_bias_dropout_add_norm(&self.attention_output, &self.attention_norm, weight_gradient, norm));
        let context_grad = output_grad.mm(&weights.attention_output);
        let (context_grad, residual_grad) = match &pass.read {
            Some(read) => {
                [context_grad, residual_grad].map(|gradient| read.gradient_of_all(&gradient, &pass.input)).into()
            }
            None => (context_grad, residual_grad),
        };
        let (qkv_grad, bias_gradient) =
            self.attention::<S>(&pass.queries_keys_values, weights, sequences, pass.dropouts).backward(&context_grad);
        let weight_gradient = qkv_grad.tr().mm(&pass.input);
        for (layer, (weight, bias)) in [&self.query, &self.key, &self.value]
            .into_iter()
            .zip(weight_gradient.chunk(3, 0).into_iter().zip(bias_gradient.chunk(3, 0)))
        {
            gradients.extend(of_linear(layer, weight, bias));
        }
        HiddenGradient { residual_grad, matmul_grad: further.then(|| qkv_grad.mm(&weights.queries_keys_values)) }
    }

    fn is_trained(&self) -> bool {
        self.query.ws.requires_grad()
    }

    fn weights(&self, mode: Mode) -> Weights {
        let parts = [&self.query, &self.key, &self.value];
        Weights {
            queries_keys_values: mode.stacked(&parts.map(|part| &part.ws)),
            queries_keys_values_bias: Tensor::cat(&parts.map(bias), 0),
            attention_output: mode.weight(&self.attention_output.ws),
            intermediate: mode.weight(&self.intermediate.ws),
            output: mode.weight(&self.output.ws),
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

    fn close_attention(&self, dropouts: Dropouts) -> BiasDropoutAddNorm<'_> {
        self.bias_dropout_add_norm(&self.attention_output, &self.attention_norm, dropouts.attention_output)
    }

    fn close_feed_forward(&self, dropouts: Dropouts) -> BiasDropoutAddNorm<'_> {
        self.bias_dropout_add_norm(&self.output, &self.output_norm, dropouts.output)
    }

    fn bias_dropout_add_norm<'a>(
        &self,
        linear: &'a nn::Linear,
        norm: &'a nn::LayerNorm,
        dropout: Dropout,
    ) -> BiasDropoutAddNorm<'a> {
        let (scale, shift) = scale_and_shift(norm);
        BiasDropoutAddNorm { bias: bias(linear), scale, shift, eps: self.norm_eps, dropout }
    }
}

fn bias(linear: &nn::Linear) -> &Tensor {
    linear.bs.as_ref().expect("every linear layer here has a bias")
}

fn scale_and_shift(norm: &nn::LayerNorm) -> (&Tensor, &Tensor) {
    let made = "every norm here has a scale and a shift";
    (norm.ws.as_ref().expect(made), norm.bs.as_ref().expect(made))
}

fn of_linear(linear: &nn::Linear, weight: Tensor, bias_gradient: Tensor) -> [Gradient; 2] {
    [(linear.ws.shallow_clone(), weight), (bias(linear).shallow_clone(), bias_gradient)]
}

fn of_bias_dropout_add_norm(
    linear: &nn::Linear,
    norm: &nn::LayerNorm,
    weight: Tensor,
    of: NormGradients,
) -> [Gradient; 4] {
    let (scale, shift) = scale_and_shift(norm);
    let [weight, bias] = of_linear(linear, weight, of.bias);
    [weight, bias, (scale.shallow_clone(), of.scale), (shift.shallow_clone(), of.shift)]
}
