//! Makes the batch of the next step during the present one, on a GPU: there the host would otherwise let the device wait.

use crate::batch::SentBatch;
use std::thread::{Builder, scope};

/// The batch of the step that comes next, if it is ready.
#[derive(Default)]
pub struct Ahead(Option<(u64, SentBatch)>);

impl Ahead {
    /// The batch of this step, if it was made ahead.
    pub fn take(&mut self, step: u64) -> Option<SentBatch> {
        self.0.take().filter(|(number, _)| *number == step).map(|(_, batch)| batch)
    }

    /// Runs `act`, and meanwhile makes the batch of the `next` step, if there is one, on a thread of its own. If no thread
    /// can be started, that batch is made when it is needed.
    pub fn during<T>(&mut self, next: Option<(u64, impl FnOnce() -> SentBatch + Send)>, act: impl FnOnce() -> T) -> T {
        scope(|scope| {
            let make = next.map(|(step, make)| move || (step, make()));
            let made = make.and_then(|make| Builder::new().spawn_scoped(scope, make).ok());
            let result = act();
            self.0 = made.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            result
        })
    }
}
