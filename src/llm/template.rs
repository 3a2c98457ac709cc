//! A model's own chat template: Jinja, rendered as `transformers` renders it.

use crate::durable::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::untrusted::{self, MAX_CONFIG, json_error, shown};
use minijinja::{Environment, ErrorKind as JinjaKind, Value as Jinja, context};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// The date that templates print: the one that Llama-3.1's prints by default. The real date would change the prompts
/// every day.
const DATE: &str = "26 Jul 2024";

/// The name of the template inside the engine.
const NAME: &str = "chat_template";

/// How many steps a template may take: a hundred times those of a long conversation, and less than a second's.
const MOST_STEPS: u64 = 5_000_000;

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// "system", "user" or "assistant".
    pub role: &'static str,
    /// The text of the turn.
    pub content: String,
}

impl Message {
    /// A turn that instructs the model.
    pub fn system(content: impl Into<String>) -> Self {
        Message { role: "system", content: content.into() }
    }

    /// A turn that asks.
    pub fn user(content: impl Into<String>) -> Self {
        Message { role: "user", content: content.into() }
    }

    /// A turn that answers: that of a shot.
    pub fn assistant(content: impl Into<String>) -> Self {
        Message { role: "assistant", content: content.into() }
    }
}

/// A chat template with the special tokens that it may print.
#[derive(Debug, Clone)]
pub struct ChatTemplate {
    engine: Arc<Environment<'static>>,
    source: Arc<str>,
    bos_token: String,
    eos_token: String,
    takes_system: bool,
}

impl ChatTemplate {
    /// Compiles a template, and tries whether it takes a system turn.
    ///
    /// # Errors
    /// `Config` if it is not valid Jinja, or can't render a conversation of one user turn.
    pub fn new(source: &str, bos_token: &str, eos_token: &str) -> Result<Self> {
        let mut engine = engine();
        let compiled = engine.add_template_owned(NAME, without_generation_tags(source));
        compiled.map_err(|error| wrong(&error))?;
        let (engine, source) = (Arc::new(engine), Arc::from(source));
        let (bos_token, eos_token) = (bos_token.to_owned(), eos_token.to_owned());
        let mut template = ChatTemplate { engine, source, bos_token, eos_token, takes_system: true };
        template.conversation(&[Message::user("a")]).map_err(|error| wrong(&error))?;
        // A template that refuses a system turn fails; one that does not know it leaves its words out.
        let mark = "an instruction";
        let tried = template.conversation(&[Message::system(mark), Message::user("a")]);
        template.takes_system = tried.is_ok_and(|text| text.contains(mark));
        Ok(template)
    }

    /// Reads `tokenizer_config.json` (its `chat_template`, the one called "default" if there are several), or a file of
    /// Jinja, with the special tokens of the `tokenizer_config.json` beside it, if there is one.
    ///
    /// # Errors
    /// `MissingInput` or `Io` if the file can't be read; `Config` if it has no template, or an invalid one.
    pub fn read(path: &Path) -> Result<Self> {
        let text = text(path)?;
        let about = |error: Error| error.about(path.display());
        let is_config = path.extension().is_some_and(|extension| extension == "json");
        if is_config {
            let config = json(path, &text)?;
            let beside = path.with_file_name("chat_template.jinja");
            let source = match template_of(&config) {
                Some(source) => source,
                None if beside.is_file() => self::text(&beside)?,
                None => {
                    return Err(about(Error::config(
                        "has no `chat_template`; name a file of Jinja, or prompt plainly",
                    )));
                }
            };
            return Self::new(&source, &token(&config, "bos_token"), &token(&config, "eos_token")).map_err(about);
        }
        let beside = path.with_file_name("tokenizer_config.json");
        let config = if beside.is_file() { json(&beside, &self::text(&beside)?)? } else { Value::Null };
        Self::new(&text, &token(&config, "bos_token"), &token(&config, "eos_token")).map_err(about)
    }

    /// The conversation up to where the model's answer begins. If the template takes no system turn, the instruction
    /// stands before the first user turn, after which comes a line end.
    ///
    /// # Errors
    /// `Config` if the template fails.
    ///
    /// # Panics
    /// If there are no turns.
    pub fn render(&self, instruction: &str, mut turns: Vec<Message>) -> Result<String> {
        if self.takes_system {
            turns.insert(0, Message::system(instruction));
        } else {
            let first = turns.first_mut().expect("a question");
            first.content = format!("{instruction}\n{}", first.content);
        }
        self.conversation(&turns).map_err(|error| wrong(&error))
    }

    /// SHA-256 of the source.
    pub fn sha256(&self) -> String {
        sha256(self.source.as_bytes())
    }

