//! Findings: everything irregular in a story file. Each has a code, a position, and a message that says how it was
//! read.

use crate::schema;
use crate::untrusted::{
    BYTES_A_FINDING, BYTES_A_NAME_PAIR, MAX_FINDINGS, MAX_NAME, MAX_NAME_PAIRS, MAX_STORY_MEMORY, STORY_MEMORY_A_BYTE,
    shown,
};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The story can't be used: it is left out, or no pair contains it.
    Error,
    /// The story is irregular but was read; the message says how.
    Warning,
    /// Good to know; nothing is lost or changed.
    Note,
}

impl Severity {
    /// From the worst to the most harmless.
    pub const ALL: [Severity; 3] = [Severity::Error, Severity::Warning, Severity::Note];

    /// The name in messages, in JSON and for `--severity`.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Declares [`Code`] with the stable name and the severity of each code in one table.
macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident $name:literal $severity:ident;)+) => {
        /// What is irregular. The names are stable. Each code has one severity.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $($(#[$doc])* $variant,)+ }

        impl Code {
            /// In the order of the table: errors, warnings, notes.
            pub const ALL: &[Code] = &[$(Code::$variant,)+];

            /// The stable kebab-case name.
            pub const fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)+ }
            }

            /// How bad it is, wherever it occurs.
            pub const fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)+ }
            }
        }
    };
}

codes! {
    /// A split, story or required field is of the wrong JSON type.
    WrongType "wrong-type" Error;
    /// A required field is missing.
    MissingField "missing-field" Error;
    /// `sentences` is empty.
    NoSentences "no-sentences" Error;
    /// No state row names an entity, so the story has none.
    NoEntities "no-entities" Error;
    /// The name of an entity is blank.
    EmptyName "empty-name" Error;
    /// A state row has an attribute that is not one of the 20.
    UnknownAttribute "unknown-attribute" Error;
    /// A label is not in the attribute's label space.
    LabelOutOfRange "label-out-of-range" Error;
    /// `breakpoint` is neither -1 nor the index of a sentence.
    BreakpointOutOfRange "breakpoint-out-of-range" Error;
    /// The story has a breakpoint, but no earlier sentence in conflict with it.
    NoEvidence "no-evidence" Error;
    /// Two or more things say that the story is implausible, but it has no breakpoint.
    NoBreakpoint "no-breakpoint" Error;
    /// `type` is neither null, "cloze" nor "order".
    UnknownKind "unknown-kind" Error;
    /// An implausible story whose group has no readable plausible story. No pair contains it.
    NoPlausibleStory "no-plausible-story" Error;
    /// Something exceeds a limit: a name, a story, or the stories of a file together.
    TooLarge "too-large" Error;
    /// The limit of findings is reached; the rest of the file is not read.
    TooManyFindings "too-many-findings" Error;

    /// The name of a split is repeated; the later split gets a suffix ("test#2").
    RepeatedSplit "repeated-split" Warning;
    /// The key of a story is repeated; the later story gets a suffix ("98#2").
    RepeatedKey "repeated-key" Warning;
    /// A field or attribute is repeated in one object; the last value is used.
    RepeatedField "repeated-field" Warning;
    /// A field is missing, and its value is inferred from the rest.
    AssumedField "assumed-field" Warning;
    /// A field that only describes the story has the wrong type; it is read as empty.
    IgnoredField "ignored-field" Warning;
    /// `plausible` contradicts the conflict; the conflict is used.
    PlausibleContradicted "plausible-contradicted" Warning;
    /// `type` contradicts the key and the conflict; these are used.
    TypeContradicted "type-contradicted" Warning;
    /// The form of the key contradicts the conflict; the conflict is used.
    KeyContradicted "key-contradicted" Warning;
    /// The kind was inferred by comparing the sentences with those of the plausible story.
    InferredKind "inferred-kind" Warning;
    /// `story_id` is not the number in the key; `story_id` is used.
    GroupDiffers "group-differs" Warning;
    /// `example_id` is not the key; the key is used.
    ExampleIdDiffers "example-id-differs" Warning;
    /// `length` is not the number of sentences.
    LengthDiffers "length-differs" Warning;
    /// A sentence is blank.
    EmptySentence "empty-sentence" Warning;
    /// There are fewer state rows than sentences; the last sentences are not annotated.
    MissingStateRows "missing-state-rows" Warning;
    /// There are more state rows than sentences; the last rows are dropped.
    ExtraStateRows "extra-state-rows" Warning;
    /// No state is labelled. The story can be evaluated, without verifiability, but trained on with soft labels only.
    NoStateLabels "no-state-labels" Warning;
    /// `confl_sents` contains lists; they are flattened.
    NestedConflSents "nested-confl-sents" Warning;
    /// An entry of `confl_sents` is not before the breakpoint; it is ignored.
    IgnoredEvidence "ignored-evidence" Warning;
    /// Names that differ only in outer spaces are one entity.
    MergedNames "merged-names" Warning;
    /// The names of two entities differ by case or by one letter; they are kept apart.
    SimilarNames "similar-names" Warning;
    /// An entity has two different labels for one attribute in one sentence; the last one is used.
    RepeatedLabel "repeated-label" Warning;
    /// An implausible story has the same sentences as its plausible one; nothing distinguishes them.
    SameSentences "same-sentences" Warning;
    /// A field is ignored, but its name is close to that of a missing field.
    MisspeltField "misspelt-field" Warning;
    /// A sentence or name has characters that result from a wrong encoding.
    GarbledText "garbled-text" Warning;
    /// A group has a second plausible story; pairs use the first.
    SecondPlausibleStory "second-plausible-story" Warning;

    /// Spaces around a name are trimmed.
    PaddedName "padded-name" Note;
    /// Spaces around a sentence are trimmed.
    PaddedSentence "padded-sentence" Note;
    /// `confl_pairs` are not the pairs of `confl_sents` and `breakpoint`; they are not used.
    OddConflPairs "odd-confl-pairs" Note;
    /// No entity is annotated in a sentence.
    UnannotatedSentence "unannotated-sentence" Note;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// One irregularity and its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// That of the code.
    pub severity: Severity,
    /// Which irregularity it is.
    pub code: Code,
    /// The path of the story file, as the reader was given it.
    #[serde(serialize_with = "schema::path")]
    pub file: PathBuf,
    /// Name of the split, with its suffix if the name is repeated ("test#2").
    pub split: String,
    /// Id of the story; empty if the finding is about a split.
    pub story: String,
    /// Path of the field in the story (`states[3].open[1]`); empty if the finding is about the whole story or split.
    pub field: String,
    /// What is wrong, and the remedy or how it was read.
    pub message: String,
    /// The names that the message quotes, if it is about names.
    #[serde(skip)]
    pub quoted: Vec<String>,
}

