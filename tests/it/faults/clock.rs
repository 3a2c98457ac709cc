//! A clock that is set back.

use super::rig::{Rig, preloaded};
use super::{count, ensure, trials};
use crate::support::said;

/// At its start, and in the middle of it; what it finds was then made in the future.
#[test]
fn set_back_by_a_day() {
    let rig = Rig::shared();
    let half = rig.run();
    half.is_half_done();
    let library = preloaded("clock.c", &rig.tiny.path("clock.so"));
    let readings: Vec<usize> = (1..=count(3, 20)).collect();
    trials("clock set back by a day at its reading N: equal weights", &readings, |reading| {
        for run in [rig.run(), half.copied()] {
            let mut command = run.command();
            let output =
                command.env("LD_PRELOAD", &library).env("FAULT_CLOCK_AT", reading.to_string()).output().unwrap();
            ensure(output.status.success(), || said(&output))?;
            run.ends_as_if_uninterrupted()?;
        }
        Ok(())
    });
}
