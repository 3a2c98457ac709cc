//! What labels say about the state of things: the physics of the synthetic stories (`docs/stories.md`), on labels.
//!
//! Only what sentences said or presupposed is known. Preconditions become known like effects. A precondition that
//! contradicts what is known is a contradiction; its evidence is the last sentence that said otherwise. After "true, then
//! unknown" nothing is known any more, but for `open`: what something is taken out of stays open.

use crate::annotate::change::EntityId;
use crate::annotate::group::{Draft, Group};
use crate::annotate::message::{ContradictionRemedy, HintText};
use crate::annotate::record::filled;
use crate::attribute::{Attribute, Side};
use std::collections::HashMap;

/// A precondition that contradicts what an earlier sentence said. Sentences are positions in the story.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Contradiction {
    pub evidence: usize,
    pub breakpoint: usize,
    pub entity: EntityId,
    pub attribute: Attribute,
    /// The class that is known, and whether it is from before or after the evidence.
    known: (u8, Side),
    needed: u8,
}

/// A class that is known, and what said so.
#[derive(Clone, Copy)]
struct Known {
    class: u8,
    side: Side,
    since: usize,
}

/// `location`: the thing is gone.
const GONE: u8 = 1;

/// All contradictions of a story, in the order of their breakpoints.
pub(super) fn contradictions(group: &Group, draft: &Draft, pass: &str) -> Vec<Contradiction> {
    let answers = group.answers(pass);
    let mut known: HashMap<(EntityId, Attribute), Known> = HashMap::new();
    let mut found = Vec::new();
    for (n, &sentence) in draft.sentences.iter().enumerate() {
        for (entity, is) in group.entities_of(draft).filter(|&(entity, _)| answers.is_annotated(entity, sentence)) {
            let labels = filled(answers.labels(entity, sentence), is.person);
            for attribute in Attribute::ALL {
                let Some(label) = labels[attribute.index()] else { continue };
                let (needed, made) = truths(attribute, label);
                let place = (entity, attribute);
                if let Some(&Known { class, side, since }) = known.get(&place)
                    && needed != 0
                    && needed != class
                {
                    let (known, needed) =
                        ((class, side), if attribute == Attribute::Location { label } else { needed });
                    found.push(Contradiction { evidence: since, breakpoint: n, entity, attribute, known, needed });
                }
                if needed != 0 {
                    known.insert(place, Known { class: needed, side: Side::Precondition, since: n });
                }
                if made != 0 {
                    known.insert(place, Known { class: made, side: Side::Effect, since: n });
                } else if needed != 0 && attribute != Attribute::Open {
                    known.remove(&place);
                }
            }
        }
    }
    found
}

/// What must be so before a sentence, and what is so after it: 0 unknown, 1 false, 2 true. Of `location` only that a thing
/// is gone or there, of `h_location` nothing: where somebody is, its labels don't say.
fn truths(attribute: Attribute, label: u8) -> (u8, u8) {
    match attribute {
        Attribute::HLocation => (0, 0),
        Attribute::Location => match label {
            0 => (0, 0),
            GONE => (2, 1),
            _ => (2, 2),
        },
        _ => attribute.split(label),
    }
}

impl Contradiction {
    /// What it says to an annotator.
    pub fn text<'g>(&self, group: &'g Group, remedy: ContradictionRemedy) -> HintText<'g> {
        HintText::Contradiction {
            name: group.entity(self.entity).map_or("it", |is| is.name.as_str()),
            attribute: self.attribute,
            known: self.known,
            needed: self.needed,
            evidence: self.evidence + 1,
            breakpoint: self.breakpoint + 1,
            remedy,
        }
    }
}
