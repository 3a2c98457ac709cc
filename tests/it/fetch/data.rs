//! `tiered data fetch`, from a mirror on this machine.

use super::hub::{Hub, ends, files};
use super::server::{Answer, Server};
use crate::support::{clean_file, real_data, text};
use std::fs;
use std::path::PathBuf;
use std::process::Output;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tiered::durable::sha256;

/// A mirror that serves this as every file, and a folder to fetch into.
struct Mirror {
    server: Server,
    served: Arc<Mutex<Vec<u8>>>,
    out: TempDir,
    /// For its environment only.
    hub: Hub,
}

impl Mirror {
    fn new(content: &str) -> Self {
        let served = Arc::new(Mutex::new(content.as_bytes().to_vec()));
        let shared = served.clone();
        let server = Server::start(move |request| Answer::file(request, &shared.lock().unwrap()));
        Mirror { server, served, out: TempDir::new().unwrap(), hub: Hub::new(files()) }
    }

    fn serves(&self, content: &str) {
        *self.served.lock().unwrap() = content.as_bytes().to_vec();
    }

    fn fetch(&self, more: &[&str]) -> Output {
        fetch(&self.hub, &self.server, &self.out, more)
    }

    fn www(&self) -> PathBuf {
        self.out.path().join("data/trip/www.json")
    }
}

fn fetch(hub: &Hub, server: &Server, out: &TempDir, more: &[&str]) -> Output {
    let arguments = [&["data", "fetch"][..], more, &["--from", &server.url, "--output", text(out.path())]].concat();
    hub.tiered(&arguments)
}

/// A story file with one split of this name.
fn stories(split: &str) -> String {
    serde_json::json!({ split: clean_file()["test"] }).to_string()
}

/// What is not a story file is neither kept nor trusted the next time.
#[test]
fn a_file_of_unknown_hash_must_hold_stories() {
    for content in ["one", "{}", "{\"train\": {}}"] {
        let mirror = Mirror::new(content);
        ends(&mirror.fetch(&["trip"]), 65, &["www.json", "not a story file"]);
        assert_eq!(fs::read_dir(mirror.www().parent().unwrap()).unwrap().count(), 0, "{content}");
        mirror.serves(&stories("train"));
        ends(&mirror.fetch(&["trip"]), 0, &[]);
    }
}

/// One fetches, the others are told; whoever comes later finds the file.
#[test]
fn several_at_once_fetch_it_once() {
    let content = stories("train");
    let served = content.clone();
    let server = Server::start(move |request| {
        std::thread::sleep(std::time::Duration::from_millis(300));
        Answer::file(request, served.as_bytes())
    });
    let (hub, out) = (Hub::new(files()), TempDir::new().unwrap());
    std::thread::scope(|scope| {
        let fetch = || fetch(&hub, &server, &out, &["trip"]);
        let all: Vec<_> = (0..6).map(|_| scope.spawn(fetch)).collect();
        let outputs: Vec<Output> = all.into_iter().map(|one| one.join().unwrap()).collect();
        let codes: Vec<_> = outputs.iter().map(|output| output.status.code().unwrap()).collect();
        assert!(codes.contains(&0) && codes.iter().all(|code| [0, 73].contains(code)), "{codes:?}");
        for output in outputs.iter().filter(|output| output.status.code() == Some(73)) {
            ends(output, 73, &["www.json", "another process"]);
        }
    });
    assert_eq!(fs::read_to_string(out.path().join("data/trip/www.json")).unwrap(), content);
    ends(&fetch(&hub, &server, &out, &["trip"]), 0, &["already present"]);
}

