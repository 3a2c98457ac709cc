//! `tiered sweep status`: prints one line per run.

use crate::cli::output::print;
use crate::error::Result;
use crate::report::Table;
use crate::say::aside;
use crate::sweep::{RunState, Sweep};

pub(in crate::cli) fn show(sweep: &Sweep) -> Result<()> {
    let mut table = Table::new(["task", "run", "state", "folder"]);
    let (mut done, mut failures) = (0, String::new());
    for set in &sweep.file.evaluate {
        if let Err(error) = sweep.digest(set) {
            aside!("warning: {error}; whether runs are evaluated on {} as it is now is not known", set.name);
        }
    }
    for run in &sweep.runs {
        let state = sweep.state(run);
        let words = match &state {
            Ok(RunState::Done) => "done".to_owned(),
            Ok(RunState::Held) => "running".to_owned(),
            Ok(RunState::Trained { evaluated }) => {
                format!("{evaluated} of {} sets evaluated", sweep.file.evaluate.len())
            }
            Ok(RunState::OtherData) => "trained on other files".to_owned(),
            Ok(RunState::Begun { epochs }) => format!("{epochs} of {} epochs", run.config.train.epochs),
            Ok(RunState::Waiting) => "waiting".to_owned(),
            Err(_) => "damaged".to_owned(),
        };
        let failure = match &state {
            Ok(RunState::Done | RunState::Held) => None,
            Ok(_) => sweep.failure(run).map(|failure| failure.message),
            Err(error) => Some(error.message.clone()),
        };
        done += usize::from(matches!(state, Ok(RunState::Done)));
        let failed = failure.as_ref().map_or("", |_| ", failed");
        if let Some(failure) = failure {
            failures += &format!("task {} ({}) failed: {}\n", run.number, run.name(), failure);
        }
        table.push([run.number.to_string(), run.name(), format!("{words}{failed}"), run.hash.clone()]);
    }
    let runs = sweep.runs.len();
    let folder = sweep.folder.display();
    print(&format!("{}\n{failures}{done} of {runs} runs are done; their folders are in {folder}\n", table.to_text()))
}
