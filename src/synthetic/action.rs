//! The actions in `actions.toml`.

use super::claim::{Claim, Property, Role, Subject};
use super::form::Form;
use super::label::{Label, labels};
use super::thing::{Thing, ThingId};
use crate::attribute::Attribute;
use crate::error::{Error, Result};
use crate::language::Language;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The largest number of roles of an action.
pub(super) const MAX_ROLES: usize = 3;

#[derive(Debug)]
pub(super) struct Action {
    /// The name in the table.
    pub id: String,
    pub roles: Vec<RoleSpec>,
    pub actor_labels: Vec<Label>,
    pub needs: Vec<Claim>,
    pub makes: Vec<Claim>,
    /// Properties that are unknown after the action.
    pub forgets: Vec<(Subject, Property)>,
    /// (thing, container): the container must be able to hold the thing.
    pub fits: Vec<(Role, Role)>,
    english: Vec<Form>,
    italian: Vec<Form>,
    /// How often it is told in plausible stories, as a weight.
    pub weight: f64,
    /// How often it is the sentence that breaks a story, as a weight.
    pub breaks: f64,
    /// Whether it touches nothing, so that it can stand between any two sentences.
    pub is_between: bool,
}

#[derive(Debug)]
pub(super) struct RoleSpec {
    pub letter: char,
    pub labels: Vec<Label>,
    /// The things that can have this role.
    pub candidates: Vec<ThingId>,
    /// The same, indexed by thing.
    accepts: Vec<bool>,
}

impl RoleSpec {
    pub fn accepts(&self, thing: ThingId) -> bool {
        self.accepts[usize::from(thing)]
    }
}

