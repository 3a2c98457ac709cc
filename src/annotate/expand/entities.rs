//! Entities: added, named and taken out.

use super::super::change::{Change, EntityId, EntityText};
use super::super::message::EditProblem;
use super::super::refusal::EditRefusal;
use super::{Expansion, Outcome, tidy};
use crate::language::composed;
use crate::untrusted::{MAX_ENTITIES, MAX_NAME};

impl Expansion<'_> {
    pub(super) fn add_entity(&mut self, name: &str, person: bool) -> Outcome {
        let name = fair_name(name)?;
        let entity = match self.named(&name) {
            Some(entity) => {
                // One that was taken out comes back as what it is now said to be.
                if !self.group.shows(entity) {
                    self.set(Change::Entity { entity, is: Some(EntityText { name, person }) });
                }
                entity
            }
            None => {
                let entity = self.group.next_entity();
                self.set(Change::Entity { entity, is: Some(EntityText { name, person }) });
                entity
            }
        };
        for story in self.followers()? {
            if self.group.entities_of(&self.group.stories[&story]).count() == MAX_ENTITIES {
                return Err(EditProblem::ManyEntities.into());
            }
            self.merge(Change::Member { story, entity, is: true });
        }
        Ok(())
    }

    /// The entity of the group with this name: one of a story, else one that was dropped. Older names may have accents apart
    /// from their letters.
    fn named(&self, name: &str) -> Option<EntityId> {
        let entities = self.group.entities.iter();
        let named = entities.filter_map(|(&entity, is)| Some((entity, is.as_ref()?)));
        let alike = named.filter(|(_, is)| composed(&is.name) == name);
        alike.min_by_key(|(entity, is)| (!self.group.shows(*entity), is.name != name)).map(|(entity, _)| entity)
    }

    pub(super) fn rename(&mut self, entity: EntityId, name: &str) -> Outcome {
        let (is, name) = (self.entity(entity)?, fair_name(name)?);
        let is_alike = |is: &EntityText| composed(&is.name) == name;
        let is_taken = self
            .group
            .entities
            .iter()
            .any(|(&other, is)| other != entity && self.group.shows(other) && is.as_ref().is_some_and(is_alike));
        if is_taken {
            return Err(EditProblem::NameIsTaken { name }.into());
        }
        self.set(Change::Entity { entity, is: Some(EntityText { name, ..is }) });
        Ok(())
    }

    pub(super) fn set_kind(&mut self, entity: EntityId, person: bool) -> Outcome {
        let is = self.entity(entity)?;
        self.set(Change::Entity { entity, is: Some(EntityText { person, ..is }) });
        Ok(())
    }

    pub(super) fn drop_entity(&mut self, entity: EntityId) -> Outcome {
        self.entity(entity)?;
        for story in self.followers()? {
            self.merge(Change::Member { story, entity, is: false });
        }
        Ok(())
    }

    /// The actor is a person.
    pub(super) fn set_actor(&mut self, entity: Option<EntityId>, name: Option<&str>) -> Outcome {
        let named = |name: &str| {
            let gone = || EditProblem::NoEntityNamed { story: self.story.clone(), name: name.to_owned() };
            self.named(&composed(name.trim())).ok_or_else(gone)
        };
        let entity = match (entity, name) {
            (None, Some(name)) => Some(named(name)?),
            (entity, _) => entity,
        };
        if let Some(entity) = entity {
            self.set_kind(entity, true)?;
        }
        self.set(Change::Actor { entity });
        Ok(())
    }

    pub(super) fn set_location(&mut self, text: &str) -> Outcome {
        self.draft()?;
        let text = tidy(text)?;
        self.set(Change::Location { text });
        Ok(())
    }
}

/// A name as a story file may have it.
fn fair_name(name: &str) -> Result<String, EditRefusal> {
    let name = tidy(name)?;
    if !name.chars().any(char::is_alphanumeric) {
        return Err(EditProblem::NoName.into());
    }
    if name.chars().count() > MAX_NAME { Err(EditProblem::LongName.into()) } else { Ok(name) }
}
