//! `tiered study status`: a line a cell.

use crate::cli::output::print;
use crate::error::Result;
use crate::report::Table;
use crate::study::{State, Study};

pub(in crate::cli) fn show(study: &Study) -> Result<()> {
    let mut table = Table::new(["task", "cell", "state", "folder"]);
    let (mut done, mut failures) = (0, String::new());
    for cell in &study.cells {
        let state = study.state(cell)?;
        let failure = study.failure(cell).filter(|_| !matches!(state, State::Done | State::Held));
        let words = match state {
            State::Done => "done".to_owned(),
            State::Held => "at work".to_owned(),
            State::Trained { evaluated } => format!("{evaluated} of {} sets evaluated", study.file.evaluate.len()),
            State::Begun { epochs } => format!("{epochs} of {} epochs", cell.config.train.epochs),
            State::Waiting => "waiting".to_owned(),
        };
        done += usize::from(state == State::Done);
        let failed = failure.as_ref().map_or("", |_| ", failed");
        if let Some(failure) = failure {
            failures += &format!("task {} ({}) failed: {}\n", cell.number, cell.name(), failure.message);
        }
        table.push([cell.number.to_string(), cell.name(), format!("{words}{failed}"), cell.hash.clone()]);
    }
    let cells = study.cells.len();
    let folder = study.folder.display();
    print(&format!("{}\n{failures}{done} of {cells} cells are done; their folders are in {folder}\n", table.to_text()))
}
