//! `tiered bench`: measures how fast a config trains and evaluates on this machine.

use super::out_file::{OutFile, Replacing, output_folder};
use super::output::print;
use crate::bench::{BenchOptions, EncoderSize, REFERENCE_FILES, draw, export, run as measure};
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::Trial;
use crate::say::{aside, is_quiet};
use crate::schema;
use std::path::PathBuf;

/// Measure training and evaluation: speed, memory, time of each part
///
/// It also prints the model FLOPs utilisation (MFU): the rate of the encoder's matmuls as a share of the fastest matmuls
/// measured on the same machine.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The config; the default is the paper's model
    #[arg(long, value_name = "FILE", default_value = "configs/trip-e5-small.toml")]
    config: PathBuf,
    /// Override a key of the config, e.g. `--set precision=fp32`; without a value, restore its default; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The step sizes to measure, in pairs
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,4,8,16", value_parser = at_least_one)]
    pairs_per_step: Vec<usize>,
    /// The number of steps of each size [default: as many as 48 pairs need, but 3 to 8]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    steps: Option<usize>,
    /// Repeat the steps of each size, up to 5 times, until this many seconds have passed
    #[arg(long, value_name = "S", default_value_t = 20.)]
    seconds: f64,
    /// Use an XLM-RoBERTa of this size with random weights instead of the config's encoder
    #[arg(long, value_name = "SIZE")]
    encoder_size: Option<EncoderSize>,
    /// Write all numbers to this file as JSON; "-" for standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a plot of step time by unique tokens to this file as SVG; "-" for standard output
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    replacing: Replacing,
    /// Write the measured steps and the untrained weights into this folder, for benches/reference/step.py
    #[arg(long, value_name = "DIR", value_parser = output_folder())]
    reference: Option<PathBuf>,
}

fn at_least_one(text: &str) -> std::result::Result<usize, String> {
    text.parse().ok().filter(|&number| number > 0).ok_or_else(|| format!("`{text}` is no number of 1 or more"))
}

pub(super) fn run(args: &Args) -> Result<()> {
    let [output, plot] = [&args.output, &args.plot].map(|path| {
        let out = path.as_deref().map(|path| OutFile::beside(&[&args.config], path, args.replacing));
        out.transpose()
    });
    let (output, plot) = (output?, plot?);
    if output.as_ref().zip(plot.as_ref()).is_some_and(|(output, plot)| output.is_same(plot)) {
        return Err(Error::new(ErrorKind::Usage, "--output and --plot are the same file; name two"));
    }
    require_new_reference(args)?;
    let config = Config::open(&args.config, &args.set)?;
    let trial = Trial::prepare(config, args.encoder_size.map(EncoderSize::config))?;
    let options =
        BenchOptions { pairs_per_step: args.pairs_per_step.clone(), steps: args.steps, seconds: args.seconds };
    if let Some(folder) = &args.reference {
        export(&trial, &options, folder)?;
    }
    let report = measure(&trial, &options, |size| {
        if !is_quiet() {
            aside!("{}", size.line());
        }
    })?;
    if let Some(out) = &output {
        out.write_bytes(schema::document(&report).as_bytes())?;
    }
    if let Some(out) = &plot {
        out.write_bytes(draw(&report)?.as_bytes())?;
    }
    match [output, plot].iter().flatten().any(OutFile::is_standard_output) {
        true => aside!("{}", report.to_text()),
        false => print(&report.to_text())?,
    }
    Ok(())
}

/// # Errors
/// `CantCreate` if the folder of `--reference` has such files and may not replace them.
fn require_new_reference(args: &Args) -> Result<()> {
    let Some(folder) = &args.reference else { return Ok(()) };
    REFERENCE_FILES.iter().try_for_each(|file| OutFile::new(&folder.join(file), args.replacing).map(drop))
}
