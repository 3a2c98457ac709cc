//! Turns a panic of a run into an error, so that the runs after it go on.

use crate::error::{Error, ErrorKind, Result, lack_of_memory};
use crate::untrusted::shown;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The most characters of a panic's message that an error quotes. The whole message was printed when it panicked.
const QUOTED: usize = 300;

/// Does the work of a run. `tch` panics when a call of libtorch fails, and may leave gradients switched off then: they
/// are on when the work begins, and as they were before when it has ended.
///
/// # Errors
/// Those of the work; if it panics, `Unavailable` for lack of memory, and `Internal` for anything else.
pub fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    tch::with_grad(|| catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(failed(&*panic))))
}

fn failed(panic: &(dyn Any + Send)) -> Error {
    if let Some(what) = lack_of_memory(panic) {
        let remedy = "lower train.pairs_per_step or train.entities, use a smaller encoder, or lower --jobs";
        return Error::new(ErrorKind::Unavailable, format!("out of memory ({what}); {remedy}"));
    }
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    let said = text.map_or(String::new(), |text| format!(": {}", shown(text, QUOTED)));
    Error::new(ErrorKind::Internal, format!("the run panicked, which is a bug of ours{said}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::kind::FLOAT_CPU;
    use tch::{Kind, Tensor};

    #[test]
    fn a_panic_is_an_error_of_its_run() {
        let of_torch = "Torch(\"DefaultCPUAllocator: can't allocate memory: you tried to allocate 64 bytes. Error\")";
        let memory = caught::<()>(|| panic!("{of_torch}")).unwrap_err();
        assert_eq!(memory.kind, ErrorKind::Unavailable);
        assert!(memory.message.starts_with("out of memory (you tried to allocate 64 bytes); lower"), "{memory}");
        let name = "tensor".to_owned();
        for bug in [caught::<()>(|| panic!("no such tensor")), caught::<()>(|| panic!("no such {name}"))] {
            let bug = bug.unwrap_err();
            assert_eq!(bug.kind, ErrorKind::Internal);
            assert!(bug.message.ends_with("a bug of ours: no such tensor"), "{bug}");
        }
        assert_eq!(caught(|| Ok(3)).unwrap(), 3);
        let own = caught::<()>(|| Err(Error::data("wrong"))).unwrap_err();
        assert_eq!((own.kind, own.message.as_str()), (ErrorKind::Data, "wrong"));
    }

    #[test]
    fn a_run_after_a_panic_has_gradients() {
        let has_gradient = || Tensor::zeros([1], FLOAT_CPU).set_requires_grad(true).sum(Kind::Float).requires_grad();
        let failed = caught::<()>(|| tch::no_grad(|| panic!("in the middle of a step")));
        assert!(failed.is_err() && has_gradient());
        assert!(caught(|| Ok(has_gradient())).unwrap());
    }
}
