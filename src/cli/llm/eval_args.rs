//! The arguments of `tiered llm eval`.

use super::plan_args::PlanArgs;
use super::server_args::ServerArgs;
use crate::cli::out_file::output_folder;
use crate::llm::Protocol;
use crate::llm::server::Way;
use std::path::PathBuf;

/// Ask a language model the questions of the three tiers about a story file
///
/// The server may be llama.cpp's, vLLM, llama-cpp-python or another OpenAI-compatible one. Before anything is measured,
/// it is tested whether its log-probabilities are those that it generates with. Every answer goes into a journal: after
/// an interruption the same command goes on. The key of a hosted service comes from the environment only.
#[derive(clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    pub(super) plan: PlanArgs,
    #[command(flatten)]
    pub(super) server: ServerArgs,
    /// What is asked, and when it is right
    #[arg(long, value_enum)]
    pub(super) protocol: Protocol,
    /// How log-probabilities are asked for [default: the first of echo, forced, top that the server answers truly]
    #[arg(long, value_enum)]
    pub(super) way: Option<Way>,
    /// The model's tokenizer.json [default: ask the server to split text]
    #[arg(long, value_name = "FILE")]
    pub(super) tokenizer: Option<PathBuf>,
    /// The number of start tokens before a prompt [default: the model's own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=2))]
    pub(super) bos: Option<u32>,
    /// Ask about every implausible story in tiers 2 and 3, not only about those that the tier before got right
    #[arg(long)]
    pub(super) no_cascade: bool,
    /// Ask tiers 1 to N only
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=3))]
    pub(super) tiers: u8,
    /// Take only the first N stories; the scores are then none of the protocol's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) limit: Option<u32>,
    /// Keep the run in this folder, and go on with it if it is there [default: runs/llm/PROTOCOL-MODEL]
    #[arg(long, value_name = "DIR", value_parser = output_folder())]
    pub(super) output: Option<PathBuf>,
}
