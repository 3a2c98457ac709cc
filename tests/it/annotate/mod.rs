//! Annotation projects: written, undone, shared, exported and imported.

mod hints;
mod measure;
mod passes;
mod project;
mod rig;
mod roundtrip;
mod undo;
