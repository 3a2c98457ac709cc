//! Servers that break off, lie, refuse, lead astray and never end.

use super::hub::{Hub, MODEL, content, ends, file, files, listing};
use super::server::{Answer, Ends, Request};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tiered::durable::sha256;

const WEIGHTS: usize = 200_000;

/// A hub whose storage is wrong.
fn storage(twist: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static) -> Hub {
    Hub::twisted(files(), |_| None, twist)
}

/// A hub that is wrong itself.
fn hub(twist: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static) -> Hub {
    Hub::twisted(files(), twist, |_| None)
}

fn cut(request: &Request, after: usize) -> Answer {
    Answer::file(request, &content(WEIGHTS)).ending(Ends::Cut(after))
}

fn is_complete(hub: &Hub) {
    assert_eq!(fs::read(hub.snapshot().join("model.safetensors")).unwrap(), content(WEIGHTS));
    assert!(!hub.incomplete(&content(WEIGHTS)).exists());
}

/// There is no such model in the cache, in whole or in part.
fn is_absent(hub: &Hub) {
    assert!(!hub.snapshot().join("model.safetensors").exists() && !hub.model().join("refs").exists());
    assert!(!hub.blob(&sha256(&content(WEIGHTS))).exists());
}

#[test]
fn a_connection_that_is_cut_is_taken_up_again() {
    let hub = storage(|request| Some(cut(request, 60_000)));
    hub.fetch_ends(0, &["trying again", "hash verified"]);
    is_complete(&hub);
    let from: Vec<_> = hub.storage.requests().iter().map(Request::from).collect();
    assert_eq!(from, [None, Some(60_000), Some(120_000), Some(180_000)]);
}

#[test]
fn what_arrived_is_kept_for_the_next_time() {
    let hub = storage(|request| (request.earlier < 5).then(|| cut(request, 10_000)));
    hub.fetch_ends(69, &["gave up after 5 tries", "is kept"]);
    is_absent(&hub);
    assert_eq!(fs::metadata(hub.incomplete(&content(WEIGHTS))).unwrap().len(), 50_000);
    hub.fetch_ends(0, &["resuming after 50000 bytes"]);
    is_complete(&hub);
    assert_eq!(hub.storage.requests().last().unwrap().from(), Some(50_000));
}

