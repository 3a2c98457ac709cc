//! `index.md` of a study's folder: which cell is in which folder.

use super::Study;
use crate::durable;
use crate::error::Result;
use crate::report::Table;
use std::fs;

impl Study {
    /// Writes the index unless it is there as it should be. Several processes may do so at once.
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
        for cell in &self.cells {
            let values = cell.values.iter().map(|(_, value)| value.clone());
            let ends = [cell.config.seed.to_string(), format!("[{0}]({0})", cell.hash)];
            table.push(std::iter::once(cell.number.to_string()).chain(values).chain(ends));
        }
        format!("# {}\n\n{}", self.file.name, table.to_markdown())
    }
}
