//! Of studies, their files.

#[path = "../../src/study/file.rs"]
mod file;

pub use file::StudyFile;
