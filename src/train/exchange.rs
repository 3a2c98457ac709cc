//! What a step's shards compute, as one flat buffer that is added up over all shards and processes: gradients, losses,
//! and whether somebody wants to stop.

use crate::distributed::Ranks;
use crate::loss::LossValues;
use crate::torch::read;
use tch::{Kind, Tensor};

/// What one shard contributes to a step, or what all of them do.
pub struct StepSum {
    /// Each loss, averaged over the items of all shards: the sum of the shards' shares in it.
    pub losses: LossValues,
    /// The number of items in each average.
    pub counts: LossValues,
    /// Of each parameter, undefined where it has none.
    pub gradients: Vec<Tensor>,
}

/// The numbers after the gradients: for each parameter whether it has one, the losses, their counts, and the stops.
const LOSSES: i64 = LossValues::TERMS as i64;
const STOPS: i64 = 1;

/// The place of everything in the buffer, which is the same in every process.
pub struct FlatStep {
    shapes: Vec<Vec<i64>>,
    sizes: Vec<i64>,
    numbers: i64,
}

impl FlatStep {
    /// For gradients of these variables.
    pub fn new(variables: &[&Tensor]) -> Self {
        let shapes: Vec<Vec<i64>> = variables.iter().map(|variable| variable.size()).collect();
        let sizes: Vec<i64> = variables.iter().map(|variable| variable.numel() as i64).collect();
        let numbers = sizes.iter().sum();
        FlatStep { shapes, sizes, numbers }
    }

    fn parameters(&self) -> i64 {
        self.sizes.len() as i64
    }

    /// The buffer of a shard without pairs.
    pub fn nothing(&self) -> Tensor {
        let length = self.numbers + self.parameters() + 2 * LOSSES + STOPS;
        Tensor::zeros([length], (Kind::Float, tch::Device::Cpu))
    }

    /// The buffer of a shard, in float32.
    pub fn pack(&self, part: &StepSum) -> Tensor {
        let _guard = tch::no_grad_guard();
        let flat = self.nothing();
        let mut start = 0;
        for (number, gradient) in part.gradients.iter().enumerate() {
            let size = self.sizes[number];
            if gradient.defined() {
                flat.narrow(0, start, size).copy_(&gradient.reshape([-1]));
                let _ = flat.get(self.numbers + number as i64).fill_(1.);
            }
            start += size;
        }
        let values = [part.losses.to_terms(), part.counts.to_terms()].concat();
        flat.narrow(0, self.numbers + self.parameters(), 2 * LOSSES).copy_(&Tensor::from_slice(&values));
        flat
    }

    /// Adds up the buffer over all processes; returns what it says.
    ///
    /// # Errors
    /// [`LostRank`](crate::distributed::LostRank).
    pub fn exchange(&self, flat: &Tensor, ranks: &Ranks) -> Result<StepSum, crate::distributed::LostRank> {
        let stops = flat.get(flat.size()[0] - STOPS);
        let _ = stops.shallow_clone().fill_(ranks.own_stop());
        ranks.sum(flat)?;
        ranks.heard_stops(read::float(&stops));
        Ok(self.unpack(flat))
    }

    fn unpack(&self, flat: &Tensor) -> StepSum {
        let tail = flat.narrow(0, self.numbers, flat.size()[0] - self.numbers);
        let tail: Vec<f64> = read::floats(&tail).into_iter().map(f64::from).collect();
        let (has_gradient, tail) = tail.split_at(self.sizes.len());
        let (losses, tail) = tail.split_at(LossValues::TERMS);
        let counts = &tail[..LossValues::TERMS];
        let mut start = 0;
        let gradients = self.shapes.iter().zip(&self.sizes).zip(has_gradient).map(|((shape, &size), &has)| {
            let gradient = flat.narrow(0, start, size).view(shape.as_slice());
            start += size;
            if has > 0. { gradient } else { Tensor::new() }
        });
        let gradients = gradients.collect();
        let (losses, counts) = (LossValues::from_terms(losses, counts), LossValues::from_terms(counts, counts));
        StepSum { losses, counts, gradients }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_what_its_shards_add_up_to() {
        let variables = [Tensor::zeros([2, 3], (Kind::Float, tch::Device::Cpu)), Tensor::from_slice(&[0f32; 4])];
        let flat = FlatStep::new(&variables.each_ref());
        let losses = LossValues { story: 0.25, single_story: Some(0.5), ..LossValues::default() };
        let counts = LossValues { story: 2., single_story: Some(4.), ..LossValues::default() };
        let first = variables[0].ones_like();
        let part = StepSum { losses, counts, gradients: vec![first, Tensor::new()] };
        let sum = flat.pack(&part) + flat.pack(&part) + flat.nothing();
        let ranks = Ranks::alone();
        ranks.ask_to_stop(true);
        let StepSum { losses, counts, gradients } = flat.exchange(&sum, &ranks).unwrap();
        assert_eq!((losses.story, losses.single_story, counts.single_story), (0.5, Some(1.), Some(8.)));
        assert_eq!(gradients[0], Tensor::full([2, 3], 2., (Kind::Float, tch::Device::Cpu)));
        assert!(!gradients[1].defined() && ranks.are_to_stop());
        let none = flat.exchange(&flat.nothing(), &Ranks::alone()).unwrap();
        assert_eq!((none.losses.single_story, none.gradients[0].defined()), (None, false));
    }
}
