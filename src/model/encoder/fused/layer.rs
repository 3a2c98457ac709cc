//! One layer, with our own kernels.

use super::gradients::{EncoderGradients, Gradient};
use super::positions::{LayerPositions, Positions};
use crate::model::encoder::read_rows::{ReadRows, padded};
use crate::model::kernels::{
    Attention, AttentionGradients, Bf16, BiasDropoutAddNorm, Dropout, Element, Gelu, NormGradients, Normed, Sequences,
};
use crate::model::layers::{Mode, Precision};
use tch::{Tensor, nn};

/// The parts of a layer: attention, and two linear layers with GELU between them; each followed by the sum with its input,
/// and a norm.
pub struct FusedLayer<'a> {
    pub queries_keys_values: [&'a nn::Linear; 3],
    pub attention_output: &'a nn::Linear,
    pub attention_norm: &'a nn::LayerNorm,
    pub intermediate: &'a nn::Linear,
    pub output: &'a nn::Linear,
    pub output_norm: &'a nn::LayerNorm,
    pub heads: i64,
    pub hidden_dropout: f64,
    pub attention_dropout: f64,
    pub norm_eps: f64,
}

/// What a layer computed from T packed tokens and keeps for its backward pass and the next layer. "Rounded" means: in
/// the precision of matmuls.
pub struct LayerActivations {
    weights: Weights,
    dropouts: Dropouts,
    /// `[T, H]` rounded
    input: Tensor,
    /// `[T, 3H]` rounded, without the bias
    queries_keys_values: Tensor,
    positions: Option<LayerPositions>,
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
    pub output: Hidden,
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
    positions: Dropout,
}

/// The gradient of the hidden states: the sum of two parts.
pub struct HiddenGradient {
    /// `[T, H]` float32: from the residual connections.
    pub residual_grad: Tensor,
    /// `[T, H]` rounded: from the matmuls that read the states.
    pub matmul_grad: Option<Tensor>,
}

impl Hidden {
    /// The states of T tokens, padded with rows of zeros to one of a few sizes ([`rows_for`]).
    pub fn new(values: &Tensor, precision: Precision) -> Self {
        let padded = padded(&values.detach());
        Hidden { normed: Normed::unscaled(&padded), matmul_input: precision.cast(&padded) }
    }

    /// `[T, H]` float32
    pub fn values(&self, tokens: i64) -> Tensor {
        self.normed.values().narrow(0, 0, tokens)
    }
}

impl Weights {
    /// Those of queries and keys alone. `[2H, H]`
    fn queries_keys(&self) -> Tensor {
        self.queries_keys_values.narrow(0, 0, self.queries_keys_values.size()[0] / 3 * 2)
    }
}

