//! `tiered model fetch` and `tiered data fetch`: models of the Hugging Face hub, and the papers' data.

use super::output::print;
use crate::error::Result;
use crate::fetch::{Dataset, Event, How, MIRRORED, ModelName, Settings, fetch_data, fetch_model};
use crate::say::aside;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Fetch what training needs of a model of the Hugging Face hub
///
/// Into Hugging Face's own cache, where `encoder.path = "ORG/NAME"` finds it. HF_HOME, HF_HUB_CACHE, HF_ENDPOINT,
/// HF_TOKEN, HF_HUB_OFFLINE and HF_HUB_DOWNLOAD_TIMEOUT mean what they mean there. What is there is kept; what was
/// broken off goes on where it ended.
#[derive(clap::Args)]
pub(super) struct ModelArgs {
    /// Organisation and name, such as FacebookAI/xlm-roberta-base; or a name alone, such as bert-base-uncased
    #[arg(value_name = "ORG/NAME")]
    model: ModelName,
    /// A branch, tag or commit
    #[arg(long)]
    revision: Option<String>,
    /// Put the files themselves here, instead of into the cache
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Fetch TRIP or GITA from the repository of its authors, into data/ as TIERED_DATA has it
#[derive(clap::Args)]
pub(super) struct DataArgs {
    #[arg(value_enum, value_name = "SET")]
    set: Dataset,
    /// The folder that data/ is in, or comes into
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// A branch, tag or commit of the repository
    #[arg(long, default_value = "HEAD")]
    revision: String,
    /// The SHA-256 that TRIP's www.json must have [default: that in www.json.sha256 beside it, if there is one]
    #[arg(long, value_name = "HEX")]
    sha256: Option<String>,
    /// Who serves the files of GitHub's repositories
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
        fetch_model(&Settings::from_environment()?, &model, args.out.as_deref(), &mut |event| shown.on(event));
    shown.clear();
    let fetched = fetched?;
    let commit = fetched.commit.map_or(String::new(), |commit| format!(", commit {commit}"));
    print(&format!("{model}{commit}: {}\n", fetched.folder.display()))?;
    let path = args.out.as_ref().map_or(model.to_string(), |out| out.display().to_string());
    print(&format!("in a config: encoder.path = \"{path}\"\n"))
}

pub(super) fn data(args: &DataArgs) -> Result<()> {
    let DataArgs { set, out, revision, sha256, from } = args;
    let mut shown = Shown::default();
    let settings = Settings::from_environment()?;
    let files = fetch_data(&settings, *set, from, revision, sha256.as_deref(), out, &mut |event| shown.on(event));
    shown.clear();
    for (path, digest) in files? {
        print(&format!("{}  {}\n", digest.sha256, path.display()))?;
    }
    print(&format!("licence: {}\nTIERED_DATA is to be {}\n", set.licence(), out.display()))
}

/// A bar on a terminal, and a line for every file.
#[derive(Default)]
struct Shown {
    bar: Option<ProgressBar>,
}

impl Shown {
    fn on(&mut self, event: Event) {
        match event {
            Event::Begins { name, have, bytes } => self.begin(name, have, bytes),
            Event::At(position) => {
                if let Some(bar) = &self.bar {
                    bar.set_position(position);
                }
            }
            Event::Waits { why, pause } => self.say(&format!("{why}; another try in {:.0} s", pause.as_secs_f64())),
            Event::Done { name, how } => {
                self.clear();
                self.say(&format!("{name}: {}", said(how)));
            }
        }
    }

    fn begin(&mut self, name: &str, have: u64, bytes: Option<u64>) {
        if have > 0 {
            self.say(&format!("{name}: goes on after {have} bytes"));
        }
        if !std::io::stderr().is_terminal() {
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

    fn say(&self, line: &str) {
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

const fn said(how: How) -> &'static str {
    match how {
        How::Verified => "fetched, hash verified",
        How::Unverified => "fetched; nothing tells the hash it should have",
        How::Kept => "there already",
    }
}
