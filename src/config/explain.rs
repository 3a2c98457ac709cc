//! What the parser's messages mean: the key that was probably meant.

use super::keys::has_key;
use crate::untrusted::toml_error;

/// The parser's message with line and column. For an unknown key it adds the key that was probably meant.
pub fn explain(source: &str, error: &toml::de::Error) -> String {
    let meant = key_of_section(error.message()).or_else(|| suggestion(error.message()).map(str::to_owned));
    let suggestion = meant.map(|key| format!("\ndid you mean `{key}`?")).unwrap_or_default();
    format!("{source}: {}{suggestion}", toml_error(error))
}

/// For "unknown field `epochs`, expected ..." at the top of a config: the key of that name in a section
/// (`train.epochs`).
fn key_of_section(message: &str) -> Option<String> {
    let (unknown, expected) = message.strip_prefix("unknown field `")?.split_once("`, expected ")?;
    let is_top = expected.contains("`encoder`") && expected.contains("`train`");
    let section = SECTIONS.into_iter().find(|section| is_top && has_key(section, unknown))?;
    Some(format!("{section}.{unknown}"))
}

/// The sections in which a key is looked for that stands at the top.
const SECTIONS: [&str; 6] = ["train", "train.adamw", "model", "model.detector", "loss", "checkpoint"];

/// For "unknown field `a`, expected one of `b`, `c`": the expected name that is nearest. A name that is longer than all
/// of ours has no near one.
fn suggestion(message: &str) -> Option<&str> {
    let (unknown, expected) = message.rsplit_once(", expected ")?;
    let unknown = unknown.strip_prefix("unknown field `").or_else(|| unknown.strip_prefix("unknown variant `"))?;
    let unknown = unknown.strip_suffix('`').filter(|unknown| unknown.len() < 100)?;
    let near = |name: &&str| strsim::jaro_winkler(unknown, name);
    let names = expected.split('`').skip(1).step_by(2);
    names.filter(|name| near(name) > 0.75).max_by(|a, b| near(a).total_cmp(&near(b)))
}
