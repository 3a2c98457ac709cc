//! `tiered report html --output`: what is on the page, that nothing on it comes from elsewhere or is run that a story brought
//! with it, and that it works in a browser.

use crate::app_server::in_browser;
use crate::llm_server::mock::{Speaks, setup, start};
use crate::support::{copy_folder, stderr, stdout, text, tiered};
use crate::tiny::{Tiny, sample};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Whoever writes stories may mean harm.
const HOSTILE: &str = "</script></title></svg><img src=x onerror=alert(1)><script>alert(2)</script>\"'&{{ 7*7 }}";
const HOSTILE_NAME: &str = "Bob\" onfocus=\"alert(3)";

/// A run with the joint detector that was evaluated on its own stories and on hostile ones.
fn shared() -> &'static (Tiny, PathBuf) {
    static SHARED: OnceLock<(Tiny, PathBuf)> = OnceLock::new();
    SHARED.get_or_init(|| {
        let tiny = Tiny::new();
        let run = tiny.trained("run", &["--set", "model.detector.kind=joint"]);
        let stories: Value = serde_json::from_slice(&fs::read(tiny.stories()).unwrap()).unwrap();
        let hostile = tiny.path("hostile.json");
        fs::write(&hostile, made_hostile(&stories["dev"]).to_string()).unwrap();
        let output = tiered(["eval", text(&run), "--data", text(&hostile)]);
        assert!(output.status.success(), "{}", stderr(&output));
        (tiny, run)
    })
}

/// Sentences, rooms and one entity replaced.
fn made_hostile(split: &Value) -> Value {
    let mut stories = split.clone();
    for story in stories.as_object_mut().unwrap().values_mut() {
        story["location"] = json!(HOSTILE);
        for sentence in story["sentences"].as_array_mut().unwrap() {
            *sentence = json!(format!("{} {HOSTILE}", sentence.as_str().unwrap()));
        }
        for labels in story["states"].as_array_mut().unwrap().iter_mut().flat_map(|row| row.as_object_mut().unwrap()) {
            for label in labels.1.as_array_mut().unwrap() {
                label[0] = json!(format!("{} {HOSTILE_NAME}", label[0].as_str().unwrap()));
            }
        }
    }
    json!({"test": stories})
}

fn page(runs: &[&Path], name: &str) -> PathBuf {
    let path = shared().0.path(name);
    let runs = runs.iter().map(|run| text(run));
    let output = tiered(["report", "html"].into_iter().chain(runs).chain(["--output", text(&path), "--force"]));
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), format!("written: {}\n", path.display()));
    path
}

#[test]
fn a_page_has_scores_curves_figures_and_stories() {
    let (tiny, run) = shared();
    let page = fs::read_to_string(page(&[run], "one.html")).unwrap();
    let pairs = page.matches("<article ").count();
    assert_eq!(pairs, 4 + 4, "of dev and of the hostile file");
    assert_eq!(page.matches("<svg ").count(), page.matches("<title>").count() - 1);
    for said in
        ["Preconditions", "Verifiability", "Right and wrong parts of the answer", ">decoding</th>", "stories.json, dev"]
    {
        assert!(page.contains(said), "{said} is not on the page");
    }
    let report: Value =
        serde_json::from_slice(&fs::read(run.join("eval/stories-dev-all/report.json")).unwrap()).unwrap();
    for row in report["rows"].as_array().unwrap() {
        let percent = 100. * row["accuracy"]["fraction"].as_f64().unwrap();
        assert!(page.contains(&format!("<span class=\"value\">{percent:.1}</span>")), "{percent}");
    }
    assert!(!fs::read_dir(tiny.path("")).unwrap().any(|entry| text(&entry.unwrap().path()).ends_with(".part")));
}

