//! TrainingBar of training: a bar with losses and rate on a terminal, plain lines elsewhere.

use super::epochs::Epochs;
use crate::say::{is_quiet, say};
use crate::train::{EpochRecord, StepRecord, TrainEvent};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often a plain line is printed where there is no terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

pub struct TrainingBar {
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Instant,
    pairs: usize,
    epochs: Epochs,
}

impl TrainingBar {
    pub fn new(steps: u64) -> Self {
        let bar = (std::io::stderr().is_terminal() && !is_quiet()).then(|| ProgressBar::new(steps).with_style(style()));
        TrainingBar { bar, started: Instant::now(), last_line: Instant::now(), pairs: 0, epochs: Epochs::new() }
    }

    pub fn show(&mut self, event: &TrainEvent) {
        match event {
            TrainEvent::Encoded { inputs, of } => self.encoded(*inputs, *of),
            TrainEvent::Step(step) => self.step(step),
            TrainEvent::Epoch { record, is_best } => self.epoch(record, *is_best),
        }
    }

    fn step(&mut self, step: &StepRecord) {
        self.pairs += step.pairs;
        let rate = self.pairs as f64 / self.started.elapsed().as_secs_f64();
        let message = format!(
            "epoch {} | {} | gradient norm {:.2} | lr {:.1e} | {rate:.2} pairs/s",
            step.epoch, step.losses, step.gradient_norm, step.learning_rate
        );
        match &self.bar {
            Some(bar) => {
                bar.set_position(step.step);
                bar.set_message(message);
            }
            None if self.last_line.elapsed() >= PLAIN_EVERY => {
                self.last_line = Instant::now();
                say!("step {}/{} | {message}", step.step, step.steps);
            }
            None => {}
        }
    }

    /// Shows how many inputs a frozen encoder has encoded, before the first step.
    fn encoded(&mut self, inputs: usize, of: usize) {
        let line = format!("the encoder is frozen: each input is encoded once, {inputs} of {of}");
        match &self.bar {
            Some(bar) => bar.set_message(line),
            None if inputs == of || self.last_line.elapsed() >= PLAIN_EVERY => {
                self.last_line = Instant::now();
                say!("{line}");
            }
            None => {}
        }
        self.started = Instant::now();
    }

    /// Prints a line that stays above the bar.
    fn epoch(&mut self, epoch: &EpochRecord, is_best: bool) {
        let line = self.epochs.told(epoch, is_best);
        match &self.bar {
            Some(bar) => bar.suspend(|| say!("{line}")),
            None => say!("{line}"),
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:30} {pos}/{len} [{elapsed_precise} < {eta_precise}] {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}
