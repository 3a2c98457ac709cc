//! Threads that make the pairs of the next steps while the current one is computed.

use super::batches::Batches;
use super::order::{self, MixtureComponent};
use super::stream::PairStream;
use crate::batch::{Corpus, SentBatch};
use crate::error::{Error, ErrorKind, Result};
use crate::model::kernels::unpin;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// How many steps each thread may be ahead of what was taken from it, besides the one that it makes.
const AHEAD: usize = 2;

/// The steps of a run.
pub struct StepPlan {
    pub pairs: Arc<dyn PairStream>,
    pub parts: Vec<MixtureComponent>,
    /// The number of steps of the run at the end of each epoch.
    pub ends: Vec<u64>,
    pub pairs_per_step: usize,
    pub seed: u64,
    /// What makes their batches too, if they are wanted ahead.
    pub batches: Option<Batches>,
}

/// What a step reads.
pub struct MadeStep {
    pub corpus: Corpus,
    /// Of all pairs of the corpus, if it was wanted ahead.
    pub batch: Option<SentBatch>,
}

/// The steps of an epoch, each a list of pairs.
type EpochOrder = (u64, Vec<Vec<usize>>);

impl StepPlan {
    fn order(&self, epoch: u64) -> EpochOrder {
        let group = |pair| self.pairs.group(epoch, pair);
        (epoch, order::steps(&group, &self.parts, self.pairs_per_step, self.seed, epoch))
    }

    fn step(&self, number: u64, epoch: u64, pairs: &[usize]) -> Result<MadeStep> {
        let corpus = self.pairs.corpus(epoch, pairs)?;
        let batch = self.batches.map(|batches| batches.of(&corpus, &corpus.every_pair(), number));
        Ok(MadeStep { corpus, batch })
    }
}

/// The pairs of the steps, in the order of the steps.
///
/// Of `n` threads, each makes every `n`-th step. What a step contains depends on its number only, so neither `n` nor
/// the step where a run resumes changes it.
pub struct Feed {
    workers: Vec<Worker>,
    next: usize,
}

struct Worker {
    made: Receiver<Result<MadeStep>>,
    thread: JoinHandle<()>,
}

impl Feed {
    /// Starts the threads. `from` is the first step, counted from 0.
    ///
    /// # Errors
    /// `Unavailable` if a thread can't be started.
    pub fn start(plan: StepPlan, from: u64, workers: usize) -> Result<Self> {
        let (plan, order) = (Arc::new(plan), Arc::new(Mutex::new(None)));
        let worker = |number: usize| {
            let (give, made) = sync_channel(AHEAD);
            let (plan, order) = (plan.clone(), order.clone());
            let steps = (from + number as u64..).step_by(workers);
            let work = move || {
                unpin();
                make(&plan, &order, steps, &give);
            };
            let thread = Builder::new().name(format!("pairs {number}")).spawn(work);
            let failed = |error| {
                let remedy = "free memory, or raise the limit of processes";
                Error::new(ErrorKind::Unavailable, format!("a thread can't be started: {error}; {remedy}"))
            };
            Ok(Worker { made, thread: thread.map_err(failed)? })
        };
        Ok(Feed { workers: (0..workers).map(worker).collect::<Result<_>>()?, next: 0 })
    }

    /// What the next step reads.
    ///
    /// # Errors
    /// That of making them.
    ///
    /// # Panics
    /// If the thread that makes them did, or after the last step.
    pub fn take(&mut self) -> Result<MadeStep> {
        let number = self.next;
        self.next = (number + 1) % self.workers.len();
        match self.workers[number].made.recv() {
            Ok(made) => made,
            Err(_) => match self.workers.swap_remove(number).thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => panic!("there is no step after the last"),
            },
        }
    }
}

impl Drop for Feed {
    /// Waits for the threads, which end at the next step that nobody wants.
    fn drop(&mut self) {
        for Worker { made, thread } in self.workers.drain(..) {
            drop(made);
            drop(thread.join()); // if it panicked, nobody needs its steps
        }
    }
}

/// Makes steps until they are over, one fails, or nobody wants them.
fn make(
    plan: &StepPlan,
    shared: &Mutex<Option<Arc<EpochOrder>>>,
    steps: impl Iterator<Item = u64>,
    give: &SyncSender<Result<MadeStep>>,
) {
    let last = plan.ends.last().copied().unwrap_or(0);
    let mut order: Option<Arc<EpochOrder>> = None;
    for step in steps.take_while(|&step| step < last) {
        let (epoch, number) = order::place(&plan.ends, step);
        let current = match order.take() {
            Some(order) if order.0 == epoch => order,
            _ => order_of(plan, shared, epoch),
        };
        let made = plan.step(step, epoch, &current.1[number]);
        order = Some(current);
        let is_over = made.is_err();
        if give.send(made).is_err() || is_over {
            return;
        }
    }
}

/// The order of an epoch, which the thread that comes first makes for all.
fn order_of(plan: &StepPlan, shared: &Mutex<Option<Arc<EpochOrder>>>, epoch: u64) -> Arc<EpochOrder> {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    match shared.as_ref().filter(|order| order.0 == epoch) {
        Some(order) => order.clone(),
        None => shared.insert(Arc::new(plan.order(epoch))).clone(),
    }
}
