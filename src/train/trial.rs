//! Trial: distillation from the models of TRIAL_TEACHERS (folders separated by ":"; "{fold}" is the fold left out).
use super::network::Network;
use crate::batch::{Batch, Targets};
use crate::experiment::{CheckpointKind, RunFolder};
use crate::loss::Losses;
use crate::model::heads::attribute_log_probs;
use crate::model::{Conflicts, Mode, Output, Precision};
use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use tch::{Device, Kind, Tensor};

pub static FOLD: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static TEACHERS: RefCell<(String, Vec<Network>)> = const { RefCell::new((String::new(), Vec::new())) };
}

fn number(name: &str, default: f64) -> f64 {
    std::env::var(name).ok().map_or(default, |value| value.parse().unwrap())
}

pub fn teach(
    losses: &mut Losses,
    output: &Output,
    batch: &Batch,
    targets: &Targets,
    device: Device,
    precision: Precision,
) {
    let Ok(folders) = std::env::var("TRIAL_TEACHERS") else { return };
    let folders = folders.replace("{fold}", &FOLD.load(Ordering::Relaxed).to_string());
    let (weight, of_states) = (number("TRIAL_WEIGHT", 0.5), number("TRIAL_STATES", 0.));
    let outputs: Vec<Output> = TEACHERS.with(|cell| {
        let mut teachers = cell.borrow_mut();
        if teachers.0 != folders {
            let open = |folder: &str| {
                let folder = RunFolder::open(Path::new(folder)).unwrap();
                let config = folder.model_config().unwrap();
                let network = Network::trained(&config, &folder.weights_file(CheckpointKind::Best), device).unwrap();
                network.model.eval_mode(precision);
                network
            };
            eprintln!("teachers: {folders}");
            *teachers = (folders.clone(), folders.split(':').map(open).collect());
        }
        let _guard = tch::no_grad_guard();
        teachers
            .1
            .iter()
            .map(|teacher| teacher.model.forward(batch, Mode::eval(precision).with_copies(&teacher.model.copies)))
            .collect()
    });
    let _count = outputs.len();
    let mean = |of: &dyn Fn(&Output) -> Tensor| {
        let all: Vec<Tensor> = outputs.iter().map(of).collect();
        Tensor::stack(&all, 0).mean_dim(0, false, Kind::Float)
    };
    fn found(output: &Output) -> &crate::model::SentencePairs {
        let Conflicts::SentencePairs(found) = &output.conflicts else { panic!("joint detectors only") };
        found
    }
    let cross =
        |probs: &Tensor, logs: &Tensor| -(probs * logs).sum_dim_intlist(1, false, Kind::Float).mean(Kind::Float);
    let mix = |gold: &mut Tensor, soft: Tensor, weight: f64| *gold = &*gold * (1. - weight) + soft * weight;
    let conflicts = mean(&|o| found(o).log_probs.exp()); // [B, 2, N, N]
    mix(&mut losses.conflicts, cross(&conflicts.flatten(1, 3), &found(output).log_probs.flatten(1, 3)), weight);
    let stories = conflicts.flatten(2, 3).sum_dim_intlist(2, false, Kind::Float).flip([1]);
    mix(&mut losses.story, cross(&stories, &output.story_scores.log_softmax(1, Kind::Float)), weight);
    if let Some(single) = losses.single_story.as_mut() {
        let probs = mean(&|o| found(o).single_story.as_ref().unwrap().exp());
        mix(single, cross(&probs, found(output).single_story.as_ref().unwrap()), weight);
    }
    if of_states > 0. {
        let soft = |of: &dyn Fn(&Output) -> Tensor| {
            let probs = mean(&|o| attribute_log_probs(&of(o)).exp());
            let all = -(probs * attribute_log_probs(&of(output))).sum_dim_intlist(1, false, Kind::Float); // [U]
            let cells = all.index_select(0, &targets.cell_input);
            (cells * &targets.cell_weight).sum(Kind::Float) / targets.cell_weight.sum(Kind::Float) / 20.
        };
        let preconditions = soft(&|o| o.precondition_logits.shallow_clone());
        mix(&mut losses.preconditions, preconditions, of_states);
        let effects = soft(&|o| o.effect_logits.shallow_clone());
        mix(&mut losses.effects, effects, of_states);
    }
}
