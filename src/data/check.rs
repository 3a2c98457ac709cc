//! Findings: everything irregular in a story file, each with a name, a place and how it was read.

use crate::outside::{
    BYTES_A_NAME_PAIR, MAX_FINDINGS, MAX_NAME, MAX_NAME_PAIRS, MAX_STORY_MEMORY, STORY_MEMORY_A_BYTE, shown,
};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The story can't be used: it is left out, or it is in no pair.
    Error,
    /// Irregular, but read, as the message says.
    Warning,
    /// Worth knowing; nothing is lost or changed by it.
    Note,
}

impl Severity {
    pub const ALL: [Severity; 3] = [Severity::Error, Severity::Warning, Severity::Note];

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

/// Declares [`Code`] with its stable name and its severity in one table.
macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident $name:literal $severity:ident;)+) => {
        /// What is irregular. The names are stable; each has one severity.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $($(#[$doc])* $variant,)+ }

        impl Code {
            pub const ALL: &[Code] = &[$(Code::$variant,)+];

            /// The stable kebab-case name.
            pub const fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)+ }
            }

            pub const fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)+ }
            }
        }
    };
}

codes! {
    /// A partition, story or required field is of the wrong JSON type.
    WrongType "wrong-type" Error;
    /// A field without which the story can't be read is missing.
    MissingField "missing-field" Error;
    /// `sentences` is empty.
    NoSentences "no-sentences" Error;
    /// No state row names an entity.
    NoEntities "no-entities" Error;
    /// The name of an entity is blank.
    EmptyName "empty-name" Error;
    /// A state row has an attribute that is none of the 20.
    UnknownAttribute "unknown-attribute" Error;
    /// A label is not in the attribute's label space.
    LabelOutOfRange "label-out-of-range" Error;
    /// `breakpoint` is neither -1 nor the index of a sentence.
    BreakpointOutOfRange "breakpoint-out-of-range" Error;
    /// There is a breakpoint, but no earlier sentence that conflicts with it.
    NoEvidence "no-evidence" Error;
    /// The story says in two or more ways that it is implausible, but has no breakpoint.
    NoBreakpoint "no-breakpoint" Error;
    /// `type` is neither null, "cloze" nor "order".
    UnknownKind "unknown-kind" Error;
    /// An implausible story whose group has no (readable) plausible story, so that it is in no pair.
    NoPlausibleStory "no-plausible-story" Error;
    /// More of something than is read: a name, a story, or the stories of a file together.
    TooLarge "too-large" Error;
    /// There are more findings than are kept; the rest of the file is not read.
    TooManyFindings "too-many-findings" Error;

    /// A partition's name occurs again; the later one gets a suffix ("test#2").
    RepeatedPartition "repeated-partition" Warning;
    /// A story's key occurs again; the later story gets a suffix ("98#2").
    RepeatedKey "repeated-key" Warning;
    /// A field or attribute occurs again in one object; the last one stands.
    RepeatedField "repeated-field" Warning;
    /// A field is missing, and its value can be told from the rest.
    AssumedField "assumed-field" Warning;
    /// A field that only describes the story is of the wrong type, and read as empty.
    IgnoredField "ignored-field" Warning;
    /// `plausible` says otherwise than the conflict; the conflict stands.
    PlausibleContradicted "plausible-contradicted" Warning;
    /// `type` says otherwise than the key and the conflict; these stand.
    TypeContradicted "type-contradicted" Warning;
    /// The form of the key says otherwise than the conflict; the conflict stands.
    KeyContradicted "key-contradicted" Warning;
    /// The kind was told by comparing the sentences with the plausible story's.
    InferredKind "inferred-kind" Warning;
    /// `story_id` is not the number in the key; `story_id` stands.
    GroupDiffers "group-differs" Warning;
    /// `example_id` is not the key; the key stands.
    ExampleIdDiffers "example-id-differs" Warning;
    /// `length` is not the number of sentences.
    LengthDiffers "length-differs" Warning;
    /// A sentence is blank.
    EmptySentence "empty-sentence" Warning;
    /// Fewer state rows than sentences: the last sentences annotate nothing.
    MissingStateRows "missing-state-rows" Warning;
    /// More state rows than sentences: the last rows are dropped.
    ExtraStateRows "extra-state-rows" Warning;
    /// No state is labelled: the story can be evaluated on, without verifiability, and not be trained on.
    NoStateLabels "no-state-labels" Warning;
    /// `confl_sents` holds lists within the list; they are flattened.
    NestedConflSents "nested-confl-sents" Warning;
    /// An entry of `confl_sents` that is not before the breakpoint is ignored.
    IgnoredEvidence "ignored-evidence" Warning;
    /// Names that differ in outer spaces only are one entity.
    MergedNames "merged-names" Warning;
    /// Two entities whose names differ by case or by one letter, kept apart.
    SimilarNames "similar-names" Warning;
    /// An entity has two different labels for one attribute in one sentence; the last one stands.
    RepeatedLabel "repeated-label" Warning;
    /// An implausible story with the very sentences of its plausible one: nothing tells them apart.
    SameSentences "same-sentences" Warning;
    /// A field that is ignored, and whose name is nearly that of one that is missing.
    MisspeltField "misspelt-field" Warning;
    /// A sentence or name with letters that a wrong encoding leaves.
    GarbledText "garbled-text" Warning;
    /// A second plausible story in one group; pairs use the first.
    SecondPlausibleStory "second-plausible-story" Warning;

    /// Spaces around a name are trimmed.
    PaddedName "padded-name" Note;
    /// Spaces around a sentence are trimmed.
    PaddedSentence "padded-sentence" Note;
    /// `confl_pairs` (which is not used) are not the pairs of `confl_sents` and `breakpoint`.
    OddConflPairs "odd-confl-pairs" Note;
    /// A sentence in which no entity is annotated.
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

/// One irregularity and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub severity: Severity,
    pub code: Code,
    pub file: PathBuf,
    pub partition: String,
    /// Id of the story; empty where the finding is about a partition.
    pub story: String,
    /// Path of the field within the story (`states[3].open[1]`); empty where it is about the whole.
    pub field: String,
    /// What is wrong, and the remedy or how it was read.
    pub message: String,
}