#[test]
fn a_killed_fetch_goes_on() {
    let whole = |request: &Request| Answer::file(request, &content(WEIGHTS));
    let hub = storage(move |request| (request.earlier == 0).then(|| whole(request).ending(Ends::Stalls(70_000))));
    let mut command = hub.command(env!("CARGO_BIN_EXE_tiered"));
    command.args(["model", "fetch", MODEL]).env("HF_HUB_DOWNLOAD_TIMEOUT", "60");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let incomplete = hub.incomplete(&content(WEIGHTS));
    let began = Instant::now();
    while fs::metadata(&incomplete).map_or(0, |data| data.len()) < 70_000 {
        assert!(began.elapsed() < Duration::from_secs(30), "nothing came");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    is_absent(&hub);
    hub.fetch_ends(0, &["resuming after 70000 bytes"]);
    is_complete(&hub);
}

#[test]
fn a_part_of_something_else_is_thrown_away() {
    let hub = storage(|_| None);
    let incomplete = hub.incomplete(&content(WEIGHTS));
    fs::create_dir_all(incomplete.parent().unwrap()).unwrap();
    fs::write(&incomplete, vec![0; 70_000]).unwrap();
    hub.fetch_ends(0, &["resuming after 70000 bytes", "hash verified"]);
    is_complete(&hub);
    assert_eq!(hub.storage.requests().iter().map(Request::from).collect::<Vec<_>>(), [Some(70_000), None]);

    // Nor is anything written through a link.
    let hub = storage(|_| None);
    let (incomplete, precious) = (hub.incomplete(&content(WEIGHTS)), hub.home().join("precious"));
    fs::create_dir_all(incomplete.parent().unwrap()).unwrap();
    fs::write(&precious, "as it was").unwrap();
    std::os::unix::fs::symlink(&precious, &incomplete).unwrap();
    hub.fetch_ends(0, &[]);
    is_complete(&hub);
    assert_eq!(fs::read_to_string(precious).unwrap(), "as it was");
}

#[test]
fn a_server_without_ranges_begins_anew() {
    let whole = |request: &Request| {
        Answer::new(200, content(WEIGHTS)).ending(match request.earlier {
            0 | 1 => Ends::Cut(60_000),
            _ => Ends::Whole,
        })
    };
    let hub = storage(move |request| Some(whole(request)));
    hub.fetch_ends(0, &[]);
    is_complete(&hub);
    assert_eq!(hub.storage.requests().len(), 3);

    let other = |request: &Request| {
        let answer = Answer::file(request, &content(WEIGHTS));
        let wrong = Answer::new(206, &content(WEIGHTS)[..9]).with("content-range", "bytes 0-8/200000");
        if request.from().is_some() { wrong } else { answer.ending(Ends::Cut(60_000)) }
    };
    let hub = storage(move |request| Some(other(request)));
    hub.fetch_ends(69, &["another range", "gave up"]);
    is_absent(&hub);
}

#[test]
fn content_that_is_not_what_was_announced() {
    let hub = storage(|request| {
        let mut content = content(WEIGHTS);
        content[100_000] ^= 1;
        Some(Answer::file(request, &content))
    });
    hub.fetch_ends(65, &["SHA-256", &sha256(&content(WEIGHTS)), "do not trust"]);
    is_absent(&hub);
    assert!(!hub.incomplete(&content(WEIGHTS)).exists());

    let hub = self::hub(|request| {
        let is_config = request.method == "GET" && request.path.ends_with("config.json");
        is_config.then(|| Answer::new(200, "{\"a\": 2}"))
    });
    hub.fetch_ends(65, &["config.json", "Git hash"]);
    is_absent(&hub);
}

#[test]
fn refusals_say_what_to_do() {
    let answering = |status: u16| hub(move |_| Some(Answer::new(status, "").with("x-error-message", "Gated")));
    for (status, code, words) in [
        (401, 69, &["401", "HF_TOKEN", "Gated"][..]),
        (403, 69, &["403", "HF_TOKEN"]),
        (404, 66, &["404", "check the name"]),
        (418, 69, &["418"]),
    ] {
        let hub = answering(status);
        hub.fetch_ends(code, words);
        assert_eq!(hub.hub.requests().len(), 1, "no other try");
        is_absent(&hub);
    }
    // Of the storage too.
    storage(|_| Some(Answer::new(403, ""))).fetch_ends(69, &["403"]);
}

#[test]
fn troubles_that_pass() {
    let hub = hub(|request| (request.earlier < 2).then(|| Answer::new(503, "")));
    hub.fetch_ends(0, &["answered 503", "trying again"]);
    is_complete(&hub);

    let hub = self::hub(|_| Some(Answer::new(500, "")));
    hub.fetch_ends(69, &["500", "gave up after 5 tries"]);
    assert_eq!(hub.hub.requests().len(), 5);
}

#[test]
fn a_server_that_asks_to_wait() {
    let asks = |seconds: &'static str| {
        let is_first = |request: &Request| request.path.starts_with("/api/") && request.earlier == 0;
        hub(move |request| is_first(request).then(|| Answer::new(429, "").with("retry-after", seconds)))
    };
    let (hub, began) = (asks("1"), Instant::now());
    hub.fetch_ends(0, &["429", "trying again in 1 s"]);
    assert!(began.elapsed() >= Duration::from_secs(1));
    is_complete(&hub);

    let (hub, began) = (asks("100000"), Instant::now());
    hub.fetch_ends(69, &["429", "wait 100000 s"]);
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(hub.hub.requests().len(), 1);
}

#[test]
fn redirects_that_lead_astray() {
    let of_file =
        |to: &'static str| hub(move |request| request.path.contains("/resolve/").then(|| Answer::redirect(to)));
    for (to, words) in [
        ("file:///etc/passwd", &["not an http or https address", "not followed"][..]),
        ("ftp://127.0.0.1/x", &["not an http or https address"]),
        ("http://me:secret@127.0.0.1/x", &["user's name"]),
        ("/org/tiny/resolve/again", &["after 10 redirects"]),
    ] {
        let hub = of_file(to);
        hub.fetch_ends(77, words);
        assert!(hub.hub.requests().len() <= 13);
        is_absent(&hub);
    }
    of_file("http://127.0.0.1:1/x").fetch_ends(69, &["no answer"]);
    hub(|_| Some(Answer::new(302, ""))).fetch_ends(69, &["redirects without an address"]);
}

/// The hub's announcements count, not those of whom it redirects to.
#[test]
fn hashes_are_the_hubs() {
    let liar = Answer::new(200, "evil").with("x-linked-etag", sha256(b"evil")).with("x-linked-size", 4);
    let hub = storage(move |_| Some(liar.clone()));
    hub.fetch_ends(69, &["4 of 200000 bytes"]);
    is_absent(&hub);
}

