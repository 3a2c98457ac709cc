//! A generator of malformed story files that knows their structure: it takes a good file apart and damages it in one
//! way and sometimes in more.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use serde_json::{Value, json};

/// JSON as it is written: repeated keys, and values that are no JSON.
#[derive(Clone)]
pub enum Text {
    Raw(String),
    List(Vec<Text>),
    Object(Vec<(String, Text)>),
}

impl From<Value> for Text {
    fn from(value: Value) -> Self {
        match value {
            Value::Array(items) => Text::List(items.into_iter().map(Text::from).collect()),
            Value::Object(fields) => Text::Object(fields.into_iter().map(|(key, v)| (key, v.into())).collect()),
            other => Text::Raw(other.to_string()),
        }
    }
}

impl Text {
    fn string(text: &str) -> Self {
        Text::Raw(json!(text).to_string())
    }

    pub fn write(&self, into: &mut String) {
        match self {
            Text::Raw(text) => into.push_str(text),
            Text::List(items) => {
                into.push('[');
                for (i, item) in items.iter().enumerate() {
                    into.push_str(if i > 0 { "," } else { "" });
                    item.write(into);
                }
                into.push(']');
            }
            Text::Object(fields) => {
                into.push('{');
                for (i, (key, value)) in fields.iter().enumerate() {
                    into.push_str(if i > 0 { ",\n" } else { "" });
                    into.push_str(&json!(key).to_string());
                    into.push(':');
                    value.write(into);
                }
                into.push('}');
            }
        }
    }

    /// A value somewhere below, `depth` levels at most.
    fn somewhere(&mut self, rng: &mut ChaCha12Rng, depth: usize) -> &mut Text {
        let children = match self {
            Text::Raw(_) => 0,
            Text::List(items) => items.len(),
            Text::Object(fields) => fields.len(),
        };
        if children == 0 || depth == 0 || rng.random_bool(0.1) {
            return self;
        }
        let chosen = rng.random_range(0..children);
        match self {
            Text::List(items) => items[chosen].somewhere(rng, depth - 1),
            Text::Object(fields) => fields[chosen].1.somewhere(rng, depth - 1),
            Text::Raw(_) => unreachable!("it has children"),
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Text::Raw(text) if text.starts_with('"'))
    }
}

/// One to three groups of a plausible, a cloze and an order story in two splits.
fn good(rng: &mut ChaCha12Rng) -> Text {
    let rows = |opens: [u8; 3]| {
        opens.map(|open| json!({"h_location": [["Zoé", 0]], "open": [["chest", open]], "wet": [["wool hat", 5]]}))
    };
    let mut splits = serde_json::Map::new();
    for split in ["train", "test"] {
        let mut stories = serde_json::Map::new();
        for group in 0..rng.random_range(1..4) {
            let forms = [("", Value::Null, -1), ("-C0", json!("cloze"), 1), ("-O0", json!("order"), 2)];
            for (suffix, kind, breakpoint) in forms {
                let key = format!("{group}{suffix}");
                let story = json!({
                    "story_id": group, "worker_id": "W", "type": kind, "idx": 4, "aug": false, "actor": "Zoé",
                    "location": "attic", "objects": "chest, hat", "example_id": key, "length": 3,
                    "sentences": ["Zoé opened the chest.", "Zoé looked in.", "Zoé shut the chest."],
                    "plausible": breakpoint < 0, "breakpoint": breakpoint,
                    "confl_sents": if breakpoint < 0 { json!([]) } else { json!([0]) },
                    "confl_pairs": if breakpoint < 0 { json!([]) } else { json!([[0, breakpoint]]) },
                    "states": rows([4, 2, 3]),
                });
                stories.insert(key, story);
            }
        }
        splits.insert(split.into(), stories.into());
    }
    Value::Object(splits).into()
}

/// The ways in which a file is damaged.
pub const WAYS: usize = 20;

/// The bytes of a story file damaged in that way, and now and then in others too.
pub fn story_file(way: usize, rng: &mut ChaCha12Rng) -> Vec<u8> {
    let mut file = good(rng);
    damage(&mut file, way, rng);
    for _ in 0..rng.random_range(0..3) {
        let more = rng.random_range(0..WAYS);
        damage(&mut file, more, rng);
    }
    let mut text = String::new();
    file.write(&mut text);
    damage_bytes(text, way, rng)
}

pub fn damage(file: &mut Text, way: usize, rng: &mut ChaCha12Rng) {
    let place = file.somewhere(rng, 8);
    match way {
        0 => *place = wrong_type(rng),
        1 => remove(place, rng),
        2 => repeat_key(place, rng),
        3 => *place = Text::Raw(pick(rng, &NUMBERS).into()),
        4 => unpair(file, rng),
        5 => *place = Text::Raw(pick(rng, &STRINGS).into()),
        6 => *place = Text::string(&"long ".repeat(10usize.pow(rng.random_range(1..6)))),
        7 => *place = nested(10usize.pow(rng.random_range(1..5)), rng),
        8 => multiply(place, rng),
        9 => rename_key(place, rng),
        10 => swap(file, rng),
        11 => *place = Text::Raw(pick(rng, &NO_JSON).into()),
        12 => append(place, rng),
        // The others are of the file's bytes.
        _ => {}
    }
}

