//! Reads stories without labels, as a person types them: sentences and entities.

use super::markup::{LeftOut, is_comment, is_rule, take_off_markers, unmarked};
use super::names::BETWEEN_NAMES;
use super::plain_json::from_json;
use super::sentences::Sentences;
use super::story::Story;
use super::typed_story::TypedStory;
use crate::error::{Error, Result};
use crate::language::composed;
use crate::untrusted::MAX_STORY_MEMORY;
use std::collections::HashSet;

/// The word before the colon in a line that names the entities of a story.
const ENTITIES: &str = "entities";

/// Stories as a person typed them.
#[derive(Debug)]
pub struct Typed {
    /// Without labels, named "1", "2" and so on.
    pub stories: Vec<Story>,
    /// For each story, whether its entities were found in its sentences, because nobody named them.
    pub found: Vec<bool>,
    /// Comments, lines without letters and list markers, which were not read as sentences.
    pub left_out: LeftOut,
}

/// Reads stories from text or JSON. `source` names the input in errors. `entities`, if any, are those of every story,
/// whatever the stories name. Where nobody names entities, `find` finds them in the story's sentences.
///
/// Text has one sentence on each line, and a blank line between stories. A story may begin with a line `entities: a,
/// b`; the entities of the first story are also those of later stories that name none. Lines end in LF, CRLF or CR.
/// Lines that begin with # are ignored. A line without letters counts as blank. Bullets and numbers are removed if all
/// lines of a story have one, and where a paragraph is split, numbers before its sentences.
///
/// JSON is `{"sentences": [...], "entities": [...]}`, or `{"stories": [...]}` with a list of such objects. The stories
/// are named "1", "2" and so on.
///
/// # Errors
/// `Data`, with the story and the remedy, if there are no stories, sentences or entities, or if the JSON is malformed.
pub fn read_plain(
    text: &str,
    source: &str,
    entities: &[String],
    sentences: Sentences,
    find: &dyn Fn(&[String]) -> Vec<String>,
) -> Result<Typed> {
    let text = text.trim_start_matches('\u{feff}');
    let is_json = text.trim_start().starts_with(['{', '[']);
    let (mut drafts, mut left_out) =
        if is_json { (from_json(text, source)?, LeftOut::default()) } else { from_lines(text) };
    if sentences == Sentences::Split {
        left_out.markers += drafts.iter_mut().map(TypedStory::split).sum::<usize>();
    }
    if drafts.is_empty() {
        return Err(Error::data(match text.lines().count() {
            _ if is_json => format!("{source}: contains no sentences; put stories into \"stories\""),
            0 | 1 => format!("{source}: no sentence in line 1; write one sentence on each line"),
            lines => format!("{source}: no sentence in lines 1 to {lines}; write one sentence on each line"),
        }));
    }
    for draft in &mut drafts {
        draft.entities = distinct(draft.entities.iter().map(String::as_str));
    }
    // Entities that stand above the first story apply to every story that names none: a person types a list once.
    let first = drafts.first().map(|draft| draft.entities.clone()).unwrap_or_default();
    let mut memory = MAX_STORY_MEMORY;
    let finish = |(i, mut draft): (usize, TypedStory)| {
        let place = format!("{source}: story {}", i + 1);
        draft.name_entities(entities, &first);
        let is_found = draft.entities.is_empty();
        let story = draft.finish(i + 1, find).map_err(|message| Error::data(format!("{place}{message}")))?;
        memory = memory.checked_sub(story.memory()).ok_or_else(|| {
            let most = MAX_STORY_MEMORY >> 20;
            Error::data(format!("{place}: this story and those before it take more than {most} MiB; split the input"))
        })?;
        Ok((story, is_found))
    };
    let finished = drafts.into_iter().enumerate().map(finish).collect::<Result<Vec<_>>>()?;
    let (stories, found) = finished.into_iter().unzip();
    Ok(Typed { stories, found, left_out })
}

/// The distinct names in a list.
pub fn split_names(list: &str) -> Vec<String> {
    distinct(list.split(BETWEEN_NAMES))
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut known = HashSet::new();
    let names = names.map(str::trim).filter(|name| !name.is_empty()).map(composed);
    names.filter(|name| known.insert(name.clone())).collect()
}

