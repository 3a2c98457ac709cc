//! Runs of several processes on this machine: what they end with, whoever is lost on the way.

mod bits;
mod lost;
mod rig;
mod start;
