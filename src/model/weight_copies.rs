//! bfloat16 copies of the weights of matmuls.
//!
//! Rounding each weight where it is used would take an operation forward and one backward for every tensor, hundreds a
//! step, and on a GPU small steps cost as much as they have operations. All copies are refreshed in one multi-tensor
//! operation a step. On a GPU the gradients are widened in another; on the CPU our kernel of AdamW reads them as they are.

use crate::torch::{copy_each, has_kernels};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use tch::{Kind, Tensor};

/// The copies of a model's weights, each made when it is first used.
#[derive(Default)]
pub struct WeightCopies(RefCell<Copies>);

#[derive(Default)]
struct Copies {
    /// By the address of a weight's numbers.
    place_of: HashMap<usize, LeafRows>,
    weights: Vec<Tensor>,
    /// Where each weight's copy is: a leaf or some rows of it.
    parts: Vec<Tensor>,
    /// Leaves of libtorch's graph, if the weights are trained.
    leaves: Vec<Tensor>,
}

/// The rows of a leaf that are the copy of a weight.
#[derive(Clone, Copy, PartialEq)]
struct LeafRows {
    leaf: usize,
    first: i64,
    rows: i64,
}

impl LeafRows {
    fn of(self, leaf: &Tensor) -> Tensor {
        leaf.narrow(0, self.first, self.rows)
    }
}

/// The places of these weights in a leaf of their own.
fn places_in(leaf: usize, weights: &[&Tensor]) -> impl Iterator<Item = LeafRows> {
    weights.iter().scan(0, move |end, weight| {
        let (first, rows) = (*end, weight.size()[0]);
        *end += rows;
        Some(LeafRows { leaf, first, rows })
    })
}

fn address(tensor: &Tensor) -> usize {
    tensor.data_ptr() as usize
}

impl WeightCopies {
    /// Rounds all weights anew, which may have changed.
    pub fn refresh(&self) {
        let all = self.0.borrow();
        tch::no_grad(|| copy_each(&all.parts, &all.weights));
    }

    /// The copy of a whole weight, of the time of the last [`WeightCopies::refresh`].
    ///
    /// # Panics
    /// If it is asked for a part of a weight, or was copied with others.
    pub fn of(&self, weight: &Tensor) -> Tensor {
        self.stacked(&[weight])
    }

    /// The copies of several weights, one below the other.
    ///
    /// # Shapes
    /// `[rows, ..]` each -> `[sum of rows, ..]`
    ///
    /// # Panics
    /// As [`WeightCopies::of`].
    pub fn stacked(&self, weights: &[&Tensor]) -> Tensor {
        let mut all = self.0.borrow_mut();
        let Some(&LeafRows { leaf, .. }) = all.place_of.get(&address(weights[0])) else { return all.add(weights) };
        let places = weights.iter().map(|weight| all.place_of.get(&address(weight)).copied());
        assert!(places.eq(places_in(leaf, weights).map(Some)), "take the copy of all of them, or a part of it");
        all.leaves[leaf].shallow_clone()
    }

    /// The gradients of a loss, for each of `variables` over all its uses, those of its copy too; undefined for a variable
    /// that the loss does not depend on. The uses of one copy are summed in bfloat16, as under PyTorch's autocast. Where
    /// our own kernels compute they stay bfloat16 if the variable is used in no other way; all others are float32.
    pub fn gradients(&self, loss: &Tensor, variables: &[&Tensor]) -> Vec<Tensor> {
        let all = self.0.borrow();
        let copied: Vec<(usize, LeafRows)> = variables
            .iter()
            .enumerate()
            .filter_map(|(i, variable)| Some((i, *all.place_of.get(&address(variable))?)))
            .collect();
        let leaves: Vec<usize> =
            copied.iter().map(|(_, place)| place.leaf).collect::<BTreeSet<_>>().into_iter().collect();
        let inputs: Vec<&Tensor> =
            variables.iter().copied().chain(leaves.iter().map(|&leaf| &all.leaves[leaf])).collect();
        let mut gradients = Tensor::run_backward(&[loss], &inputs, false, false);
        let of_leaves: HashMap<usize, Tensor> = leaves.into_iter().zip(gradients.split_off(variables.len())).collect();
        let (indices, narrow): (Vec<usize>, Vec<Tensor>) = copied
            .iter()
            .map(|&(i, place)| (i, place, &of_leaves[&place.leaf]))
            .filter(|(_, _, gradient)| gradient.defined())
            .map(|(i, place, gradient)| (i, place.of(gradient)))
            .unzip();
        let of_copies =
            if narrow.iter().all(|gradient| has_kernels(gradient.device())) { narrow } else { wide(narrow) };
        for (i, gradient) in indices.into_iter().zip(of_copies) {
            gradients[i] = if gradients[i].defined() { &gradients[i] + gradient } else { gradient };
        }
        gradients
    }
}

