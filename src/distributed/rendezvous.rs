//! Where the processes of a run meet, by the variables that `torchrun`, `srun` and `mpirun` set.

use crate::error::{Error, ErrorKind, Result};

/// This process among those of its run, and the address where they meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendezvous {
    /// Counted from 0.
    pub rank: usize,
    /// The number of processes, at least 2.
    pub size: usize,
    /// The name or address of the host of rank 0.
    pub host: String,
    /// The port there.
    pub port: u16,
    /// Whether this process serves the store there: rank 0, unless `torchrun` serves it.
    pub serves: bool,
    /// How often `torchrun` has restarted the processes. Each attempt has keys of its own in the store.
    pub attempt: String,
}

/// Every variable that makes a process one of several, in PyTorch's form.
pub const VARIABLES: [&str; 4] = ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"];

/// The variables in which launchers other than `torchrun` tell rank and number of processes. A process that `mpirun`
/// started within a job of Slurm has both kinds, and those of Slurm are the job's.
const LAUNCHERS: [[&str; 2]; 3] =
    [["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"], ["PMI_RANK", "PMI_SIZE"], ["SLURM_PROCID", "SLURM_NTASKS"]];

impl Rendezvous {
    /// What the environment says; `None` if this process is the only one.
    ///
    /// # Errors
    /// `Usage` if the variables are incomplete or contradict each other.
    pub fn from_environment() -> Result<Option<Self>> {
        Self::from_variables(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>> {
        let has = |name: &str| variable(name).is_some();
        let own = ["RANK", "WORLD_SIZE"];
        let is_address_complete = has("MASTER_ADDR") && has("MASTER_PORT");
        let launcher = LAUNCHERS.into_iter().find(|names| names.iter().all(|name| has(name)));
        let [rank, size] = match launcher {
            _ if own.iter().any(|name| has(name)) => own,
            Some(names) if has("MASTER_ADDR") => names,
            None if is_address_complete => own,
            _ => return Ok(None),
        };
        let needed = [rank, size, "MASTER_ADDR", "MASTER_PORT"];
        let (set, missing): (Vec<_>, Vec<_>) = needed.into_iter().partition(|name| has(name));
        if !missing.is_empty() {
            return Err(usage(format!("{} set, but not {}", are(&set), missing.join(", "))));
        }
        let text = |name: &str| variable(name).unwrap_or_default();
        let number = |name: &str| {
            let parsed = text(name).parse::<usize>();
            parsed.map_err(|_| usage(format!("{name}={} is not a number", text(name))))
        };
        let (rank_number, size_number) = (number(rank)?, number(size)?);
        if rank_number >= size_number {
            return Err(usage(format!("{rank}={rank_number} is not below {size}={size_number}")));
        }
        if i32::try_from(size_number).is_err() {
            return Err(usage(format!("{size}={size_number} is more processes than there can be")));
        }
        let port = number("MASTER_PORT")?;
        let port = u16::try_from(port).ok().filter(|&port| port > 0);
        let port = port.ok_or_else(|| usage(format!("MASTER_PORT={} is no port", text("MASTER_PORT"))))?;
        let is_served = text("TORCHELASTIC_USE_AGENT_STORE") == "True";
        Ok((size_number > 1).then(|| Rendezvous {
            rank: rank_number,
            size: size_number,
            host: text("MASTER_ADDR"),
            port,
            serves: rank_number == 0 && !is_served,
            attempt: variable("TORCHELASTIC_RESTART_COUNT").unwrap_or_else(|| "0".to_owned()),
        }))
    }
}

/// "RANK is", "RANK, WORLD_SIZE are".
fn are(names: &[&str]) -> String {
    format!("{} {}", names.join(", "), if names.len() == 1 { "is" } else { "are" })
}

fn usage(problem: String) -> Error {
    let remedy = "start several processes with torchrun, srun or mpirun (docs/cluster.md); to train in one process, \
                  unset RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT";
    Error::new(ErrorKind::Usage, format!("{problem}; {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &str) -> Result<Option<Rendezvous>> {
        let all: Vec<(&str, &str)> = variables.split_whitespace().filter_map(|one| one.split_once('=')).collect();
        Rendezvous::from_variables(|name| {
            all.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        })
    }

    const AT: &str = "MASTER_ADDR=node1 MASTER_PORT=29500";

    #[test]
    fn each_launcher_is_understood() {
        let found = read(&format!("{AT} RANK=2 WORLD_SIZE=4 SLURM_PROCID=0 SLURM_NTASKS=1")).unwrap().unwrap();
        assert_eq!((found.rank, found.size, found.port, found.serves), (2, 4, 29500, false));
        assert_eq!((found.host.as_str(), found.attempt.as_str()), ("node1", "0"));
        let agent = "TORCHELASTIC_USE_AGENT_STORE=True TORCHELASTIC_RESTART_COUNT=3";
        let found = read(&format!("{AT} RANK=0 WORLD_SIZE=2 {agent}")).unwrap().unwrap();
        assert_eq!((found.serves, found.attempt.as_str()), (false, "3"));
        let found = read(&format!("{AT} SLURM_PROCID=0 SLURM_NTASKS=2")).unwrap().unwrap();
        assert_eq!((found.rank, found.size, found.serves), (0, 2, true));
        let mpirun = "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2";
        let found = read(&format!("{AT} SLURM_PROCID=0 SLURM_NTASKS=1 {mpirun}")).unwrap().unwrap();
        assert_eq!((found.rank, found.size), (1, 2));
        assert_eq!(read(&format!("{AT} PMI_RANK=1 PMI_SIZE=3")).unwrap().unwrap().rank, 1);
    }

    #[test]
    fn one_process_is_left_alone() {
        for alone in ["", "SLURM_PROCID=0 SLURM_NTASKS=4", "MASTER_ADDR=node1", &format!("{AT} RANK=0 WORLD_SIZE=1")] {
            assert_eq!(read(alone).unwrap(), None, "{alone}");
        }
    }

    #[test]
    fn what_is_incomplete_is_named() {
        for (variables, said) in [
            ("RANK=0".to_owned(), "RANK is set, but not WORLD_SIZE, MASTER_ADDR, MASTER_PORT"),
            (AT.to_owned(), "MASTER_ADDR, MASTER_PORT are set, but not RANK, WORLD_SIZE"),
            ("RANK=0 WORLD_SIZE=2 MASTER_ADDR=a".to_owned(), "are set, but not MASTER_PORT"),
            ("MASTER_ADDR=a SLURM_PROCID=0 SLURM_NTASKS=2".to_owned(), "are set, but not MASTER_PORT"),
            (format!("{AT} RANK=2 WORLD_SIZE=2"), "RANK=2 is not below WORLD_SIZE=2"),
            (format!("{AT} RANK=x WORLD_SIZE=2"), "RANK=x is not a number"),
            ("RANK=0 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=0".to_owned(), "MASTER_PORT=0 is no port"),
        ] {
            let error = read(&variables).unwrap_err();
            assert!(error.kind == ErrorKind::Usage && error.message.contains(said), "{variables}: {error}");
        }
    }
}
