//! A bar with losses and rate on a terminal, plain lines otherwise.

use crate::say::say;
use crate::train::StepRecord;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often a plain line is printed where there is no terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

pub struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    said: Instant,
    pairs: usize,
}

impl Progress {
    pub fn new(steps: u64) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| ProgressBar::new(steps).with_style(style()));
        Progress { bar, started: Instant::now(), said: Instant::now(), pairs: 0 }
    }

    pub fn step(&mut self, step: &StepRecord) {
        self.pairs += step.pairs;
        let rate = self.pairs as f64 / self.started.elapsed().as_secs_f64();
        let message = format!(
            "epoch {} | {} | norm {:.2} | lr {:.1e} | {rate:.2} pairs/s",
            step.epoch, step.losses, step.gradient_norm, step.learning_rate
        );
        match &self.bar {
            Some(bar) => {
                bar.set_position(step.step);
                bar.set_message(message);
            }
            None if self.said.elapsed() >= PLAIN_EVERY => {
                self.said = Instant::now();
                say!("step {}/{} | {message}", step.step, step.steps);
            }
            None => {}
        }
    }

    /// Inputs that a frozen encoder has encoded, before the first step.
    pub fn encoded(&mut self, inputs: usize, of: usize) {
        let line = format!("the encoder is not trained: each input is encoded once, {inputs} of {of}");
        match &self.bar {
            Some(bar) => bar.set_message(line),
            None if inputs == of || self.said.elapsed() >= PLAIN_EVERY => {
                self.said = Instant::now();
                say!("{line}");
            }
            None => {}
        }
        self.started = Instant::now();
    }

    /// A line that stays.
    pub fn say(&self, line: &str) {
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