#[test]
fn what_a_story_brings_is_shown_and_never_run() {
    let page = fs::read_to_string(page(&[&shared().1], "hostile.html")).unwrap();
    let lower = page.to_lowercase();
    assert_eq!(lower.matches("<script").count(), 1, "our own");
    assert_eq!(lower.matches("</script").count(), 1);
    for markup in ["<img", "onfocus=\"", "\" onfocus"] {
        assert!(!lower.contains(markup), "{markup}");
    }
    assert!(
        page.contains("&#60;img src=x onerror=alert(1)&#62;") || page.contains("&lt;img src=x onerror=alert(1)&gt;")
    );
    for from_elsewhere in ["src=\"http", "href=\"http", "src='", "url(", "@import", "href=\"//"] {
        assert!(!lower.contains(from_elsewhere), "{from_elsewhere}");
    }
}

#[test]
fn pages_work_in_a_browser() {
    let run = &shared().1;
    for path in [page(&[run], "browser.html"), page(&[run, &copied("another run")], "browser-two.html")] {
        let Some(output) = in_browser("check-page.py", &[&path]) else { return };
        println!("{}", stdout(&output));
        assert!(output.status.success(), "{}: {}", path.display(), stderr(&output));
    }
}

#[test]
fn several_runs_stand_side_by_side() {
    let (tiny, run) = shared();
    let other = tiny.trained("other", &["--set", "seed=5", "--set", "train.epochs=1"]);
    let page = fs::read_to_string(page(&[run, &other], "two.html")).unwrap();
    assert_eq!(page.matches("<article ").count(), 4 + 4, "of dev, which both have, and of the hostile file");
    assert!(
        page.contains("run, other · tiered")
            && page.contains("<option value=\"1\">B · other</option>")
            && page.contains("<option value=\"1\">stories.json, dev, the epoch was chosen on this set</option>")
    );
    // Runs of one name are told apart by their letters.
    for named in ["<h3>B · other on stories", "</span>B · other<br>", "<h3 class=\"set\">B · other: stories"] {
        assert!(page.contains(named), "{named} is not on the page");
    }
}

#[test]
fn a_pair_of_several_runs_is_one_card_with_their_answers() {
    let (tiny, run) = shared();
    let other = tiny.trained("second/other", &["--set", "seed=7", "--set", "train.epochs=1"]);
    let page_of = |other: &Path| fs::read_to_string(page(&[run, other], "shared-pairs.html")).unwrap();
    let text_of = page_of(&other);
    let articles = |page: &str| page.split("<article ").skip(1).map(str::to_owned).collect::<Vec<_>>();
    let (both, alone): (Vec<_>, Vec<_>) =
        articles(&text_of).into_iter().partition(|article| article.contains("data-run=\"0 1\""));
    assert_eq!((both.len(), alone.len()), (4, 4));
    for article in &both {
        let count = |what: &str| article.matches(what).count();
        assert_eq!([count("<div class=\"story\">"), count("<div class=\"answer\">")], [2, 2]);
        assert!(article.contains("A · run ") && article.contains("B · other "));
        let tiers: Vec<_> =
            article.split_once("data-tier=\"").unwrap().1.split('"').next().unwrap().split(' ').collect();
        assert_eq!(article.contains("data-differs=\"yes\""), tiers[0] != tiers[1]);
    }
    assert!(alone.iter().all(|article| article.contains("· run A") && !article.contains("class=\"answer")));
    let differing = both.iter().filter(|article| article.contains("data-differs=\"yes\"")).count();
    assert!(text_of.contains(&format!("on {differing} of 4 such pairs")));
    assert!(text_of.contains("data-filter=\"differs\" data-value=\"yes\""));
    assert_eq!(text_of.matches("<th scope=\"row\">B − A</th>").count(), 3, "a row a tier");

    // Another seed tells the two stories of a pair in another order: that changes nothing.
    let swapped = tiny.path("swapped/other");
    fs::create_dir(tiny.path("swapped")).unwrap();
    copy_folder(&other, &swapped);
    let saved = swapped.join("eval/stories-dev-all/predictions.jsonl");
    let lines = fs::read_to_string(&saved).unwrap();
    let swap = |line: &str| {
        let mut pair: Value = serde_json::from_str(line).unwrap();
        for index in ["plausible", "gold_plausible"] {
            pair[index] = json!(1 - pair[index].as_u64().unwrap());
        }
        for both in ["stories", "story_probs"] {
            pair[both].as_array_mut().unwrap().reverse();
        }
        format!("{pair}\n")
    };
    fs::write(&saved, lines.lines().map(swap).collect::<String>()).unwrap();
    let until_script = |page: &str| articles(page.split_once("<script ").unwrap().0);
    assert_eq!(until_script(&page_of(&swapped)), until_script(&text_of));
}

