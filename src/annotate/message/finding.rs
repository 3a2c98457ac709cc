//! What `tiered data check` finds, for annotators: they know sentences by their numbers, and no fields.

use super::InWords;
use crate::data::{Code, Finding, Severity};

/// A finding about a story file that is imported, with its place.
#[derive(Debug, Clone, Copy)]
pub struct FindingLine<'f>(pub &'f Finding);

impl InWords for FindingLine<'_> {
    fn english(&self) -> String {
        self.0.to_string()
    }

    fn italian(&self) -> String {
        let FindingLine(finding) = self;
        let severity = match finding.severity {
            Severity::Error => "errore",
            Severity::Warning => "avviso",
            Severity::Note => "nota",
        };
        let parts = [&finding.split, &finding.story].into_iter().filter(|part| !part.is_empty());
        let mut place = parts.map(String::as_str).collect::<Vec<_>>().join("/");
        if !finding.field.is_empty() {
            place += &format!(" {}", finding.field);
        }
        format!("{place}: {severity}: {}", italian_of(finding))
    }
}

/// The position of the sentence that a field such as `states[3].open[1]` or `sentences[3]` is about.
pub(in crate::annotate) fn position(field: &str) -> Option<usize> {
    let rest = field.strip_prefix("states[").or_else(|| field.strip_prefix("sentences["))?;
    rest.split(']').next()?.parse().ok()
}

/// The message with what it is about, which the place of the finding says otherwise.
pub(super) fn english_hint(finding: &Finding) -> String {
    let Finding { code, field, message, .. } = finding;
    match (code, sentence(finding)) {
        (Code::EmptySentence | Code::GarbledText, Some(n)) => format!("sentence {n} {message}"),
        (Code::GarbledText, None) => format!("a name {message}"),
        (Code::NoBreakpoint | Code::SameSentences, _) => format!("the {field} {message}"),
        _ => message.clone(),
    }
}

/// The number of the sentence whose text a finding is about.
fn sentence(finding: &Finding) -> Option<usize> {
    position(&finding.field).filter(|_| finding.field.starts_with("sentences[")).map(|position| position + 1)
}

/// What was found.
pub(super) fn italian_of(finding: &Finding) -> String {
    let sentence = || sentence(finding).map_or("una frase".into(), |n| format!("la frase {n}"));
    match (finding.code, finding.quoted.as_slice()) {
        (Code::EmptySentence, _) => format!("{} è vuota; scrivila o toglila", sentence()),
        (Code::GarbledText, _) if finding.field.starts_with("sentences[") => {
            format!("{} ha caratteri sbagliati, letti con una codifica diversa; riscrivila", sentence())
        }
        (Code::SimilarNames, [one, other]) => {
            format!("“{one}” e “{other}” sono lette come due entità; se sono una sola, scrivile allo stesso modo")
        }
        (code, _) => italian_meaning(code).into(),
    }
}

/// What a code means, and what is done or to be done.
const fn italian_meaning(code: Code) -> &'static str {
    match code {
        Code::WrongType => "il tipo di questo valore è sbagliato; correggilo",
        Code::MissingField => "manca un campo; aggiungilo",
        Code::NoSentences => "la storia non ha frasi; aggiungile",
        Code::NoEntities => "la storia non ha entità; aggiungile",
        Code::EmptyName => "un'entità non ha nome; dalle un nome o togli l'etichetta",
        Code::UnknownAttribute => "questo non è uno dei 20 attributi; toglilo o correggilo",
        Code::LabelOutOfRange => "l'attributo non ha questa etichetta; correggila",
        Code::BreakpointOutOfRange => "questa frase del conflitto non c'è nella storia; correggi il numero",
        Code::NoEvidence => "nel conflitto manca la frase che viene prima; segna di nuovo il conflitto",
        Code::NoBreakpoint => "nessun conflitto è segnato; segna le sue due frasi",
        Code::UnknownKind => "il tipo della storia non è né cloze né ordine; correggilo",
        Code::NoPlausibleStory => "la storia plausibile di questa versione non c'è; aggiungila",
        Code::TooLarge => "un nome o una storia è troppo grande; accorcia o dividi il file",
        Code::TooManyFindings => "i problemi sono troppi, il resto del file non è letto; prima correggi questi",
        Code::RepeatedSplit => "il nome di questa parte è ripetuto; la seconda ha un altro nome",
        Code::RepeatedKey => "il nome di questa storia è ripetuto; la seconda ha un altro nome",
        Code::RepeatedField => "un campo è ripetuto; vale l'ultimo",
        Code::AssumedField => "manca un campo; il suo valore è ricavato dal resto",
        Code::IgnoredField => "il tipo di questo campo è sbagliato; è letto come vuoto",
        Code::PlausibleContradicted => "il campo contraddice il conflitto; vale il conflitto",
        Code::TypeContradicted => "il tipo contraddice il nome della storia o il conflitto; valgono questi",
        Code::KeyContradicted => "il nome della storia contraddice il conflitto; vale il conflitto",
        Code::InferredKind => "il tipo è ricavato dal confronto con la storia plausibile",
        Code::GroupDiffers => "il numero non è quello nel nome della storia; vale questo numero",
        Code::ExampleIdDiffers => "il campo non è il nome della storia; vale il nome",
        Code::LengthDiffers => "il campo non è il numero delle frasi; vale il numero delle frasi",
        Code::EmptySentence => "una frase è vuota",
        Code::MissingStateRows => "le etichette sono meno delle frasi; le ultime frasi restano senza",
        Code::ExtraStateRows => "le etichette sono più delle frasi; le ultime etichette non sono lette",
        Code::NoStateLabels => "la storia non ha etichette",
        Code::NestedConflSents => "il campo contiene liste; sono lette come una sola",
        Code::IgnoredEvidence => "una frase del conflitto non viene prima dell'altra; è ignorata",
        Code::MergedNames => {
            "nomi che differiscono solo per gli spazi o per come sono scritti gli accenti sono letti come una sola entità"
        }
        Code::SimilarNames => "due nomi sono quasi uguali; se sono una sola entità, scrivili allo stesso modo",
        Code::RepeatedLabel => "un'entità ha due etichette diverse per un attributo in una frase; vale l'ultima",
        Code::SameSentences => "le frasi sono quelle della storia plausibile, nello stesso ordine; cambiane una",
        Code::MisspeltField => "questo campo non è noto; il suo nome è quasi quello di un campo che manca",
        Code::GarbledText => "un nome ha caratteri sbagliati, letti con una codifica diversa; riscrivilo",
        Code::SecondPlausibleStory => "il gruppo ha un'altra storia plausibile; le coppie usano la prima",
        Code::PaddedName => "gli spazi intorno a un nome sono tolti",
        Code::PaddedSentence => "gli spazi intorno a una frase sono tolti",
        Code::OddConflPairs => "le coppie del conflitto non corrispondono alle frasi del conflitto; non sono usate",
        Code::UnannotatedSentence => "in questa frase nessuna entità ha etichette",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_meaning_of_its_own() {
        let mut meanings: Vec<_> = Code::ALL.iter().map(|code| italian_meaning(*code)).collect();
        meanings.sort_unstable();
        meanings.dedup();
        assert_eq!(meanings.len(), Code::ALL.len());
    }
}
