//! The arguments of commands that ask a server, and the client that they make.

use crate::cli::signal::Signals;
use crate::error::Result;
use crate::http::Wait;
use crate::llm::server::{LlmClient, ServerSettings};
use std::time::Duration;

/// What is said at the first signal: a request may take minutes.
const STOPPING: &str = "stopping after the requests in progress; press again to stop now (every answer is kept)";

#[derive(clap::Args)]
pub(super) struct ServerArgs {
    /// The server's address, with or without /v1
    #[arg(long, value_name = "URL")]
    server: String,
    /// The model, as the server names it
    #[arg(long, value_name = "NAME")]
    pub(super) model: String,
    /// The number of stories, pairs or items asked about at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) concurrency: u16,
    /// The environment variable with the service's key
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY")]
    api_key_env: String,
    /// How long to wait for an answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
}

impl ServerArgs {
    pub(super) fn settings(&self) -> Result<ServerSettings> {
        ServerSettings::from_environment(&self.server, &self.api_key_env, Duration::from_secs(self.timeout))
    }
}

/// A client that stops at a signal; `warn` tells of that, and of each pause.
pub(super) fn client(
    settings: ServerSettings,
    warn: impl Fn(&str) + Clone + Send + Sync + 'static,
) -> Result<LlmClient> {
    let announce = warn.clone();
    let signals = Signals::watch()?.announced(move || announce(STOPPING))?;
    let on_wait =
        move |wait: &Wait| warn(&format!("{}; trying again in {:.0} s", wait.why, wait.pause.as_secs_f64().ceil()));
    Ok(LlmClient::new(settings, Box::new(move || signals.received().is_some()), Box::new(on_wait)))
}
