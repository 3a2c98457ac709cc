//! Several processes that train one model, on PyTorch's engine for that (c10d).
//!
//! | file | what |
//! |---|---|
//! | `rendezvous` | the variables of `torchrun`, `srun` and `mpirun` -> which process this is, and where all meet |
//! | `ranks` | the processes as training sees them; one that is alone exchanges nothing |
//! | `group`, `ffi`, `c10d.cc` | sums and broadcasts of a tensor |
//! | `gloo/` | what `c10d.cc` needs of the headers that PyTorch's packages lack |

mod ffi;
mod group;
mod ranks;
mod rendezvous;

pub use ranks::{LostRank, Ranks};
pub use rendezvous::{Rendezvous, VARIABLES};
