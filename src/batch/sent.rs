//! Batches on their way to the device.

use super::collate::Batch;
use super::targets::Targets;
use super::tokens::Tokens;
use crate::torch::{Parcel, has_kernels};
use tch::{Device, Tensor};

/// A batch with its targets, ready to be copied to a device in one go. Making it needs no device, so another thread can
/// do that meanwhile.
pub struct SentBatch {
    batch: Batch,
    targets: Targets,
    device: Device,
    /// `None` where our kernels read the tensors as they are.
    parcel: Option<Parcel>,
}

impl SentBatch {
    /// Packs a batch that is on the CPU.
    pub fn new((mut batch, mut targets): (Batch, Targets), device: Device) -> Self {
        let parcel = pack(&tensors(&mut batch, &mut targets), device);
        SentBatch { batch, targets, device, parcel }
    }

    /// Copies it to the device, without waiting.
    pub fn arrive(self) -> (Batch, Targets) {
        let SentBatch { mut batch, mut targets, device, parcel } = self;
        if let Some(parcel) = parcel {
            parcel.unpack(device, tensors(&mut batch, &mut targets));
        }
        (batch, targets)
    }
}

fn tensors<'a>(batch: &'a mut Batch, targets: &'a mut Targets) -> Vec<&'a mut Tensor> {
    batch.all_tensors().into_iter().chain(targets.all_tensors()).collect()
}

fn pack(tensors: &[&mut Tensor], device: Device) -> Option<Parcel> {
    let tensors: Vec<&Tensor> = tensors.iter().map(|tensor| &**tensor).collect();
    (!has_kernels(device)).then(|| Parcel::pack(&tensors, device))
}

impl Tokens {
    /// The same tokens on this device, copied there in one go.
    pub fn to_device(mut self, device: Device) -> Self {
        if let Some(parcel) = pack(&self.all_tensors(), device) {
            parcel.unpack(device, self.all_tensors());
        }
        self
    }
}
