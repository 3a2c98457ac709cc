//! File operations that survive a crash: no reader ever sees half a file. When `write`, `replace`, `extend` or `link`
//! returns, its result is on the disk.
//!
//! What changes files goes through [`fault::operation`](crate::fault::operation), so that tests can stop the program
//! after any of them; taking locks does not.

mod digest;
mod digests;
mod disk;
mod document;
mod files;
mod lines;
mod lock;

pub use crate::untrusted::sha256;
pub use digest::FileDigest;
pub use digests::Digests;
pub use disk::{free_bytes, require_creatable};
pub use document::read_document;
pub use files::{
    append, create_folder, extend, folder_beside, is_same_file, link, remove_file, remove_folder, remove_leftovers,
    rename, replace, replace_with, sync_folder, sync_parent, write, write_with,
};
pub use lines::{LineFile, whole_lines};
pub use lock::Lock;
