//! Progress of asking: a bar on a terminal, plain lines elsewhere, with rate and time left.

use crate::llm::AskedQuestion;
use crate::say::{aside, is_quiet, say};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a plain line is printed where there is no terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Several threads may tell how far they are.
pub(super) struct QuestionBar {
    bar: Option<ProgressBar>,
    /// "stories" or "pairs".
    what: &'static str,
    state: Mutex<State>,
}

struct State {
    tier: usize,
    started: Instant,
    last_line: Instant,
    /// Stories of this tier that were answered by the journal before the first question was sent.
    replayed: usize,
    done: usize,
}

impl QuestionBar {
    pub fn new(what: &'static str) -> Self {
        let bar = (std::io::stderr().is_terminal() && !is_quiet()).then(|| ProgressBar::new(0).with_style(style()));
        let now = Instant::now();
        QuestionBar {
            bar,
            what,
            state: Mutex::new(State { tier: 0, started: now, last_line: now, replayed: 0, done: 0 }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A story was answered; `has_asked` says whether the server was asked anything since the program began.
    pub fn step(&self, step: AskedQuestion, has_asked: bool) {
        let mut state = self.state();
        if state.tier != step.tier.number() {
            (state.tier, state.done, state.replayed, state.started) = (step.tier.number(), 0, 0, Instant::now());
        }
        state.done = state.done.max(step.done);
        if !has_asked {
            (state.replayed, state.started) = (state.done, Instant::now());
        }
        let line =
            format!("{}: {}/{} {}{}", step.tier, state.done, step.total, self.what, state.rate(self.what, step.total));
        match &self.bar {
            Some(bar) => {
                bar.set_length(step.total as u64);
                bar.set_position(state.done as u64);
                bar.set_message(line);
            }
            None if state.last_line.elapsed() >= PLAIN_EVERY || state.done == step.total => {
                state.last_line = Instant::now();
                say!("{line}");
            }
            None => {}
        }
    }

    /// Prints a line on standard error that stays above the bar.
    pub fn warn(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| aside!("{line}")),
            None => aside!("{line}"),
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl State {
    /// " | 1.25 stories/s | 4 min left", as soon as it can be told.
    fn rate(&self, what: &str, total: usize) -> String {
        let (asked, seconds) = (self.done - self.replayed, self.started.elapsed().as_secs_f64());
        if asked == 0 || seconds < 1. {
            return String::new();
        }
        let rate = asked as f64 / seconds;
        let left = (total - self.done) as f64 / rate;
        let left = if left < 90. { format!("{left:.0} s") } else { format!("{:.0} min", left / 60.) };
        format!(" | {rate:.2} {what}/s | {left} left")
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:30} [{elapsed_precise}] {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}
