//! `tiered app`: who may ask the server, and that it answers as `tiered predict`.

use crate::app_server::{Server, in_browser};
use crate::support::{real_data, stderr, stdout, text, tiered};
use crate::tiny::Tiny;
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::slice::from_ref;
use std::sync::OnceLock;
use std::time::Instant;

const STORIES: &str = "Mia opened the drawer.\nMia took a spoon out of the drawer.\n\n\
                       Mia locked the closed drawer.\nMia took a spoon out of the drawer.\n";
const ONE: &str = "entities: Mia, drawer\nMia locked the closed drawer.\nMia took a spoon out of the drawer.\n";
const ITALIAN: &str = "Mia ha chiuso il cassetto.\nMia ha preso il cucchiaio dal cassetto chiuso.\n";

/// A run that judges single stories, and one that doesn't.
fn shared() -> &'static (Tiny, PathBuf, PathBuf) {
    static SHARED: OnceLock<(Tiny, PathBuf, PathBuf)> = OnceLock::new();
    SHARED.get_or_init(|| {
        let tiny = Tiny::new();
        let paper = tiny.trained("paper", &["--set", "train.epochs=1", "--set", "model.detector.kind=paper"]);
        let joint = tiny.trained("joint", &["--set", "train.epochs=1", "--set", "model.detector.kind=joint"]);
        (tiny, paper, joint)
    })
}

/// One for each test: a server that all tests share would live on after them.
fn server() -> Server {
    Server::start([shared().1.as_path(), shared().2.as_path()], &[])
}

/// What `tiered predict --format json` prints about a text.
fn predicted(run: &Path, input: &str, more: &[&str]) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tiered"))
        .args(["predict", text(run), "--format=json"])
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    stdout(&output)
}

#[test]
fn the_api_answers_as_predict_byte_for_byte() {
    let server = server();
    let (_, paper, joint) = shared();
    let as_json =
        json!({"stories": STORIES.split("\n\n").map(|story| json!({"sentences": story.lines().collect::<Vec<_>>(),
        "entities": ["Mia", "spoon"]})).collect::<Vec<_>>()})
        .to_string();
    let cases: [(&str, &Path, &str, &[&str]); 7] = [
        ("", paper, STORIES, &[]),
        ("?model=joint", joint, STORIES, &[]),
        (
            "?model=joint&decode=threshold&states=0.02%2Btop1",
            joint,
            &as_json,
            &["--decode=threshold", "--states=0.02+top1"],
        ),
        ("?model=paper&decode=pair", paper, &as_json, &["--decode=pair"]),
        ("?model=paper", paper, ONE, &[]),
        ("?lang=it", paper, STORIES, &["--lang=it"]),
        ("?split_sentences=true", paper, "Mia opened the drawer. Mia took a spoon.", &["--split-sentences"]),
    ];
    for (query, run, input, arguments) in cases {
        let answer = server.post(&format!("/api/predict{query}"), input);
        assert_eq!((answer.status, answer.body), (200, predicted(run, input, arguments)), "{query}");
    }
}

#[test]
fn the_explanation_has_the_answer_and_every_state_with_its_probability() {
    let server = server();
    for (input, stories, language) in [(STORIES, 2, "en"), (ONE, 1, "en"), (ITALIAN, 1, "it")] {
        let explained = server.post("/api/explain?decode=pair&states=0.02", input).json();
        let mut answer: Value =
            serde_json::from_str(&server.post("/api/predict?decode=pair&states=0.02", input).body).unwrap();
        answer.as_object_mut().unwrap().remove("schema_version");
        assert_eq!(explained["answer"], answer);
        assert_eq!(explained["stories"].as_array().unwrap().len(), stories);
        for (story, answered) in
            explained["stories"].as_array().unwrap().iter().zip(answer["stories"].as_array().unwrap())
        {
            let entities = story["entities"].as_array().unwrap();
            let names: Vec<_> = entities.iter().map(|entity| entity["name"].clone()).collect();
            assert_eq!(
                (Value::from(names), &story["language"]),
                (answered["entities"].clone(), &Value::from(language))
            );
            for (n, sentence) in answered["sentences"].as_array().unwrap().iter().enumerate() {
                let probs = entities.iter().map(|entity| entity["conflict_probs"][n].as_f64().unwrap());
                let of_sentence = sentence["conflict_prob"].as_f64().unwrap();
                assert!((probs.fold(0., f64::max) - of_sentence).abs() < 1e-6, "entities are not told apart");
            }
        }
        for state in answer["states"].as_array().unwrap() {
            let story = &explained["stories"][state["story"].as_u64().unwrap() as usize];
            let entity = story["entities"].as_array().unwrap().iter().find(|entity| entity["name"] == state["entity"]);
            let found =
                entity.unwrap()["states"].as_array().unwrap().iter().find(|other| {
                    ["sentence", "side", "attribute", "class"].iter().all(|part| other[part] == state[part])
                });
            let found = found.unwrap_or_else(|| panic!("no probability of {state}"));
            assert!(found["predicted"] == true && found["probability"].as_f64().unwrap() >= 0.02, "{found}");
        }
    }
}