fn from_lines(text: &str) -> (Vec<TypedStory>, LeftOut) {
    let (mut drafts, mut left_out): (Vec<TypedStory>, _) = (Vec::new(), LeftOut::default());
    let mut at_head = true;
    for line in text.replace("\r\n", "\n").split(['\n', '\r']).map(str::trim) {
        if is_comment(line) {
            left_out.comments += 1;
            continue;
        }
        if line.is_empty() || is_rule(line) {
            left_out.rules += usize::from(!line.is_empty());
            at_head = true;
            continue;
        }
        let names = entities_of(line);
        // A line of entities begins a story even if the blank line before it is missing. A blank line after it is
        // ignored.
        let has_begun = drafts.last().is_some_and(|draft| draft.sentences.is_empty());
        if (at_head || names.is_some()) && !has_begun {
            drafts.push(TypedStory::default());
        }
        let Some(draft) = drafts.last_mut() else { continue };
        match names {
            Some(names) => draft.entities.extend(split_names(names)),
            None => draft.sentences.push(line.to_owned()),
        }
        at_head = false;
    }
    left_out.markers = drafts.iter_mut().map(|draft| take_off_markers(&mut draft.sentences)).sum();
    (drafts, left_out)
}

/// The list after `entities:`, in upper or lower case, perhaps after a bullet and with blanks before the colon.
fn entities_of(line: &str) -> Option<&str> {
    let (head, names) = unmarked(line).unwrap_or(line).split_once(':')?;
    head.trim_end().eq_ignore_ascii_case(ENTITIES).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, entities: &str) -> Result<Vec<Story>> {
        read_plain(text, "input", &split_names(entities), Sentences::AsGiven, &|_| Vec::new())
            .map(|typed| typed.stories)
    }

    fn names(story: &Story) -> Vec<&str> {
        story.entities.iter().map(|entity| entity.name.as_str()).collect()
    }

    #[test]
    fn a_name_in_two_forms_of_unicode_is_one() {
        assert_eq!(split_names("caff\u{e8}, caffe\u{300}; cup"), ["caff\u{e8}", "cup"]);
        assert_eq!(split_names("小明，冰箱、牛奶；杯"), ["小明", "冰箱", "牛奶", "杯"]);
        let stories = read("entities: caffe\u{300}, caff\u{e8}\nA.\nB.\n", "").unwrap();
        assert_eq!(names(&stories[0]), ["caff\u{e8}"]);
    }

    #[test]
    fn text_and_json_say_the_same() {
        let lines =
            "\u{feff}\n\nEntities: Mia,  fridge , Mia\r\nMia shut the fridge.\r\n\n \nentities: cup\nA.\nB.\n\n";
        let json = r#" {"stories": [
            {"sentences": ["Mia shut the fridge."], "entities": ["Mia", "fridge"]},
            {"entities": ["cup"], "sentences": ["A.", " B. "]}]}"#;
        let stories = read(lines, "").unwrap();
        assert_eq!(stories, read(json, "").unwrap());
        assert_eq!((stories[0].id.as_str(), names(&stories[0])), ("1", vec!["Mia", "fridge"]));
        assert_eq!((stories[1].id.as_str(), stories[1].sentences.len()), ("2", 2));
        let alone = read(r#"{"sentences": ["A.", "B."], "entities": ["cup"]}"#, "").unwrap();
        assert_eq!((alone.len(), &alone[0].sentences), (1, &stories[1].sentences));
    }

    #[test]
    fn lines_end_in_any_way_and_paragraphs_where_sentences_do() {
        let stories = ["entities: cup\nA.\nB.", "entities: cup\r\nA.\r\nB.", "entities: cup\rA.\rB."];
        assert!(stories.iter().all(|story| read(story, "").unwrap() == read(stories[0], "").unwrap()));
        assert_eq!(read("A.\r\rB.", "cup").unwrap().len(), 2, "two stories");
        let paragraph = "Mia took the cup. She dropped it! Did it break?";
        let sentences = |sentences| {
            read_plain(paragraph, "input", &["cup".into()], sentences, &|_| Vec::new()).unwrap().stories[0]
                .sentences
                .clone()
        };
        assert_eq!(sentences(Sentences::AsGiven), [paragraph]);
        assert_eq!(sentences(Sentences::Split), ["Mia took the cup.", "She dropped it!", "Did it break?"]);
    }

    #[test]
    fn numbers_before_the_sentences_of_a_paragraph_are_counted() {
        let text = "1. Mia took the cup. 2. Mia dropped it.";
        let typed = read_plain(text, "input", &["cup".into()], Sentences::Split, &|_| Vec::new()).unwrap();
        assert_eq!(typed.stories[0].sentences, ["Mia took the cup.", "Mia dropped it."]);
        let words = "not read as sentences: bullets and numbers before sentences (2)";
        assert_eq!(typed.left_out.words().unwrap(), words);
    }

    #[test]
    fn a_list_of_entities_may_have_a_bullet_and_blanks_before_its_colon() {
        let plain = read("entities: cup, jar\nA.\nB.", "").unwrap();
        for list in ["Entities : cup, jar", "- entities: cup, jar", "1. ENTITIES\t: cup, jar"] {
            assert_eq!(read(&format!("{list}\nA.\nB."), "").unwrap(), plain, "{list}");
            assert_eq!(read(&format!("{list}\n- A.\n- B."), "").unwrap(), plain, "{list}");
        }
        assert_eq!(read("Entities of it: cup.\nB.", "jar").unwrap()[0].sentences.len(), 2, "a sentence");
    }

    #[test]
    fn the_callers_entities_win_and_the_first_storys_are_for_stories_without_their_own() {
        let stories = read("A.\n\nentities: cup\nA.", "plate, cup").unwrap();
        assert_eq!([names(&stories[0]), names(&stories[1])], [["plate", "cup"], ["plate", "cup"]]);
        let json = r#"{"sentences": ["A."], "entities": ["cup"]}"#;
        assert_eq!(names(&read(json, "plate").unwrap()[0]), ["plate"]);
        let stories = read("entities: cup\nA.\n\nA.\n\nentities: jar\nA.", "").unwrap();
        assert_eq!(stories.iter().map(names).collect::<Vec<_>>(), [["cup"], ["cup"], ["jar"]]);
    }

    #[test]
    fn entities_are_found_where_nobody_names_them() {
        let find = |sentences: &[String]| vec![format!("{} sentences", sentences.len())];
        let read = |text, entities: &[String]| read_plain(text, "input", entities, Sentences::AsGiven, &find).unwrap();
        let typed = read("A.\nB.\n\nA.", &[]);
        assert_eq!(
            typed.stories.iter().map(|story| names(story)).collect::<Vec<_>>(),
            [["2 sentences"], ["1 sentences"]]
        );
        assert_eq!(typed.found, [true, true]);
        assert_eq!(read("entities: cup\nA.\n\nA.", &[]).found, [false, false]);
        assert_eq!(read("A.\n\nA.", &["cup".into()]).found, [false, false]);
        assert_eq!(names(&read("A.\n\nentities: cup\nA.", &[]).stories[1]), ["cup"]);
    }

    #[test]
    fn titles_rules_and_lists_are_no_sentences() {
        let bare = "entities: cup, jar\nA.\nB.\n\nA.\nC.\n";
        let listed = "# Story 1\nentities: cup; jar;\n1. A.\n2. B.\n---\n# Story 2\n- A.\n- C.\n";
        let read = |text| read_plain(text, "input", &[], Sentences::AsGiven, &|_| Vec::new()).unwrap();
        assert_eq!((read(listed).stories, read(bare).left_out.words()), (read(bare).stories, None));
        assert_eq!(
            read(listed).left_out.words().unwrap(),
            "not read as sentences: lines that begin with # (2); lines without letters, read as blank lines (1); \
             bullets and numbers before sentences (4)"
        );
    }

    #[test]
    fn programs_find_what_the_parser_reported() {
        let error = read("{\n \"sentences\": [1]}", "").unwrap_err();
        let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<serde_json::Error>());
        assert_eq!(source.map(|source| (source.line(), source.column())), Some((2, 16)));
    }

    #[test]
    fn what_is_missing_is_named() {
        let cases = [
            ("", "input: no sentence in line 1; write one sentence on each line"),
            ("#\n---", "input: no sentence in lines 1 to 2; write one sentence on each line"),
            ("{\"stories\": []}", "input: contains no sentences; put stories into"),
            (
                "A.\nB.",
                "input: story 1 names no entities, and none were found in its sentences; give them with --entities",
            ),
            ("A.\n\nentities: b\nB.", "input: story 1 names no entities"),
            ("entities: a", "input: story 1 has no sentences"),
            ("A.\nentities: a", "input: story 1 names no entities"),
            ("{\"entities\": [\"a\"]}", "input: story 1 has no sentences"),
            ("{\"sentences\": [\"A.\", \" \"], \"entities\": [\"a\"]}", "story 1: sentence 2 is blank"),
            ("{\n \"sentences\": [1]}", "at line 2 column 16"),
            ("{\n \"sentence\": []}", "unknown field `sentence`"),
            ("[1]", "the JSON must be"),
            (
                "{\"test\": {\"1\": {\"sentences\": [\"A.\"], \"states\": []}}}",
                "input: is a story file, as TRIP's and GITA's are; a pair of a story file is predicted with --data FILE --pair ID",
            ),
            ("{\"test\": {}}", "unknown field `test`"),
            ("{\"stories\": [], \"entities\": [\"a\"]}", "put these into the stories"),
        ];
        for (text, message) in cases {
            let error = read(text, "").unwrap_err();
            assert_eq!(error.kind, crate::error::ErrorKind::Data);
            assert!(error.message.contains(message), "{}", error.message);
        }
    }
}
