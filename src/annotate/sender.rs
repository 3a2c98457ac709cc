//! Who sends an edit, and what is answered.

use super::journal::is_plain;
use super::refusal::EditRefusal;

/// Who sends an edit.
#[derive(Debug, Clone, Copy)]
pub struct Sender<'a> {
    /// The annotator's name.
    pub who: &'a str,
    /// The window in which the annotator works.
    pub window: &'a str,
    /// The number of the edit in that window: one that is sent again is not made again.
    pub n: u64,
    /// Whose answers are changed.
    pub pass: &'a str,
    /// What happens if somebody else changed the same meanwhile.
    pub on_clash: OnClash,
    /// Up to which revision the edit wins over what others did, since the annotator was told of it and chose so. `None`: it
    /// wins over everything with [`OnClash::Override`], over nothing otherwise.
    pub seen: Option<u64>,
}

/// What happens if somebody else changed the same meanwhile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnClash {
    /// The edit is refused.
    #[default]
    Tell,
    /// The edit wins over what others did up to the [`seen`](Sender::seen) revision; what they changed later is told.
    Override,
    /// The other one's values stay; the rest of the edit is made.
    Keep,
}

/// What became of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The revision of the edit; that of the project if nothing changed.
    pub revision: u64,
    /// The story that it was about, or that it made.
    pub story: String,
    /// Whether it had been made before.
    pub repeated: bool,
}

impl Sender<'_> {
    /// # Errors
    /// `Data` if a name is not one.
    pub(super) fn check(&self) -> Result<(), EditRefusal> {
        let Sender { who, window, pass, .. } = *self;
        if who.trim() != who || !(1..=40).contains(&who.chars().count()) || who.chars().any(char::is_control) {
            return Err(EditRefusal::data("`who` must be a name of 1 to 40 characters, without outer spaces"));
        }
        require_plain("window", window)?;
        require_plain("pass", pass)
    }
}

/// # Errors
/// `Data` if it is not [plain](is_plain).
fn require_plain(name: &str, value: &str) -> Result<(), EditRefusal> {
    match is_plain(value) {
        true => Ok(()),
        false => Err(EditRefusal::data(format!("`{name}` must be 1 to 32 characters of a to z, 0 to 9 and -"))),
    }
}