#[test]
fn what_cant_be_answered_is_refused_with_the_reason() {
    let server = server();
    let refused = |path: &str, body: &str| {
        let answer = server.post(path, body);
        (answer.status, answer.message())
    };
    let (status, why) = refused("/api/predict?model=none", STORIES);
    assert!(status == 404 && why.contains("no run \"none\" is loaded; there are paper, joint"), "{status} {why}");
    let (status, why) = refused("/api/predict", "Mia slept.");
    assert!(status == 422 && why.contains("write one sentence a line"), "{status} {why}");
    let (status, why) = refused("/api/predict?model=joint", ONE);
    assert!(status == 503 && why.contains("can't judge a single story"), "{status} {why}");
    let (status, why) = refused("/api/predict?decode=best", STORIES);
    assert!(status == 400 && why.contains("best"), "{status} {why}");
    let (status, why) = refused("/api/predict?modle=joint", STORIES);
    assert!(status == 400 && why.contains("modle"), "{status} {why}");
    assert_eq!(server.send("POST /api/predict", &server.own_headers(), b"\xff").status, 422);
    let [nothing, method] = ["/api/nothing", "/api/predict"].map(|path| server.get(path));
    assert_eq!((nothing.status, method.status), (404, 405));
    assert_eq!(method.json()["error"]["kind"], json!("request"));
    let models = server.get("/api/models").json();
    let known: Vec<_> =
        models["models"].as_array().unwrap().iter().map(|model| (&model["name"], &model["single_story"])).collect();
    assert_eq!(known, [(&json!("paper"), &json!(true)), (&json!("joint"), &json!(false))]);
}

#[test]
fn only_the_page_of_this_user_may_ask() {
    let server = server();
    let host = format!("Host: {}", server.host);
    let token = format!("X-Tiered-Token: {}", server.token);
    let port = server.host.split(':').nth(1).unwrap();
    let origin = |origin: &str| format!("Origin: {origin}");
    let cases: [(&[String], u16); 9] = [
        (&[host.clone(), token.clone()], 200),
        (&[host.clone(), token.clone(), origin(&format!("http://{}", server.host))], 200),
        (&[format!("Host: localhost:{port}"), token.clone()], 200),
        (from_ref(&host), 401),
        (&[host.clone(), format!("{token}0")], 401),
        (&[format!("Host: rebound.example:{port}"), token.clone()], 421),
        (&["Host: 127.0.0.1".to_owned(), token.clone()], 421),
        (&[host.clone(), token.clone(), origin("http://evil.example")], 403),
        (&[host.clone(), token.clone(), "Sec-Fetch-Site: cross-site".to_owned()], 403),
    ];
    for (headers, status) in &cases {
        assert_eq!(server.send("GET /api/models", headers, b"").status, *status, "{headers:?}");
    }
    // The token counts in its header only.
    assert_eq!(server.send(&format!("GET /api/models?token={}", server.token), from_ref(&host), b"").status, 401);
    let page = server.send("GET /", from_ref(&host), b"");
    assert!(page.status == 200 && !page.body.contains(&server.token));
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; ",
        "frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
    ] {
        assert!(page.headers.contains(header), "{header}: {}", page.headers);
        assert!(server.get("/api/nothing").headers.contains(header), "{header}, of an error");
    }
    assert!(!page.headers.contains("access-control-"), "{}", page.headers);
}

#[test]
fn a_request_has_a_limit_and_the_server_lives_on() {
    let server = server();
    let large = "Mia slept.\n".repeat((3 << 20) / 11);
    let answer = server.post("/api/predict", &large);
    assert!(answer.status == 413 && answer.message().contains("too large"), "{}", answer.status);
    let long = format!("GET /api/models?model={}", "a".repeat(1 << 20));
    let status = server.send(&long, &server.own_headers(), b"").status;
    assert!((400..500).contains(&status), "{status}");
    assert_eq!(server.send("GET /api/models", &["Host: [::1".to_owned()], b"").status, 421);
    assert_eq!(server.get("/api/models").status, 200);
}

