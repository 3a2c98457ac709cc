use super::*;

/// Twelve pairs in six groups, of which `right` are accurate, half as many consistent, none verifiable.
fn outcome(right: usize) -> Reached {
    (0..12).map(|pair| [pair < right, pair < right / 2, false]).collect()
}

fn system(name: &str, right: &[(u64, usize)], missing: &[u64]) -> System {
    System {
        name: name.into(),
        by_seed: right.iter().map(|&(seed, right)| (seed, outcome(right))).collect(),
        missing: missing.to_vec(),
        published: None,
    }
}

fn row(system: &str) -> PublishedRow {
    PublishedRow::from_percent(system, [75.2, 6.8, 0.9])
}

fn comparison(compared: &Compared) -> Comparison {
    let first = System { published: Some(row("RoBERTa")), ..system("all, losses", &[(0, 9), (1, 6)], &[]) };
    let systems = vec![first, system("50 % of a_b", &[(1, 12)], &[0, 2]), system("to come", &[], &[0])];
    let pairs = (0..12).map(|pair| (format!("{pair}-C0"), pair / 2));
    let (set, decoding) = ("dev".to_owned(), "pair".to_owned());
    let data = SectionData { set, decoding, pairs: Some(PairSet::new(pairs)), systems, published: vec![row("random")] };
    Comparison::new("a sweep", vec![data], compared)
}

#[test]
fn text_shows_spread_intervals_and_what_is_missing() {
    let text = comparison(&Compared::WithFirst).to_text();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!(lines[0], "dev: 12 pairs in 6 groups, decoded by pair");
    let words = |line: usize| lines[line].split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(3).starts_with("1 all, losses 2 62.5 ± 17.7 ["), "{text}");
    assert!(words(3).ends_with("0.0 ± 0.0 [0.0, 39.0] 75.2 / 6.8 / 0.9 RoBERTa"), "{text}");
    assert!(words(4).starts_with("2 50 % of a_b 1 of 3 100.0 [61.0, 100.0] 50.0 ["), "{text}");
    assert_eq!(words(5), "3 to come 0 of 1 missing missing missing");
    assert_eq!(words(6), "random 75.2 6.8 0.9");
    assert!(words(9).starts_with("2 - 1 accuracy +50.0 [–]"), "three groups differ: {text}");
    assert_eq!(words(12), "3 - 1 missing");
    assert!(lines.last().unwrap().contains("Holm's correction over 3 tests"), "{text}");
}

#[test]
fn single_runs_have_no_seeds() {
    let data = SectionData {
        set: "dev".into(),
        decoding: "pair".into(),
        pairs: Some(PairSet::new((0..12).map(|pair| (format!("{pair}-C0"), pair / 2)))),
        systems: vec![system("a", &[(0, 9)], &[]), system("b", &[(0, 6)], &[])],
        published: vec![row("random")],
    };
    let runs = Comparison::new("Runs", vec![data], &Compared::WithFirst).of_single_runs();
    for text in [runs.to_text(), runs.to_markdown(), runs.to_latex()] {
        assert!(!text.contains("seeds") && text.contains("95 ") && text.contains("12 pairs in 6 groups"), "{text}");
    }
}

