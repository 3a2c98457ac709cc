//! The config of a run: a TOML file, read strictly, with the `--set` overrides applied to it.
//!
//! The structs in `schema` and the files of its sections declare the keys: types, defaults, meanings, what happens at
//! resume. `keys` lists them; `docs/config.md` is written from it. `validate` checks values, `explain` says what was
//! probably meant.

mod assign;
mod check;
mod data;
mod encoder;
mod expand;
mod explain;
mod keys;
mod model;
mod schema;
mod source;
mod validate;

pub use data::{DataConfig, Sources};
pub use encoder::{EncoderSource, Freeze};
pub use expand::expand;
pub use explain::explain;
pub use keys::{ConfigKey, ResumePolicy, json_schema, keys};
pub use model::{ModelOptions, OutputBias};
pub use schema::Config;
pub use source::{DataSource, SyntheticStories};

use crate::error::{Error, Result};
use crate::untrusted::{self, MAX_CONFIG};
use assign::set;
use std::path::Path;
use toml::Table;

impl Config {
    /// Reads a config file and applies `key=value` overrides.
    ///
    /// # Errors
    /// `MissingInput`, or `Config` with the file, the line, the key, and the key that was probably meant.
    pub fn open(path: &Path, overrides: &[String]) -> Result<Self> {
        let bytes = untrusted::read(path, MAX_CONFIG).map_err(|error| match error.kind() {
            std::io::ErrorKind::FileTooLarge => Error::config(format!("{}: not a config: {error}", path.display())),
            _ => Error::reading(path, &error),
        })?;
        Self::parse(path, &bytes, overrides)
    }

    /// The config in the bytes of a file, with the overrides. `path` is named in errors.
    ///
    /// # Errors
    /// `Config`, like [`Config::open`].
    pub fn parse(path: &Path, bytes: &[u8], overrides: &[String]) -> Result<Self> {
        let text = untrusted::text(bytes).map_err(|problem| Error::config(problem).about(path.display()))?;
        let invalid =
            |error: toml::de::Error| Error::config(explain(&path.display().to_string(), &error)).caused_by(error);
        let mut table: Table = toml::from_str(text).map_err(invalid)?;
        if overrides.is_empty() {
            return Self::checked(toml::from_str(text).map_err(invalid)?, &path.display().to_string());
        }
        for assignment in overrides {
            set(&mut table, assignment)?;
        }
        let source = format!("{} with --set", path.display());
        let config = table.try_into().map_err(|error| Error::config(explain(&source, &error)).caused_by(error))?;
        Self::checked(config, &source)
    }

