//! What two annotators of the same stories agree on, tier by tier and attribute by attribute.

mod answers;
mod disagreement;
mod export;
mod words;

use crate::attribute::Attribute;
use crate::data::{SharedStories, StoryFile, Unshared};
use crate::metrics::{LabelAgreement, StoryGroups};
use crate::schema;
use answers::{TwoAnswers, answers};
use disagreement::disagreements;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

pub use disagreement::Disagreement;

/// How far two annotators agree. Lists of two are of the first annotator, A, and the second, B.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnnotatorAgreement {
    /// The two story files.
    pub files: [AnnotatedFile; 2],
    /// Stories that both files have, with the same sentences.
    pub stories: usize,
    /// Their story groups.
    pub groups: usize,
    /// Stories that are in one file only, or whose sentences differ.
    pub left_out: Vec<Unshared>,
    /// Tiers 1 to 3, then every attribute in tier 3.
    pub rows: Vec<AgreementRow>,
    /// Where the annotators differ: by tier, in the order of the stories.
    pub disagreements: Vec<Disagreement>,
}

/// A story file, by one annotator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnnotatedFile {
    /// As it was named.
    #[serde(serialize_with = "schema::path")]
    pub file: PathBuf,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

/// The agreement in one tier.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AgreementRow {
    /// 1: which stories are plausible; 2: which sentences are in the conflict; 3: labels of states.
    pub tier: u8,
    /// The attribute, if the row is of one.
    pub attribute: Option<Attribute>,
    /// Over all stories.
    #[serde(flatten)]
    pub agreement: LabelAgreement,
}

impl AnnotatorAgreement {
    /// Of the stories that two files share.
    pub fn of(files: [&StoryFile; 2], shared: SharedStories) -> Self {
        let SharedStories { stories, left_out } = shared;
        let numbers: BTreeSet<i64> = stories.iter().map(|story| story.group).collect();
        let groups = StoryGroups::of_numbers(numbers.iter().copied());
        let answers = answers(&stories);
        let row = |(tier, attribute): (u8, Option<Attribute>)| {
            let is_of = |it: &&TwoAnswers| it.tier == tier && (attribute.is_none() || it.attribute == attribute);
            let units: Vec<_> = answers.iter().filter(is_of).map(TwoAnswers::unit).collect();
            AgreementRow { tier, attribute, agreement: LabelAgreement::of(&units, &groups) }
        };
        let rows = (1..=3).map(|tier| (tier, None)).chain(Attribute::ALL.map(|attribute| (3, Some(attribute))));
        AnnotatorAgreement {
            files: files.map(|file| AnnotatedFile { file: file.path.clone(), sha256: file.sha256.clone() }),
            stories: stories.len(),
            groups: numbers.len(),
            left_out,
            rows: rows.map(row).collect(),
            disagreements: disagreements(&answers),
        }
    }
}
