//! Story files whose origin and licence are known by their names.

/// A data set.
pub struct KnownSet {
    pub name: &'static str,
    licence: &'static str,
}

const TRIP: KnownSet = KnownSet {
    name: "TRIP",
    licence: "TRIP (Storks et al., 2021, English): see its repository, github.com/sled-group/Verifiable-Coherent-NLU",
};
const GITA: KnownSet = KnownSet {
    name: "GITA",
    licence: "GITA (Pensa et al., 2024, Italian): CC BY-NC-SA 4.0: attribution, no commercial use, share alike",
};
const SAMPLE: KnownSet =
    KnownSet { name: "the sample stories of tiered", licence: "the sample stories of tiered: MIT or Apache 2.0" };
const SYNTHETIC: KnownSet =
    KnownSet { name: "made while training", licence: "the synthetic stories of tiered: MIT or Apache 2.0" };

/// The data set of a story file, if its name is known.
pub fn dataset(file: &str) -> Option<&'static KnownSet> {
    match file.rsplit('/').next()? {
        "www.json" => Some(&TRIP),
        "GITA_test.json" => Some(&GITA),
        "en.json" | "en-dev.json" | "it.json" if file.contains("data/sample/") => Some(&SAMPLE),
        name if name.starts_with("synthetic stories (") && name.ends_with(')') => Some(&SYNTHETIC),
        _ => None,
    }
}

/// One line for every known data set among the files, and one for all other files.
pub fn licences<'a>(files: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for file in files {
        let unknown = "Stories of other origin (see the files above): licence unknown";
        let line = dataset(file).map_or(unknown, |dataset| dataset.licence).to_owned();
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}