impl Finding {
    /// `FILE: PARTITION/STORY FIELD`
    pub fn place(&self) -> String {
        let mut place = format!("{}: {}", self.file.display(), self.partition);
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
    /// `FILE: PARTITION/STORY FIELD: SEVERITY[CODE]: MESSAGE`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}[{}]: {}", self.place(), self.severity, self.code, self.message)
    }
}

/// Collects the findings of one file; knows the place that is being read.
pub(super) struct Notes {
    file: PathBuf,
    pub partition: String,
    pub story: String,
    findings: Vec<Finding>,
    errors: usize,
    /// Bytes that stories may still take.
    memory: usize,
    /// Pairs of names that may still be compared.
    name_pairs: usize,
}

/// The longest message of a finding, in characters: it may quote the file.
const LONGEST_MESSAGE: usize = 400;

impl Notes {
    pub fn new(file: &Path) -> Self {
        Notes {
            file: file.to_owned(),
            partition: String::new(),
            story: String::new(),
            findings: Vec::new(),
            errors: 0,
            memory: MAX_STORY_MEMORY,
            name_pairs: MAX_NAME_PAIRS,
        }
    }

    /// Notes a finding about `field` of the present story. The last one that there is room for says so.
    pub fn add(&mut self, code: Code, field: impl AsRef<str>, message: impl AsRef<str>) {
        self.errors += usize::from(code.severity() == Severity::Error);
        if self.is_full() {
            return;
        }
        let (code, field, message) = match self.findings.len() + 1 == MAX_FINDINGS {
            true => (Code::TooManyFindings, "", "the rest of the file is not read; mend what is listed"),
            false => (code, field.as_ref(), message.as_ref()),
        };
        self.findings.push(Finding {
            severity: code.severity(),
            code,
            file: self.file.clone(),
            partition: shown(&self.partition, MAX_NAME),
            story: shown(&self.story, MAX_NAME),
            field: shown(field, MAX_NAME),
            message: shown(message, LONGEST_MESSAGE),
        });
    }

    /// Whether no more findings are kept.
    pub fn is_full(&self) -> bool {
        self.findings.len() == MAX_FINDINGS
    }

    /// Number of errors so far.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Makes room for what a story of so many bytes justifies.
    pub fn make_room(&mut self, bytes: usize) {
        self.memory += STORY_MEMORY_A_BYTE * bytes;
        self.name_pairs += bytes / BYTES_A_NAME_PAIR;
    }

    /// Takes memory for stories; `false`, after an error finding, if that much is not left.
    pub fn take_memory(&mut self, bytes: usize) -> bool {
        let left = self.memory.checked_sub(bytes);
        match left {
            Some(left) => self.memory = left,
            None => {
                let message =
                    "the stories of the file and their pairs take far more memory than their text; split the file";
                self.add(Code::TooLarge, "", message);
            }
        }
        left.is_some()
    }

    /// Takes comparisons of names; `false`, after an error finding, if that many are not left.
    pub fn take_name_pairs(&mut self, pairs: usize) -> bool {
        let left = self.name_pairs.checked_sub(pairs);
        match left {
            Some(left) => self.name_pairs = left,
            None => self.add(Code::TooLarge, "states", "too many entities in the stories of one file; split the file"),
        }
        left.is_some()
    }

    /// Whether a name is short enough; an error finding if it is not.
    pub fn has_fair_length(&mut self, name: &str, field: &str) -> bool {
        // A character has one byte at least, and counting those of a very long name takes long.
        let fair = name.len() <= 4 * MAX_NAME && name.chars().count() <= MAX_NAME;
        if !fair {
            let message = format!("a name of {} bytes; at most {MAX_NAME} characters are read: shorten it", name.len());
            self.add(Code::TooLarge, field, message);
        }
        fair
    }

    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}

/// How many findings are of that severity.
pub(super) fn count(findings: &[Finding], severity: Severity) -> usize {
    findings.iter().filter(|finding| finding.severity == severity).count()
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
