//! The real data: every fault of GITA is found, and pairs and counts are what they should be.

use crate::support::real_data;
use std::collections::BTreeMap;
use tiered::data::{Kind, Severity, SplitStats, StoryFile, of_kind, pairs, read_file};

fn read(file: &str) -> Option<StoryFile> {
    Some(read_file(&real_data(file)?).unwrap())
}

/// Codes of the findings about one story, without those that most stories have.
fn codes<'a>(file: &'a StoryFile, story: &str) -> Vec<&'a str> {
    let usual = ["padded-name", "odd-confl-pairs"];
    let codes = file.findings.iter().filter(|f| f.story == story).map(|f| f.code.name());
    codes.filter(|code| !usual.contains(code)).collect()
}

#[test]
fn every_fault_of_gita_is_found() {
    let Some(file) = read("data/gita/GITA_test.json") else { return };
    let inferred = ["repeated-key", "plausible-contradicted", "key-contradicted", "type-contradicted", "inferred-kind"];
    let faults: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("98#2", &inferred[..]),
        ("23", &["plausible-contradicted"]),
        ("54-O0", &["plausible-contradicted"]),
        ("18", &["type-contradicted"]),
        ("69", &["length-differs", "empty-sentence", "extra-state-rows"]),
        ("74", &["length-differs", "empty-sentence", "extra-state-rows"]),
        ("1-O0", &["extra-state-rows"]),
        ("2-O0", &["nested-confl-sents"]),
        ("2-C0", &["nested-confl-sents"]),
        ("105", &["nested-confl-sents"]),
        ("32-O0", &["same-sentences"]),
        ("39-C0", &["example-id-differs"]),
        ("41-C0", &["example-id-differs"]),
        ("58-O0", &["example-id-differs"]),
        ("60-C0", &["example-id-differs"]),
        ("81-C0", &["example-id-differs"]),
        ("86-O0", &["example-id-differs"]),
        ("62", &["merged-names"]),
        ("62-C0", &["merged-names"]),
        ("62-O0", &["merged-names"]),
    ]);
    for (story, expected) in &faults {
        assert_eq!(codes(&file, story), *expected, "story {story}");
    }
    let warned = file.findings.iter().filter(|f| f.severity == Severity::Warning);
    assert_eq!(warned.count(), faults.values().map(|codes| codes.len()).sum::<usize>(), "and no other is warned of");
    assert_eq!(file.count(Severity::Error), 0);
}

#[test]
fn gita_has_the_published_number_of_pairs() {
    let Some(file) = read("data/gita/GITA_test.json") else { return };
    let pairs = pairs(file.split("test").unwrap(), 0);
    assert_eq!(of_kind(pairs.clone(), Kind::Cloze).len(), 117);
    assert_eq!(of_kind(pairs.clone(), Kind::Order).len(), 122);
    let second = pairs.iter().find(|pair| pair.id == "98#2").unwrap();
    assert_eq!((second.kind, second.plausible_story().id.as_str()), (Kind::Order, "98"));
}

#[test]
fn trip_is_clean_and_paired() {
    let Some(file) = read("data/trip/www.json") else { return };
    assert_eq!(file.count(Severity::Error), 0);
    for (split, count) in [("train", 322), ("dev", 173)] {
        assert_eq!(pairs(file.split(split).unwrap(), 0).len(), count);
    }
    let unannotated = file.findings.iter().filter(|f| f.code.name() == "unannotated-sentence");
    let mut stories: Vec<_> = unannotated.map(|f| f.story.as_str()).collect();
    stories.dedup();
    assert_eq!(stories, ["621-C0", "732", "732-C0", "732-C1"]);
}

#[test]
fn statistics_are_near_the_published_ones() {
    let (Some(gita), Some(trip)) = (read("data/gita/GITA_test.json"), read("data/trip/www.json")) else { return };
    let gita = SplitStats::of("test", gita.split("test").unwrap());
    assert_eq!([gita.plausible.stories, gita.cloze.stories, gita.order.stories], [117, 117, 122]);
    assert_eq!(gita.plausible.reported_labels + gita.order.reported_labels, 2800);
    assert_eq!(gita.plausible.reported_labels + gita.cloze.reported_labels, 2772);
    let trip = SplitStats::of("train", trip.split("train").unwrap()).all;
    assert_eq!((trip.stories, trip.reported_labels), (474, 8782));
    assert_eq!(format!("{:.1}", trip.sentences_per_story.unwrap()), "5.0");
    assert_eq!(format!("{:.1}", trip.words_per_sentence.unwrap()), "8.0");
}
