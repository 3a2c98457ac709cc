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
        let mut table = Table::new(["task"].into_iter().chain(axes).chain(["seed", "folder"]));
        for run in &self.runs {
            let values = run.values.iter().map(|(_, value)| value.clone());
            let ends = [run.config.seed.to_string(), format!("[{0}]({0})", run.hash)];
            table.push(std::iter::once(run.number.to_string()).chain(values).chain(ends));
        }
        format!("# {}\n\n{}", self.file.name, table.to_markdown())
    }
}
