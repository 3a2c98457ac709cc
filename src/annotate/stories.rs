//! The stories of a project.

use super::group::Group;
use super::message::EditProblem;
use super::refusal::EditRefusal;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The stories of a project at one revision. A copy shares the groups, so that it can be read while others edit.
#[derive(Debug, Clone)]
pub struct Stories {
    pub(super) groups: BTreeMap<i64, Arc<Group>>,
    pub(super) passes: BTreeSet<String>,
}

/// The pass that every project has.
pub const MAIN_PASS: &str = "main";

impl Default for Stories {
    fn default() -> Self {
        Stories { groups: BTreeMap::new(), passes: BTreeSet::from([MAIN_PASS.to_owned()]) }
    }
}

impl Stories {
    /// The group of a story that is there.
    pub(super) fn number_of(&self, story: &str) -> Result<i64, EditRefusal> {
        let number = story.split('-').next().and_then(|number| number.parse().ok());
        let number = number.filter(|number| self.groups.get(number).is_some_and(|group| group.story(story).is_some()));
        number.ok_or_else(|| EditProblem::NoStory { story: story.to_owned() }.into())
    }

    /// A number that no group had.
    pub(super) fn free_number(&self) -> i64 {
        self.groups.last_key_value().map_or(1, |(last, _)| last + 1)
    }

    /// A copy of a group to be changed; a new one if there is none.
    pub(super) fn group(&self, number: i64) -> Group {
        self.groups.get(&number).map_or_else(Group::default, |group| Group::clone(group))
    }
}