#[test]
fn what_nobody_waits_for_is_not_computed() {
    let server = server();
    let names: Vec<_> = (0..120).map(|i| format!("thing {i}")).collect();
    let story =
        |verb: &str| json!({"sentences": [format!("Mia {verb} it."), "Mia saw it.", "Mia left."], "entities": names});
    let stories = json!({"stories": [story("opened"), story("shut")]}).to_string();
    let asked = |requests: usize| {
        let start = Instant::now();
        for _ in 0..requests {
            assert_eq!(server.post("/api/explain", &stories).status, 200);
        }
        start.elapsed()
    };
    asked(1);
    let waited = asked(16);
    let start = Instant::now();
    (0..16).for_each(|_| server.post_and_leave("/api/explain", &stories));
    asked(1);
    // The one that was being computed, the last one, and perhaps a few of which the server had not heard yet that they were left.
    assert!(start.elapsed() < waited / 2, "{:?}, and {waited:?} for as many answers", start.elapsed());
}

#[test]
fn the_page_is_whole_and_asks_nobody_else() {
    let server = server();
    let page = server.get("/").body;
    let mut files: Vec<String> = page.split('"').filter(|part| part.starts_with('/')).map(str::to_owned).collect();
    let mut seen = 0;
    while let Some(path) = files.get(seen).cloned() {
        seen += 1;
        let file = server.get(&path);
        assert_eq!(file.status, 200, "{path}");
        assert!(!file.body.contains("http:") && !file.body.contains("https:"), "{path} names another server");
        for import in file.body.split("from \"./").skip(1) {
            let name = format!("/{}", import.split('"').next().unwrap());
            if !files.contains(&name) {
                files.push(name);
            }
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/app");
    let there = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(files.len(), there - 1, "all files but the page itself: {files:?}");
    let scripts = files.iter().filter(|name| name.ends_with(".js"));
    let lines: usize =
        scripts.map(|name| std::fs::read_to_string(folder.join(&name[1..])).unwrap().lines().count()).sum();
    assert!(lines < 2000, "{lines} lines of JavaScript");
}

#[test]
fn it_starts_and_ends_as_it_says() {
    let server = server();
    let (_, paper, _) = shared();
    let port = server.host.split(':').nth(1).unwrap().to_owned();
    let output = tiered(["app", text(paper), "--port", &port, "--no-browser"]);
    assert_eq!(output.status.code(), Some(69));
    let said = stderr(&output);
    assert!(
        said.contains(&format!("port {port} of 127.0.0.1: ")) && said.contains("choose another with --port"),
        "{said}"
    );
    let output = tiered(["app", "/no/such/run", "--no-browser"]);
    assert_eq!((output.status.code(), stderr(&output).contains("not a run folder")), (Some(66), true));

    let mut empty = Server::start([], &[]);
    assert_eq!(empty.post("/api/predict", STORIES).message(), "no run is loaded; name a run folder: tiered app RUN");
    let id = empty.process().id().cast_signed();
    // SAFETY: sends a signal to our own child.
    unsafe { libc::kill(id, libc::SIGINT) };
    assert_eq!(empty.process().wait().unwrap().signal(), Some(libc::SIGINT), "as other commands end");
}

#[test]
fn the_page_works_in_a_browser() {
    let (_, paper, joint) = shared();
    let program = Path::new(env!("CARGO_BIN_EXE_tiered"));
    let Some(output) = in_browser("check-app.py", &[program, paper, joint]) else { return };
    println!("{}", stdout(&output));
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn annotating_works_in_a_browser() {
    let (_, paper, _) = shared();
    let program = Path::new(env!("CARGO_BIN_EXE_tiered"));
    for run in [&[][..], &[paper.as_path()]] {
        let Some(output) = in_browser("check-annotate.py", &[&[program], run].concat()) else { return };
        println!("{}", stdout(&output));
        assert!(output.status.success(), "{}", stderr(&output));
    }
}

#[test]
fn a_story_of_gita_takes_fewer_keys_than_labels() {
    let Some(gita) = real_data("data/gita/GITA_test.json") else { return };
    let (_, paper, _) = shared();
    let program = Path::new(env!("CARGO_BIN_EXE_tiered"));
    // It fails if the exported labels are not the file's, or if it takes as many keys as there are labels.
    let Some(output) = in_browser("check-annotate.py", &[program, paper, Path::new("--count"), &gita]) else { return };
    println!("{}", stdout(&output));
    assert!(output.status.success(), "{}", stderr(&output));
}
