//! Surface forms: reads and checks the notation of `en` and `it` in `actions.toml`.
//!
//! | written | said |
//! |---|---|
//! | `{opened\|opens}` | the first in stories told in the past, the second in stories told in the present |
//! | `{x}` | the thing with its definite article, or "his", "her" |
//! | `{the x}`, `{il x}` | never with a possessive |
//! | `{a x}`, `{un x}` | with the indefinite article, or "some", "del" |
//! | `{his x}`, `{suo x}`, `{a suo x}` | with the actor's possessive |
//! | `{bare x}` | the noun alone |
//! | `{in c}`, `{da c}`, `{su c}`, `{a c}`, `{di c}`, `{con c}` | Italian: with the articulated preposition |
//! | `{to r}`, `{at r}`, `{from r}` | the phrases of a place |
//! | `{x:was/were}` | the first if the thing is singular, the second if it is plural |
//! | `@`, `@x` | Italian: o, a, i, e, agreeing with the actor, with the thing |
//! | `+on {x}` | English: the particle of a verb, after the thing where that is a pronoun ("turned it on") |
//! | `{himself}` | English: himself, herself |
//! | `=` first | a sentence of its own, without the actor before it |

use super::claim::Role;
use super::noun::Preposition;
use crate::error::{Error, Result};
use crate::language::Language;

/// The form of a noun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Definite,
    /// With the definite article, never a possessive.
    The,
    Indefinite,
    Possessive,
    /// Italian "a sua sorella", "a un amico".
    ToPossessive,
    Bare,
    With(Preposition),
    To,
    At,
    From,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Tense {
        past: Vec<Piece>,
        present: Vec<Piece>,
    },
    Noun {
        role: Role,
        case: Case,
    },
    Number {
        role: Role,
        singular: String,
        plural: String,
    },
    /// An ending that agrees with the actor (`None`) or a role.
    Ending(Option<Role>),
    /// A particle: it comes before a noun, but after a pronoun.
    Particle(String),
    Himself,
}

/// One way to say an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    /// Whether the sentence begins with the actor.
    pub has_actor: bool,
    pieces: Vec<Piece>,
    /// The roles that it names, in order.
    named: Vec<Role>,
    /// The roles with an indefinite article, as if they were new.
    introduced: Vec<bool>,
    /// The roles for which a pronoun may stand.
    plain: Vec<bool>,
    /// The roles in a list of two: "the cup and the plate".
    paired: Vec<bool>,
}

impl Form {
    /// Reads a form. `roles` are the letters of the action's roles.
    ///
    /// # Errors
    /// `Config` if the notation is invalid, or belongs to another language.
    pub fn parse(text: &str, roles: &[char], language: Language) -> Result<Self> {
        let (has_actor, rest) = text.strip_prefix('=').map_or((true, text), |rest| (false, rest));
        let reader = Reader { text, roles, language };
        let pieces = reader.pieces(rest)?;
        let nouns = nouns(&pieces);
        let is = |role, cases: &dyn Fn(Case) -> bool| nouns.iter().any(|&(r, case)| r == role && cases(case));
        let mut named: Vec<Role> = nouns.iter().map(|&(role, _)| role).collect();
        let mut seen = Vec::new();
        named.retain(|role| {
            !seen.contains(role) && {
                seen.push(*role);
                true
            }
        });
        let introduced = (0..roles.len()).map(|role| is(role, &|case| case == Case::Indefinite)).collect();
        let is_plain = |case| matches!(case, Case::Definite | Case::The | Case::With(_));
        let plain = (0..roles.len()).map(|role| !is(role, &|case| !is_plain(case))).collect();
        let paired = (0..roles.len()).map(|role| is_paired(&pieces, role)).collect();
        Ok(Form { has_actor, pieces, named, introduced, plain, paired })
    }

    /// Whether the role's thing is named.
    pub fn names(&self, role: Role) -> bool {
        self.named.contains(&role)
    }

    /// The roles whose things are named, in order.
    pub fn named(&self) -> &[Role] {
        &self.named
    }

    /// Whether the role's thing has an indefinite article.
    pub fn introduces(&self, role: Role) -> bool {
        self.introduced[role]
    }

    /// Whether a pronoun may stand for the role's thing: it may for "the cup", but not for "the hot coffee".
    pub fn is_plain(&self, role: Role) -> bool {
        self.plain[role] && !self.paired[role]
    }

    /// Whether the role's thing is in a list of two.
    pub fn pairs(&self, role: Role) -> bool {
        self.paired[role]
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }
}

/// Whether the role is in "{x} and {y}" or "{x} e {y}".
fn is_paired(pieces: &[Piece], role: Role) -> bool {
    pieces.windows(3).any(|window| match window {
        [Piece::Noun { role: first, .. }, Piece::Text(text), Piece::Noun { role: second, .. }] => {
            [" and ", " e "].contains(&text.as_str()) && [*first, *second].contains(&role)
        }
        _ => false,
    })
}

/// The nouns in some pieces, in either tense.
fn nouns(pieces: &[Piece]) -> Vec<(Role, Case)> {
    let of = |piece: &Piece| match piece {
        Piece::Noun { role, case } => vec![(*role, *case)],
        Piece::Tense { past, present } => [nouns(past), nouns(present)].concat(),
        _ => Vec::new(),
    };
    pieces.iter().flat_map(of).collect()
}