#[test]
fn a_file_of_unknown_hash_is_held_against_the_first_fetched() {
    let [one, two] = ["test", "train"].map(stories);
    let mirror = Mirror::new(&one);
    let said = ends(
        &mirror.fetch(&["trip"]),
        0,
        &["its hash could not be checked", &sha256(one.as_bytes()), "licence", "TIERED_DATA"],
    );
    assert!(!said.contains("verified"), "{said}");
    let request = &mirror.server.requests()[0];
    assert_eq!(request.path, "/sled-group/Verifiable-Coherent-NLU/HEAD/all_data/www.json");
    assert_eq!(request.header("authorization"), None);
    let lock = mirror.www().with_file_name("www.json.sha256");
    assert_eq!(fs::read_to_string(&lock).unwrap(), format!("{}  www.json\n", sha256(one.as_bytes())));

    ends(&mirror.fetch(&["trip"]), 0, &["already present"]);
    assert_eq!(mirror.server.requests().len(), 1);

    fs::remove_file(mirror.www()).unwrap();
    ends(&mirror.fetch(&["trip", "--revision", "a1b2"]), 0, &["hash verified"]);
    assert!(mirror.server.requests()[1].path.contains("/a1b2/"));

    fs::remove_file(mirror.www()).unwrap();
    mirror.serves(&two);
    ends(
        &mirror.fetch(&["trip"]),
        65,
        &[&sha256(one.as_bytes()), &sha256(two.as_bytes()), "sha256 has that of the first"],
    );
    assert!(!mirror.www().exists() && fs::read_dir(mirror.www().parent().unwrap()).unwrap().count() == 1);

    ends(&mirror.fetch(&["trip", "--sha256", &sha256(two.as_bytes())]), 0, &["hash verified"]);
    assert!(fs::read_to_string(&lock).unwrap().starts_with(&sha256(two.as_bytes())));
}

#[test]
fn what_is_in_the_place_is_never_overwritten() {
    let mirror = Mirror::new("one");
    fs::create_dir_all(mirror.www().parent().unwrap()).unwrap();
    fs::write(mirror.www(), "mine").unwrap();
    ends(&mirror.fetch(&["trip"]), 73, &["www.json", "exists", &sha256(b"mine")]);
    ends(&mirror.fetch(&["trip", "--sha256", &sha256(b"one")]), 73, &["www.json", &sha256(b"one")]);
    assert_eq!(fs::read_to_string(mirror.www()).unwrap(), "mine");
    assert!(mirror.server.requests().is_empty());
}

#[test]
fn known_files_must_be_those() {
    let mirror = Mirror::new("{}");
    ends(&mirror.fetch(&["gita"]), 69, &["2 of 1759216 bytes"]);
    mirror.serves(&" ".repeat(1_759_216));
    ends(
        &mirror.fetch(&["gita"]),
        65,
        &["GITA_test.json", "00b7659cfb25cd69c2721ed9d89f62c5fa16e6386c29f5795c66a16eee32da69"],
    );
    assert!(!mirror.out.path().join("data/gita/GITA_test.json").exists());
    ends(&mirror.fetch(&["gita", "--sha256", &sha256(b"x")]), 2, &["--sha256"]);
    ends(&mirror.fetch(&["trip", "--sha256", "abc"]), 2, &["64 digits"]);
    ends(&mirror.fetch(&["trip", "--revision", "../x"]), 2, &["--revision"]);
}

#[test]
fn the_real_files_are_taken() {
    let paths = ["data/gita/GITA_test.json", "data/gita/published/cloze.json", "data/gita/published/order.json"];
    let Some(real) = paths.iter().map(|path| real_data(path)).collect::<Option<Vec<_>>>() else { return };
    let content: Vec<Vec<u8>> = real.iter().map(|path| fs::read(path).unwrap()).collect();
    let expected = content.clone();
    let server = Server::start(move |request| {
        let name = ["/GITA_test.json", "_cloze/", "_order/"].iter().position(|part| request.path.contains(part));
        name.map_or(Answer::new(404, ""), |i| Answer::file(request, &content[i]))
    });
    let (hub, out) = (Hub::new(files()), TempDir::new().unwrap());
    ends(&fetch(&hub, &server, &out, &["gita"]), 0, &["CC BY-NC-SA 4.0"]);
    for (path, expected) in paths.iter().zip(expected) {
        assert_eq!(fs::read(out.path().join(path)).unwrap(), expected);
    }
}
