//! Many experiments: a base config, laid over by every combination of the values of some axes.
//!
//! ```text
//! STUDY/index.md         the cells: task, values, folder
//! STUDY/HASH/            a run folder for each cell, named by its config
//! STUDY/HASH/cell.json   what of the cell is done
//! STUDY/locks/HASH       held by the process that is at work on the cell
//! STUDY/failed/HASH.json why a cell failed, until it does not
//! STUDY/logs/            what processes of their own said (`--jobs`)
//! ```

mod cell;
mod emit;
mod evaluate;
mod file;
mod index;
mod jobs;
mod place;
mod run;
mod table;

pub use cell::{Cell, Shard};
pub use emit::Emit;
pub use file::{ConflictChoice, EvaluationSet, StateChoice, StudyFile};
pub use jobs::{Job, JobEnd, run_jobs};
pub use place::{Failure, State};
pub use run::{Happening, Outcome};
pub use table::{Selection, compared};

use crate::error::{Error, Result};
use place::Place;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A study with all its cells, resolved.
pub struct Study {
    /// As it was named.
    pub path: PathBuf,
    pub file: StudyFile,
    /// The folder of all its runs.
    pub folder: PathBuf,
    /// In the order of their numbers.
    pub cells: Vec<Cell>,
}

impl Study {
    /// Reads a study file and resolves every cell; nothing is written. The runs are in `folder`, else in
    /// `runs/studies/NAME`.
    ///
    /// # Errors
    /// `MissingInput`; `Config` if the file, its base or a cell makes no sense, or two cells are the same.
    pub fn open(path: &Path, folder: Option<&Path>) -> Result<Self> {
        let file = StudyFile::open(path)?;
        let cells = cell::cells(&file).map_err(|error| error.about(path.display()))?;
        let mut seen = BTreeMap::new();
        for cell in &cells {
            if let Some(other) = seen.insert(&cell.hash, cell) {
                return Err(Error::config(format!(
                    "{}: cells {} ({}) and {} ({}) have the same config: let a value change it, or name files by \
                     relative paths",
                    path.display(),
                    other.number,
                    other.name(),
                    cell.number,
                    cell.name()
                )));
            }
        }
        let folder = folder.map_or_else(|| Self::default_folder(&file.name), Path::to_owned);
        Ok(Study { path: path.to_owned(), file, folder, cells })
    }

    /// Where the runs of a study are unless another folder is named.
    pub fn default_folder(name: &str) -> PathBuf {
        Path::new("runs/studies").join(name)
    }

    /// The cell of that number.
    ///
    /// # Errors
    /// `Usage` if there is none.
    pub fn cell(&self, number: usize) -> Result<&Cell> {
        self.cells.iter().find(|cell| cell.number == number).ok_or_else(|| {
            let message = format!("--task {number}: {} has tasks 1 to {}", self.path.display(), self.cells.len());
            Error::new(crate::error::ErrorKind::Usage, message)
        })
    }

    /// How far a cell is.
    ///
    /// # Errors
    /// `Io`, `Data` if files of the cell can't be read.
    pub fn state(&self, cell: &Cell) -> Result<State> {
        self.place(cell).state(cell, &self.file.evaluate)
    }

    /// Why a cell failed when it was last tried.
    pub fn failure(&self, cell: &Cell) -> Option<Failure> {
        self.place(cell).failure()
    }

    /// The run folder of a cell.
    pub fn run_folder(&self, cell: &Cell) -> PathBuf {
        self.place(cell).run
    }

    fn place(&self, cell: &Cell) -> Place {
        Place::new(&self.folder, &cell.hash)
    }
}
