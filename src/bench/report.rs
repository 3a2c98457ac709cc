//! The measurements, as numbers and as text.

use super::line::BenchLine;
use super::operations::{Operations, TrainedLayers};
use super::profile::Phases;
use super::sample::TimedSample;
use super::time::Measurement;
use super::work::StepWork;
use crate::experiment::Trial;
use crate::machine::{Gpu, MatmulRates};
use crate::model::encoder::Path;
use crate::model::{EncoderConfig, Mode, Precision};
use crate::report::Table;
use crate::torch::GpuMemory;
use serde::Serialize;

/// The training of the papers: 10 epochs of the official training split of TRIP.
const FULL_TRIP_PAIRS: f64 = 799. * 10.;

/// A run of the benchmark.
#[derive(Debug, Clone, Serialize)]
pub struct BenchReport {
    /// Family and sizes of the encoder that was measured.
    pub encoder: EncoderConfig,
    /// The code path that computed its layers.
    pub encoder_path: Path,
    /// How many numbers are trained, over all trained tensors.
    pub trained_parameters: usize,
    /// The precision of the matmuls.
    pub precision: Precision,
    /// "cpu" or "cuda(0)".
    pub device: String,
    /// The GPU, its driver, CUDA and cuDNN, if it is one.
    pub gpu: Option<String>,
    /// Threads that libtorch uses within an operation.
    pub threads: i32,
    /// The number of pairs of an epoch.
    pub pairs: usize,
    /// The rate of the fastest matmuls measured in this run, in GFLOP/s.
    pub matmuls: MatmulRates,
    /// What loading took; the peaks of training are in `sizes`.
    pub memory: Memory,
    /// One for each number of pairs a step, in the order in which they were requested.
    pub sizes: Vec<SizeReport>,
    /// Seconds of a training step by the tokens it encodes, over all steps measured.
    pub cost: Option<BenchLine>,
}

/// Peak resident sizes, in bytes; `None` if the system does not report them.
#[derive(Debug, Clone, Serialize)]
pub struct Memory {
    /// The peak until model and data were loaded.
    pub loading: Option<u64>,
}

/// The cost of steps of one size. Tokens are those that are encoded: without padding, and equal inputs of a step once.
#[derive(Debug, Clone, Serialize)]
pub struct SizeReport {
    /// B: every measured step has exactly this many.
    pub pairs_per_step: usize,
    /// The number of different steps that were measured.
    pub steps: usize,
    /// How often each step was repeated; its time is the median.
    pub rounds: usize,
    /// The speed of whole training steps, with the optimiser.
    pub train: Speed,
    /// The speed of evaluation, in batches of as many pairs.
    pub eval: Speed,
    /// The mean over the measured steps.
    pub tokens_per_pair: f64,
    /// The mean over the whole epoch, with all entities and inputs: close to the one above if the steps represent it and
    /// none are left out.
    pub tokens_per_pair_of_the_epoch: f64,
    /// How much the encoder computes in a training step, and how fast.
    pub encoder: EncoderWork,
    /// Seconds of a step, on average.
    pub phases: Phases,
    /// What the largest measured step asks of the device.
    pub work: StepWork,
    /// In bytes, including model and data; `None` if the system does not report it.
    pub peak_memory: Option<u64>,
    /// The peak on the GPU; `None` on the CPU.
    pub gpu_memory: Option<GpuMemory>,
    /// The hours for 10 epochs of the 799 pairs of TRIP's official training split, at this speed.
    pub full_trip_hours: f64,
    /// (tokens, seconds) of each step.
    pub points: Vec<(f64, f64)>,
}

/// Speed per second.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Speed {
    pub pairs_per_second: f64,
    pub tokens_per_second: f64,
}

/// The matmuls of the encoder, forward and backward.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct EncoderWork {
    /// The operations of a step, on average.
    pub gflop: f64,
    /// The rate while the encoder runs.
    pub gflops: f64,
    /// Model FLOPs utilisation while the encoder runs: its rate as a share of the fastest matmuls.
    pub share: f64,
    /// Model FLOPs utilisation over the whole step.
    pub share_of_step: f64,
}

