//! The server: 127.0.0.1 only, HTTP/1.1.

use super::answer::Refusal;
use super::models::Models;
use super::security::{Guard, check};
use super::token::AccessToken;
use super::{annotate, assets, browser, predict, words};
use crate::annotate::Project;
use crate::error::{Error, ErrorKind, Result};
use crate::say::aside;
use crate::untrusted::MAX_PLAIN;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware;
use std::net::{Ipv4Addr, TcpListener};

/// The port where nobody chooses another.
pub const DEFAULT_PORT: u16 = 8642;

/// A server that has its port and does not answer yet.
pub struct App {
    listener: TcpListener,
    port: u16,
    token: AccessToken,
}

impl App {
    /// Takes a port of 127.0.0.1; 0 takes a free one.
    ///
    /// # Errors
    /// `Unavailable` if the port is in use or not allowed.
    pub fn bind(port: u16) -> Result<Self> {
        let refused = |error: std::io::Error| {
            let message = format!("port {port} of 127.0.0.1: {error}; choose another with --port (0 takes a free one)");
            Error::new(ErrorKind::Unavailable, message).caused_by(error)
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
        let port = listener.local_addr().map_err(refused)?.port();
        Ok(App { listener, port, token: AccessToken::new() })
    }

    /// The address to open. What follows the # is never sent to a server.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/#token={}", self.port, self.token.as_str())
    }

    /// Answers until the process ends.
    ///
    /// # Errors
    /// `Io` if the system refuses to serve.
    pub fn serve(self, routes: Router, open_browser: bool) -> Result<()> {
        let failed = |error: std::io::Error| Error::new(ErrorKind::Io, format!("the server failed: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let address = self.address();
        let router = guarded(routes, Guard::new(self.port, self.token));
        self.listener.set_nonblocking(true).map_err(failed)?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(failed)?;
            if open_browser {
                match browser::open(&address) {
                    Ok(opened) => drop(opened.map(|opened| tokio::spawn(opened.forget()))),
                    Err(error) => aside!("warning: no browser was opened: {error}"),
                }
            }
            axum::serve(listener, router).await.map_err(failed)
        })
    }
}

/// The routes of the page and of its API; those of annotation only if there is a project.
pub fn routes(models: Models, project: Option<Project>) -> Router {
    let routes = assets::routes().merge(words::routes()).merge(predict::routes(models.clone(), project.is_some()));
    match project {
        Some(project) => routes.merge(annotate::routes(project, models)),
        None => routes,
    }
}

/// The routes behind the checks of every request.
fn guarded(routes: Router, guard: std::sync::Arc<Guard>) -> Router {
    let missing = || async { Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this address") };
    let other = || async { Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "this address takes another method") };
    routes
        .fallback(missing)
        .method_not_allowed_fallback(other)
        .layer(DefaultBodyLimit::max(MAX_PLAIN as usize))
        .layer(middleware::from_fn_with_state(guard, check))
}