    fn checked(config: Config, source: &str) -> Result<Self> {
        let valid = config.validate();
        valid.map_err(|problem| Error::config(format!("{source}: {problem}")))?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINIMAL: &str = "[encoder]\npath = 'e'\n[data]\ntrain = { file = 'f', split = 'train' }\n";

    fn open(text: &str, overrides: &[&str]) -> Result<Config> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), text).expect("written");
        Config::open(file.path(), &overrides.iter().map(|o| o.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn defaults_are_the_papers() {
        let config = open(MINIMAL, &[]).unwrap();
        assert_eq!(config.train.pairs_per_step, 1);
        assert_eq!((config.loss.preconditions, config.loss.conflicts, config.loss.story), (0.4, 0.2, 0.));
        assert_eq!(config.model.detector.width, 512);
    }

    #[test]
    fn overrides_are_typed() {
        let config =
            open(MINIMAL, &["train.epochs=3", "train.schedule=linear", "encoder.freeze=[\"layers:2\"]"]).unwrap();
        assert_eq!((config.train.epochs, config.train.schedule), (3, crate::train::Schedule::Linear));
        assert_eq!(config.encoder.freeze, [Freeze::Layers(2)]);
    }

    #[test]
    fn an_empty_value_restores_the_default() {
        let text = format!("init_from = 'r'\n{MINIMAL}dev = {{ file = 'f', split = 'dev' }}\n[train]\nepochs = 3\n");
        let config = open(&text, &["init_from=", "data.dev=\"\"", "train.epochs=", "threads="]).unwrap();
        assert_eq!(config, open(MINIMAL, &[]).unwrap());
        assert_eq!(open(&text, &["train="]).unwrap().train, config.train);
        assert_eq!(
            open(MINIMAL, &["data.dev.kind=", "data.train.synthetic.seed="]).unwrap(),
            config,
            "no section is made"
        );
        let refused = |assignment: &str| open(&text, &[assignment]).unwrap_err().message;
        assert!(refused("encoder=").contains("encoder"), "{}", refused("encoder="));
        assert!(refused("train.epoch=").contains("did you mean `epochs`?"), "{}", refused("train.epoch="));
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_a_suggestion() {
        let error = open(&format!("{MINIMAL}[train]\nlearning_rat = 1\n"), &[]).unwrap_err().message;
        assert!(error.contains("line 6") && error.contains("did you mean `learning_rate`?"), "{error}");
        let error = open(MINIMAL, &["train.epoch=1"]).unwrap_err().message;
        assert!(error.contains("did you mean `epochs`?"), "{error}");
        for key in ["train.epochs", "train.patience", "model.detector.width", "loss.story", "checkpoint.keep"] {
            let assignment = format!("{}=1", key.rsplit('.').next().unwrap());
            let error = open(MINIMAL, &[&assignment]).unwrap_err().message;
            assert!(error.contains(&format!("did you mean `{key}`?")), "{error}");
        }
    }

    #[test]
    fn a_type_is_named_in_plain_words() {
        let error = open(MINIMAL, &["train.epochs=three"]).unwrap_err().message;
        assert!(error.contains("expected a whole number"), "{error}");
    }

    #[test]
    fn impossible_values_are_refused() {
        for bad in [
            "train.epochs=0",
            "train.epochs=9223372036854775807",
            "checkpoint.keep=0",
            "checkpoint.every=often",
            "train.learning_rate=-1",
            "model.dropout=1.0",
            "model.max_sentences=1025",
            "train.adamw.epsilon=1e-46",
            "train.adamw.beta2=0.99999999",
            "model.detector.heads=7",
            "seed=-1",
            "loss.single_story=0.1",
            "model.detector.entities=true",
            "model.detector.sentence_layers=1",
            "model.detector={ kind = 'joint', standardize = true }",
            "model.detector.context='story'",
            "model.detector={ kind = 'joint', context = 'story', inputs = 'states' }",
            "model.detector={ kind = 'joint', norm = 'before' }",
            "model.detector={ kind = 'joint', residual_scale = 0.1 }",
            "model.detector.residual_scale=-1",
            "train.entities=0",
            "train.patience=0",
            "train.state_sample_ratio=0",
            "train.state_sample_ratio=0.5",
            "data.train.weight=0",
            "data.train.last_epoch=1",
            "data.train.first_epoch=0",
            "data.train=[]",
            "data.dev={ file = 'f', split = 's', weight = 1.0 }",
        ] {
            let error = open(MINIMAL, &[bad]).unwrap_err();
            assert_eq!(error.kind, crate::error::ErrorKind::Config, "{bad}");
            assert!(!error.message.contains("unknown field"), "{bad}: {}", error.message);
        }
        // The joint detector has no width that its heads would have to divide.
        assert!(open(MINIMAL, &["model.detector={ kind = 'joint', heads = 12 }"]).is_ok());
    }

    #[test]
    fn a_variable_that_names_itself_does_not_hang() {
        // SAFETY: no other test reads or writes this variable.
        unsafe { std::env::set_var("TIERED_TEST_SELF", "${TIERED_TEST_SELF}") };
        let expanded = expand(Path::new("a/${TIERED_TEST_SELF}/${TIERED_TEST_SELF}/b")).unwrap();
        assert_eq!(expanded, Path::new("a/${TIERED_TEST_SELF}/${TIERED_TEST_SELF}/b"));
    }

    #[test]
    fn several_sources_read_back_equal_and_refuse_unknown_keys() {
        let list = |extra: &str| {
            format!(
                "[encoder]\npath = 'e'\n[[data.train]]\nfile = 'synthetic'\nsplit = 'train'\nweight = 0.5\nlast_epoch = 2\n{extra}\
                 [[data.train]]\nfile = 'f'\nsplit = 'train'\n"
            )
        };
        let config = open(&list(""), &[]).unwrap();
        assert_eq!(config.data.train.0.len(), 2);
        assert_eq!(open(&toml::to_string(&config).unwrap(), &[]).unwrap(), config);
        let error = open(&list("wight = 1\n"), &[]).unwrap_err().message;
        assert!(error.contains("line 8") && error.contains("did you mean `weight`?"), "{error}");
        let one = open(MINIMAL, &["data.train.fil='g'"]).unwrap_err().message;
        assert!(one.contains("did you mean `file`?"), "{one}");
    }

    #[test]
    fn a_resolved_config_reads_back_equal() {
        let config = open(MINIMAL, &["train.head_learning_rate=1e-3", "model.max_sentences=7"]).unwrap();
        assert_eq!(open(&toml::to_string(&config).unwrap(), &[]).unwrap(), config);
    }
}