impl SizeReport {
    /// `rate` is the rate of the fastest matmuls, in GFLOP/s.
    pub(super) fn new(
        trial: &Trial,
        sample: &TimedSample,
        measurement: &Measurement,
        trained: &TrainedLayers,
        rate: f64,
    ) -> Self {
        let tokens: Vec<f64> = measurement.encoded.iter().map(|encoded| encoded.tokens() as f64).collect();
        let (steps, all_tokens) = (tokens.len() as f64, tokens.iter().sum::<f64>());
        let pairs = sample.pairs().count() as f64;
        // Evaluation samples nothing, and encodes anew what a frozen encoder has encoded before the first step.
        let evaluated: f64 = sample.steps.iter().map(|step| trial.train.corpus.unique_tokens(step) as f64).sum();
        let speed = |tokens: f64, seconds: &[f64]| {
            let seconds: f64 = seconds.iter().sum();
            Speed { pairs_per_second: pairs / seconds, tokens_per_second: tokens / seconds }
        };
        let encoder = &trial.model_config.encoder;
        let operations = measurement.encoded.iter().map(|encoded| Operations::of(encoder, encoded, trained));
        let gflop = operations.sum::<Operations>().total() / 1e9;
        let sums = sum_of_phases(&measurement.phases);
        let gflops = gflop / (sums.encoder_forward + sums.encoder_backward);
        let train = speed(all_tokens, &measurement.train_seconds);
        SizeReport {
            pairs_per_step: sample.pairs_per_step,
            steps: tokens.len(),
            rounds: measurement.rounds,
            train,
            eval: speed(evaluated, &measurement.eval_seconds),
            tokens_per_pair: all_tokens / pairs,
            tokens_per_pair_of_the_epoch: sample.tokens_per_pair,
            encoder: EncoderWork {
                gflop: gflop / steps,
                gflops,
                share: gflops / rate,
                share_of_step: gflop / measurement.train_seconds.iter().sum::<f64>() / rate,
            },
            phases: Phases::from_array(sums.to_array().map(|seconds| seconds / steps)),
            work: measurement.work,
            peak_memory: measurement.peak_memory,
            gpu_memory: measurement.gpu_memory,
            full_trip_hours: FULL_TRIP_PAIRS / train.pairs_per_second / 3600.,
            points: tokens.into_iter().zip(measurement.train_seconds.iter().copied()).collect(),
        }
    }

    /// Seconds of a training step, on average.
    pub fn step_seconds(&self) -> f64 {
        self.pairs_per_step as f64 / self.train.pairs_per_second
    }

    /// "4 pairs a step"
    pub fn name(&self) -> String {
        let plural = if self.pairs_per_step == 1 { "" } else { "s" };
        format!("{} pair{plural} a step", self.pairs_per_step)
    }

    /// One line of progress.
    pub fn line(&self) -> String {
        format!(
            "{}: {:.2} pairs/s in training, {:.2} in evaluation, model FLOPs utilisation {:.0}% in the encoder \
             ({} steps, {} rounds)",
            self.name(),
            self.train.pairs_per_second,
            self.eval.pairs_per_second,
            100. * self.encoder.share,
            self.steps,
            self.rounds,
        )
    }
}

fn sum_of_phases(phases: &[Phases]) -> Phases {
    let sum = |phase: usize| phases.iter().map(|step| step.to_array()[phase]).sum();
    Phases::from_array(std::array::from_fn(sum))
}

impl BenchReport {
    pub(super) fn new(
        trial: &Trial,
        trained_parameters: usize,
        matmuls: MatmulRates,
        loading: Option<u64>,
        sizes: Vec<SizeReport>,
    ) -> Self {
        let points: Vec<(f64, f64)> = sizes.iter().flat_map(|size| size.points.iter().copied()).collect();
        BenchReport {
            encoder: trial.model_config.encoder.clone(),
            encoder_path: trial.model().encoder.path(Mode::eval(trial.compute.precision), trial.compute.device),
            trained_parameters,
            precision: trial.compute.precision,
            device: format!("{:?}", trial.compute.device).to_lowercase(),
            gpu: Gpu::of(trial.compute.device).map(|gpu| gpu.words()),
            threads: tch::get_num_threads(),
            pairs: trial.train.corpus.len(),
            matmuls,
            memory: Memory { loading },
            sizes,
            cost: BenchLine::through(&points),
        }
    }