#[test]
fn bodies_that_do_not_end() {
    let endless = || Answer::new(200, "").ending(Ends::Never);
    let hub = hub(move |_| Some(endless()));
    hub.fetch_ends(77, &["more than 16777216 bytes"]);

    let hub = self::hub(move |request| {
        let is_config = request.path.ends_with("config.json");
        is_config.then(|| endless().with("etag", "\"0123456789abcdef0123456789abcdef01234567\""))
    });
    hub.fetch_ends(77, &["config.json", "more than 1048576 bytes"]);
    is_absent(&hub);

    let hub = storage(move |_| Some(endless()));
    hub.fetch_ends(77, &["more than 200000 bytes"]);
    is_absent(&hub);
    assert!(fs::metadata(hub.incomplete(&content(WEIGHTS))).unwrap().len() <= WEIGHTS as u64);

    // Announced as longer than such a file may be: not even asked for.
    let hub = self::hub(|request| {
        let answer = || file(request, "config.json", b"{}", "").with("content-length", 2 << 20);
        (request.method == "HEAD" && request.path.ends_with("config.json")).then(answer)
    });
    hub.fetch_ends(77, &["config.json", "more than 1048576 bytes"]);
    assert!(hub.hub.requests().iter().all(|request| request.method != "GET" || request.path.starts_with("/api/")));
}

#[test]
fn a_server_that_falls_silent() {
    let hub = storage(|request| {
        let answer = Answer::file(request, &content(WEIGHTS));
        Some(if request.earlier == 0 { answer.ending(Ends::Stalls(1000)) } else { answer })
    });
    let began = Instant::now();
    hub.fetch_ends(0, &["trying again"]);
    assert!(began.elapsed() < Duration::from_secs(30));
    is_complete(&hub);
}

#[test]
fn names_that_lead_out_of_the_folder() {
    let mut others = files();
    others.remove("model.safetensors");
    let index = |shard: &str| format!("{{\"weight_map\": {{\"a\": \"{shard}\"}}}}");
    for shard in ["../../../../escaped.safetensors", "/tmp/escaped.safetensors", "a/escaped.safetensors"] {
        let mut files = others.clone();
        files.insert("model.safetensors.index.json".into(), index(shard).into());
        let hub = Hub::new(files);
        hub.fetch_ends(77, &["escaped.safetensors"]);
        is_absent(&hub);
    }
    let listed = |commit: &'static str| {
        let names = ["config.json", "tokenizer.json", "model.safetensors"];
        hub(move |_| Some(listing(names.into_iter(), commit)))
    };
    for commit in ["../../escaped", "", "main", "0123456789ABCDEF0123456789ABCDEF01234567"] {
        let hub = listed(commit);
        hub.fetch_ends(77, &["is not a commit"]);
        is_absent(&hub);
    }
    for etag in ["../../escaped", "", "a/b", "..", "a b"] {
        let answer = move || Answer::new(200, "{}").with("etag", format!("\"{etag}\""));
        let hub = hub(move |request| request.path.contains("/resolve/").then(answer));
        hub.fetch_ends(77, &["is not a hash"]);
        is_absent(&hub);
    }
}

#[test]
fn what_is_no_hub() {
    for body in ["<html>Sign in to the network</html>", "{}", "[]", "{\"sha\": 1}"] {
        hub(move |_| Some(Answer::new(200, body))).fetch_ends(69, &["not the hub's description"]);
    }
    let hub = hub(|_| None);
    let mut command = hub.command(env!("CARGO_BIN_EXE_tiered"));
    command.args(["model", "fetch", MODEL]);
    ends(&command.env("HF_ENDPOINT", "http://127.0.0.1:1").output().unwrap(), 69, &["no answer", "gave up"]);
    ends(&command.env("HF_ENDPOINT", "gopher://x").output().unwrap(), 78, &["HF_ENDPOINT"]);
    assert!(!hub.home().join("hub").exists());
}

#[test]
fn a_full_disk() {
    let hub = storage(|_| None);
    let script = "trap '' XFSZ; ulimit -f 200; exec \"$@\""; // 100 KiB
    let mut command: Command = hub.command("sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_tiered"), "model", "fetch", MODEL]);
    ends(&command.output().unwrap(), 74, &[".incomplete", "make room"]);
    is_absent(&hub);
    hub.fetch_ends(0, &["resuming after 102400 bytes"]);
    is_complete(&hub);
}