/// A language model that was asked about the hostile pairs, of which the run was evaluated too.
#[test]
fn a_language_model_stands_beside_a_run() {
    let (tiny, run) = shared();
    let server = start(setup(Speaks::LlamaCpp));
    let asked = |protocol: &str, more: &[&str]| {
        let (folder, data) = (tiny.path(protocol), tiny.path("hostile.json"));
        let arguments = ["llm", "eval", "--data", text(&data), "--server", &server.url, "--model", "toy"];
        let more = ["--protocol", protocol, "--output", text(&folder)].into_iter().chain(more.iter().copied());
        let output = tiered(arguments.into_iter().chain(more));
        output.status.success().then_some(folder).ok_or_else(|| stderr(&output))
    };
    let pairs = asked("pairs", &[]).unwrap();
    let predictions = fs::read_to_string(pairs.join("predictions.jsonl")).unwrap();
    // A pair without states at its conflict can't be shown.
    let shown = |line: &str| {
        let pair: Value = serde_json::from_str(line).unwrap();
        asked("har", &["--shots-split", "test", "--shot", pair["id"].as_str().unwrap()])
    };
    let tried = predictions.lines().map(shown);
    let mut tried =
        tried.skip_while(|tried| matches!(tried, Err(why) if why.contains("no nontrivial states at its conflict")));
    let har = tried.next().unwrap().unwrap();

    let text_of = fs::read_to_string(page(&[run, &pairs, &har], "models.html")).unwrap();
    assert!(text_of.contains("language model, protocol pairs, log-probabilities by forced"));
    let (_, articles) = text_of.split_once("<div id=\"pairs\">").unwrap();
    let all: Vec<&str> = articles.split("<article ").filter(|card| card.contains("data-run=\"0 1 2\"")).collect();
    assert_eq!(all.len(), 4);
    for card in all {
        let count = |what: &str| card.matches(what).count();
        assert_eq!([count("<div class=\"answer\">"), count("<details class=\"said\">")], [3, 4 + 6]);
        for what in ["Is story 1 plausible?", "Is story 2 plausible?", "Which story is more plausible?"] {
            assert_eq!(count(what), 1, "{what}");
        }
        assert!(count("Please answer with true or false.") == 2, "the prompts are there");
        assert_eq!(count("<summary>All states</summary>"), 2, "by protocol pairs a model names no entity");
    }
    assert!(!text_of.contains("<img src=x") && !text_of.contains("<script>alert"));
    let alone = fs::read_to_string(page(&[&pairs], "model.html")).unwrap();
    assert_eq!(alone.matches("<details class=\"said\">").count(), 4 * 4);
    assert!(!alone.contains("id=\"curves\"") && !alone.contains("id=\"analysis\""));
    fs::remove_file(pairs.join("run.json")).unwrap();
    let refused = tiered(["report", "html", text(&pairs), "--output", text(&tiny.path("refused.html"))]);
    assert!(refused.status.code() == Some(65) && stderr(&refused).contains("no run.json"), "{}", stderr(&refused));
}

#[test]
fn one_run_is_compared_with_none() {
    let page = fs::read_to_string(page(&[&shared().1], "alone.html")).unwrap();
    for shown in ["data-differs=", "class=\"answer", "class=\"compared\"", "data-filter=\"differs\"", "such pairs"] {
        assert!(!page.contains(shown), "{shown}");
    }
}

