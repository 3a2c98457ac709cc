//! Forms of regular words.

/// The plural of an English noun, or the third person of a verb: "boxes", "tries", "cups".
pub(super) fn with_s(word: &str) -> String {
    match stem_of_y(word) {
        Some(stem) => format!("{stem}ies"),
        _ if word.ends_with(['s', 'x', 'z', 'o']) || word.ends_with("ch") || word.ends_with("sh") => {
            format!("{word}es")
        }
        _ => format!("{word}s"),
    }
}

/// The stem of a word whose "y" becomes "ie": "try", but not "play".
fn stem_of_y(word: &str) -> Option<&str> {
    word.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']))
}

/// Forms of an English verb.
pub(super) struct EnglishVerb {
    /// "washes".
    pub third: String,
    /// "stopped", and "stoped": which one is right depends on the stress.
    pub past: Vec<String>,
    /// "stopping", and "stoping".
    pub gerund: Vec<String>,
}

/// The forms of a verb, if it is regular.
pub(super) fn english_verb(base: &str) -> EnglishVerb {
    let stem = base.strip_suffix('e').unwrap_or(base);
    let mut past = vec![stem_of_y(base).map_or(format!("{stem}ed"), |stem| format!("{stem}ied"))];
    let mut gerund = vec![format!("{stem}ing"), format!("{base}ing")];
    if let Some(last) = base.chars().last().filter(|last| "bdgklmnprt".contains(*last)) {
        past.push(format!("{base}{last}ed"));
        gerund.push(format!("{base}{last}ing"));
    }
    EnglishVerb { third: with_s(base), past, gerund }
}

/// The plural of an Italian noun; for a noun in the plural, something that is no word.
pub(super) fn italian_plural(noun: &str) -> Option<String> {
    const ENDINGS: [(&str, &str); 12] = [
        ("cia", "ce"),
        ("gia", "ge"),
        ("ca", "che"),
        ("ga", "ghe"),
        ("ista", "isti"),
        ("co", "chi"),
        ("go", "ghi"),
        ("io", "i"),
        ("a", "e"),
        ("o", "i"),
        ("e", "i"),
        ("tà", "tà"),
    ];
    let (ending, plural) = ENDINGS.iter().find(|(ending, _)| noun.ends_with(ending))?;
    Some(format!("{}{plural}", &noun[..noun.len() - ending.len()]))
}

/// Forms of a regular Italian verb.
pub(super) struct ItalianVerb {
    /// "lava, lavano, lavava, lavavano, lavò, lavarono".
    pub finite: Vec<String>,
    /// "lavato, lavata, lavati, lavate".
    pub participles: Vec<String>,
    /// "lavando".
    pub gerund: String,
}

/// The forms of a verb in -are, -ere or -ire; `isc` for those like "pulire": "pulisce".
pub(super) fn italian_verb(infinitive: &str, isc: bool) -> Option<ItalianVerb> {
    let (stem, class) =
        ["are", "ere", "ire"].iter().find_map(|end| Some((infinitive.strip_suffix(end)?, &end[..1])))?;
    let hard = stem.ends_with(['c', 'g']) && class == "a";
    let middle = if isc { "isc" } else { "" };
    let endings: &[&str] = match class {
        "a" => &["a", "ano", "ava", "avano", "ò", "arono"],
        "e" => &["e", "ono", "eva", "evano", "é", "ette"],
        _ => &["e", "ono", "iva", "ivano", "ì", "irono"],
    };
    let with_middle = |i: usize| if i < 2 { middle } else { "" };
    let finite = endings.iter().enumerate().map(|(i, end)| format!("{stem}{}{end}", with_middle(i)));
    let future = format!("{stem}{}erà", if hard { "h" } else { "" });
    let vowel = if class == "e" { "u" } else { class };
    Some(ItalianVerb {
        finite: finite.chain([future]).collect(),
        participles: agreeing(&format!("{stem}{vowel}to")),
        gerund: format!("{stem}{}ndo", if class == "a" { "a" } else { "e" }),
    })
}

/// The four forms of an adjective or participle in -o.
pub(super) fn agreeing(word: &str) -> Vec<String> {
    let stem = word.strip_suffix('o').unwrap_or(word);
    ["o", "a", "i", "e"].iter().map(|end| format!("{stem}{end}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_forms() {
        assert_eq!(["cup", "box", "party", "tray"].map(with_s), ["cups", "boxes", "parties", "trays"]);
        let forms = |base| {
            let EnglishVerb { third, past, gerund } = english_verb(base);
            [vec![third], past, gerund].concat()
        };
        assert_eq!(forms("bake"), ["bakes", "baked", "baking", "bakeing"]);
        assert!(["stops", "stopped", "stopping"].iter().all(|form| forms("stop").contains(&(*form).to_owned())));
        assert!(["tries", "tried", "trying"].iter().all(|form| forms("try").contains(&(*form).to_owned())));
        assert!(["plays", "played", "playing"].iter().all(|form| forms("play").contains(&(*form).to_owned())));
    }

    #[test]
    fn italian_forms() {
        let plurals = ["tazza", "bicchiere", "armadio", "arancia", "bistecca", "giacca", "città"].map(italian_plural);
        let expected = ["tazze", "bicchieri", "armadi", "arance", "bistecche", "giacche", "città"];
        assert_eq!(plurals, expected.map(|plural| Some(plural.to_owned())));
        assert_eq!(italian_plural("bar"), None);
        let wash = italian_verb("lavare", false).unwrap();
        assert_eq!(wash.finite, ["lava", "lavano", "lavava", "lavavano", "lavò", "lavarono", "laverà"]);
        assert_eq!((wash.participles[1].as_str(), wash.gerund.as_str()), ("lavata", "lavando"));
        let clean = italian_verb("pulire", true).unwrap();
        assert_eq!((clean.finite[0].as_str(), clean.finite[2].as_str()), ("pulisce", "puliva"));
        assert_eq!(italian_verb("vendere", false).unwrap().participles[0], "venduto");
    }
}