impl Action {
    pub fn forms(&self, language: Language) -> &[Form] {
        match language {
            Language::English => &self.english,
            Language::Italian => &self.italian,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAction {
    #[serde(default)]
    roles: BTreeMap<String, String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    makes: Vec<String>,
    en: Vec<String>,
    it: Vec<String>,
    weight: f64,
    breaks: Option<f64>,
    topic: Option<Topic>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Topic {
    None,
}

impl RawAction {
    pub fn resolve(mut self, id: String, things: &[Thing]) -> Result<Action> {
        let roles = self.resolve_roles(things)?;
        let actor_labels = labels(&self.labels.remove("who").unwrap_or_default())?;
        if let Some(name) = self.labels.keys().next() {
            return Err(Error::config(format!("labels are given for {name:?}, which is not a role of this action")));
        }
        let letters: Vec<char> = roles.iter().map(|role| role.letter).collect();
        let claims =
            |texts: &[String]| texts.iter().map(|text| Claim::parse(text, &letters)).collect::<Result<Vec<_>>>();
        let forms = |texts: &[String], language| {
            texts.iter().map(|text| Form::parse(text, &letters, language)).collect::<Result<Vec<_>>>()
        };
        let (english, italian) = (forms(&self.en, Language::English)?, forms(&self.it, Language::Italian)?);
        let breaks = self.breaks.unwrap_or(self.weight);
        if ![self.weight, breaks].iter().all(|weight| weight.is_finite() && *weight >= 0.0) {
            return Err(Error::config("weight and breaks must not be negative"));
        }
        let is_full = |form: &Form| (0..roles.len()).all(|role| form.names(role));
        if !english.iter().any(is_full) || !italian.iter().any(is_full) {
            return Err(Error::config("needs, in each language, a form that names the things of all roles"));
        }
        if english.iter().chain(&italian).any(|form| form.has_actor != english[0].has_actor) {
            return Err(Error::config("has forms with and without the actor; split it into two actions"));
        }
        let mut action = Action {
            id,
            actor_labels,
            needs: claims(&self.needs)?,
            makes: claims(&self.makes)?,
            forgets: Vec::new(),
            fits: Vec::new(),
            english,
            italian,
            weight: self.weight,
            breaks,
            is_between: self.topic == Some(Topic::None),
            roles,
        };
        action.add_physics_of_labels();
        action.add_existence();
        action.fits = action.containments();
        Ok(action)
    }

    /// The roles, with their labels, which are taken out of `self.labels`.
    fn resolve_roles(&mut self, things: &[Thing]) -> Result<Vec<RoleSpec>> {
        let mut roles = Vec::new();
        for (name, description) in &self.roles {
            let mut letters = name.chars();
            let (Some(letter), None) = (letters.next(), letters.next()) else {
                return Err(Error::config(format!("role {name:?} must be a single letter")));
            };
            let labels = labels(&self.labels.remove(name).unwrap_or_default())?;
            roles.push(role(letter, labels, description, things)?);
        }
        if roles.len() > MAX_ROLES {
            return Err(Error::config(format!("has more than {MAX_ROLES} roles; remove some")));
        }
        Ok(roles)
    }
}

/// "ball sport | =kite !poppable".
fn role(letter: char, labels: Vec<Label>, description: &str, things: &[Thing]) -> Result<RoleSpec> {
    for word in description.split_whitespace().filter(|word| *word != "|") {
        let tag = word.trim_start_matches(['!', '=']);
        if !things.iter().any(|thing| thing.is(tag)) {
            return Err(Error::config(format!("role {letter}: {tag:?} is neither a tag nor a thing")));
        }
    }
    let plays = |thing: &Thing| {
        description.split('|').any(|way| {
            way.split_whitespace().all(|word| match word.strip_prefix('!') {
                Some(tag) => !thing.is(tag.trim_start_matches('=')),
                None => match word.strip_prefix('=') {
                    Some(id) => thing.id == id,
                    None => thing.is(word),
                },
            })
        })
    };
    let accepts: Vec<bool> = things.iter().map(plays).collect();
    let candidates = (0..).zip(&accepts).filter(|&(_, &accepted)| accepted).map(|(id, _)| id).collect::<Vec<ThingId>>();
    if candidates.is_empty() {
        return Err(Error::config(format!("role {letter}: no thing fits {description:?}")));
    }
    Ok(RoleSpec { letter, labels, candidates, accepts })
}

impl Action {
    /// Adds what labels say: the precondition is needed, the effect is made.
    fn add_physics_of_labels(&mut self) {
        let roles = self.roles.iter().enumerate().map(|(i, role)| (Subject::Role(i), &role.labels));
        let (mut needs, mut makes, mut forgets) = (Vec::new(), Vec::new(), Vec::new());
        for (subject, labels) in roles.chain([(Subject::Actor, &self.actor_labels)]) {
            for label in labels.iter().filter(|label| label.is_physical) {
                let property = Property::Noted(label.attribute);
                let (before, after) = label.attribute.split(label.value);
                let claim = |class: u8| Claim::Property { subject, property, value: class == 2 };
                if before > 0 {
                    needs.push(claim(before));
                }
                if after > 0 {
                    makes.push(claim(after));
                } else if before > 0 && label.attribute != Attribute::Open {
                    // "true, then unknown": taking something out of an open box leaves it open, but perhaps empty.
                    forgets.push((subject, property));
                }
            }
        }
        self.needs.append(&mut needs);
        self.makes.append(&mut makes);
        self.forgets = forgets;
    }

    /// Things that are acted on must exist, unless a label says otherwise. The actor must be awake.
    fn add_existence(&mut self) {
        let says = |labels: &[Label], attribute| labels.iter().any(|l| l.attribute == attribute && l.is_physical);
        let need = |subject, attribute| Claim::Property { subject, property: Property::Noted(attribute), value: true };
        for (i, role) in self.roles.iter().enumerate() {
            let comes_or_goes = |l: &Label| l.attribute == Attribute::Exist && l.is_physical && l.value != 5;
            if !role.labels.iter().any(comes_or_goes) {
                self.needs.push(need(Subject::Role(i), Attribute::Exist));
            }
        }
        if self.english.iter().any(|form| form.has_actor) && !says(&self.actor_labels, Attribute::Conscious) {
            self.needs.push(need(Subject::Actor, Attribute::Conscious));
        }
    }

    fn containments(&self) -> Vec<(Role, Role)> {
        let containment = |claim: &Claim| match *claim {
            Claim::In { thing, container, .. } => Some((thing, container)),
            _ => None,
        };
        let mut fits: Vec<_> = self.needs.iter().chain(&self.makes).filter_map(containment).collect();
        fits.sort_unstable();
        fits.dedup();
        fits
    }
}