    /// For a person: the machine, a table of speeds and a table of phases.
    pub fn to_text(&self) -> String {
        let Self { encoder, matmuls, .. } = self;
        let mut text = format!(
            "encoder: {}, {} layers, hidden size {}, computed by {}; trained parameters: {:.1} M; {:?} matmuls on {}, \
             {} threads\n\
             fastest matmuls: fp32 {:.0} GFLOP/s, bf16 {:.0}; peak memory while loading: {} GB\n\n",
            encoder.family.name(),
            encoder.num_hidden_layers,
            encoder.hidden_size,
            self.encoder_path.words(),
            self.trained_parameters as f64 / 1e6,
            self.precision,
            self.gpu.as_ref().unwrap_or(&self.device),
            self.threads,
            matmuls.fp32,
            matmuls.bf16,
            gigabytes(self.memory.loading),
        );
        text += &self.speeds().to_text();
        text += "\nmilliseconds per step\n";
        text += &self.profile().to_text();
        text += "\noperations of libtorch in the largest step, and copies of numbers from the device\n";
        text += &self.work().to_text();
        if let Some(cost) = &self.cost {
            text += &format!(
                "\na step takes {:.1} ms, plus {:.1} ms per 1000 unique tokens (R² {:.4})\n",
                1e3 * cost.intercept,
                1e6 * cost.slope,
                cost.r_squared
            );
        }
        text
    }

    fn speeds(&self) -> Table {
        let mut table = Table::new([
            "pairs a step",
            "train pairs/s",
            "eval pairs/s",
            "tokens per pair",
            "train tokens/s",
            "encoder GFLOP/s",
            "encoder MFU",
            "whole step MFU",
            "peak memory, GB",
            "10 epochs of 799 pairs",
        ]);
        for size in &self.sizes {
            table.push([
                size.pairs_per_step.to_string(),
                format!("{:.2}", size.train.pairs_per_second),
                format!("{:.2}", size.eval.pairs_per_second),
                format!("{:.0}", size.tokens_per_pair),
                format!("{:.0}", size.train.tokens_per_second),
                format!("{:.0}", size.encoder.gflops),
                format!("{:.0}%", 100. * size.encoder.share),
                format!("{:.0}%", 100. * size.encoder.share_of_step),
                gigabytes(size.gpu_memory.map(|gpu| gpu.reserved).or(size.peak_memory)),
                format!("{:.2} h", size.full_trip_hours),
            ]);
        }
        table
    }

    fn work(&self) -> Table {
        let mut table = Table::new(std::iter::once("pairs a step").chain(StepWork::titles()));
        for size in &self.sizes {
            table.push(std::iter::once(size.pairs_per_step.to_string()).chain(size.work.cells()));
        }
        table
    }

    fn profile(&self) -> Table {
        let [data, encoder, heads, detector, losses, heads_backward, encoder_backward, optimiser] = Phases::NAMES;
        let mut table = Table::new([
            "pairs a step",
            data,
            encoder,
            heads,
            detector,
            losses,
            heads_backward,
            encoder_backward,
            optimiser,
            "sum",
            "whole step",
        ]);
        for size in &self.sizes {
            let ms = |seconds: f64| format!("{:.1}", 1e3 * seconds);
            let [data, encoder, heads, detector, losses, heads_backward, encoder_backward, optimiser] =
                size.phases.to_array().map(ms);
            table.push([
                size.pairs_per_step.to_string(),
                data,
                encoder,
                heads,
                detector,
                losses,
                heads_backward,
                encoder_backward,
                optimiser,
                ms(size.phases.total()),
                ms(size.step_seconds()),
            ]);
        }
        table
    }
}

fn gigabytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "unknown".to_owned(), |bytes| format!("{:.2}", bytes as f64 / 1e9))
}
