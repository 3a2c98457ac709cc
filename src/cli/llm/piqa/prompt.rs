//! `tiered llm piqa prompt`: shows what a model is asked.

use crate::cli::format::TextFormatArgs;
use crate::cli::output::{print, print_exactly};
use crate::durable::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::llm::piqa::{PiqaSet, prompt};
use crate::schema;
use serde::Serialize;
use std::path::PathBuf;

/// Print the benchmark's prompt for an item
///
/// As text: one prompt, exactly as a model gets it, without a line end added; on a terminal, control characters are
/// escaped. As JSON: a line for every item, with the
/// SHA-256 of its prompt.
#[derive(clap::Args)]
pub(in crate::cli) struct Args {
    /// A data set: one JSON object a line, with prompt, solution0, solution1 (or goal, sol1, sol2)
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The number of the item, from 0 [default: the first as text, all as JSON]
    #[arg(long, value_name = "N")]
    item: Option<usize>,
    #[command(flatten)]
    format: TextFormatArgs,
}

#[derive(Serialize)]
struct Prompt<'a> {
    set: &'a str,
    item: usize,
    sha256: String,
    prompt: String,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let dataset = PiqaSet::read(&args.data, None)?;
    let items = dataset.items.len();
    if let Some(item) = args.item.filter(|&item| item >= items) {
        let message = format!("--item {item}: {} holds {items} items, numbered from 0", args.data.display());
        return Err(Error::new(ErrorKind::Usage, message));
    }
    if !args.format.is_json() {
        return print_exactly(&prompt(&dataset.items[args.item.unwrap_or(0)]));
    }
    let line = |item: usize| {
        let prompt = prompt(&dataset.items[item]);
        let line = Prompt { set: &dataset.name, item, sha256: sha256(prompt.as_bytes()), prompt };
        schema::to_string(&line).expect("text can be written as JSON") + "\n"
    };
    let shown = args.item.map_or(0..items, |item| item..item + 1);
    print(&shown.map(line).collect::<String>())
}
