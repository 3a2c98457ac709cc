//! `index.md` in a sweep's folder: a table of the runs and their folders.

use super::Sweep;
use crate::durable;
use crate::error::Result;
use crate::report::Table;
use std::fs;

impl Sweep {
    /// Writes the index unless it is already up to date. Several processes may do this at once.
    ///
    /// # Errors
    /// `CantCreate`, `Io`.
    pub fn write_index(&self) -> Result<()> {
        durable::create_folder(&self.folder)?;
        let path = self.folder.join("index.md");
        let text = self.index();
        if fs::read(&path).is_ok_and(|bytes| bytes == text.as_bytes()) {
            return Ok(());
        }
        durable::replace(&path, text.as_bytes())
    }

    fn index(&self) -> String {
        let axes = self.file.axes.iter().map(|axis| axis.name.as_str());
        let fold = self.file.folds.map(|_| "fold");
        let mut table = Table::new(["task"].into_iter().chain(axes).chain(["seed"]).chain(fold).chain(["folder"]));
        for run in &self.runs {
            let values = run.values.iter().map(|(_, value)| value.clone());
            let fold = run.fold.map(|fold| fold.to_string());
            let ends = [Some(run.config.seed.to_string()), fold, Some(format!("[{0}]({0})", run.hash))];
            table.push(std::iter::once(run.number.to_string()).chain(values).chain(ends.into_iter().flatten()));
        }
        format!("# {}\n\n{}", self.file.name, table.to_markdown())
    }
}
