//! `tiered doctor`: describes what this machine offers for training.

use super::format::TextFormatArgs;
use super::output::print;
use crate::durable::free_bytes;
use crate::error::{Result, lack_of_memory};
use crate::machine::{
    BF16_ADVANTAGE, DeviceChoice, FEATURES, Gpu, LIBTORCH_VERSION, MatmulRates, cpuinfo, default_threads, features,
    libtorch_folder, preferred,
};
use crate::model::Precision;
use crate::say::counted;
use crate::schema;
use serde::Serialize;
use std::panic::{catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};
use tch::Device;

/// Describe this machine: libtorch, devices, speed, memory, disk
///
/// Send the output along with a question or a measurement.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    format: TextFormatArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let machine = Machine::examine()?;
    print(&if args.format.is_json() { schema::document(&machine) } else { machine.to_text() })
}

/// A field is `None` if its value can't be found out on this machine. Sizes are in bytes.
#[derive(Serialize)]
struct Machine {
    tiered: &'static str,
    libtorch: Libtorch,
    gpus: i64,
    cudnn: bool,
    /// What the driver says of each.
    gpu_devices: Vec<Gpu>,
    cpu: Cpu,
    matmuls: Matmuls,
    memory: Memory,
    disk: Disk,
}

/// The version is that at build time: libtorch has no function that returns it. The folder is that of the loaded one.
#[derive(Serialize)]
struct Libtorch {
    version: Option<&'static str>,
    folder: Option<String>,
}

#[derive(Serialize)]
struct Cpu {
    model: Option<String>,
    cores: Option<usize>,
    /// The threads that libtorch uses, unless a config sets another number.
    threads: i32,
    /// Which of [`FEATURES`] it has.
    features: Option<Vec<&'static str>>,
}

/// Speed of matmuls on the device that `device = "auto"` chooses.
#[derive(Serialize)]
struct Matmuls {
    device: String,
    /// `None` if other programs leave the device no memory for the measurement.
    gflops: Option<MatmulRates>,
    /// What `precision = "auto"` chooses.
    chosen: Precision,
    why: String,
}

#[derive(Serialize)]
struct Memory {
    total: u64,
    available: u64,
}

/// The file system of the current folder.
#[derive(Serialize)]
struct Disk {
    folder: Option<String>,
    free: Option<u64>,
}

/// JSON is UTF-8, and a path need not be.
fn written(path: PathBuf) -> String {
    path.display().to_string()
}

impl Machine {
    fn examine() -> Result<Self> {
        let gpus = tch::Cuda::device_count().max(0);
        tch::set_num_threads(default_threads()); // matmuls are measured as a training computes them
        let (cpuinfo, system) = (cpuinfo(), System::new_with_specifics(known()));
        Ok(Machine {
            tiered: env!("CARGO_PKG_VERSION"),
            libtorch: Libtorch { version: LIBTORCH_VERSION, folder: libtorch_folder().map(written) },
            gpus,
            cudnn: tch::Cuda::cudnn_is_available(),
            gpu_devices: (0..gpus as usize).filter_map(|gpu| Gpu::examine(gpu).ok()).collect(),
            cpu: Cpu {
                model: system.cpus().first().map(|cpu| cpu.brand().to_owned()).filter(|brand| !brand.is_empty()),
                cores: std::thread::available_parallelism().ok().map(usize::from),
                threads: tch::get_num_threads(),
                features: features(&cpuinfo),
            },
            matmuls: Matmuls::measure(&cpuinfo)?,
            memory: Memory { total: system.total_memory(), available: system.available_memory() },
            disk: Disk { folder: std::env::current_dir().ok().map(written), free: free_bytes(Path::new(".")) },
        })
    }

    fn to_text(&self) -> String {
        let Machine { cpu, matmuls, memory, disk, .. } = self;
        let gpus = match (self.gpus, self.cudnn) {
            (0, _) => "none".to_owned(),
            (count, true) => format!("{count}, with cuDNN"),
            (count, false) => format!("{count}, without cuDNN"),
        };
        let features = cpu.features.as_ref().map(|features| match features.as_slice() {
            [] => format!("none of {}", FEATURES.join(", ")),
            some => some.join(", "),
        });
        let described = |gpu: &Gpu| ("", format!("{}, {}", gpu.words(), gigabytes(gpu.memory)));
        let gpu_devices: String = self.gpu_devices.iter().map(described).map(line).collect();
        let before = [
            ("tiered", self.tiered.to_owned()),
            (
                "libtorch",
                format!("{}, in {}", or_unknown(self.libtorch.version), or_unknown(self.libtorch.folder.as_ref())),
            ),
            ("CUDA GPUs", gpus),
        ];
        let after = [
            ("CPU", or_unknown(cpu.model.as_deref())),
            ("instructions", or_unknown(features)),
            ("cores", format!("{}; libtorch uses {}", or_unknown(cpu.cores), counted(cpu.threads, "thread"))),
            (
                "matmuls",
                matmuls.gflops.map_or_else(
                    || format!("not measured, since {} lacks the memory for it", matmuls.device),
                    |rates| format!("fp32 {:.0} GFLOP/s, bf16 {:.0}, on {}", rates.fp32, rates.bf16, matmuls.device),
                ),
            ),
            ("precision", matmuls.why.clone()),
            ("memory", format!("{} available of {}", gigabytes(memory.available), gigabytes(memory.total))),
            ("free disk", format!("{} in {}", or_unknown(disk.free.map(gigabytes)), or_unknown(disk.folder.as_ref()))),
        ];
        before.map(line).concat() + &gpu_devices + &after.map(line).concat()
    }
}

fn line((name, value): (&str, String)) -> String {
    format!("{name:<13} {value}\n")
}

impl Matmuls {
    fn measure(cpuinfo: &str) -> Result<Self> {
        let device = DeviceChoice::default().resolve()?;
        let gflops = measured(device);
        let chosen = preferred(Gpu::of(device).as_ref(), cpuinfo, device);
        let (name, other) = if chosen == Precision::Bf16 { ("bf16", "fp32") } else { ("fp32", "bf16") };
        let mut why = format!("auto chooses {name} on this device");
        if let Some(ratio) = gflops.map(|rates| rates.bf16 / rates.fp32) {
            why += &format!("; bf16 matmuls were {ratio:.1} times as fast as fp32");
            if (ratio >= BF16_ADVANTAGE) != (chosen == Precision::Bf16) {
                why += &format!("; if this is also so while nothing else runs, set precision = \"{other}\"");
            }
        }
        Ok(Matmuls { device: format!("{device:?}").to_lowercase(), gflops, chosen, why })
    }
}

/// The rates, unless the device lacks the memory: what else there is to say is still said.
fn measured(device: Device) -> Option<MatmulRates> {
    match catch_unwind(|| MatmulRates::measure(device)) {
        Ok(rates) => Some(rates),
        Err(panic) if lack_of_memory(&*panic).is_some() => None,
        Err(panic) => resume_unwind(panic),
    }
}

/// What is asked of the system.
fn known() -> RefreshKind {
    RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing()).with_memory(MemoryRefreshKind::nothing().with_ram())
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

fn or_unknown(value: Option<impl std::fmt::Display>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| value.to_string())
}
