//! A step of a story.

use super::action::{Action, MAX_ROLES};
use super::claim::Role;
use super::thing::ThingId;

/// An action with the things in its roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub action: usize,
    things: [ThingId; MAX_ROLES],
    /// The index of the surface form that says it.
    pub form: usize,
}

impl Step {
    /// A step in its first surface form.
    pub fn new(action: usize, things: [ThingId; MAX_ROLES]) -> Self {
        Step { action, things, form: 0 }
    }

    pub fn with_form(self, form: usize) -> Self {
        Step { form, ..self }
    }

    pub fn thing(&self, role: Role) -> ThingId {
        self.things[role]
    }

    /// The things in the roles of `action`, which is this step's action.
    pub fn things(&self, action: &Action) -> &[ThingId] {
        &self.things[..action.roles.len()]
    }
}
