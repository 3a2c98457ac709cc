//! What several processes that train one run tell each other besides gradients: the plan, whether all are ready, the
//! state to start from, and whether their weights are the same.

use super::Experiment;
use super::compute::Compute;
use super::folder::config_text;
use super::plan::{PlannedStart, RunPlan};
use super::save::TrainingState;
use crate::checkpoint::{Environment, Inputs};
use crate::config::Config;
use crate::distributed::{LostRank, Ranks};
use crate::error::{Error, ErrorKind, Result};
use crate::torch::read;
use crate::train::{AdamW, Network, TrainEvent, Training};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tch::{Device, Kind, Tensor};

/// The plan of the first process, as the others hear it.
#[derive(Serialize, Deserialize)]
struct PlanMessage {
    /// As TOML, with the device and the precision that the first process resolved.
    config: String,
    limit: Option<usize>,
    encoder_folder: PathBuf,
    out: PathBuf,
}

/// What must be the same in all processes.
#[derive(Serialize, Deserialize)]
struct FactsMessage {
    inputs: Inputs,
    made_with: Environment,
}

/// An error of another process.
#[derive(Serialize, Deserialize)]
struct ErrorMessage {
    code: u8,
    message: String,
}

impl Experiment {
    /// Prepares a run in all processes, each of which calls this. The first one plans it; without errors, all have read
    /// the same inputs on machines that compute the same.
    ///
    /// # Errors
    /// Those of any process, in all of them; `Config` if there are more processes than shards; `Unavailable` on a GPU,
    /// or where processes differ.
    pub fn prepare_together(ranks: Ranks, plan: impl FnOnce() -> Result<RunPlan>) -> Result<Self> {
        if ranks.is_alone() {
            return plan()?.prepare();
        }
        let planned = ranks.leads().then(|| {
            let plan = checked(plan()?, ranks.size())?;
            Ok((PlanMessage::of(&plan)?, plan))
        });
        let bytes = match &planned {
            Some(Ok((message, _))) => to_bytes(&Ok::<_, ErrorMessage>(message))?,
            Some(Err(error)) => to_bytes(&Err::<PlanMessage, _>(ErrorMessage::of(error)))?,
            None => Vec::new(),
        };
        let bytes = ranks.bytes_of(0, bytes).map_err(not_started)?;
        let plan = match planned {
            Some(own) => own?.1,
            None => {
                from_bytes::<Result<PlanMessage, ErrorMessage>>(&bytes)?.map_err(|error| error.of_rank(0))?.plan()?
            }
        };
        let prepared = plan.prepare();
        agree(&ranks, prepared.as_ref().map(Experiment::facts_message))?;
        Ok(Experiment { ranks: Rc::new(ranks), ..prepared? })
    }

    fn facts_message(&self) -> FactsMessage {
        // Only the first process, which writes, knows with which weights the run was started, and what was seen earlier.
        let inputs = Inputs { initial_weights: None, earlier: Vec::new(), ..self.facts.inputs.clone() };
        FactsMessage { inputs, made_with: self.facts.made_with.clone() }
    }
}

/// What only a run of several processes needs.
fn checked(plan: RunPlan, processes: usize) -> Result<RunPlan> {
    let shards = plan.config.train.shards;
    if processes > shards {
        return Err(Error::config(format!(
            "{processes} processes, but train.shards = {shards}: a step can't be divided among them; set train.shards \
             to {processes} or more, and train.pairs_per_step to at least that"
        )));
    }
    if plan.compute.device != Device::Cpu {
        let remedy = "set device = \"cpu\", or train in one process";
        let message = format!("several processes compute on CPUs only in this version; {remedy}");
        return Err(Error::new(ErrorKind::Unavailable, message));
    }
    Ok(plan)
}

