//! Warns about configs that are valid but probably wrong.

use crate::batch::Corpus;
use crate::config::{Config, Sources};
use std::collections::HashSet;

/// AdamW hardly learns at rates above this.
const LARGE_RATE: f64 = 1e-2;

/// The warnings.
pub fn warnings(config: &Config, train: &Corpus, dev: Option<&Corpus>) -> Vec<String> {
    let rates =
        [("learning_rate", Some(config.train.learning_rate)), ("head_learning_rate", config.train.head_learning_rate)];
    let large = rates.into_iter().filter_map(|(key, rate)| Some((key, rate.filter(|&rate| rate > LARGE_RATE)?)));
    let mut warnings: Vec<String> = large
        .map(|(key, rate)| {
            format!("train.{key} = {rate}: AdamW hardly learns at rates above {LARGE_RATE}; try a lower one")
        })
        .collect();
    let Sources(sources) = &config.data.train;
    warnings.extend(sources.iter().filter(|source| source.split_name() == "test").map(|source| {
        let file = source.name();
        format!(
            "data.train: the run trains on the split \"test\" of {file}; scores on it say nothing about other stories"
        )
    }));
    warnings.extend(dev.and_then(|dev| overlap(train, dev)));
    warnings.extend(idle_shards(config.train.shards, config.device.is_gpu()));
    warnings
}

/// Several processes compute on CPUs only.
fn idle_shards(shards: usize, is_gpu: bool) -> Option<String> {
    (is_gpu && shards > 1).then(|| {
        format!(
            "train.shards = {shards}: a GPU computes them one after the other, which only takes longer; leave it out"
        )
    })
}

/// Dev pairs with the same text as a training pair, whatever their names.
fn overlap(train: &Corpus, dev: &Corpus) -> Option<String> {
    let trained: HashSet<&[String]> =
        train.pairs.iter().map(|pair| pair.implausible_story().sentences.as_slice()).collect();
    let is_trained = |pair: &&crate::data::Pair| trained.contains(pair.implausible_story().sentences.as_slice());
    let both = dev.pairs.iter().filter(is_trained).count();
    (both > 0).then(|| {
        format!(
            "{both} of {} dev pairs are training pairs too: the best epoch is chosen on pairs that the model overfits",
            dev.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_for_cpus() {
        assert_eq!([idle_shards(1, true), idle_shards(2, false)], [None, None]);
        assert!(idle_shards(2, true).unwrap().starts_with("train.shards = 2: "));
    }
}
