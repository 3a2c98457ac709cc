//! `tiered bench`: a config -> how fast it trains and evaluates here.

use super::out_file::{OutFile, Replacing};
use super::output::print;
use crate::bench::{BenchOptions, BenchReport, EncoderSize, draw, export, run as measure};
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::Trial;
use crate::say::aside;
use std::path::PathBuf;

/// Measure training and evaluation: pairs a second, memory, time of each part
///
/// And which share of the machine's rate of matrix products the work reaches.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The experiment file; the default is the paper's model
    #[arg(long, value_name = "FILE", default_value = "configs/trip-e5-small.toml")]
    config: PathBuf,
    /// Override a key of the config, e.g. `--set precision=fp32`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Sizes of steps to measure
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,4,8,16", value_parser = at_least_one)]
    pairs_per_step: Vec<usize>,
    /// Steps of each size [default: 48 pairs' worth, from 3 to 8]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    steps: Option<usize>,
    /// Measure the steps of a size again, up to 5 times, until so many seconds have passed
    #[arg(long, value_name = "S", default_value_t = 20.)]
    seconds: f64,
    /// Take an XLM-RoBERTa of this size with random weights in place of the config's encoder
    #[arg(long, value_name = "SIZE")]
    encoder_size: Option<EncoderSize>,
    /// Write all numbers as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw seconds of a step by its unique tokens, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    replacing: Replacing,
    /// Write the pairs of the first size and the untrained weights into a folder, for benches/peer/peer.py
    #[arg(long, value_name = "DIR", conflicts_with = "encoder_size")]
    peer: Option<PathBuf>,
}

fn at_least_one(text: &str) -> std::result::Result<usize, String> {
    text.parse().ok().filter(|&number| number > 0).ok_or_else(|| format!("`{text}`: must be a number from 1 on"))
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let [json, plot] = [&args.json, &args.plot].map(|path| {
        let out = path.as_deref().map(|path| OutFile::new(path, args.replacing));
        out.transpose()
    });
    let (json, plot) = (json?, plot?);
    let config = Config::open(&args.config, &args.set)?;
    let trial = Trial::prepare(config, args.encoder_size.map(EncoderSize::config))?;
    let options =
        BenchOptions { pairs_per_step: args.pairs_per_step.clone(), steps: args.steps, seconds: args.seconds };
    if let Some(folder) = &args.peer {
        export(&trial, &options, folder)?;
    }
    let report = measure(&trial, &options, |size| aside!("{}", size.line()))?;
    let is_taken = |out: &Option<OutFile>| out.as_ref().is_some_and(OutFile::is_standard_output);
    match is_taken(&json) || is_taken(&plot) {
        true => aside!("{}", report.to_text()),
        false => print(&report.to_text())?,
    }
    if let Some(out) = json {
        out.write_bytes(to_json(&report)?.as_bytes())?;
    }
    if let Some(out) = plot {
        out.write_bytes(draw(&report)?.as_bytes())?;
    }
    Ok(())
}

fn to_json(report: &BenchReport) -> Result<String> {
    let json = serde_json::to_string_pretty(report)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("JSON: {error}")))?;
    Ok(json + "\n")
}
