//! What is checked before several processes train.

use super::rig::{Cluster, PATIENCE, Processes};
use crate::support::{said, stderr, text, tiered_with};
use std::process::Command;

/// The processes, which must all end with this code; returns what they said.
fn refused(count: usize, code: i32, command: impl Fn(usize) -> Command) -> Vec<String> {
    let outputs = Processes::start(count, command).end();
    outputs
        .iter()
        .map(|output| {
            assert_eq!(output.status.code(), Some(code), "{}", said(output));
            said(output)
        })
        .collect()
}

#[test]
fn variables_that_are_half_set_are_named() {
    let cluster = Cluster::shared();
    let run = cluster.folder();
    let output = cluster.command(&run, PATIENCE).env("RANK", "0").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("RANK is set, but not WORLD_SIZE, MASTER_ADDR, MASTER_PORT"), "{}", said(&output));
    let output = cluster.command(&run, PATIENCE).env("WORLD_SIZE", "2").env("RANK", "2").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!run.exists());
}

#[test]
fn processes_that_never_come_are_waited_for_only_so_long() {
    let cluster = Cluster::shared();
    let run = cluster.folder();
    let mut all = Processes::start(2, |_| cluster.command(&run, "2"));
    all.0[1].kill().unwrap();
    let outputs = all.end();
    let words = said(&outputs[0]);
    // The second one may have come before it was killed.
    assert_eq!(outputs[0].status.code(), Some(69), "{words}");
    assert!(words.contains("process 0 of 2 did not meet the others") || words.contains("has not begun"), "{words}");
    assert!(!run.exists());
}

#[test]
fn more_processes_than_shards_are_refused_in_all() {
    let cluster = Cluster::new(&["train.shards=1"]);
    let run = cluster.folder();
    let words = refused(2, 78, |_| cluster.command(&run, PATIENCE));
    assert!(words.iter().all(|words| words.contains("2 processes, but train.shards = 1")), "{words:?}");
    assert!(words[1].contains("process 0: ") && !run.exists(), "{words:?}");
}

/// Only the first one makes the folder. With another code for the others a script would start them again, for ever.
#[test]
fn a_folder_that_can_t_be_made_ends_all_with_its_error() {
    let cluster = Cluster::shared();
    let run = cluster.folder();
    let name = format!(".{}.part", run.file_name().unwrap().to_str().unwrap());
    std::fs::write(run.with_file_name(name), "no folder").unwrap();
    let words = refused(2, 73, |_| cluster.command(&run, PATIENCE));
    assert!(words.iter().all(|words| words.contains("is not a folder; choose another path")), "{words:?}");
    assert!(words[1].contains("process 0: ") && !run.exists(), "{words:?}");
}

#[test]
fn what_one_process_lacks_ends_all() {
    let cluster = Cluster::shared();
    let run = cluster.folder();
    let stories = cluster.tiny.stories();
    let moved = cluster.tiny.path("moved.json");
    std::fs::copy(&stories, &moved).unwrap();
    let none = cluster.tiny.path("none.json");
    let command = |rank: usize| {
        let mut command = cluster.command(&run, PATIENCE);
        command.env("STORIES", if rank == 1 { &none } else { &moved });
        command.args(["--set", "data.train={ file = '${STORIES}', split = 'train' }"]);
        command
    };
    let words = refused(2, 66, command);
    assert!(words[0].contains("process 1: ") && words[0].contains("none.json"), "{words:?}");
    assert!(words[1].contains("none.json") && !run.exists(), "{words:?}");
}

#[test]
fn other_files_and_other_threads_are_refused() {
    let cluster = Cluster::shared();
    let run = cluster.folder();
    let (stories, changed) = (cluster.tiny.stories(), cluster.tiny.path("changed.json"));
    std::fs::write(&changed, std::fs::read_to_string(&stories).unwrap() + "\n").unwrap();
    let words = refused(2, 65, |rank| {
        let mut command = cluster.command(&run, PATIENCE);
        command.env("STORIES", if rank == 1 { &changed } else { &stories });
        command.args(["--set", "data.train={ file = '${STORIES}', split = 'train' }"]);
        command
    });
    assert!(words.iter().all(|words| words.contains("process 1 has read other files")), "{words:?}");

    let config = std::fs::read_to_string(cluster.tiny.path("tiny.toml")).unwrap().replace("threads = 1\n", "");
    let any_threads = cluster.tiny.path("any-threads.toml");
    std::fs::write(&any_threads, config).unwrap();
    let words = refused(2, 69, |rank| {
        let mut command = cluster.command_of(&any_threads, &run, PATIENCE);
        command.env("OMP_NUM_THREADS", (rank + 1).to_string());
        command
    });
    assert!(words.iter().all(|words| words.contains("threads: 1 in process 0, 2 there")), "{words:?}");
    assert!(!run.exists());
}

#[test]
fn a_dry_run_of_several_writes_nothing() {
    let cluster = Cluster::shared();
    let run = cluster.folder();
    let outputs = Processes::start(2, |_| {
        let mut command = cluster.command(&run, PATIENCE);
        command.arg("--dry-run");
        command
    });
    for output in outputs.end() {
        assert!(output.status.success() && !run.exists(), "{}", said(&output));
    }
}

/// Whatever started a sweep, its runs have one process each.
#[test]
fn variables_are_not_handed_on_to_the_runs_of_a_sweep() {
    let cluster = Cluster::shared();
    let sweep = cluster.tiny.path("sweep.toml");
    let (config, stories) = (cluster.tiny.path("tiny.toml"), cluster.tiny.stories());
    let text_of_sweep = format!(
        "name = 's'\nbase = '{}'\nseeds = [0]\nset = {{ train.epochs = 1 }}\n\
         evaluate = [{{ name = 'dev', file = '{}', split = 'dev' }}]\n",
        config.display(),
        stories.display()
    );
    std::fs::write(&sweep, text_of_sweep).unwrap();
    let out = cluster.tiny.path("sweeps");
    let output = tiered_with("RANK", "0", ["sweep", "run", text(&sweep), "--jobs", "2", "--output", text(&out)]);
    assert!(output.status.success(), "{}", stderr(&output));
}
