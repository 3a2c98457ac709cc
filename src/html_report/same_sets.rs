//! Which evaluations are of one set, and a name for every set that no other one has: files in different folders may
//! share their name.

use super::listing::has_same_pairs;
use super::read::{EvaluatedSet, ReportedRun, named, set_name};
use crate::report::DataDescription;
use std::collections::BTreeSet;

/// Gives the evaluations of one set one name, and those of different sets different ones.
pub fn name_sets(runs: &mut [ReportedRun]) {
    let (groups, names) = {
        let groups = groups(runs);
        let first = |group: &Vec<[usize; 2]>| &runs[group[0][0]].sets[group[0][1]].report.data;
        let names = names(&groups.iter().map(first).collect::<Vec<_>>());
        (groups, names)
    };
    for (group, name) in groups.iter().zip(names) {
        for &[run, set] in group {
            runs[run].sets[set].name.clone_from(&name);
        }
    }
}

/// The evaluations of each set, by the numbers of run and set, in the order in which they occur first. A set has at most
/// one evaluation of each run.
fn groups(runs: &[ReportedRun]) -> Vec<Vec<[usize; 2]>> {
    let mut groups: Vec<Vec<[usize; 2]>> = Vec::new();
    for (r, run) in runs.iter().enumerate() {
        for (s, set) in run.sets.iter().enumerate() {
            let is_it = |group: &&mut Vec<[usize; 2]>| {
                let [run, first] = group[0];
                group.iter().all(|[run, _]| *run != r) && is_same(&runs[run].sets[first], set)
            };
            match groups.iter_mut().find(is_it) {
                Some(group) => group.push([r, s]),
                None => groups.push(vec![[r, s]]),
            }
        }
    }
    groups
}

/// Whether both are of the same pairs of one file, or of files with the same pairs.
fn is_same(one: &EvaluatedSet, other: &EvaluatedSet) -> bool {
    let [first, second] = [&one.report.data, &other.report.data];
    let chosen = |data: &DataDescription| (data.split.clone(), data.kind.clone(), data.pairs, data.remark());
    if chosen(first) != chosen(second) {
        return false;
    }
    let have_pairs = ![one, other].iter().any(|set| set.predictions.is_empty());
    match (&first.sha256, &second.sha256) {
        (Some(first), Some(second)) if first == second => true,
        _ if have_pairs => has_same_pairs(&one.predictions, &other.predictions),
        (Some(_), Some(_)) => false,
        // Of what an older version wrote only the name is known.
        _ => set_name(first) == set_name(second),
    }
}

/// A name for each set. Where several would have the same one, it has as much of the file's path as tells them apart;
/// where that is the same too, the number of pairs, or the beginning of the file's SHA-256.
fn names(sets: &[&DataDescription]) -> Vec<String> {
    let short: Vec<String> = sets.iter().map(|set| set_name(set)).collect();
    let name = |(number, set): (usize, &&DataDescription)| {
        let alike: Vec<&DataDescription> =
            sets.iter().zip(&short).filter(|(_, name)| **name == short[number]).map(|(set, _)| *set).collect();
        let forms = forms(&alike);
        let distinguishes =
            |form: &&Form| alike.iter().map(|set| form(set)).collect::<BTreeSet<_>>().len() == alike.len();
        match forms.iter().find(distinguishes) {
            Some(form) => form(set),
            None => format!("{} ({})", short[number], number + 1),
        }
    };
    sets.iter().enumerate().map(name).collect()
}

/// A way to name a set.
type Form = Box<dyn Fn(&DataDescription) -> String>;

/// The ways to name these sets, the shortest first.
fn forms(sets: &[&DataDescription]) -> Vec<Form> {
    let deepest = sets.iter().map(|set| parts(set).count()).max().unwrap_or(1);
    let as_ever: Form = Box::new(set_name);
    let by_path = (2..=deepest).map(|count| -> Form { Box::new(move |set| named(set, &end(set, count))) });
    let by_pairs: Form = Box::new(|set| format!("{}, {} pairs", set_name(set), set.pairs));
    let by_sum: Form = Box::new(|set| {
        let sum = set.sha256.as_deref().map_or("unknown", |sum| sum.get(..8).unwrap_or(sum));
        format!("{}, SHA-256 {sum}", set_name(set))
    });
    std::iter::once(as_ever).chain(by_path).chain([by_pairs, by_sum]).collect()
}

/// The parts of the path of its file.
fn parts(set: &DataDescription) -> impl DoubleEndedIterator<Item = &str> {
    set.file.as_deref().unwrap_or_default().split('/').filter(|part| !part.is_empty())
}

/// The last parts of the path of its file.
fn end(set: &DataDescription, count: usize) -> String {
    let last: Vec<&str> = parts(set).rev().take(count).collect();
    last.into_iter().rev().collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(file: &str, sha256: &str, pairs: u64) -> DataDescription {
        DataDescription {
            file: Some(file.to_owned()),
            sha256: Some(sha256.to_owned()),
            split: Some("test".to_owned()),
            kind: "all".to_owned(),
            pairs,
            ..DataDescription::default()
        }
    }

    fn names_of(sets: &[DataDescription]) -> Vec<String> {
        names(&sets.iter().collect::<Vec<_>>())
    }

    #[test]
    fn different_sets_with_one_file_name_have_as_much_of_their_paths_as_tells_them_apart() {
        let sets = [
            set("/data/a/new/it.json", "1", 8),
            set("/data/b/new/it.json", "2", 8),
            set("it.json", "3", 8),
            set("/data/a/new/en.json", "4", 8),
        ];
        assert_eq!(names_of(&sets), ["a/new/it.json, test", "b/new/it.json, test", "it.json, test", "en.json, test"]);
        assert_eq!(names_of(&sets[1..]), ["new/it.json, test", "it.json, test", "en.json, test"]);
    }

    #[test]
    fn where_the_path_is_the_same_the_content_tells() {
        let changed = [set("it.json", "0123456789", 8), set("it.json", "9876543210", 8)];
        assert_eq!(names_of(&changed), ["it.json, test, SHA-256 01234567", "it.json, test, SHA-256 98765432"]);
        let limited = [set("it.json", "1", 8), set("it.json", "1", 4)];
        assert_eq!(names_of(&limited), ["it.json, test, 8 pairs", "it.json, test, 4 pairs"]);
        let alike = [set("it.json", "1", 8), set("it.json", "1", 8)];
        assert_eq!(names_of(&alike), ["it.json, test (1)", "it.json, test (2)"]);
    }
}
