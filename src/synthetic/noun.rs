//! Nouns in both languages: articles, articulated prepositions, elision.

use crate::error::{Error, Result};

/// The grammatical number of a noun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Singular,
    Plural,
    /// Uncountable, such as "milk". Grammatically singular.
    Mass,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gender {
    Masculine,
    Feminine,
}

/// An English noun, such as "scissors, plural".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EnglishNoun {
    pub text: String,
    pub number: Number,
}

/// An Italian noun, such as "forbici, f plural".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ItalianNoun {
    pub text: String,
    pub gender: Gender,
    pub number: Number,
}

/// Italian prepositions. All but one fuse with the article.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preposition {
    A,
    Con,
    Da,
    Di,
    In,
    Su,
}

fn number(word: &str) -> Option<Number> {
    match word {
        "plural" => Some(Number::Plural),
        "mass" => Some(Number::Mass),
        _ => None,
    }
}

impl Number {
    pub fn is_plural(self) -> bool {
        self == Number::Plural
    }
}

impl EnglishNoun {
    /// # Errors
    /// `Config` if the description is not a noun, perhaps with "plural" or "mass".
    pub fn parse(text: &str) -> Result<Self> {
        let (noun, rest) = text.split_once(", ").unwrap_or((text, ""));
        let number = if rest.is_empty() { Some(Number::Singular) } else { number(rest) };
        match number {
            Some(number) if !noun.trim().is_empty() => Ok(EnglishNoun { text: noun.to_owned(), number }),
            _ => Err(Error::config(format!(
                "{text:?} is not an English noun; write \"cup\", \"milk, mass\" or \"socks, plural\""
            ))),
        }
    }

    /// With "a" or "an"; for a mass noun or a plural with "some".
    pub fn indefinite(&self) -> String {
        let article = match self.number {
            Number::Singular if self.starts_with_vowel_sound() => "an",
            Number::Singular => "a",
            Number::Plural | Number::Mass => "some",
        };
        format!("{article} {}", self.text)
    }

    /// By its pronunciation: "an hour", "a uniform".
    fn starts_with_vowel_sound(&self) -> bool {
        let text = self.text.to_lowercase();
        let silent_h = ["hour", "honest"].iter().any(|word| text.starts_with(word));
        let you = ["uni", "use", "eu", "one"].iter().any(|word| text.starts_with(word));
        silent_h || (text.starts_with(['a', 'e', 'i', 'o', 'u']) && !you)
    }
}

impl ItalianNoun {
    /// # Errors
    /// `Config` if the description is not a noun with its gender, perhaps with "plural" or "mass".
    pub fn parse(text: &str) -> Result<Self> {
        let parse = || {
            let (noun, rest) = text.split_once(", ")?;
            let (gender, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            let gender = match gender {
                "m" => Gender::Masculine,
                "f" => Gender::Feminine,
                _ => return None,
            };
            let number = if rest.is_empty() { Number::Singular } else { number(rest)? };
            (!noun.trim().is_empty()).then(|| ItalianNoun { text: noun.to_owned(), gender, number })
        };
        parse().ok_or_else(|| {
            Error::config(format!(
                "{text:?} is not an Italian noun; write \"tazza, f\", \"latte, m mass\" or \"scarpe, f plural\""
            ))
        })
    }

    /// il, lo, l', la, i, gli, le; with a space unless it is elided.
    fn article(&self) -> &'static str {
        use Gender::{Feminine, Masculine};
        match (self.gender, self.number.is_plural(), self.beginning()) {
            (_, false, Beginning::Vowel) => "l'",
            (Masculine, false, Beginning::Impure) => "lo ",
            (Masculine, false, Beginning::Consonant) => "il ",
            (Masculine, true, Beginning::Consonant) => "i ",
            (Masculine, true, _) => "gli ",
            (Feminine, false, _) => "la ",
            (Feminine, true, _) => "le ",
        }
    }

    pub fn definite(&self) -> String {
        format!("{}{}", self.article(), self.text)
    }

    /// With un, uno, una, un'; for a mass noun or a plural with the partitive del, dello ...
    pub fn indefinite(&self) -> String {
        use Gender::{Feminine, Masculine};
        if self.number != Number::Singular {
            return self.with(Preposition::Di);
        }
        let article = match (self.gender, self.beginning()) {
            (Masculine, Beginning::Impure) => "uno ",
            (Masculine, _) => "un ",
            (Feminine, Beginning::Vowel) => "un'",
            (Feminine, _) => "una ",
        };
        format!("{article}{}", self.text)
    }

    /// With a preposition and the definite article: "nel frigo", "dall'armadio", "con lo zaino".
    pub fn with(&self, preposition: Preposition) -> String {
        let stem = match preposition {
            Preposition::Con => return format!("con {}", self.definite()),
            Preposition::A => "a",
            Preposition::Da => "da",
            Preposition::Di => "de",
            Preposition::In => "ne",
            Preposition::Su => "su",
        };
        let ending = match self.article() {
            "il " => "l ",
            "lo " => "llo ",
            "la " => "lla ",
            "l'" => "ll'",
            "le " => "lle ",
            plural => plural,
        };
        format!("{stem}{ending}{}", self.text)
    }

    /// "la sua giacca"; for one relative without the article: "sua sorella".
    pub fn possessive(&self, is_relative: bool) -> String {
        let article = if self.gender == Gender::Feminine { "la " } else { "il " };
        let text = &self.text;
        match (self.gender, self.number.is_plural()) {
            (Gender::Masculine, true) => format!("i suoi {text}"),
            (Gender::Feminine, true) => format!("le sue {text}"),
            (gender, false) => {
                let own = if gender == Gender::Feminine { "sua" } else { "suo" };
                format!("{}{own} {text}", if is_relative { "" } else { article })
            }
        }
    }