impl PlanMessage {
    fn of(plan: &RunPlan) -> Result<Self> {
        let RunPlan { limit, encoder_folder, out, compute, .. } = plan;
        let mut config = plan.config.clone();
        config.device.0 = "cpu".to_owned();
        config.precision = compute.precision.into();
        let config = config_text(&config)?;
        Ok(PlanMessage { config, limit: *limit, encoder_folder: encoder_folder.clone(), out: out.clone() })
    }

    fn plan(self) -> Result<RunPlan> {
        let PlanMessage { config, limit, encoder_folder, out } = self;
        let config = Config::parse(Path::new("the config of process 0"), config.as_bytes(), &[])?;
        let compute = Compute::resolve(&config)?;
        let (begins, warnings) = (PlannedStart::Following, Vec::new());
        let recorded = config.clone();
        Ok(RunPlan { config, recorded, compute, limit, encoder_folder, out, begins, warnings })
    }
}

/// Tells all whether this process is ready; returns once all are.
///
/// # Errors
/// That of this process is left to the caller if all others are ready; else the first one of another process, or
/// `Unavailable` if they have prepared different things.
fn agree(ranks: &Ranks, own: Result<FactsMessage, &Error>) -> Result<()> {
    let has_failed = own.is_err();
    let reports = ranks.bytes_of_all(to_bytes(&own.map_err(ErrorMessage::of))?).map_err(not_started)?;
    if has_failed {
        return Ok(());
    }
    let mut first: Option<FactsMessage> = None;
    for (rank, report) in reports.iter().enumerate() {
        let facts = from_bytes::<Result<FactsMessage, ErrorMessage>>(report)?.map_err(|error| error.of_rank(rank))?;
        match &first {
            None => first = Some(facts),
            Some(first) => first.require_equal(&facts, rank)?,
        }
    }
    Ok(())
}

impl FactsMessage {
    fn require_equal(&self, other: &Self, rank: usize) -> Result<()> {
        if self.inputs != other.inputs {
            return Err(Error::data(format!(
                "process {rank} has read other files than process 0 (data.train, data.dev or encoder: another SHA-256); \
                 give all processes the same files"
            )));
        }
        let differences = self.made_with.differences(&other.made_with);
        if differences.is_empty() {
            return Ok(());
        }
        let differences = differences.join("; ").replace(" then,", " in process 0,").replace(" now", " there");
        Err(Error::new(
            ErrorKind::Unavailable,
            format!("process {rank} would compute other numbers than process 0: {differences}; start all alike"),
        ))
    }
}

impl ErrorMessage {
    fn of(error: &Error) -> Self {
        ErrorMessage { code: error.kind as u8, message: error.message.clone() }
    }

    fn of_rank(self, rank: usize) -> Error {
        let kind = ErrorKind::of_code(self.code).unwrap_or(ErrorKind::Internal);
        Error::new(kind, format!("process {rank}: {}", self.message))
    }
}

/// Another process ended before training began.
fn not_started(lost: LostRank) -> Error {
    Error::new(ErrorKind::Unavailable, format!("training has not begun, because of {lost}; its own message says why"))
}

/// Tells the others whether the first process has its folder and its checkpoint; if not, they end with its error, so that no
/// script starts them again.
///
/// # Errors
/// [`LostRank`].
pub fn tell_begun(ranks: &Ranks, begun: Result<(), &Error>) -> Result<(), LostRank> {
    let message = begun.map_err(ErrorMessage::of);
    ranks.bytes_of(0, serde_json::to_vec(&message).expect("it can be written as JSON")).map(drop)
}

/// Hears in another process what [`tell_begun`] tells.
///
/// # Errors
/// [`LostRank`]; within, the error of the first process.
pub fn hear_begun(ranks: &Ranks) -> Result<Result<()>, LostRank> {
    let bytes = ranks.bytes_of(0, Vec::new())?;
    Ok(from_bytes::<Result<(), ErrorMessage>>(&bytes).and_then(|begun| begun.map_err(|error| error.of_rank(0))))
}

