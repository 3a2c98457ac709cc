//! Copies many tensors to a device at once.

use super::bridge::pinned;
use tch::{Device, Kind, Tensor};

/// Tensors laid end to end in one buffer. On a GPU each copy costs a call and, from memory that is not pinned, waits for
/// the device; a batch has about twenty tensors.
pub struct Parcel {
    /// `[bytes]`
    bytes: Tensor,
    parts: Vec<Part>,
}

struct Part {
    start: i64,
    length: i64,
    kind: Kind,
    shape: Vec<i64>,
}

/// Every part begins at a multiple of this, which suits all kinds and the widest loads of a GPU.
const ALIGNMENT: i64 = 16;

impl Parcel {
    /// Packs tensors that are on the CPU, into pinned memory if they are meant for a GPU.
    pub fn pack(tensors: &[&Tensor], device: Device) -> Self {
        let (mut pieces, mut parts, mut end) = (Vec::new(), Vec::with_capacity(tensors.len()), 0);
        for tensor in tensors {
            let bytes = tensor.contiguous().view([-1]).view_dtype(Kind::Uint8);
            let length = bytes.size()[0];
            parts.push(Part { start: end, length, kind: tensor.kind(), shape: tensor.size() });
            let filler = (ALIGNMENT - length % ALIGNMENT) % ALIGNMENT;
            pieces.extend([bytes, Tensor::zeros([filler], (Kind::Uint8, Device::Cpu))]);
            end += length + filler;
        }
        let bytes = match pieces.is_empty() {
            true => Tensor::zeros([0], (Kind::Uint8, Device::Cpu)),
            false => Tensor::cat(&pieces, 0),
        };
        Parcel { bytes: if device.is_cuda() { pinned(&bytes) } else { bytes }, parts }
    }

    /// Copies all tensors to the device, without waiting, and replaces `tensors` by them, in the order in which they
    /// were packed.
    pub fn unpack(self, device: Device, tensors: Vec<&mut Tensor>) {
        assert_eq!(tensors.len(), self.parts.len(), "as many as were packed");
        let bytes = self.bytes.to_device_(device, Kind::Uint8, true, false);
        for (tensor, Part { start, length, kind, shape }) in tensors.into_iter().zip(self.parts) {
            *tensor = bytes.narrow(0, start, length).view_dtype(kind).view(shape.as_slice());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unpacked_is_what_was_packed() {
        let sent = [
            Tensor::from_slice(&[1i64, -2, 3]),
            Tensor::from_slice(&[true, false, true, true, false]).view([5, 1]),
            Tensor::from_slice(&[0.5f32, 1e-30]),
            Tensor::zeros([0, 4], (Kind::Int64, Device::Cpu)),
            Tensor::arange(6, (Kind::Int64, Device::Cpu)).view([2, 3]).tr(),
        ];
        let parcel = Parcel::pack(&sent.iter().collect::<Vec<_>>(), Device::Cpu);
        let mut arrived = [0; 5].map(|_| Tensor::new());
        parcel.unpack(Device::Cpu, arrived.iter_mut().collect());
        for (sent, arrived) in sent.iter().zip(&arrived) {
            assert!(sent.kind() == arrived.kind() && sent.size() == arrived.size() && sent == arrived);
        }
    }
}
