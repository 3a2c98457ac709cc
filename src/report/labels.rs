//! States as labels after the name of an entity, in the language of its story: "fridge: closed", "frigo: chiuso". A
//! label is a citation form. It does not agree with the noun, so it can't agree wrongly.

use crate::attribute::{Attribute, Side};
use crate::language::Language;

/// The labels for false and true, in English and in Italian. `None` for the two location attributes: their classes are
/// changes.
const fn of_attribute(attribute: Attribute) -> Option<[[&'static str; 2]; 2]> {
    use Attribute::*;
    Some(match attribute {
        HLocation | Location => return None,
        Conscious => [["unconscious", "conscious"], ["privo di sensi", "cosciente"]],
        Wearing => [["undressed", "dressed"], ["svestito", "vestito"]],
        HWet | Wet => [["dry", "wet"], ["asciutto", "bagnato"]],
        Hygiene | Clean => [["dirty", "clean"], ["sporco", "pulito"]],
        Exist => [["not existing", "existing"], ["inesistente", "esistente"]],
        Power => [["without power", "with power"], ["senza corrente", "con corrente"]],
        Functional => [["broken", "working"], ["guasto", "funzionante"]],
        Pieces => [["whole", "in pieces"], ["intero", "in pezzi"]],
        Open => [["closed", "open"], ["chiuso", "aperto"]],
        Temperature => [["cold", "hot"], ["freddo", "caldo"]],
        Solid => [["not solid", "solid"], ["non solido", "solido"]],
        Contain => [["empty", "holding something"], ["vuoto", "con qualcosa dentro"]],
        Running => [["off", "running"], ["spento", "acceso"]],
        Moveable => [["not movable", "movable"], ["non spostabile", "spostabile"]],
        Mixed => [["not mixed", "mixed"], ["non mescolato", "mescolato"]],
        Edible => [["not edible", "edible"], ["non commestibile", "commestibile"]],
    })
}

/// Classes 1 and 2 of `h_location` and 1 to 8 of `location`: after the sentence and before it, in English, then in
/// Italian. Before the sentence the entity must be there for the change to happen.
const H_LOCATION: [[[&str; 2]; 2]; 2] = [
    [["gone", "there, then gone"], ["via", "presente, poi via"]],
    [["moved", "there, then moved"], ["altrove", "presente, poi altrove"]],
];
const LOCATION: [[[&str; 2]; 2]; 8] = [
    [["gone", "there, then gone"], ["sparito", "presente, poi sparito"]],
    [["picked up", "there, then picked up"], ["preso", "presente, poi preso"]],
    [["put down", "there, then put down"], ["posato", "presente, poi posato"]],
    [["put on", "there, then put on"], ["messo su", "presente, poi messo su"]],
    [["taken off", "there, then taken off"], ["tolto", "presente, poi tolto"]],
    [["in a container", "there, then in a container"], ["in un contenitore", "presente, poi in un contenitore"]],
    [
        ["out of its container", "there, then out of its container"],
        ["fuori dal contenitore", "presente, poi fuori dal contenitore"],
    ],
    [["moved", "there, then moved"], ["spostato", "presente, poi spostato"]],
];

/// The label of a class. `None` for class 0, which has no meaning, and for classes that the attribute does not have.
pub fn label(attribute: Attribute, side: Side, class: u8, language: Language) -> Option<&'static str> {
    let value = usize::from(class).checked_sub(1)?;
    let language = usize::from(language == Language::Italian);
    match (of_attribute(attribute), attribute) {
        (Some(labels), _) => labels[language].get(value).copied(),
        (None, Attribute::Location) => {
            LOCATION.get(value).map(|labels| labels[language][usize::from(side == Side::Precondition)])
        }
        (None, _) => H_LOCATION.get(value).map(|labels| labels[language][usize::from(side == Side::Precondition)]),
    }
}

/// What an annotator's label means: "closed → open", "? → open", "picked up".
pub fn meaning(attribute: Attribute, annotated: u8, language: Language) -> String {
    let (before, after) = attribute.split(annotated);
    let word = |side, class| label(attribute, side, class, language).unwrap_or("?");
    match attribute {
        _ if annotated == 0 && language == Language::Italian => "niente da segnalare".into(),
        _ if annotated == 0 => "nothing to report".into(),
        Attribute::HLocation | Attribute::Location => word(Side::Effect, after).into(),
        _ => format!("{} → {}", word(Side::Precondition, before), word(Side::Effect, after)),
    }
}

/// What people call an attribute, as `templates/app/words.js` does in Italian.
pub const fn attribute_name(attribute: Attribute, language: Language) -> &'static str {
    use Attribute::*;
    let [english, italian] = match attribute {
        HLocation | Location => ["location", "luogo"],
        Conscious => ["conscious", "coscienza"],
        Wearing => ["dressed", "vestiti"],
        HWet | Wet => ["wet", "bagnato"],
        Hygiene | Clean => ["clean", "pulizia"],
        Exist => ["existence", "esistenza"],
        Power => ["power", "corrente"],
        Functional => ["working", "funzionamento"],
        Pieces => ["in pieces", "in pezzi"],
        Open => ["open", "apertura"],
        Temperature => ["temperature", "temperatura"],
        Solid => ["solid", "solidità"],
        Contain => ["contents", "contenuto"],
        Running => ["running", "in funzione"],
        Moveable => ["movable", "spostabile"],
        Mixed => ["mixed", "mescolato"],
        Edible => ["edible", "commestibile"],
    };
    match language {
        Language::English => english,
        Language::Italian => italian,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_but_0_has_a_label_of_its_own_in_both_languages() {
        let both = [Language::English, Language::Italian];
        let sides = Attribute::ALL.into_iter().flat_map(|a| Side::BOTH.map(|side| (a, side)));
        for ((attribute, side), language) in sides.flat_map(|place| both.map(|language| (place, language))) {
            let labels: Vec<_> = (0..=9).filter_map(|class| label(attribute, side, class, language)).collect();
            let mut distinct = labels.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(
                (labels.len(), distinct.len()),
                (attribute.classes() - 1, attribute.classes() - 1),
                "{attribute}"
            );
            assert!(label(attribute, side, 0, language).is_none());
        }
    }

    #[test]
    fn every_label_has_a_meaning_of_its_own() {
        for (attribute, language) in Attribute::ALL
            .into_iter()
            .flat_map(|a| [Language::English, Language::Italian].map(|language| (a, language)))
        {
            let labels = 0..=attribute.max_label();
            let mut meanings: Vec<_> = labels.map(|label| meaning(attribute, label, language)).collect();
            meanings.sort_unstable();
            meanings.dedup();
            assert_eq!(meanings.len(), usize::from(attribute.max_label()) + 1, "{attribute}");
        }
    }

    #[test]
    fn a_label_is_in_the_language_of_the_story() {
        let open = |language| label(Attribute::Open, Side::Effect, 2, language);
        assert_eq!([open(Language::English), open(Language::Italian)], [Some("open"), Some("aperto")]);
    }
}
