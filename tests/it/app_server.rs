//! A `tiered app` to ask.

use crate::support::text;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server of its own process, which ends with it.
pub struct Server {
    child: Child,
    /// "127.0.0.1:PORT".
    pub host: String,
    pub token: String,
}

/// What a server answered.
pub struct Answered {
    pub status: u16,
    /// In lower case, with their values.
    pub headers: String,
    pub body: String,
}

impl Server {
    /// Serves runs, with more arguments.
    pub fn start<'a>(runs: impl IntoIterator<Item = &'a Path>, more: &[&str]) -> Self {
        let runs: Vec<_> = runs.into_iter().map(text).collect();
        Server::start_with([], &[&runs, more].concat()).expect("an address")
    }

    /// Serves in an environment; `None` if it ends at once.
    pub fn start_with<'a>(
        environment: impl IntoIterator<Item = (&'a str, &'a str)>,
        arguments: &[&str],
    ) -> Option<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
        command.args(["app", "--port", "0", "--no-browser"]).args(arguments).envs(environment).stdout(Stdio::piped());
        // In the background of a script, which may have started the tests, the program would ignore it.
        // SAFETY: between fork and exec it calls nothing but signal(2).
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                Ok(())
            })
        };
        // It is stopped when this is dropped, also if the test fails here.
        let mut server = Server { child: command.spawn().unwrap(), host: String::new(), token: String::new() };
        let mut address = String::new();
        BufReader::new(server.child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        if address.is_empty() {
            server.child.wait().unwrap();
            return None;
        }
        let rest = address.trim().strip_prefix("http://").unwrap_or_else(|| panic!("no address: {address:?}"));
        let (host, token) = rest.split_once("/#token=").unwrap();
        (server.host, server.token) = (host.to_owned(), token.to_owned());
        Some(server)
    }

    pub fn process(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Sends a request as it is given, line by line, with the header lines.
    pub fn send(&self, request: &str, headers: &[String], body: &[u8]) -> Answered {
        self.try_send(request, headers, body).expect("an answer")
    }

    /// Like [`Server::send`]; `None` if the server ends meanwhile.
    pub fn try_send(&self, request: &str, headers: &[String], body: &[u8]) -> Option<Answered> {
        let mut stream = TcpStream::connect(&self.host).ok()?;
        let mut head = format!("{request} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        headers.iter().for_each(|line| head += &format!("{line}\r\n"));
        stream.write_all(format!("{head}\r\n").as_bytes()).ok()?;
        // A server that refuses a body may close the connection while it is sent.
        let _ = stream.write_all(body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let answer = String::from_utf8(bytes).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Answered { status, headers: head.to_lowercase(), body: body.to_owned() })
    }

    /// Sends text to the API, and goes away before the answer.
    pub fn post_and_leave(&self, path: &str, body: &str) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let headers = self.own_headers().join("\r\n");
        let request = format!("POST {path} HTTP/1.1\r\n{headers}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(request.as_bytes()).unwrap();
    }

    /// The headers of the page's own requests.
    pub fn own_headers(&self) -> Vec<String> {
        vec![format!("Host: {}", self.host), format!("X-Tiered-Token: {}", self.token)]
    }

    /// Asks the API as the page does.
    pub fn get(&self, path: &str) -> Answered {
        self.send(&format!("GET {path}"), &self.own_headers(), b"")
    }

    /// Sends text to the API as the page does.
    pub fn post(&self, path: &str, body: &str) -> Answered {
        self.send(&format!("POST {path}"), &self.own_headers(), body.as_bytes())
    }
}

impl Answered {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The message of an error.
    pub fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_else(|| panic!("no error: {}", self.body)).to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a script of `scripts/` says of a program in a browser; `None` if a browser or .venv is missing.
pub fn in_browser(script: &str, arguments: &[&Path]) -> Option<std::process::Output> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(root.join(".venv/bin/python"));
    command.arg(root.join("scripts").join(script)).args(arguments.iter().map(|path| text(path)));
    let Ok(output) = command.output() else {
        crate::support::skipped(".venv is needed (make readers)");
        return None;
    };
    if output.status.code() == Some(3) {
        crate::support::skipped("a package of make readers is needed");
        return None;
    }
    Some(output)
}