/// Gives all processes the state of the first one: weights, moments, position.
///
/// # Errors
/// [`LostRank`].
pub fn share_state(ranks: &Ranks, network: &Network, training: &mut Training) -> Result<(), LostRank> {
    if ranks.is_alone() {
        return Ok(());
    }
    network.variables().values().try_for_each(|variable| ranks.copy_of_first(variable))?;
    let (optimizer_step, moments) = training.optimiser.state();
    let sent = TrainingState { optimizer_step, progress: training.progress.clone() };
    let bytes = ranks.bytes_of(0, serde_json::to_vec(&sent).expect("it can be written as JSON"))?;
    let unreadable = |error| LostRank(format!("it sent what can't be read: {error}"));
    let TrainingState { optimizer_step, progress } = serde_json::from_slice(&bytes).map_err(unreadable)?;
    if optimizer_step > 0 {
        moments.values().try_for_each(|moment| ranks.copy_of_first(moment))?;
        let restored = training.optimiser.restore(optimizer_step, &moments, Path::new("the state of process 0"));
        restored.map_err(|error| LostRank(error.message))?;
    }
    training.progress = progress;
    Ok(())
}

/// Why the run is to stop here, if it is: because this process was asked to or, with several, because all have heard
/// that one of them was.
pub fn stop_here(ranks: &Ranks, stop: &impl Fn() -> Option<&'static str>) -> Option<&'static str> {
    let own = stop();
    if ranks.is_alone() {
        return own;
    }
    ranks.ask_to_stop(own.is_some());
    ranks.are_to_stop().then(|| own.unwrap_or("a signal to another process"))
}

/// Why processes part after a step.
pub enum Parting {
    /// The folder of the run is elsewhere by now.
    Moved,
    /// A parameter is not the same in all, in words.
    Differs(String),
}

/// Tells the others after a step that the folder of the run is elsewhere, in the place of checksums. After other events the
/// processes exchange nothing, and the others notice only that the first one is lost.
pub fn tell_moved(ranks: &Ranks, event: Option<&TrainEvent>) {
    if !ranks.is_alone() && matches!(event, Some(TrainEvent::Step(_))) {
        // One that is lost by now needs to hear nothing.
        let _ = ranks.bytes_of_all(Vec::new());
    }
}

/// After a step, compares a checksum of every trained parameter over all processes, before anything of it is saved.
///
/// # Errors
/// [`LostRank`].
pub fn parting(ranks: &Ranks, event: &TrainEvent, optimiser: &AdamW) -> Result<Option<Parting>, LostRank> {
    if ranks.is_alone() || !matches!(event, TrainEvent::Step(_)) {
        return Ok(None);
    }
    // Of 32 bits, which any single change alters: sums of 64 bits take 14 times as long.
    let checksum = |tensor: &Tensor| tensor.view_dtype(Kind::Int).sum(Kind::Int);
    let own =
        optimiser.parameters.iter().flat_map(|parameter| read::integers(&checksum(&parameter.tensor))[0].to_le_bytes());
    let all = ranks.bytes_of_all(own.collect())?;
    if all[0].is_empty() {
        return Ok(Some(Parting::Moved));
    }
    let differs = all.iter().enumerate().find_map(|(rank, of_rank)| {
        let parameter = all[0].chunks(8).zip(of_rank.chunks(8)).position(|(first, other)| first != other)?;
        let name = &optimiser.parameters[parameter].name;
        Some(Parting::Differs(format!("{name} in process {rank} is not what it is in process 0")))
    });
    Ok(differs)
}

fn to_bytes(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| Error::config(format!("can't be sent to other processes: {error}")))
}

fn from_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T> {
    let message = |error| format!("another process sent what can't be read: {error}; start the same program in all");
    serde_json::from_slice(bytes).map_err(|error| Error::new(ErrorKind::Unavailable, message(error)))
}
