//! `tiered model fetch` and `tiered data fetch`: download models of the Hugging Face hub and the papers' data.

use super::out_file::output_folder;
use super::output::print;
use crate::error::Result;
use crate::fetch::{Dataset, FetchEvent, How, HubSettings, MIRRORED, ModelName, fetch_data, fetch_model};
use crate::say::{aside, is_quiet, quoted};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Fetch the files of a Hugging Face model that training needs
///
/// The files go into Hugging Face's own cache, where `encoder.path = "ORG/NAME"` finds them. HF_HOME, HF_HUB_CACHE,
/// HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE and HF_HUB_DOWNLOAD_TIMEOUT have their usual meaning. Files that exist are
/// kept. Interrupted downloads are resumed.
#[derive(clap::Args)]
pub(super) struct ModelArgs {
    /// The organisation and the name, such as FacebookAI/xlm-roberta-base, or only the name, such as bert-base-uncased
    #[arg(value_name = "ORG/NAME")]
    model: ModelName,
    /// A branch, tag or commit
    #[arg(long)]
    revision: Option<String>,
    /// Write the files into this folder, not into the cache
    #[arg(long, value_name = "DIR", value_parser = output_folder())]
    output: Option<PathBuf>,
}

/// Fetch TRIP or GITA from the repository of its authors into data/
///
/// The files lie where TIERED_DATA expects them.
#[derive(clap::Args)]
pub(super) struct DataArgs {
    /// The data set
    #[arg(value_enum, value_name = "SET")]
    set: Dataset,
    /// The folder that contains data/ or in which to create it
    #[arg(long, value_name = "DIR", default_value = ".", value_parser = output_folder())]
    output: PathBuf,
    /// A branch, tag or commit of the repository. Files that are present stay as they are
    #[arg(long, default_value = "HEAD")]
    revision: String,
    /// The SHA-256 that TRIP's www.json must have [default: that in www.json.sha256 beside it, if there is one]
    #[arg(long, value_name = "HEX")]
    sha256: Option<String>,
    /// The server of the files of GitHub repositories
    #[arg(long, value_name = "URL", default_value = MIRRORED)]
    from: String,
}

pub(super) fn model(args: &ModelArgs) -> Result<()> {
    let model = match &args.revision {
        Some(revision) => args.model.clone().at(revision)?,
        None => args.model.clone(),
    };
    let mut shown = Shown::default();
    let fetched =
        fetch_model(&HubSettings::from_environment()?, &model, args.output.as_deref(), &mut |event| shown.on(event));
    shown.clear();
    let fetched = fetched?;
    let commit = fetched.commit.map_or(String::new(), |commit| format!(", commit {commit}"));
    print(&format!("{model}{commit}: {}\n", fetched.folder.display()))?;
    let path = args.output.as_ref().map_or(model.to_string(), |out| out.display().to_string());
    print(&format!("in a config: encoder.path = {}\n", toml::Value::from(path)))
}

pub(super) fn data(args: &DataArgs) -> Result<()> {
    let DataArgs { set, output: out, revision, sha256, from } = args;
    let mut shown = Shown::default();
    let settings = HubSettings::from_environment()?;
    let files = fetch_data(&settings, *set, from, revision, sha256.as_deref(), out, &mut |event| shown.on(event));
    shown.clear();
    for (path, digest) in files? {
        print(&format!("{}  {}\n", digest.sha256, path.display()))?;
    }
    print(&format!("licence: {}\nset TIERED_DATA={}\n", set.licence(), quoted(out.display())))
}

/// A bar on a terminal, and a line for every file.
#[derive(Default)]
struct Shown {
    bar: Option<ProgressBar>,
}

impl Shown {
    fn on(&mut self, event: FetchEvent) {
        match event {
            FetchEvent::Begins { name, have, bytes } => self.begin(name, have, bytes),
            FetchEvent::At(position) => {
                if let Some(bar) = &self.bar {
                    bar.set_position(position);
                }
            }
            FetchEvent::Waits { why, pause } => {
                self.warn(&format!("{why}; trying again in {:.0} s", pause.as_secs_f64()))
            }
            FetchEvent::Done { name, how } => {
                self.clear();
                let line = format!("{name}: {}", outcome(how));
                match how {
                    How::Verified | How::Kept => self.say(&line),
                    How::Unverified => self.warn(&line),
                }
            }
        }
    }

    fn begin(&mut self, name: &str, have: u64, bytes: Option<u64>) {
        if have > 0 {
            self.say(&format!("{name}: resuming after {have} bytes"));
        }
        if is_quiet() || !std::io::stderr().is_terminal() {
            return;
        }
        let template = "{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = match bytes {
            Some(bytes) => ProgressBar::new(bytes).with_style(style),
            None => ProgressBar::new_spinner(),
        };
        self.bar = Some(bar.with_message(name.to_owned()).with_position(have));
    }

    /// Prints a line of progress, unless `--quiet`.
    fn say(&self, line: &str) {
        if !is_quiet() {
            self.warn(line);
        }
    }

    /// Prints a line in any case.
    fn warn(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| aside!("{line}")),
            None => aside!("{line}"),
        }
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

const fn outcome(how: How) -> &'static str {
    match how {
        How::Verified => "fetched, hash verified",
        How::Unverified => "fetched; its hash could not be checked (none is known)",
        How::Kept => "already present",
    }
}