/// Six groups differ in accuracy, three in consistency and none in verifiability.
#[test]
fn an_interval_stands_where_enough_groups_differ() {
    let data = SectionData {
        set: "dev".into(),
        decoding: "pair".into(),
        pairs: Some(PairSet::new((0..12).map(|pair| (format!("{pair}-C0"), pair / 2)))),
        systems: vec![system("a", &[(0, 0)], &[]), system("b", &[(0, 11)], &[])],
        published: Vec::new(),
    };
    let runs = Comparison::new("Runs", vec![data], &Compared::WithFirst).of_single_runs();
    // The last group, with one pair that differs, comes never, or three times.
    for text in [runs.to_text(), runs.to_markdown(), runs.to_latex()] {
        for part in ["+91.7 [+75.0, +100.0]", "+41.7 [–]", "+0.0 [–]", "points; [–]: fewer than 6 groups differ"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    let csv = runs.to_csv();
    assert!(csv.contains("difference,dev,pair,b,a,accuracy,0.9166666666666666,,0.75,1,"), "{csv}");
    assert!(csv.contains("difference,dev,pair,b,a,verifiability,0,,,,1,1,1,1,"), "{csv}");
}

/// One set with two decodings, under which the accuracy is the same, and another set.
#[test]
fn holms_correction_is_over_all_sections_and_each_test_once() {
    let section = |set: &str, decoding: &str, verifiable: usize| {
        let reached = |right: usize| (0..12).map(|pair| [pair < right, pair < right / 2, pair < verifiable]).collect();
        let system = |name: &str, right| System { by_seed: [(0, reached(right))].into(), ..system(name, &[], &[]) };
        SectionData {
            set: set.into(),
            decoding: decoding.into(),
            pairs: Some(PairSet::new((0..12).map(|pair| (format!("{pair}-C0"), pair / 2)))),
            systems: vec![system("a", 0), system("b", 6)],
            published: Vec::new(),
        }
    };
    let sections = vec![section("dev", "threshold", 0), section("dev", "pair", 1), section("test", "pair", 1)];
    let comparison = Comparison::new("Runs", sections, &Compared::WithFirst);
    assert_eq!(
        comparison.tests, 7,
        "of dev one of accuracy, one of consistency and two of verifiability, of test three"
    );
    let p = 2. * 0.5f64.powi(6); // 6 pairs of 12 more
    for section in &comparison.sections {
        let accuracy = section.differences[0].tiers.unwrap().accuracy.mcnemar;
        assert!((accuracy.p - p).abs() < 1e-12 && (accuracy.holm - 7. * p).abs() < 1e-12, "{accuracy:?}");
    }
}

#[test]
fn rows_are_compared_as_asked_for() {
    let differences = comparison(&Compared::Rows(vec![[0, 1]])).sections.remove(0).differences;
    assert_eq!(differences.len(), 1);
    let difference = differences[0].tiers.unwrap().accuracy.difference;
    assert!((difference + 0.5).abs() < 1e-12, "row 1 minus row 2 on seed 1, the only one of both: {difference}");
    let both_ways = comparison(&Compared::Rows(vec![[0, 1], [1, 0]]));
    assert_eq!(both_ways.sections[0].differences.len(), 2);
    assert_eq!(both_ways.tests, 3, "a test is the same in either order");
}

#[test]
fn every_format_has_every_number() {
    let comparison = comparison(&Compared::WithFirst);
    assert_eq!(serde_json::from_str::<Comparison>(&comparison.to_json()).unwrap(), comparison);
    let markdown = comparison.to_markdown();
    assert!(markdown.starts_with("## dev: 12 pairs in 6 groups, decoded by pair\n\n| row | seeds | accuracy |"));
    assert_eq!(markdown.matches("\n|---|").count(), 2);
    let latex = comparison.to_latex();
    assert!(latex.contains("2 50 \\% of a\\_b & 1 of 3 & 100.0 [61.0, 100.0]"), "{latex}");
    assert_eq!(["\\toprule", "\\bottomrule", "{lrrrrr}"].map(|part| latex.matches(part).count()), [2, 2, 1]);
    let csv = comparison.to_csv();
    let fields: Vec<usize> = csv.lines().map(|line| line.replace("\"all, losses\"", "x").split(',').count()).collect();
    assert!(fields.iter().all(|&count| count == 17), "{csv}");
    assert_eq!(fields.len(), 1 + 3 * (3 + 2 + 2));
    assert!(csv.contains("score,dev,pair,to come,,accuracy,,,,,,,,,0,1,\n"), "{csv}");
    assert!(csv.contains("published,dev,pair,random,,verifiability,0.009,,,,,,,,,,\n"), "{csv}");
    assert!(csv.contains("published,dev,pair,RoBERTa,,accuracy,0.752,,,,,,,,,,\"all, losses\"\n"), "{csv}");
}

#[test]
fn with_very_many_groups_fewer_draws_are_made_and_told() {
    let section = |groups: i64| {
        let outcome: Reached = (0..groups).map(|pair| [pair % 2 == 0, false, false]).collect();
        let system =
            System { name: "a".into(), by_seed: BTreeMap::from([(0, outcome)]), missing: Vec::new(), published: None };
        SectionData {
            set: "dev".into(),
            decoding: "pair".into(),
            pairs: Some(PairSet::new((0..groups).map(|pair| (format!("{pair}-C0"), pair)))),
            systems: vec![system],
            published: Vec::new(),
        }
    };
    let of = |groups: &[i64]| {
        let sections = groups.iter().map(|&groups| section(groups)).collect();
        Comparison::new("Runs", sections, &Compared::WithFirst)
    };
    let (many, both) = (of(&[20_000]), of(&[20_000, 8]));
    assert_eq!((many.resamples, both.resamples), (1000, 1000));
    assert!(many.to_text().contains(", 1000 draws of story groups"), "{}", many.to_text());
    assert!(both.to_text().contains(", 1000 to 10000 draws of story groups"), "{}", both.to_text());
}