impl FusedLayer<'_> {
    /// `read` in the last layer only
    pub(super) fn pass(
        &self,
        hidden: &Hidden,
        sequences: &Sequences,
        positions: Option<&Positions>,
        read: Option<ReadRows>,
        mode: Mode,
    ) -> LayerActivations {
        match mode.precision {
            Precision::Fp32 => self.pass_in::<f32>(hidden, sequences, positions, read, mode),
            Precision::Bf16 => self.pass_in::<Bf16>(hidden, sequences, positions, read, mode),
        }
    }

    fn pass_in<S: Element>(
        &self,
        hidden: &Hidden,
        sequences: &Sequences,
        positions: Option<&Positions>,
        read: Option<ReadRows>,
        mode: Mode,
    ) -> LayerActivations {
        let (weights, dropouts) = (self.weights(mode), self.dropouts(positions.is_some(), mode));
        let input = hidden.matmul_input.shallow_clone();
        let queries_keys_values = input.mm(&weights.queries_keys_values.tr());
        let positions =
            positions.map(|positions| LayerPositions::new::<S>(positions, &weights.queries_keys(), dropouts.positions));
        let attention = self.attention::<S>(&queries_keys_values, &weights, sequences, dropouts, positions.as_ref());
        let context = attention.forward();
        let (context, residual) = match &read {
            Some(read) => (read.of(&context), &hidden.normed.select(|values| read.of(values))),
            None => (context, &hidden.normed),
        };
        let output = context.mm(&weights.attention_output.tr());
        let attended = self.close_attention(dropouts).forward::<S>(&output, residual);
        let attended = Hidden { normed: attended.0, matmul_input: attended.1 };
        let inner = attended.matmul_input.mm(&weights.intermediate.tr());
        let activated = Gelu::<S>::new(&inner, bias(self.intermediate)).forward();
        let output = activated.mm(&weights.output.tr());
        let (normed, matmul_input) = self.close_feed_forward(dropouts).forward::<S>(&output, &attended.normed);
        let output = Hidden { normed, matmul_input };
        LayerActivations {
            weights,
            dropouts,
            input,
            queries_keys_values,
            positions,
            read,
            context,
            attended,
            inner,
            activated,
            output,
        }
    }

    /// Gradient of the output -> gradients of the input and of the variables.
    pub(super) fn backward<S: Element>(
        &self,
        pass: &LayerActivations,
        hidden: HiddenGradient,
        sequences: &Sequences,
        further: bool,
        gradients: &mut EncoderGradients,
    ) -> HiddenGradient {
        let HiddenGradient { mut residual_grad, matmul_grad } = hidden;
        let weights = &pass.weights;

        let (output_grad, norm) = self.close_feed_forward(pass.dropouts).backward::<S>(
            &pass.output.normed,
            &mut residual_grad,
            matmul_grad.as_ref(),
        );
        gradients.variables.extend(of_bias_dropout_add_norm(
            self.output,
            self.output_norm,
            output_grad.tr().mm(&pass.activated),
            norm,
        ));
        let mut inner_grad = output_grad.mm(&weights.output);
        let bias_gradient = Gelu::<S>::new(&pass.inner, bias(self.intermediate)).backward(&mut inner_grad);
        gradients.variables.extend(of_linear(
            self.intermediate,
            inner_grad.tr().mm(&pass.attended.matmul_input),
            bias_gradient,
        ));
        let matmul_grad = inner_grad.mm(&weights.intermediate);

        let (output_grad, norm) = self.close_attention(pass.dropouts).backward::<S>(
            &pass.attended.normed,
            &mut residual_grad,
            Some(&matmul_grad),
        );
        let weight_gradient = output_grad.tr().mm(&pass.context);
        gradients.variables.extend(of_bias_dropout_add_norm(
            self.attention_output,
            self.attention_norm,
            weight_gradient,
            norm,
        ));
        let context_grad = output_grad.mm(&weights.attention_output);
        let (context_grad, residual_grad) = match &pass.read {
            Some(read) => {
                [context_grad, residual_grad].map(|gradient| read.gradient_of_all(&gradient, &pass.input)).into()
            }
            None => (context_grad, residual_grad),
        };
        let qkv_grad = self.backward_of_attention::<S>(pass, &context_grad, sequences, gradients);
        HiddenGradient { residual_grad, matmul_grad: further.then(|| qkv_grad.mm(&weights.queries_keys_values)) }
    }

    /// Gradient of the context `[T, H]` -> gradient of queries, keys and values `[T, 3H]`, and of the variables.
    fn backward_of_attention<S: Element>(
        &self,
        pass: &LayerActivations,
        context_grad: &Tensor,
        sequences: &Sequences,
        gradients: &mut EncoderGradients,
    ) -> Tensor {
        let positions = pass.positions.as_ref();
        let attention =
            self.attention::<S>(&pass.queries_keys_values, &pass.weights, sequences, pass.dropouts, positions);
        let AttentionGradients { qkv, bias: mut bias_gradient, distances } = attention.backward(context_grad);
        let mut weight_gradient = qkv.tr().mm(&pass.input);
        if let Some((positions, gradient)) = positions.zip(distances) {
            let of_vectors = positions.backward::<S>(
                &gradient,
                &pass.weights.queries_keys(),
                [&mut weight_gradient, &mut bias_gradient],
            );
            gradients.positions = Some(match gradients.positions.take() {
                Some(sum) => sum + of_vectors,
                None => of_vectors,
            });
        }
        for (layer, (weight, bias)) in self
            .queries_keys_values
            .into_iter()
            .zip(weight_gradient.chunk(3, 0).into_iter().zip(bias_gradient.chunk(3, 0)))
        {
            gradients.variables.extend(of_linear(layer, weight, bias));
        }
        qkv
    }

    pub fn is_trained(&self) -> bool {
        self.queries_keys_values[0].ws.requires_grad()
    }

    fn weights(&self, mode: Mode) -> Weights {
        let parts = self.queries_keys_values;
        Weights {
            queries_keys_values: mode.stacked(&parts.map(|part| &part.ws)),
            queries_keys_values_bias: Tensor::cat(&parts.map(bias), 0),
            attention_output: mode.weight(&self.attention_output.ws),
            intermediate: mode.weight(&self.intermediate.ws),
            output: mode.weight(&self.output.ws),
        }
    }

    fn dropouts(&self, has_positions: bool, mode: Mode) -> Dropouts {
        let dropout = |p| mode.noise.filter(|_| p > 0.).map_or(Dropout::NONE, |noise| noise.dropout(p));
        Dropouts {
            attention: dropout(self.attention_dropout),
            attention_output: dropout(self.hidden_dropout),
            output: dropout(self.hidden_dropout),
            positions: if has_positions { dropout(self.hidden_dropout) } else { Dropout::NONE },
        }
    }

    fn attention<'a, S: Element>(
        &self,
        queries_keys_values: &'a Tensor,
        weights: &'a Weights,
        sequences: &'a Sequences,
        dropouts: Dropouts,
        positions: Option<&'a LayerPositions>,
    ) -> Attention<'a, S> {
        let bias = &weights.queries_keys_values_bias;
        let attention = Attention::new(queries_keys_values, bias, sequences, self.heads, dropouts.attention);
        match positions {
            Some(positions) => attention.with_distances(positions.distances()),
            None => attention,
        }
    }

    fn close_attention(&self, dropouts: Dropouts) -> BiasDropoutAddNorm<'_> {
        self.bias_dropout_add_norm(self.attention_output, self.attention_norm, dropouts.attention_output)
    }

    fn close_feed_forward(&self, dropouts: Dropouts) -> BiasDropoutAddNorm<'_> {
        self.bias_dropout_add_norm(self.output, self.output_norm, dropouts.output)
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
