//! The story files whose origin and licence are known, by their names.

/// A data set.
pub struct Dataset {
    pub name: &'static str,
    licence: &'static str,
}

const TRIP: Dataset = Dataset {
    name: "TRIP",
    licence: "TRIP (Storks et al., 2021, English): as its repository, github.com/sled-group/Verifiable-Coherent-NLU, says",
};
const GITA: Dataset = Dataset {
    name: "GITA",
    licence: "GITA (Pensa et al., 2024, Italian): CC BY-NC-SA 4.0: attribution, no commercial use, share alike",
};
const SAMPLE: Dataset =
    Dataset { name: "the sample stories of tiered", licence: "the sample stories of tiered: MIT or Apache 2.0" };

/// What a story file is, as far as its name tells.
pub fn dataset(file: &str) -> Option<&'static Dataset> {
    match file.rsplit('/').next()? {
        "www.json" => Some(&TRIP),
        "GITA_test.json" => Some(&GITA),
        "en.json" | "en-dev.json" | "it.json" if file.contains("data/sample/") => Some(&SAMPLE),
        _ => None,
    }
}

/// A line for every data set among the files, and one if there are others.
pub fn licences<'a>(files: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for file in files {
        let unknown = "Stories of another origin (see the files above): their licence is not known here";
        let line = dataset(file).map_or(unknown, |dataset| dataset.licence).to_owned();
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}
