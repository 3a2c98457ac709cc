//! The processes of a run as training sees them. A process that is alone talks to nobody, and everything is at once
//! what it would be after the exchange.

use super::group::ProcessGroup;
use super::rendezvous::Rendezvous;
use crate::error::{Error, ErrorKind, Result};
use crate::torch::read;
use std::cell::{Cell, RefCell};
use std::time::Duration;
use tch::{Device, Kind, Tensor};

/// Another process of the run has ended, or did not answer in time.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the loss of another process ({0})")]
pub struct LostRank(pub String);

/// This process and the others of its run. Every method that takes part in an exchange must be called by all of them,
/// in the same order.
pub struct Ranks {
    rank: usize,
    size: usize,
    /// `None` if this process is alone, or once another one is lost. To close it tells the others at once.
    group: RefCell<Option<ProcessGroup>>,
    /// Whether this process was asked to stop.
    asks: Cell<bool>,
    /// Whether all know that one of them was asked to stop.
    stops: Cell<bool>,
}

impl Ranks {
    /// This process only.
    pub fn alone() -> Self {
        Self::with(0, 1, None)
    }

    fn with(rank: usize, size: usize, group: Option<ProcessGroup>) -> Self {
        Ranks { rank, size, group: RefCell::new(group), asks: Cell::new(false), stops: Cell::new(false) }
    }

    /// Meets the other processes. This and every later exchange waits for them at most for `timeout`.
    ///
    /// # Errors
    /// `Unavailable` if this build can't, or if the others don't come.
    pub fn join(at: &Rendezvous, timeout: Duration) -> Result<Self> {
        let unavailable = |why: String| Error::new(ErrorKind::Unavailable, why);
        ProcessGroup::check_build().map_err(|why| {
            unavailable(format!(
                "this build of tiered can't train in several processes: {why}; build it with PyTorch 2.13.0 \
                 (docs/cluster.md), or train in one process"
            ))
        })?;
        let Rendezvous { rank, size, host, port, .. } = at;
        let group = ProcessGroup::open(at, timeout).map_err(|why| {
            let seconds = timeout.as_secs();
            unavailable(format!(
                "process {rank} of {size} did not meet the others at {host}:{port} (it waits up to {seconds} s): {why}; check \
                 that all were started, MASTER_ADDR, MASTER_PORT, and GLOO_SOCKET_IFNAME (docs/cluster.md)"
            ))
        })?;
        Ok(Self::with(*rank, *size, Some(group)))
    }

    /// Closes the connection to the others; there is nothing more to say.
    pub fn leave(&self) {
        *self.group.borrow_mut() = None;
    }

    /// The number of this process, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of processes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether there is no other process.
    pub fn is_alone(&self) -> bool {
        self.size == 1
    }

    /// Whether this process writes the run folder and prints: the first one.
    pub fn leads(&self) -> bool {
        self.rank == 0
    }

    /// Does something in the group, unless this process is alone. After a failure the group is closed.
    fn exchange(&self, work: impl FnOnce(&ProcessGroup) -> Result<(), String>) -> Result<(), LostRank> {
        if self.is_alone() {
            return Ok(());
        }
        let mut group = self.group.borrow_mut();
        let open = group.as_ref().ok_or_else(|| LostRank("the processes were disconnected".to_owned()))?;
        let result = work(open).map_err(LostRank);
        if result.is_err() {
            *group = None;
        }
        result
    }

    /// Adds up a tensor over all processes, in place (see [`ProcessGroup::sum`] for the order).
    ///
    /// # Errors
    /// [`LostRank`].
    pub fn sum(&self, tensor: &Tensor) -> Result<(), LostRank> {
        self.exchange(|group| group.sum(tensor))
    }

    /// Sets a tensor to that of the first process.
    ///
    /// # Errors
    /// [`LostRank`].
    pub fn copy_of_first(&self, tensor: &Tensor) -> Result<(), LostRank> {
        self.exchange(|group| group.broadcast(tensor, 0))
    }

    /// The bytes that one process gives.
    ///
    /// # Errors
    /// [`LostRank`].
    pub fn bytes_of(&self, from: usize, own: Vec<u8>) -> Result<Vec<u8>, LostRank> {
        let mut bytes = own;
        self.exchange(|group| {
            let length = Tensor::from_slice(&[bytes.len() as i64]);
            group.broadcast(&length, from)?;
            let length = read::integers(&length)[0] as usize;
            let tensor = match self.rank == from {
                true => Tensor::from_slice(&bytes),
                false => Tensor::zeros([length as i64], (Kind::Uint8, Device::Cpu)),
            };
            if length > 0 {
                group.broadcast(&tensor, from)?;
            }
            bytes.resize(length, 0);
            tensor.copy_data(&mut bytes, length);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// The bytes that each process gives, by rank.
    ///
    /// # Errors
    /// [`LostRank`].
    pub fn bytes_of_all(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, LostRank> {
        let mut own = Some(own);
        let of = |rank| if rank == self.rank { own.take().unwrap_or_default() } else { Vec::new() };
        let given: Vec<Vec<u8>> = (0..self.size).map(of).collect();
        given.into_iter().enumerate().map(|(rank, bytes)| self.bytes_of(rank, bytes)).collect()
    }

    /// Says whether this process was asked to stop. The others learn it in the next exchange that passes it on.
    pub fn ask_to_stop(&self, asks: bool) {
        self.asks.set(asks);
    }

    /// 1 if this process was asked to stop, else 0: what an exchange adds up for [`Ranks::heard_stops`].
    pub fn own_stop(&self) -> f64 {
        f64::from(u8::from(self.asks.get()))
    }

    /// Takes the sum of [`Ranks::own_stop`] over all processes.
    pub fn heard_stops(&self, sum: f64) {
        self.stops.set(sum > 0.);
    }

    /// Passes on whether a process was asked to stop, by an exchange of its own.
    ///
    /// # Errors
    /// [`LostRank`].
    pub fn agree_to_stop(&self) -> Result<(), LostRank> {
        let sum = Tensor::from_slice(&[self.own_stop()]);
        self.sum(&sum)?;
        self.heard_stops(read::float(&sum));
        Ok(())
    }

    /// Whether a process was asked to stop, as far as all know. The answer is the same in all.
    pub fn are_to_stop(&self) -> bool {
        self.stops.get()
    }
}
