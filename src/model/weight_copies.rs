//! bfloat16 copies of the weights of matmuls, where libtorch's operations compute.
//!
//! Rounding each weight where it is used would take an operation forward and one backward for every tensor, hundreds a
//! step, and on a GPU small steps cost as much as they have operations. All copies are refreshed in one multi-tensor
//! operation a step, and their gradients are widened in another.

use crate::torch::copy_each;
use std::cell::RefCell;
use std::collections::HashMap;
use tch::{Kind, Tensor};

/// The copies of a model's weights, each made when it is first used.
#[derive(Default)]
pub struct WeightCopies(RefCell<Copies>);

#[derive(Default)]
struct Copies {
    /// By the address of a weight's numbers.
    number_of: HashMap<usize, usize>,
    weights: Vec<Tensor>,
    /// Leaves of libtorch's graph, if the weights are trained.
    copies: Vec<Tensor>,
}

fn address(tensor: &Tensor) -> usize {
    tensor.data_ptr() as usize
}

impl WeightCopies {
    /// Rounds all weights anew, which may have changed.
    pub fn refresh(&self) {
        let all = self.0.borrow();
        tch::no_grad(|| copy_each(&all.copies, &all.weights));
    }

    /// The copy of a whole weight, of the time of the last [`WeightCopies::refresh`].
    ///
    /// # Panics
    /// If it is asked for a part of a weight.
    pub fn of(&self, weight: &Tensor) -> Tensor {
        let mut all = self.0.borrow_mut();
        if let Some(&number) = all.number_of.get(&address(weight)) {
            assert_eq!(all.copies[number].size(), weight.size(), "take a part of the copy");
            return all.copies[number].shallow_clone();
        }
        let copy = weight.detach().to_kind(Kind::BFloat16).set_requires_grad(weight.requires_grad());
        let number = all.copies.len();
        all.number_of.insert(address(weight), number);
        all.weights.push(weight.shallow_clone());
        all.copies.push(copy.shallow_clone());
        copy
    }

    /// The float32 gradients of a loss, for each of `variables` over all its uses, those of its copy too; undefined for a
    /// variable that the loss does not depend on. The uses of one copy are summed in bfloat16, as under PyTorch's autocast.
    pub fn gradients(&self, loss: &Tensor, variables: &[&Tensor]) -> Vec<Tensor> {
        let all = self.0.borrow();
        let copy_of = |variable: &&Tensor| all.number_of.get(&address(variable)).map(|&number| &all.copies[number]);
        let copied: Vec<(usize, &Tensor)> =
            variables.iter().enumerate().filter_map(|(i, variable)| Some((i, copy_of(variable)?))).collect();
        let inputs: Vec<&Tensor> = variables.iter().copied().chain(copied.iter().map(|&(_, copy)| copy)).collect();
        let mut gradients = Tensor::run_backward(&[loss], &inputs, false, false);
        let of_copies = gradients.split_off(variables.len());
        let (indices, narrow): (Vec<usize>, Vec<Tensor>) = copied
            .iter()
            .zip(of_copies)
            .filter(|(_, gradient)| gradient.defined())
            .map(|(&(i, _), gradient)| (i, gradient))
            .unzip();
        let wide: Vec<Tensor> = indices.iter().map(|&i| variables[i].empty_like().set_requires_grad(false)).collect();
        tch::no_grad(|| copy_each(&wide, &narrow));
        for (i, gradient) in indices.into_iter().zip(wide) {
            gradients[i] = if gradients[i].defined() { &gradients[i] + gradient } else { gradient };
        }
        gradients
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Device;

    /// A weight that is used rounded and as it is, one that is only rounded, and one that is not used.
    #[test]
    fn gradients_are_those_of_rounding_where_it_is_used() {
        let random = |seed| {
            tch::manual_seed(seed);
            Tensor::randn([8, 8], (Kind::Float, Device::Cpu)).set_requires_grad(true)
        };
        let (x, [both, rounded, unused]) = (random(0).detach(), [1, 2, 3].map(random));
        let round = |weight: &Tensor| weight.to_kind(Kind::BFloat16);
        let loss = |cast: &dyn Fn(&Tensor) -> Tensor| {
            let hidden = round(&x).linear(&cast(&both), None::<&Tensor>).matmul(&cast(&rounded)).to_kind(Kind::Float);
            (hidden.matmul(&both)).square().sum(Kind::Float)
        };
        let variables = [&both, &rounded, &unused];
        let expected = Tensor::run_backward(&[loss(&round)], &variables, false, false);
        let copies = WeightCopies::default();
        let _ = loss(&|weight| copies.of(weight));
        copies.refresh();
        let found = copies.gradients(&loss(&|weight| copies.of(weight)), &variables);
        assert!(found[..2].iter().zip(&expected).all(|(found, expected)| found == expected));
        assert!(!found[2].defined() && found.iter().take(2).all(|gradient| gradient.kind() == Kind::Float));
        let _ = tch::no_grad(|| rounded.shallow_clone().g_mul_scalar_(3.)); // in place, as a step does
        copies.refresh();
        assert_eq!(copies.of(&rounded), round(&rounded));
        assert!(found.iter().take(2).all(Tensor::is_contiguous), "others are not copied together");
    }
}
