//! Runs that lose a process, or that one process stops.

use super::rig::{Cluster, PATIENCE, Processes};
use crate::faults::count;
use crate::support::{said, send};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

/// What happens to a process in the middle of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Killed,
    Stopped,
}

/// Processes of which one, where `pause` stops it in step 4, meets its fate. Returns what the others said, and how long it
/// took them.
fn lose(
    cluster: &Cluster,
    run: &Path,
    (processes, rank): (usize, usize),
    fate: Fate,
    pause: &str,
) -> (Vec<Output>, Duration) {
    let timeout = if fate == Fate::Stopped { "12" } else { PATIENCE };
    let mut all = Processes::start(processes, |own| {
        let mut command = cluster.command(run, timeout);
        if own == rank {
            command.env("TIERED_POISON", format!("{pause}=600@4"));
        }
        command
    });
    let mut lines = BufReader::new(all.0[rank].stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "paused"));
    send(if fate == Fate::Killed { "KILL" } else { "STOP" }, &all.0[rank]);
    let started = Instant::now();
    let mut victim = all.0.remove(rank);
    let outputs = all.end();
    let took = started.elapsed();
    victim.kill().unwrap();
    victim.wait().unwrap();
    (outputs, took)
}

#[test]
fn the_others_stop_and_any_number_goes_on() {
    let cluster = Cluster::shared();
    let of = |processes: usize| (0..processes).map(move |rank| (processes, rank));
    // With how many processes the run goes on: as before, or not.
    let losses =
        of(2).chain(of(4)).zip([1, 4, 2, 1, 4, 2]).flat_map(|loss| [(loss, Fate::Killed), (loss, Fate::Stopped)]);
    let some = losses.clone().step_by(3).take(4);
    let chosen: Vec<_> = if count(0, 1) == 1 { losses.collect() } else { some.collect() };
    for (((processes, rank), next), fate) in chosen {
        let about = format!("{processes} processes, of which {rank} is {fate:?}; then {next}");
        let run = cluster.folder();
        let (outputs, took) = lose(cluster, &run, (processes, rank), fate, "pause");
        for output in &outputs {
            assert_eq!(output.status.code(), Some(75), "{about}: {}", said(output));
            assert!(said(output).contains("the loss of another process"), "{about}: {}", said(output));
        }
        assert!(took < Duration::from_secs(60), "{about}: {took:?}");
        if rank > 0 {
            let resume =
                format!("after step 3; the run is saved; resume with: tiered train --resume {}", run.display());
            assert!(said(&outputs[0]).contains(&resume), "{about}: {}", said(&outputs[0]));
        }
        assert_eq!(cluster.trained(&run, next), *cluster.reference(), "{about}");
    }
}

#[test]
fn a_step_after_which_a_process_is_lost_is_in_the_table() {
    let cluster = Cluster::shared();
    let run = cluster.folder();
    // All have taken the step, and compare their weights.
    let (outputs, _) = lose(cluster, &run, (2, 1), Fate::Killed, "pause-after");
    assert!(said(&outputs[0]).contains("after step 4; the run is saved"), "{}", said(&outputs[0]));
    assert_eq!(cluster.trained(&run, 2), *cluster.reference());
}

#[test]
fn a_signal_to_one_process_stops_all_at_the_same_step() {
    let cluster = Cluster::shared();
    for (rank, signal) in [(1, "TERM"), (0, "USR1")] {
        let run = cluster.folder();
        let mut all = Processes::start(2, |_| {
            let mut command = cluster.command(&run, PATIENCE);
            command.env("TIERED_POISON", "pause=1@3");
            command
        });
        let mut stderr = BufReader::new(all.0[rank].stderr.take().unwrap());
        let mut line = String::new();
        while line.trim() != "paused" {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it never paused");
        }
        send(signal, &all.0[rank]);
        let mut words = String::new();
        stderr.read_to_string(&mut words).unwrap();
        let outputs = all.end();
        assert!(outputs.iter().all(|output| output.status.code() == Some(75)), "{words}{}", said(&outputs[1 - rank]));
        let other = said(&outputs[1 - rank]);
        assert!(words.contains(&format!("stopped by SIG{signal} after step 4")), "{words}");
        assert!(other.contains("stopped by a signal to another process after step 4"), "{other}");
        let events = std::fs::read_to_string(run.join("events.jsonl")).unwrap();
        assert!(events.contains("the run is saved"), "{events}");
        assert_eq!(cluster.trained(&run, 4), *cluster.reference());
    }
}

/// As `TIERED_POISON` breaks the process of rank `which`.
fn broken(cluster: &Cluster, run: &Path, which: usize, poison: &str) -> Vec<Output> {
    let all = Processes::start(2, |rank| {
        let mut command = cluster.command(run, PATIENCE);
        if rank == which {
            command.env("TIERED_POISON", poison);
        }
        command
    });
    all.end()
}

#[test]
fn what_is_not_finite_in_one_process_stops_all() {
    let cluster = Cluster::shared();
    let losses = ["preconditions", "effects", "conflicts", "story"].map(|loss| format!("{loss}=nan@5"));
    let gradients =
        ["gradient:roberta.encoder.layer.0.attention.self.query.weight=inf@5".to_owned(), "story=inf@5".to_owned()];
    for poison in losses.iter().chain(&gradients).take(count(1, 6)).chain(&gradients[..1]) {
        let run = cluster.folder();
        for output in broken(cluster, &run, 1, poison) {
            assert_eq!(output.status.code(), Some(76), "{poison}: {}", said(&output));
            assert!(said(&output).contains("step 5: the "), "{poison}: {}", said(&output));
        }
        assert_eq!(cluster.trained(&run, 1), *cluster.reference(), "{poison}");
    }
}

#[test]
fn other_weights_in_one_process_are_found() {
    let cluster = Cluster::shared();
    let name = "roberta.encoder.layer.1.output.dense.bias";
    // After the fourth step a checkpoint is due.
    for (rank, step) in [(1, 3), (0, 4)] {
        let run = cluster.folder();
        for output in broken(cluster, &run, rank, &format!("weight:{name}=0.5@{step}")) {
            assert_eq!(output.status.code(), Some(75), "{}", said(&output));
            assert!(said(&output).contains(" in process 1 is not what it is in process 0"), "{}", said(&output));
        }
        let events = std::fs::read_to_string(run.join("events.jsonl")).unwrap();
        let is_noted =
            events.contains("\"unequal\"") && events.contains("what came after the checkpoint step-00000002");
        assert!(is_noted, "{events}");
        assert_eq!(cluster.trained(&run, 2), *cluster.reference(), "nothing of what differed was saved");
    }
}