impl Finding {
    /// `FILE: SPLIT/STORY FIELD`
    pub fn place(&self) -> String {
        let mut place = format!("{}: {}", self.file.display(), self.split);
        if !self.story.is_empty() {
            place += &format!("/{}", self.story);
        }
        if !self.field.is_empty() {
            place += &format!(" {}", self.field);
        }
        place
    }
}

impl fmt::Display for Finding {
    /// `FILE: SPLIT/STORY FIELD: SEVERITY[CODE]: MESSAGE`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}[{}]: {}", self.place(), self.severity, self.code, self.message)
    }
}

/// Collects the findings of one file, and knows the split and story that are being read.
pub(super) struct Notes {
    file: PathBuf,
    pub split: String,
    pub story: String,
    findings: Vec<Finding>,
    errors: usize,
    /// Findings that may still be added.
    room: usize,
    /// Bytes that stories may still take.
    memory: usize,
    /// Pairs of names that may still be compared.
    name_pairs: usize,
}

/// The longest message of a finding, in characters. A message may quote the file.
const LONGEST_MESSAGE: usize = 400;

impl Notes {
    pub fn new(file: &Path) -> Self {
        Notes {
            file: file.to_owned(),
            split: String::new(),
            story: String::new(),
            findings: Vec::new(),
            errors: 0,
            room: MAX_FINDINGS,
            memory: MAX_STORY_MEMORY,
            name_pairs: MAX_NAME_PAIRS,
        }
    }

    /// Adds a finding about `field` of the current story. The last one that fits says that the limit is reached.
    pub fn add(&mut self, code: Code, field: impl AsRef<str>, message: impl AsRef<str>) {
        self.add_quoting(&[], code, field, message);
    }

    /// Adds a finding whose message quotes names.
    pub fn add_quoting(&mut self, names: &[&str], code: Code, field: impl AsRef<str>, message: impl AsRef<str>) {
        self.errors += usize::from(code.severity() == Severity::Error);
        if self.is_full() {
            return;
        }
        self.room -= 1;
        let (code, field, message) = match self.is_full() {
            true => (
                Code::TooManyFindings,
                "",
                "too many findings: the rest of the file is not read; correct what is listed",
            ),
            false => (code, field.as_ref(), message.as_ref()),
        };
        self.findings.push(Finding {
            severity: code.severity(),
            code,
            file: self.file.clone(),
            split: shown(&self.split, MAX_NAME),
            story: shown(&self.story, MAX_NAME),
            field: shown(field, MAX_NAME),
            message: shown(message, LONGEST_MESSAGE),
            quoted: names.iter().map(|name| shown(name, MAX_NAME)).collect(),
        });
    }

    /// Whether the limit of findings is reached.
    pub fn is_full(&self) -> bool {
        self.room == 0
    }

    /// The number of errors so far.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Raises the limits by what a story of this many bytes justifies.
    pub fn make_room(&mut self, bytes: usize) {
        self.memory += STORY_MEMORY_A_BYTE * bytes;
        self.name_pairs += bytes / BYTES_A_NAME_PAIR;
        // Reading ends at this limit, so one that was reached is not raised.
        self.room += if self.is_full() { 0 } else { bytes / BYTES_A_FINDING };
    }

    /// Reserves memory for stories; `false`, after an error finding, if too little is left.
    pub fn take_memory(&mut self, bytes: usize) -> bool {
        let left = self.memory.checked_sub(bytes);
        match left {
            Some(left) => self.memory = left,
            None => {
                let message = "the stories and their pairs take far more memory than their text; split the file";
                self.add(Code::TooLarge, "", message);
            }
        }
        left.is_some()
    }

    /// Reserves comparisons of names; `false`, after an error finding, if too few are left.
    pub fn take_name_pairs(&mut self, pairs: usize) -> bool {
        let left = self.name_pairs.checked_sub(pairs);
        match left {
            Some(left) => self.name_pairs = left,
            None => self.add(Code::TooLarge, "states", "too many entities in the stories of one file; split the file"),
        }
        left.is_some()
    }

    /// Whether a name is short enough; adds an error finding if it is not.
    pub fn has_fair_length(&mut self, name: &str, field: &str) -> bool {
        // A character has at least one byte. Counting the characters of a very long name would be slow.
        let fair = name.len() <= 4 * MAX_NAME && name.chars().count() <= MAX_NAME;
        if !fair {
            let message = format!("a name has {} bytes; shorten it to at most {MAX_NAME} characters", name.len());
            self.add(Code::TooLarge, field, message);
        }
        fair
    }

    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_codes_are_distinct_kebab_case() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.name()).collect();
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
