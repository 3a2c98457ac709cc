//! Annotation projects: written, undone, shared, exported and imported.

mod hints;
mod italian;
mod keys;
mod killed;
mod measure;
mod passes;
mod project;
pub mod rig;
mod roundtrip;
mod served;
mod undo;