pub fn damage_bytes(mut text: String, way: usize, rng: &mut ChaCha12Rng) -> Vec<u8> {
    match way {
        13 => cut(text.into_bytes(), rng),
        14 => half_a_letter(&text, rng),
        15 => noise(text.into_bytes(), rng),
        16 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        17 => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        18 => {
            text.push_str(pick(rng, &["}", ",", "{}", "null", "\0", "// end", " \u{feff}"]));
            text.into_bytes()
        }
        19 => text.replace(',', ",,").replacen("\"", "'", rng.random_range(0..5)).into_bytes(),
        _ => text.into_bytes(),
    }
}

const NUMBERS: [&str; 18] = [
    "-1",
    "3",
    "127",
    "128",
    "1e999",
    "-1e999",
    "1e-999",
    "99999999999999999999999",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "-0",
    "0.1",
    "1.0",
    "00",
    "0x10",
    "NaN",
    "-Infinity",
];

const STRINGS: [&str; 18] = [
    r#""""#,
    r#"" ""#,
    r#""\u0000""#,
    r#""\ud800""#,
    r#""\udc00\ud800""#,
    r#""\ud83d\ude00""#,
    r#""\u001b[2J""#,
    r#""\u202etxet""#,
    r#""\u200b""#,
    r#""\ufeff""#,
    r#""e\u0301\u0301\u0301\u0301\u0301\u0301\u0301""#,
    r#""\x41""#,
    r#""\"#,
    r#""../../../etc/passwd""#,
    "\"tab\tand\nline\"",
    "\"\u{2028}\u{2029}\u{85}\"",
    "\"\u{3000}сһеѕт\u{a0}\"",
    r#""chest\u00a0""#,
];

const NO_JSON: [&str; 12] =
    ["", "undefined", "None", "True", "'text'", "{", "]", "[1,]", "{\"a\":}", "{1: 2}", "/* c */ 1", "\"open"];

fn pick<'a>(rng: &mut ChaCha12Rng, of: &[&'a str]) -> &'a str {
    of[rng.random_range(0..of.len())]
}

fn wrong_type(rng: &mut ChaCha12Rng) -> Text {
    let values =
        json!([null, true, 0, 1.5, "", "cloze", [], [[]], {}, [["chest", 1]], {"open": []}, [null], "0", [0, 1]]);
    values[rng.random_range(0..14)].clone().into()
}

fn remove(place: &mut Text, rng: &mut ChaCha12Rng) {
    match place {
        Text::Object(fields) if !fields.is_empty() => drop(fields.remove(rng.random_range(0..fields.len()))),
        Text::List(items) if !items.is_empty() => drop(items.remove(rng.random_range(0..items.len()))),
        other => *other = Text::Raw("null".into()),
    }
}

fn repeat_key(place: &mut Text, rng: &mut ChaCha12Rng) {
    if let Text::Object(fields) = place
        && !fields.is_empty()
    {
        let (key, value) = fields[rng.random_range(0..fields.len())].clone();
        let value = if rng.random_bool(0.5) { value } else { wrong_type(rng) };
        fields.extend(std::iter::repeat_n((key, value), rng.random_range(1..40)));
    }
}

/// Ids that belong to no group, or all to one.
fn unpair(file: &mut Text, rng: &mut ChaCha12Rng) {
    let Text::Object(splits) = file else { return };
    for (_, stories) in splits {
        let Text::Object(stories) = stories else { continue };
        for (key, story) in stories {
            match rng.random_range(0..5) {
                0 => *key = format!("{}{key}", pick(rng, &["9", "-", "x", "-C", "é", "9999999999999999999"])),
                1 => *key = key.replace("-C", pick(rng, &["-O", "-", "C", "--C"])),
                2 => {
                    if let Text::Object(fields) = story {
                        fields.retain(|(name, _)| name != "story_id");
                        fields.push(("story_id".into(), Text::Raw(pick(rng, &NUMBERS[..12]).into())));
                    }
                }
                _ => {}
            }
        }
    }
}

fn nested(depth: usize, rng: &mut ChaCha12Rng) -> Text {
    let (open, close) = if rng.random_bool(0.5) { ("[", "]") } else { ("{\"a\":", "}") };
    let closed = if rng.random_bool(0.8) { depth } else { 0 };
    Text::Raw(format!("{}0{}", open.repeat(depth), close.repeat(closed)))
}

