//! A small HTTP server on this machine that does what it is told, wrong things too.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The most that an endless body sends: a client that takes all of it has no limit.
const ENDLESS: usize = 64 << 20;

#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
    /// How many requests for this path and method came before.
    pub earlier: usize,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The first byte asked for.
    pub fn from(&self) -> Option<usize> {
        self.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
    }
}

/// What is sent.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub ends: Ends,
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ends {
    /// Where it says.
    Whole,
    /// The connection breaks after so many bytes.
    Cut(usize),
    /// After so many bytes nothing comes any more, for a minute.
    Stalls(usize),
    /// It goes on, for ever but for the test's sake, and does not say how long it is.
    Never,
}

impl Answer {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Answer { status, headers: Vec::new(), body: body.into(), ends: Ends::Whole }
    }

    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    pub fn ending(self, ends: Ends) -> Self {
        Answer { ends, ..self }
    }

    pub fn redirect(to: impl ToString) -> Self {
        Answer::new(302, "").with("location", to)
    }

    /// A file, or the rest of it that was asked for.
    pub fn file(request: &Request, content: &[u8]) -> Self {
        match request.from() {
            Some(from) if from < content.len() => {
                let range = format!("bytes {from}-{}/{}", content.len() - 1, content.len());
                Answer::new(206, &content[from..]).with("content-range", range)
            }
            Some(_) => Answer::new(416, ""),
            None => Answer::new(200, content),
        }
    }
}

type Handler = dyn Fn(&Request) -> Answer + Send + Sync;

/// Serves until the test ends.
pub struct Server {
    pub url: String,
    log: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub fn start(handler: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let (shared, handler): (_, Arc<Handler>) = (log.clone(), Arc::new(handler));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, handler) = (shared.clone(), handler.clone());
                // A client that has gone away is no failure of the server's.
                std::thread::spawn(move || drop(serve(stream, &log, handler.as_ref())));
            }
        });
        Server { url, log }
    }

    pub fn requests(&self) -> Vec<Request> {
        self.log.lock().unwrap().clone()
    }

    pub fn forget(&self) {
        self.log.lock().unwrap().clear();
    }
}

fn serve(stream: TcpStream, log: &Mutex<Vec<Request>>, handler: &Handler) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let Some(mut request) = read_request(&mut reader)? else { return Ok(()) };
    {
        let mut log = log.lock().unwrap();
        let same = |other: &&Request| other.path == request.path && other.method == request.method;
        request.earlier = log.iter().filter(same).count();
        log.push(request.clone());
    }
    send(stream, &handler(&request), request.method == "HEAD")
}

fn read_request(reader: &mut impl BufRead) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length: &String| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Request { method, path, headers, body, earlier: 0 }))
}

fn send(mut stream: TcpStream, answer: &Answer, is_head: bool) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} X\r\nConnection: close\r\n", answer.status);
    let says_length = answer.headers.iter().any(|(name, _)| name == "content-length");
    if answer.ends != Ends::Never && !says_length {
        head += &format!("Content-Length: {}\r\n", answer.body.len());
    }
    answer.headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    if is_head {
        return Ok(());
    }
    match answer.ends {
        Ends::Whole => stream.write_all(&answer.body),
        Ends::Cut(after) => stream.write_all(&answer.body[..after.min(answer.body.len())]),
        Ends::Stalls(after) => {
            stream.write_all(&answer.body[..after.min(answer.body.len())])?;
            stream.flush()?;
            std::thread::sleep(Duration::from_secs(60));
            Ok(())
        }
        Ends::Never => {
            let block = vec![b' '; 1 << 16];
            (0..ENDLESS / block.len()).try_for_each(|_| stream.write_all(&block))
        }
    }
}
