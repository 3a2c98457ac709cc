//! Job arrays whose tasks are the runs of a sweep.
//!
//! A task is idempotent. Its exit code is 0 if it is done, and 75 if it resumes when it is started again.

use super::Sweep;
use crate::durable::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::say::quoted;
use clap::ValueEnum;
use std::path::Path;

/// The scheduler of the job array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scheduler {
    /// A job array for `sbatch`; tasks that were stopped requeue themselves
    Slurm,
    /// An Indexed Job for `kubectl apply`
    K8s,
    /// A loop for `sh`
    Shell,
}

/// How often a task may be stopped or lost before the scheduler gives up.
const TRIES: usize = 20;

impl Sweep {
    /// The whole script. `out` is the folder, if the user named one.
    ///
    /// # Errors
    /// `Usage` if a path is not UTF-8; those of [`Sweep::runs_digest`].
    pub fn job_array(&self, target: Scheduler, out: Option<&Path>) -> Result<String> {
        let out = match out {
            Some(out) => format!(" --output {}", word(out)?),
            None => String::new(),
        };
        let file = word(&self.path)?;
        let arguments = format!("sweep run {file}{out} --expect {}", self.runs_digest()?);
        Ok(match target {
            Scheduler::Slurm => self.slurm(&arguments),
            Scheduler::K8s => self.k8s(&arguments),
            Scheduler::Shell => self.shell(&arguments),
        })
    }

    fn slurm(&self, arguments: &str) -> String {
        let (name, tasks) = (&self.file.name, self.runs.len());
        format!(
            "#!/bin/sh
#SBATCH --job-name=tiered-{job}
#SBATCH --array=1-{tasks}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=USR1@120
# The sweep {name}, one task per run. 120 seconds before its time limit a task saves and
# exits with 75. It is then queued again, at most {TRIES} times, and resumes.
# Add what your cluster needs: --time, --partition, --cpus-per-task, --gres.
srun ${{SLURM_CPUS_PER_TASK:+--cpus-per-task=\"$SLURM_CPUS_PER_TASK\"}} \"${{TIERED:-tiered}}\" {arguments} --task \"$SLURM_ARRAY_TASK_ID\"
code=$?
if [ $code -eq 75 ] && [ \"${{SLURM_RESTART_COUNT:-0}}\" -lt {TRIES} ]; then
    scontrol requeue \"${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID\"
fi
exit $code
",
            job = dns_label(name),
        )
    }

    #[expect(clippy::too_many_lines, reason = "it is one file, word for word")]
    fn k8s(&self, arguments: &str) -> String {
        let (name, tasks) = (&self.file.name, self.runs.len());
        let job = dns_label(name);
        format!(
            "# The sweep {name}, one index per run. A stopped pod saves and exits with 75. Another pod resumes the run.
# Set image, volume and resources, and with `env` the variables that configs name, such as TIERED_DATA. The folder of the
# sweep must be on a volume that outlives pods.
apiVersion: batch/v1
kind: Job
metadata:
  name: tiered-{job}
spec:
  completionMode: Indexed
  completions: {tasks}
  parallelism: 1
  backoffLimitPerIndex: {TRIES}
  maxFailedIndexes: {tasks}
  podFailurePolicy:
    rules:
      - action: Ignore
        onPodConditions:
          - type: DisruptionTarget
      - action: Count
        onExitCodes:
          containerName: tiered
          operator: In
          values: [75]
      - action: FailIndex
        onExitCodes:
          containerName: tiered
          operator: In
          values: [2, 65, 66, 69, 70, 73, 76, 77, 78]
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 120
      containers:
        - name: tiered
          image: tiered:latest
          workingDir: /tiered
          command: [\"sh\", \"-c\"]
          args:
            - |
              exec tiered {arguments} --task $((JOB_COMPLETION_INDEX + 1))
          volumeMounts:
            - name: tiered
              mountPath: /tiered
      volumes:
        - name: tiered
          persistentVolumeClaim:
            claimName: tiered
"
        )
    }

    fn shell(&self, arguments: &str) -> String {
        let (name, tasks) = (&self.file.name, self.runs.len());
        format!(
            "#!/bin/sh
# The sweep {name}: its {tasks} runs, one after another. A run that exits with 75 is started again.
# On Ctrl-C the current run saves and the script exits with 75. Start the script again to resume.
trap 'exit 75' INT TERM
failed=0
task=0
while [ $task -lt {tasks} ]; do
    task=$((task + 1))
    tries=0
    code=75
    while [ $code -eq 75 ] && [ $tries -lt {TRIES} ]; do
        tries=$((tries + 1))
        \"${{TIERED:-tiered}}\" {arguments} --task $task
        code=$?
    done
    [ $code -eq 0 ] || failed=$code
done
exit $failed
"
        )
    }
}

/// A path as one word of a script.
///
/// # Errors
/// `Usage` if it is not UTF-8.
fn word(path: &Path) -> Result<String> {
    path.to_str().map(quoted).ok_or_else(|| {
        let message = format!("{}: is not UTF-8; rename it: a script can't name it", path.display());
        Error::new(ErrorKind::Usage, message)
    })
}

/// The name as a part of the name of a Kubernetes object: lower-case letters, digits and dashes. If it has none of them,
/// the beginning of its SHA-256.
fn dns_label(name: &str) -> String {
    let label: String =
        name.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(50).collect();
    match label.trim_matches('-') {
        "" => sha256(name.as_bytes())[..8].to_owned(),
        label => label.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell() {
        assert_eq!(quoted("configs/sweeps/a.toml"), "configs/sweeps/a.toml");
        assert_eq!(quoted("my sweeps/it's.toml"), "'my sweeps/it'\\''s.toml'");
        assert_eq!((dns_label("TRIP_table 2!"), dns_label("a")), ("trip-table-2".into(), "a".into()));
    }
}