    /// The Jinja text as it was given.
    pub fn source(&self) -> &str {
        &self.source
    }

    fn conversation(&self, messages: &[Message]) -> Result<String, minijinja::Error> {
        self.engine.get_template(NAME)?.render(context! {
            messages => messages,
            add_generation_prompt => true,
            bos_token => self.bos_token,
            eos_token => self.eos_token,
            date_string => DATE,
            enable_thinking => false,
            tools => (),
            documents => (),
        })
    }
}

/// Jinja with the settings and functions that `transformers` gives to templates.
fn engine() -> Environment<'static> {
    let mut engine = Environment::new();
    engine.set_fuel(Some(MOST_STEPS));
    engine.set_trim_blocks(true);
    engine.set_lstrip_blocks(true);
    engine.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    engine.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    engine.add_function("raise_exception", |message: String| -> Result<Jinja, minijinja::Error> {
        Err(minijinja::Error::new(JinjaKind::InvalidOperation, message))
    });
    engine.add_function("strftime_now", date);
    // As in Python, none can't be iterated over.
    engine.add_test("iterable", |value: &Jinja| !value.is_none() && value.try_iter().is_ok());
    engine
}

/// `transformers` marks the assistant's text by tags of its own, `{% generation %}` and `{% endgeneration %}`. They print
/// nothing, so a condition that always holds stands for them.
fn without_generation_tags(source: &str) -> String {
    let mut parts = source.split("{%");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (tag, rest) = part.split_once("%}").unwrap_or((part, ""));
        let word = tag.trim_matches(|c: char| c.is_whitespace() || "-+".contains(c));
        let instead = match word {
            "generation" => tag.replace(word, "if true"),
            "endgeneration" => tag.replace(word, "endif"),
            _ => tag.to_owned(),
        };
        text += &format!("{{%{instead}");
        if part.len() > tag.len() {
            text += &format!("%}}{rest}");
        }
    }
    text
}

/// The fixed date in Python's format codes of days, months and years.
fn date(format: &str) -> String {
    let codes = [
        ("%Y", "2024"),
        ("%y", "24"),
        ("%m", "07"),
        ("%b", "Jul"),
        ("%B", "July"),
        ("%d", "26"),
        ("%e", "26"),
        ("%A", "Friday"),
        ("%a", "Fri"),
        ("%H", "00"),
        ("%M", "00"),
        ("%S", "00"),
    ];
    codes.into_iter().fold(format.to_owned(), |text, (code, value)| text.replace(code, value))
}

fn wrong(error: &minijinja::Error) -> Error {
    let line = error.line().map_or(String::new(), |line| format!(" in line {line}"));
    if error.kind() == JinjaKind::OutOfFuel {
        let why = format!("it does not end within {MOST_STEPS} steps; name another, or prompt plainly");
        return Error::config(format!("the chat template fails{line}: {why}"));
    }
    Error::config(format!(
        "the chat template fails{line}: {}; name another, or prompt plainly",
        shown(&error.to_string(), 300)
    ))
}

fn text(path: &Path) -> Result<String> {
    let bytes = untrusted::read(path, MAX_CONFIG << 4).map_err(|error| Error::reading(path, &error))?;
    let text = untrusted::text(&bytes).map_err(|problem| Error::config(problem).about(path.display()))?;
    Ok(text.to_owned())
}

fn json(path: &Path, text: &str) -> Result<Value> {
    let wrong =
        |error| Error::new(ErrorKind::Config, format!("{}: {}", path.display(), json_error(&error))).caused_by(error);
    serde_json::from_str(text).map_err(wrong)
}

/// `chat_template` is a text, or a list of `{name, template}`.
fn template_of(config: &Value) -> Option<String> {
    let template = match &config["chat_template"] {
        Value::Array(named) => {
            let default = named.iter().find(|template| template["name"] == "default");
            &default.or(named.first())?["template"]
        }
        template => template,
    };
    template.as_str().map(str::to_owned)
}

/// A token is a text, or an object with `content`; empty if there is none.
fn token(config: &Value, name: &str) -> String {
    let token = &config[name];
    token.as_str().or_else(|| token["content"].as_str()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_that_does_not_end_is_an_error() {
        let rows = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}";
        let error = ChatTemplate::new(&format!("{{{{ messages[0].content }}}}\n{rows}"), "", "").unwrap_err();
        assert!(error.kind == ErrorKind::Config && error.message.contains("does not end within"), "{error}");
        let few = "{% for a in range(9000) %}{% endfor %}{{ messages[0].content }}";
        assert!(ChatTemplate::new(few, "", "").is_ok());
    }
}