/// A copy of the shared run, to evaluate or change.
fn copied(name: &str) -> PathBuf {
    let (tiny, run) = shared();
    let copy = tiny.path(name);
    copy_folder(run, &copy);
    copy
}

#[test]
fn pairs_of_overlapping_evaluations_are_there_once() {
    let run = copied("overlapping");
    for kind in ["cloze", "order"] {
        let stories = shared().0.stories();
        let output = tiered(["eval", text(&run), "--data", text(&stories), "--split", "dev", "--kind", kind]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let page = fs::read_to_string(page(&[&run], "overlapping.html")).unwrap();
    assert_eq!(page.matches("<article ").count(), 4 + 4, "of dev, whole and by kind, and of the hostile file");
    assert_eq!(page.matches("These pairs are part of stories.json, dev, the epoch was chosen").count(), 2);
    let sets =
        |article: &str| article.split_once("data-set=\"").unwrap().1.split('"').next().unwrap().trim().to_owned();
    let mut sets: Vec<_> = page.split("<article ").skip(1).map(sets).collect();
    sets.sort();
    assert_eq!(sets, ["0", "0", "0", "0", "1 3", "1 3", "2 3", "2 3"], "cloze and order, each also in the whole");
}

#[test]
fn readings_of_one_set_are_kept_apart() {
    let run = copied("augmented");
    let stories = shared().0.stories();
    let output = tiered(["eval", text(&run), "--data", text(&stories), "--split", "dev", "--augment"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let shown = fs::read_to_string(page(&[&shared().1, &run], "readings.html")).unwrap();
    assert_eq!(
        shown.matches("<article ").count(),
        4 + 4 + 4,
        "dev read once, dev read several times, the hostile file"
    );
    assert!(!shown.contains("These pairs are part of"), "of those that were read in another way");
    // One run was read once only, the other several times only.
    fs::remove_dir_all(run.join("eval/stories-dev-all")).unwrap();
    let apart = fs::read_to_string(page(&[&run, &shared().1], "apart.html")).unwrap();
    let compared: Vec<&str> = apart.lines().filter(|line| line.contains("differences between runs")).collect();
    assert!(!compared.is_empty() && compared.iter().all(|line| !line.contains("stories.json, dev")), "{compared:?}");
}

#[test]
fn different_files_of_one_name_are_different_sets() {
    let hostile = fs::read_to_string(shared().0.path("hostile.json")).unwrap();
    let evaluated = |folder: &str, stories: &str| {
        let run = copied(folder);
        fs::remove_dir_all(run.join("eval")).unwrap();
        let file = run.join("same.json");
        fs::write(&file, stories).unwrap();
        let output = tiered(["eval", text(&run), "--data", text(&file)]);
        assert!(output.status.success(), "{}", stderr(&output));
        run
    };
    let first = evaluated("first-folder", &hostile);
    let [same, other] = [("same-file", hostile.clone()), ("other-folder", hostile.replace("alert(2)", "alert(4)"))]
        .map(|(folder, stories)| evaluated(folder, &stories));
    let captions = |runs: &[&Path]| {
        let page = fs::read_to_string(page(runs, "same-name.html")).unwrap();
        let captions = page.split("<caption>").skip(1).filter_map(|rest| rest.split_once("</caption>"));
        let captions: Vec<String> = captions.map(|(caption, _)| caption.to_owned()).collect();
        captions.into_iter().filter(|caption| caption.contains("same.json, test · 4 pairs")).collect::<Vec<_>>()
    };
    assert_eq!(captions(&[&first, &same]), ["same.json, test · 4 pairs"]);
    let apart = ["first-folder/same.json, test · 4 pairs", "other-folder/same.json, test · 4 pairs"];
    assert_eq!(captions(&[&first, &other]), apart);
}

#[test]
fn reasons_stand_at_the_sentences_of_the_story_that_they_belong_to() {
    let run = copied("wrong choice");
    let saved = run.join("eval/stories-dev-all/predictions.jsonl");
    let lines = fs::read_to_string(&saved).unwrap();
    let mut pairs: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for pair in &mut pairs {
        let gold = pair["gold_plausible"].as_u64().unwrap();
        pair["plausible"] = json!(1 - gold);
        pair["story_probs"] = json!([gold, 1 - gold]);
    }
    fs::write(&saved, pairs.iter().map(|pair| format!("{pair}\n")).collect::<String>()).unwrap();
    let page = fs::read_to_string(page(&[&run], "wrong-choice.html")).unwrap();
    let articles: Vec<_> = page.split("<article ").skip(1).filter(|article| article.contains("stories.json")).collect();
    assert_eq!(articles.len(), pairs.len());
    for (article, pair) in articles.iter().zip(&pairs) {
        let gold = pair["gold_plausible"].as_u64().unwrap() as usize;
        let stories: Vec<_> = article.split("<div class=\"story\">").skip(1).collect();
        let of =
            |story: usize, conflict: &str| stories[story].matches(&format!("· {conflict} conflict</span>")).count();
        assert_eq!([of(1 - gold, "gold"), of(1 - gold, "predicted")], [2, 0], "of the implausible story");
        assert_eq!(
            [of(gold, "gold"), of(gold, "predicted")],
            [0, 2],
            "of the story that the model takes for implausible"
        );
        let conflict = [0, 1].map(|i| pair["gold_conflict"][i].as_u64().unwrap() as usize);
        let sentences: Vec<_> = stories[1 - gold].split("<li>").skip(1).collect();
        assert!(sentences[conflict[0]].contains("After this sentence"));
        assert!(sentences[conflict[1]].contains("Before this sentence"));
        assert_eq!(article.matches("<details class=\"grid\">").count(), 2);
    }
}

#[test]
fn states_are_in_the_language_of_the_story() {
    let run = copied("in Italian");
    let stories = shared().0.path("it.json");
    let is_short = |(_, story): &(String, Value)| story["sentences"].as_array().unwrap().len() <= 5; // as the model reads
    let italian: Map<String, Value> = sample("it").into_iter().filter(is_short).take(12).collect();
    fs::write(&stories, json!({"test": italian}).to_string()).unwrap();
    let output = tiered(["eval", text(&run), "--data", text(&stories)]);
    assert!(output.status.success(), "{}", stderr(&output));
    let page = fs::read_to_string(page(&[&run], "italian.html")).unwrap();
    let in_language = |article: &&str| article.contains("lang=\"it\"");
    let (italian, english): (Vec<_>, Vec<_>) = page.split("<article ").skip(1).partition(in_language);
    assert!(!italian.is_empty() && english.len() == 8);
    assert!(italian.iter().all(|article| article.contains("it.json")));
    let missed = |state| format!("</b><span class=\"sr\" lang=\"en\">missed: </span> {state}");
    let states =
        ["bagnato", "guasto", "in pezzi", "inesistente", "sporco", "chiuso", "spento", "senza corrente"].map(missed);
    let is_missed = |article: &&str| states.iter().any(|state| article.contains(state));
    assert!(italian.iter().any(is_missed));
    assert!(!italian.iter().any(|article| article.contains("</span> wet<")));
}

#[test]
fn what_is_no_run_and_what_is_no_file_is_refused() {
    let (tiny, run) = shared();
    let page = tiny.path("refused.html");
    let output = tiered(["report", "html", "no-such-run", "--output", text(&page)]);
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    let output = tiered(["report", "html", text(run), "--output", text(&tiny.path(""))]);
    assert_eq!(output.status.code(), Some(73), "{}", stderr(&output));
    let output = tiered(["report", "html", text(run), "--output", text(&tiny.path("tiny.toml/page.html"))]);
    assert_eq!(output.status.code(), Some(73), "{}", stderr(&output));
    let evaluation = run.join("eval/stories-dev-all");
    let output = tiered(["report", "html", text(&evaluation), "--output", text(&page)]);
    let said = stderr(&output);
    assert!(output.status.code() == Some(65) && said.contains("name the folder of the run"), "{said}");
    assert!(!page.exists());
}

/// The large numbers of the first set.
fn headline(run: &Path, name: &str) -> String {
    let page = fs::read_to_string(page(&[run], name)).unwrap();
    page.split_once("class=\"headline\"").unwrap().1.split("</dl>").next().unwrap().to_owned()
}

/// Verifiability is by argmax there, also if the evaluation was made with other states only. The table has those.
#[test]
fn the_headline_is_by_argmax() {
    let run = copied("calibrated");
    let path = run.join("best/decode.json");
    let mut decode: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    decode["states"] = json!("0.02");
    fs::write(&path, decode.to_string()).unwrap();
    let before = headline(&run, "by-argmax.html");
    for evaluation in fs::read_dir(run.join("eval")).unwrap() {
        let path = evaluation.unwrap().path().join("report.json");
        let mut report: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for row in report["rows"].as_array_mut().unwrap() {
            row["states"] = json!("0.7");
        }
        fs::write(path, report.to_string()).unwrap();
    }
    assert_eq!(headline(&run, "without-argmax.html"), before);
    let page = fs::read_to_string(shared().0.path("without-argmax.html")).unwrap();
    assert!(page.contains("<br><span class=\"fine\">0.7</span>"), "verifiability by the states that were asked for");
}

#[test]
fn evaluations_of_other_weights_are_left_out() {
    let run = copied("of other weights");
    let before = fs::read_to_string(page(&[&run], "before.html")).unwrap();
    assert!(before.contains("hostile.json"));
    let hostile = fs::read_dir(run.join("eval")).unwrap().map(|entry| entry.unwrap().path());
    let hostile = hostile.into_iter().find(|path| text(path).contains("hostile")).unwrap();
    fs::write(hostile.join("weights.json"), "{\"epoch\":77}").unwrap();
    let after = shared().0.path("after.html");
    let output = tiered(["report", "html", text(&run), "--output", text(&after)]);
    assert!(stderr(&output).contains("eval/hostile-test-all has no predictions of the present weights"));
    let after = fs::read_to_string(after).unwrap();
    assert!(!after.contains("hostile.json") && after.contains("stories.json, dev"), "neither pairs nor scores");
}

#[test]
fn analyse_takes_saved_predictions_and_evaluates_what_is_not_saved() {
    let copy = copied("without weights");
    fs::remove_dir_all(copy.join("best")).unwrap();
    fs::create_dir(copy.join("best")).unwrap();
    let stories = shared().0.stories();
    let analyse = |run: &Path, split: &str| {
        tiered([
            "report",
            "text",
            text(run),
            "--data",
            text(&stories),
            "--split",
            split,
            "--states",
            "argmax",
            "--format=json",
        ])
    };
    let saved = analyse(&copy, "dev");
    assert!(saved.status.success(), "{}", stderr(&saved));
    let json: Value = serde_json::from_slice(&saved.stdout).unwrap();
    assert_eq!((&json["data"]["pairs"], &json["decoding"]), (&json!(4), &json!("pair")));
    let unsaved = analyse(&copy, "train");
    assert_eq!(unsaved.status.code(), Some(66), "there are no weights to evaluate: {}", stderr(&unsaved));

    let whole = copied("with weights");
    let evaluated = analyse(&whole, "train");
    assert!(evaluated.status.success(), "{}", stderr(&evaluated));
    assert!(!whole.join("eval/stories-train-all").exists(), "to analyse is to read");
    let json: Value = serde_json::from_slice(&evaluated.stdout).unwrap();
    assert_eq!(json["accuracy"]["total"], 8);

    // Of an epoch whose weights are the best no more.
    fs::write(copy.join("eval/stories-dev-all/weights.json"), "{\"epoch\":77}").unwrap();
    assert_eq!(analyse(&copy, "dev").status.code(), Some(66));
}
