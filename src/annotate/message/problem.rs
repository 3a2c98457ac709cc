//! What annotators can't do.

use super::InWords;
use crate::annotate::op::Direction;
use crate::untrusted::{MAX_ENTITIES, MAX_NAME, MAX_SENTENCES};

/// Characters of a sentence.
pub(in crate::annotate) const MAX_SENTENCE: usize = 2000;

/// Why an edit can't be made, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // their names say it
pub enum EditProblem {
    NoStory {
        story: String,
    },
    NoSentence {
        story: String,
        id: u32,
    },
    NoEntity {
        story: String,
        id: u32,
    },
    NoEntityNamed {
        story: String,
        name: String,
    },
    NothingToGoTo {
        who: String,
        direction: Direction,
    },
    PlausibleIsGone {
        story: String,
    },
    /// Another entity has the name.
    NameIsTaken {
        name: String,
    },
    /// Another entity got the name since.
    NameIsTakenByNow {
        name: String,
    },
    NoName,
    LongName,
    LongSentence,
    ManySentences,
    ManyEntities,
    /// Plausible stories have no sentences instead of others.
    ReplacedInPlausible,
    /// Plausible stories have no sentences of their own.
    OwnInPlausible,
    ConflictInPlausible,
    ConflictOfOne,
    /// The page has seen more than there is.
    PageIsAhead {
        seen: u64,
        revision: u64,
    },
    /// What was found instead of a story file.
    NoStoryFile {
        message: String,
    },
    /// What a model would have to read, too long for it.
    TooLongForRun {
        message: String,
    },
    NothingToPropose,
    /// The plausible story of a version lacks them.
    PlausibleLacks {
        plausible: String,
    },
    RequestTooLarge,
    JournalIsFull {
        path: String,
    },
}

impl EditProblem {
    /// What went wrong, in a word for programs.
    pub fn kind(&self) -> &'static str {
        use EditProblem as E;
        match self {
            E::NoStory { .. } | E::NoSentence { .. } | E::NoEntity { .. } | E::NoEntityNamed { .. } => "gone",
            E::NothingToGoTo { .. } | E::PlausibleIsGone { .. } => "gone",
            _ => "data",
        }
    }
}

impl InWords for EditProblem {
    fn english(&self) -> String {
        use EditProblem as E;
        let problem = match self {
            E::NoStory { story } => return format!("there is no story {story:?}; it may have been removed"),
            E::NoSentence { story, id } => {
                return format!("story {story} has no sentence with id {id}; it may have been removed");
            }
            E::NoEntity { story, id } => {
                return format!("story {story} has no entity with id {id}; it may have been removed");
            }
            E::NoEntityNamed { story, name } => {
                return format!("story {story} has no entity named {name:?}; add it first");
            }
            E::NothingToGoTo { who, direction } => return format!("{who} has nothing to {} here", direction.name()),
            E::PlausibleIsGone { story } => return format!("the plausible story of {story} was removed"),
            E::NameIsTaken { name } => {
                return format!("another entity of these stories is named {name:?}; use that one");
            }
            E::NameIsTakenByNow { name } => {
                return format!("another entity of these stories is named {name:?} by now; rename that one first");
            }
            E::NoName => "an entity needs a name",
            E::LongName => return format!("a name has at most {MAX_NAME} characters"),
            E::LongSentence => return format!("a sentence has more than {MAX_SENTENCE} characters; shorten it"),
            E::ManySentences => return format!("a story has at most {MAX_SENTENCES} sentences"),
            E::ManyEntities => return format!("a story has at most {MAX_ENTITIES} entities"),
            E::ReplacedInPlausible => "a sentence is replaced in a version only; correct it with `text`",
            E::OwnInPlausible => "a plausible story shares its sentences; give a version a copy of its own",
            E::ConflictInPlausible => "a plausible story has no conflict; make a version of it first",
            E::ConflictOfOne => "a conflict has two sentences; mark two different ones, or none",
            E::PageIsAhead { seen, revision } => {
                return format!(
                    "the page has seen revision {seen}, but the project has {revision}; load the page again"
                );
            }
            E::NoStoryFile { message } | E::TooLongForRun { message } => message,
            E::PlausibleLacks { plausible } => {
                return format!(
                    "a model also reads the plausible story, {plausible}; add sentences and entities there first"
                );
            }
            E::NothingToPropose => "a model needs the sentences and the entities of the story; add them first",
            E::RequestTooLarge => "the request is too large; send less text",
            E::JournalIsFull { path } => {
                return format!("{path}: is full; export the stories, and import them into a new project");
            }
        };
        problem.into()
    }

    fn italian(&self) -> String {
        use EditProblem as E;
        let problem = match self {
            E::NoStory { story } => return format!("la storia {story} non c'è; forse è stata tolta"),
            E::NoSentence { story, .. } => {
                return format!("questa frase non è nella storia {story}; forse è stata tolta");
            }
            E::NoEntity { story, .. } => {
                return format!("questa entità non è nella storia {story}; forse è stata tolta");
            }
            E::NoEntityNamed { story, name } => {
                return format!("nella storia {story} nessuna entità si chiama “{name}”; prima aggiungila");
            }
            E::NothingToGoTo { who, direction } => {
                let what = if *direction == Direction::Undo { "annullare" } else { "ripetere" };
                return format!("qui {who} non ha niente da {what}");
            }
            E::PlausibleIsGone { story } => return format!("la storia plausibile di {story} è stata tolta"),
            E::NameIsTaken { name } => {
                return format!("un'altra entità di queste storie si chiama “{name}”; usa quella");
            }
            E::NameIsTakenByNow { name } => {
                return format!(
                    "intanto un'altra entità di queste storie si chiama “{name}”; prima cambia il nome di quella"
                );
            }
            E::NoName => "un'entità ha bisogno di un nome",
            E::LongName => return format!("un nome ha al massimo {MAX_NAME} caratteri"),
            E::LongSentence => return format!("una frase ha più di {MAX_SENTENCE} caratteri; accorciala"),
            E::ManySentences => return format!("una storia ha al massimo {MAX_SENTENCES} frasi"),
            E::ManyEntities => return format!("una storia ha al massimo {MAX_ENTITIES} entità"),
            E::ReplacedInPlausible => "una frase si sostituisce solo in una versione; qui correggila",
            E::OwnInPlausible => "una storia plausibile condivide le sue frasi; dai a una versione una copia sua",
            E::ConflictInPlausible => "una storia plausibile non ha conflitto; prima creane una versione",
            E::ConflictOfOne => "un conflitto ha due frasi; segnane due diverse, o nessuna",
            E::PageIsAhead { seen, revision } => {
                return format!(
                    "la pagina ha visto la revisione {seen}, ma il progetto è alla {revision}; ricarica la pagina"
                );
            }
            E::NoStoryFile { .. } => "questo non è un file di storie in JSON; scegline un altro",
            E::TooLongForRun { .. } => "la storia, o una sua frase, è troppo lunga per il modello; accorciala",
            E::PlausibleLacks { plausible } => {
                return format!("prima aggiungi frasi ed entità alla storia {plausible}");
            }
            E::NothingToPropose => "un modello ha bisogno delle frasi e delle entità della storia; prima aggiungile",
            E::RequestTooLarge => "il testo è troppo grande; mandane meno alla volta",
            E::JournalIsFull { .. } => "il progetto è pieno; esporta le storie e importale in un progetto nuovo",
        };
        problem.into()
    }
}