/// Up to ten thousand copies of what is there, under new names.
fn multiply(place: &mut Text, rng: &mut ChaCha12Rng) {
    let copies = 10usize.pow(rng.random_range(1..5));
    let fits = |text: &Text| {
        let mut written = String::new();
        text.write(&mut written);
        copies * written.len() < 1 << 22
    };
    match place {
        Text::Object(fields) if !fields.is_empty() && fits(&fields[0].1) => {
            let (key, value) = fields[0].clone();
            fields.extend((0..copies).map(|i| (format!("{key}{i}"), value.clone())));
        }
        Text::List(items) if !items.is_empty() && fits(&items[0]) => {
            let item = items[0].clone();
            items.extend(std::iter::repeat_n(item, copies));
        }
        text if text.is_text() => *text = Text::List((0..copies).map(|i| Text::string(&format!("chest{i}"))).collect()),
        _ => {}
    }
}

fn rename_key(place: &mut Text, rng: &mut ChaCha12Rng) {
    let Text::Object(fields) = place else { return };
    if let Some((key, _)) = fields.first_mut() {
        *key = match rng.random_range(0..5) {
            0 => String::new(),
            1 => "k".repeat(10usize.pow(rng.random_range(1..6))),
            2 => "../../x".into(),
            3 => format!("{key}\u{1b}[31m\u{202e}"),
            _ => key.to_uppercase(),
        };
    }
}

/// Puts a value from one place into another.
fn swap(file: &mut Text, rng: &mut ChaCha12Rng) {
    let value = file.somewhere(rng, 8).clone();
    let depth = rng.random_range(1..8);
    *file.somewhere(rng, depth) = value;
}

fn append(place: &mut Text, rng: &mut ChaCha12Rng) {
    match place {
        Text::List(items) => items.push(wrong_type(rng)),
        Text::Object(fields) => {
            fields.push((pick(rng, &["", "states", "98#2", "open", "\u{0}"]).into(), wrong_type(rng)))
        }
        Text::Raw(text) => text.push_str(pick(rng, &["0", "e", "\"", " ", "x"])),
    }
}

fn cut(mut bytes: Vec<u8>, rng: &mut ChaCha12Rng) -> Vec<u8> {
    bytes.truncate(rng.random_range(0..=bytes.len()));
    bytes
}

/// Takes the second byte of a letter of two away.
fn half_a_letter(text: &str, rng: &mut ChaCha12Rng) -> Vec<u8> {
    let places: Vec<_> = text.match_indices('é').map(|(at, _)| at).collect();
    let mut bytes = text.as_bytes().to_vec();
    if !places.is_empty() {
        bytes.remove(places[rng.random_range(0..places.len())] + 1);
    }
    bytes
}

fn noise(mut bytes: Vec<u8>, rng: &mut ChaCha12Rng) -> Vec<u8> {
    for _ in 0..rng.random_range(1..20) {
        let at = rng.random_range(0..=bytes.len());
        match rng.random_range(0..3) {
            _ if at == bytes.len() => bytes.push(rng.random()),
            0 => bytes[at] = rng.random(),
            1 => bytes[at] = b"{}[],:\"0-9.eltn \\"[rng.random_range(0..17)],
            _ => bytes.insert(at, rng.random()),
        }
    }
    bytes
}

/// Stories as a person types them, as text or JSON, damaged likewise.
pub fn plain_stories(rng: &mut ChaCha12Rng) -> Vec<u8> {
    let lines =
        "entities: Zoé, chest\nZoé opened the chest.\nZoé shut the chest.\n\nEntities: hat\nZoé wore the hat.\n";
    let json = json!({"stories": [
        {"sentences": ["Zoé opened the chest.", "Zoé shut it."], "entities": ["Zoé", "chest"]},
        {"sentences": ["Zoé wore the hat."], "entities": ["hat"]}]});
    if rng.random_bool(0.5) {
        let mut file = Text::from(json);
        let way = rng.random_range(0..WAYS);
        damage(&mut file, way, rng);
        let mut text = String::new();
        file.write(&mut text);
        return damage_bytes(text, way, rng);
    }
    let text = match rng.random_range(0..8) {
        0 => lines.replace("entities:", "entities"),
        1 => lines.replace("\n\n", "\n"),
        2 => lines.repeat(10usize.pow(rng.random_range(0..4))),
        3 => "\n \n\t\n".repeat(rng.random_range(0..500)),
        4 => format!("entities: {}\nA.\n", (0..1000).map(|i| format!("e{i},")).collect::<String>()),
        5 => format!("entities: {}\nA.\n", "x".repeat(10usize.pow(rng.random_range(1..6)))),
        6 => format!("{}\n{}", "entities: é\n".repeat(100), "A.\n".repeat(10usize.pow(rng.random_range(0..4)))),
        _ => lines.replace('\n', pick(rng, &["\r", "\u{2028}", "\0", "\n\n", "\n{", " "])),
    };
    match rng.random_range(0..4) {
        0 => cut(text.into_bytes(), rng),
        1 => half_a_letter(&text, rng),
        2 => noise(text.into_bytes(), rng),
        _ => text.into_bytes(),
    }
}