    /// The ending of an agreeing participle or adjective in -o.
    pub fn ending(&self) -> char {
        ending(self.gender, self.number.is_plural())
    }

    fn beginning(&self) -> Beginning {
        let text = self.text.to_lowercase();
        let mut letters = text.chars();
        let (first, second) = (letters.next().unwrap_or(' '), letters.next().unwrap_or(' '));
        let is_vowel = |letter: char| "aeiouàèéìòù".contains(letter);
        match first {
            'i' | 'j' if text.starts_with("je") => Beginning::Consonant,
            'a' | 'e' | 'i' | 'o' | 'u' | 'h' => Beginning::Vowel,
            'z' | 'x' | 'y' => Beginning::Impure,
            's' if !is_vowel(second) => Beginning::Impure,
            'g' if second == 'n' => Beginning::Impure,
            'p' if second == 's' || second == 'n' => Beginning::Impure,
            _ => Beginning::Consonant,
        }
    }
}

/// o, a, i, e.
pub(super) fn ending(gender: Gender, plural: bool) -> char {
    match (gender, plural) {
        (Gender::Masculine, false) => 'o',
        (Gender::Feminine, false) => 'a',
        (Gender::Masculine, true) => 'i',
        (Gender::Feminine, true) => 'e',
    }
}

/// The beginning of an Italian noun, which decides its article.
enum Beginning {
    Vowel,
    /// s and a consonant, z, gn, ps, pn, x, y.
    Impure,
    Consonant,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn italian(text: &str) -> ItalianNoun {
        ItalianNoun::parse(text).unwrap()
    }

    #[test]
    fn italian_articles_follow_the_beginning_of_the_noun() {
        for (noun, definite, indefinite) in [
            ("frigo, m", "il frigo", "un frigo"),
            ("zaino, m", "lo zaino", "uno zaino"),
            ("specchio, m", "lo specchio", "uno specchio"),
            ("gnomo, m", "lo gnomo", "uno gnomo"),
            ("psicologo, m", "lo psicologo", "uno psicologo"),
            ("yogurt, m mass", "lo yogurt", "dello yogurt"),
            ("sapone, m mass", "il sapone", "del sapone"),
            ("armadio, m", "l'armadio", "un armadio"),
            ("arancia, f", "l'arancia", "un'arancia"),
            ("scatola, f", "la scatola", "una scatola"),
            ("acqua, f mass", "l'acqua", "dell'acqua"),
            ("occhiali, m plural", "gli occhiali", "degli occhiali"),
            ("stivali, m plural", "gli stivali", "degli stivali"),
            ("jeans, m plural", "i jeans", "dei jeans"),
            ("uova, f plural", "le uova", "delle uova"),
            ("shampoo, m mass", "lo shampoo", "dello shampoo"),
            ("hotel, m", "l'hotel", "un hotel"),
        ] {
            assert_eq!((italian(noun).definite(), italian(noun).indefinite()), (definite.into(), indefinite.into()));
        }
    }

    #[test]
    fn italian_prepositions_fuse_with_the_article() {
        use Preposition::{A, Con, Da, Di, In, Su};
        for (noun, preposition, expected) in [
            ("frigo, m", In, "nel frigo"),
            ("zaino, m", In, "nello zaino"),
            ("armadio, m", Da, "dall'armadio"),
            ("scatola, f", Da, "dalla scatola"),
            ("tavolo, m", Su, "sul tavolo"),
            ("occhiali, m plural", Con, "con gli occhiali"),
            ("specchio, m", A, "allo specchio"),
            ("scarpe, f plural", In, "nelle scarpe"),
            ("pantaloni, m plural", Di, "dei pantaloni"),
            ("stivali, m plural", Su, "sugli stivali"),
        ] {
            assert_eq!(italian(noun).with(preposition), expected);
        }
    }

    #[test]
    fn italian_possessives_and_endings_agree() {
        assert_eq!(italian("giacca, f").possessive(false), "la sua giacca");
        assert_eq!(italian("sorella, f").possessive(true), "sua sorella");
        assert_eq!(italian("calzini, m plural").possessive(false), "i suoi calzini");
        assert_eq!(italian("scarpe, f plural").possessive(false), "le sue scarpe");
        let endings = ["frigo, m", "porta, f", "piatti, m plural", "uova, f plural"].map(|noun| italian(noun).ending());
        assert_eq!(endings, ['o', 'a', 'i', 'e']);
    }

    #[test]
    fn english_articles_follow_the_sound() {
        for (noun, expected) in [
            ("apple", "an apple"),
            ("cup", "a cup"),
            ("uniform", "a uniform"),
            ("umbrella", "an umbrella"),
            ("hourglass", "an hourglass"),
            ("milk, mass", "some milk"),
            ("scissors, plural", "some scissors"),
        ] {
            assert_eq!(EnglishNoun::parse(noun).unwrap().indefinite(), expected);
        }
    }

    #[test]
    fn descriptions_that_are_no_nouns_are_refused() {
        for text in ["", "cup, many", ", plural"] {
            assert!(EnglishNoun::parse(text).is_err(), "{text}");
        }
        for text in ["tazza", "tazza, x", "tazza, f many", ", f"] {
            assert!(ItalianNoun::parse(text).is_err(), "{text}");
        }
    }
}