/// The same numbers in float32.
fn wide(narrow: Vec<Tensor>) -> Vec<Tensor> {
    let empty = |tensor: &Tensor| Tensor::empty(tensor.size(), (Kind::Float, tensor.device()));
    let wide: Vec<Tensor> = narrow.iter().map(empty).collect();
    tch::no_grad(|| copy_each(&wide, &narrow));
    wide
}

impl Copies {
    /// A new leaf for these weights.
    fn add(&mut self, weights: &[&Tensor]) -> Tensor {
        let rounded: Vec<Tensor> = weights.iter().map(|weight| weight.detach().to_kind(Kind::BFloat16)).collect();
        let is_trained = weights.iter().any(|weight| weight.requires_grad());
        let leaf = Tensor::cat(&rounded, 0).set_requires_grad(is_trained);
        for (weight, place) in weights.iter().zip(places_in(self.leaves.len(), weights)) {
            self.place_of.insert(address(weight), place);
            self.weights.push(weight.shallow_clone());
            self.parts.push(place.of(&leaf.detach()));
        }
        self.leaves.push(leaf.shallow_clone());
        leaf
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Device;

    const NARROW: Kind = Kind::BFloat16;

    /// A weight that is used rounded and as it is, one that is only rounded, two that are stacked, and one that is not used.
    #[test]
    fn gradients_are_those_of_rounding_where_it_is_used() {
        let random = |seed| {
            tch::manual_seed(seed);
            Tensor::randn([8, 8], (Kind::Float, Device::Cpu)).set_requires_grad(true)
        };
        let (x, [both, rounded, upper, lower, unused]) = (random(0).detach(), [1, 2, 3, 4, 5].map(random));
        let round = |weight: &Tensor| weight.to_kind(Kind::BFloat16);
        let loss = |cast: &dyn Fn(&[&Tensor]) -> Tensor| {
            let hidden = round(&x).linear(&cast(&[&both]), None::<&Tensor>).matmul(&cast(&[&rounded]));
            let both_ways = hidden.linear(&cast(&[&upper, &lower]), None::<&Tensor>).to_kind(Kind::Float); // [8, 16]
            (both_ways.narrow(1, 3, 8).matmul(&both)).square().sum(Kind::Float)
        };
        let variables = [&both, &rounded, &lower, &upper, &unused];
        let stacked =
            |weights: &[&Tensor]| Tensor::cat(&weights.iter().map(|weight| round(weight)).collect::<Vec<_>>(), 0);
        let expected = Tensor::run_backward(&[loss(&stacked)], &variables, false, false);
        let copies = WeightCopies::default();
        let _ = loss(&|weights| copies.stacked(weights));
        copies.refresh();
        let found = copies.gradients(&loss(&|weights| copies.stacked(weights)), &variables);
        assert_eq!(found[..4].iter().map(Tensor::kind).collect::<Vec<_>>(), [Kind::Float, NARROW, NARROW, NARROW]);
        let of_gpu = wide(found.iter().take(4).map(Tensor::shallow_clone).collect());
        assert!(of_gpu.iter().zip(&expected).all(|(found, expected)| found == expected));
        assert!(!found[4].defined());
        for weight in [&rounded, &lower] {
            let _ = tch::no_grad(|| weight.shallow_clone().g_mul_scalar_(3.)); // in place, as a step does
        }
        copies.refresh();
        assert_eq!(copies.of(&rounded), round(&rounded));
        assert_eq!(copies.stacked(&[&upper, &lower]), stacked(&[&upper, &lower]));
        assert!(found.iter().take(4).all(Tensor::is_contiguous), "others are not copied together");
    }
}