struct Reader<'a> {
    text: &'a str,
    roles: &'a [char],
    language: Language,
}

impl Reader<'_> {
    fn wrong(&self, why: impl std::fmt::Display) -> Error {
        Error::config(format!("form {:?}: {why}", self.text))
    }

    fn pieces(&self, text: &str) -> Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}', '@', '+']) {
            if at > 0 {
                pieces.push(Piece::Text(rest[..at].to_owned()));
            }
            let mark = &rest[at..];
            rest = match mark.as_bytes()[0] {
                b'{' => {
                    let end = closing(mark).ok_or_else(|| self.wrong("a brace is not closed"))?;
                    pieces.push(self.braced(&mark[1..end])?);
                    &mark[end + 1..]
                }
                b'@' => {
                    if self.language != Language::Italian {
                        return Err(self.wrong("@ is allowed in Italian only"));
                    }
                    let role = mark[1..].chars().next().and_then(|letter| self.roles.iter().position(|&r| r == letter));
                    pieces.push(Piece::Ending(role));
                    &mark[if role.is_some() { 2 } else { 1 }..]
                }
                b'+' => {
                    let end = mark.find(' ').ok_or_else(|| self.wrong("a particle needs a noun after it"))?;
                    pieces.push(Piece::Particle(mark[1..end].to_owned()));
                    &mark[end + 1..]
                }
                _ => return Err(self.wrong("a closing brace has no opening brace")),
            };
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(pieces)
    }

    fn braced(&self, content: &str) -> Result<Piece> {
        if let Some((past, present)) = split_tense(content) {
            return Ok(Piece::Tense { past: self.pieces(past)?, present: self.pieces(present)? });
        }
        if let Some((role, numbers)) = content.split_once(':') {
            let (singular, plural) =
                numbers.split_once('/').ok_or_else(|| self.wrong("write the singular and the plural, {x:was/were}"))?;
            let role = self.role(role)?;
            return Ok(Piece::Number { role, singular: singular.to_owned(), plural: plural.to_owned() });
        }
        if content == "himself" && self.language == Language::English {
            return Ok(Piece::Himself);
        }
        let (case, role) = content.rsplit_once(' ').unwrap_or(("", content));
        let case = self.case(case).ok_or_else(|| self.wrong(format!("{case:?} can't stand before a noun")))?;
        Ok(Piece::Noun { role: self.role(role)?, case })
    }

    fn role(&self, word: &str) -> Result<Role> {
        let mut letters = word.chars();
        let letter = letters.next().filter(|_| letters.next().is_none());
        letter
            .and_then(|letter| self.roles.iter().position(|&role| role == letter))
            .ok_or_else(|| self.wrong(format!("{word:?} is not a role of this action")))
    }

    fn case(&self, word: &str) -> Option<Case> {
        match (self.language, word) {
            (_, "") => Some(Case::Definite),
            (_, "bare") => Some(Case::Bare),
            (_, "to") => Some(Case::To),
            (_, "at") => Some(Case::At),
            (Language::English, "the") | (Language::Italian, "il") => Some(Case::The),
            (Language::English, "a") | (Language::Italian, "un") => Some(Case::Indefinite),
            (Language::English, "his") | (Language::Italian, "suo") => Some(Case::Possessive),
            (Language::Italian, "a suo") => Some(Case::ToPossessive),
            (Language::Italian, "from") => Some(Case::From),
            (Language::Italian, "a") => Some(Case::With(Preposition::A)),
            (Language::Italian, "con") => Some(Case::With(Preposition::Con)),
            (Language::Italian, "da") => Some(Case::With(Preposition::Da)),
            (Language::Italian, "di") => Some(Case::With(Preposition::Di)),
            (Language::Italian, "in") => Some(Case::With(Preposition::In)),
            (Language::Italian, "su") => Some(Case::With(Preposition::Su)),
            _ => None,
        }
    }
}

/// The index of the brace that closes the one at the beginning of `text`.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => {}
        }
    }
    None
}

/// The two sides of a `|` that is not inside an inner brace.
fn split_tense(content: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (i, c) in content.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            '|' if depth == 0 => return Some((&content[..i], &content[i + 1..])),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read() {
        let form = Form::parse("{è salit@|sale} {su x} rott@x", &['x'], Language::Italian).unwrap();
        let text = |text: &str| Piece::Text(text.to_owned());
        assert_eq!(
            form.pieces(),
            [
                Piece::Tense { past: vec![text("è salit"), Piece::Ending(None)], present: vec![text("sale")] },
                text(" "),
                Piece::Noun { role: 0, case: Case::With(Preposition::Su) },
                text(" rott"),
                Piece::Ending(Some(0)),
            ]
        );
        assert!(form.has_actor && form.names(0));
        let bare = Form::parse("=It rained.", &['x'], Language::English).unwrap();
        assert!(!bare.has_actor && !bare.names(0));
    }

    #[test]
    fn wrong_forms_are_refused() {
        for (text, reason) in [
            ("opened {x", "not closed"),
            ("opened x}", "no opening brace"),
            ("opened {y}", "not a role"),
            ("opened {nel x}", "can't stand before a noun"),
            ("opened@", "in Italian only"),
            ("{x:was}", "plural"),
        ] {
            let error = Form::parse(text, &['x'], Language::English).unwrap_err();
            assert!(error.message.contains(reason), "{error}");
        }
    }
}
