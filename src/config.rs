//! The config of a run: a TOML file, read strictly, with the `--set` overrides applied to it.

use crate::checkpoint::CheckpointConfig;
use crate::data::Kind;
use crate::error::{Error, Result};
use crate::fetch::{Cache, ModelName};
use crate::loss::{LossConfig, Normalization};
use crate::machine::{DeviceChoice, PrecisionChoice};
use crate::model::{Context, DetectorConfig, DetectorKind, Norm};
use crate::train::{AdamWConfig, TrainConfig};
use crate::untrusted::{self, MAX_CONFIG, MAX_EPOCHS, shown, toml_error};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeOwned, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// A config. Unknown keys are refused; `docs/config.md` describes every key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The seed of every random choice.
    #[serde(default)]
    pub seed: u64,
    #[serde(default)]
    pub device: DeviceChoice,
    #[serde(default)]
    pub precision: PrecisionChoice,
    /// Threads of libtorch. If absent, as many as there are cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Whether each thread is bound to a core of its own, so that one seed gives one result on every processor.
    #[serde(default)]
    pub deterministic: bool,
    /// A run. Training starts with the best weights of its whole model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init_from: Option<PathBuf>,
    pub encoder: EncoderSource,
    pub data: DataConfig,
    #[serde(default)]
    pub model: ModelOptions,
    #[serde(default)]
    pub loss: LossConfig,
    #[serde(default)]
    pub train: TrainConfig,
    #[serde(default)]
    pub checkpoint: CheckpointConfig,
}

/// The pretrained encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncoderSource {
    /// A Hugging Face folder (config.json, tokenizer.json, model.safetensors), or a model in Hugging Face's cache,
    /// written `ORG/NAME` or `ORG/NAME@REVISION`.
    pub path: PathBuf,
    /// The parts that are not trained.
    #[serde(default)]
    pub freeze: Vec<Freeze>,
}

impl EncoderSource {
    /// The encoder's folder. If no folder has this path, the path is taken as a model id and looked up in the cache.
    /// Nothing is downloaded.
    ///
    /// # Errors
    /// `Config` if an environment variable in the path is not set; `MissingInput`, with the command to fetch it, if the
    /// path is the id of a model that is not in the cache.
    pub fn folder(&self) -> Result<PathBuf> {
        let folder = expand(&self.path)?;
        match folder.to_str().and_then(|text| text.parse::<ModelName>().ok()) {
            Some(model) if !folder.exists() => Cache::from_environment()?.find(&model),
            _ => Ok(folder),
        }
    }
}

/// A part of the encoder that is not trained: `embeddings`; `layers:K`, the lowest K layers; or `encoder`, all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Freeze {
    Embeddings,
    Layers(u32),
    Encoder,
}

impl TryFrom<String> for Freeze {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let layers = || text.strip_prefix("layers:")?.parse().ok();
        match text.as_str() {
            "embeddings" => Ok(Freeze::Embeddings),
            "encoder" => Ok(Freeze::Encoder),
            _ => layers().map(Freeze::Layers).ok_or(format!("`{text}`: must be `encoder`, `embeddings` or `layers:K`")),
        }
    }
}

impl From<Freeze> for String {
    fn from(freeze: Freeze) -> Self {
        match freeze {
            Freeze::Embeddings => "embeddings".into(),
            Freeze::Layers(k) => format!("layers:{k}"),
            Freeze::Encoder => "encoder".into(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    pub train: Sources,
    /// The pairs on which the best epoch is chosen. Without them the last epoch is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev: Option<Sources>,
}

/// One split of a story file, or a list of several.
#[derive(Debug, Clone, PartialEq)]
pub struct Sources(pub Vec<DataSource>);

impl Sources {
    /// The names of the files, as the config writes them.
    pub fn files(&self) -> String {
        self.listed(|source| source.file.display().to_string())
    }

    /// The names of the splits.
    pub fn splits(&self) -> String {
        self.listed(|source| source.split.clone())
    }

    /// Each name once, in the order of the sources.
    fn listed(&self, name: impl Fn(&DataSource) -> String) -> String {
        let mut names: Vec<String> = self.0.iter().map(name).collect();
        names.dedup();
        names.join(", ")
    }
}

impl Serialize for Sources {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Sources {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrSeveral;

        impl<'de> Visitor<'de> for OneOrSeveral {
            type Value = Sources;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a table with `file` and `split`, or a list of such tables")
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Sources, M::Error> {
                DataSource::deserialize(MapAccessDeserializer::new(map)).map(|one| Sources(vec![one]))
            }

            fn visit_seq<S: SeqAccess<'de>>(self, list: S) -> Result<Sources, S::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Sources)
            }
        }

        deserializer.deserialize_any(OneOrSeveral)
    }
}

/// One split of a story file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSource {
    /// `${NAME}` stands for an environment variable.
    pub file: PathBuf,
    pub split: String,
    /// If set, only pairs of this kind are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// If set, only this many pairs are read: the first ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<usize>,
    /// How often each pair is seen in an epoch of training. If absent, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The first and last epoch that train on this source, counted from 1. If absent, all epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_epoch: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_epoch: Option<u64>,
}

impl DataSource {
    /// The first and the last epoch that train on this source, counted from 1.
    fn epochs(&self) -> (u64, u64) {
        (self.first_epoch.unwrap_or(1), self.last_epoch.unwrap_or(u64::MAX))
    }

    /// Values that have the right type but are invalid.
    fn problem(&self, is_trained_on: bool) -> Option<&'static str> {
        let (first, last) = self.epochs();
        let of_training = [self.weight.is_some(), self.first_epoch.is_some(), self.last_epoch.is_some()];
        let checks = [
            (self.pairs != Some(0), "pairs must be at least 1"),
            (self.weight.is_none_or(|weight| weight > 0. && weight.is_finite()), "weight must be above 0"),
            (self.first_epoch != Some(0), "first_epoch must be at least 1: epochs are counted from 1"),
            (first <= last, "last_epoch must not be before first_epoch"),
            (
                is_trained_on || !of_training.contains(&true),
                "weight, first_epoch and last_epoch are allowed in data.train only",
            ),
        ];
        checks.into_iter().find(|(holds, _)| !holds).map(|(_, problem)| problem)
    }
}

impl DataConfig {
    fn problem(&self, epochs: u64) -> Option<String> {
        let Sources(train) = &self.train;
        let dev = self.dev.as_ref().map_or(&[][..], |Sources(dev)| dev);
        if train.is_empty() || self.dev.is_some() && dev.is_empty() {
            return Some("data: a list of sources must not be empty; for no dev pairs, leave data.dev out".into());
        }
        let of = |name: &'static str, sources: &[DataSource], is_trained_on| {
            let found = sources.iter().find_map(|source| source.problem(is_trained_on));
            found.map(|problem| format!("{name}: {problem}"))
        };
        let idle = || idle_epoch(train, epochs);
        let uncovered = |epoch| format!("data.train: no source covers epoch {epoch}; check first_epoch and last_epoch");
        of("data.train", train, true).or_else(|| of("data.dev", dev, false)).or_else(|| idle().map(uncovered))
    }
}

/// The first epoch that no source covers, of `epochs` epochs.
fn idle_epoch(train: &[DataSource], epochs: u64) -> Option<u64> {
    let mut trained: Vec<(u64, u64)> = train.iter().map(DataSource::epochs).collect();
    trained.sort_unstable();
    let follows = |upto: u64, (first, last)| if first <= upto.saturating_add(1) { upto.max(last) } else { upto };
    let upto = trained.into_iter().fold(0, follows);
    (upto < epochs).then(|| upto + 1)
}

/// The parts of the model that the encoder does not determine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelOptions {
    /// The number of sentences of the longest story that the model can read. If absent, that of train and dev.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_sentences: Option<usize>,
    /// Dropout of heads and detector. If absent, the encoder's `hidden_dropout_prob`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropout: Option<f64>,
    pub output_bias: OutputBias,
    /// What the state heads read in addition to the (entity, sentence) input.
    pub state_context: Context,
    pub detector: DetectorConfig,
}

/// The initial value of the last bias of every head and of the detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputBias {
    /// Like PyTorch's `nn.Linear`.
    #[default]
    Random,
    /// The log frequency of its class in the training pairs. Then the first steps need not learn the frequencies.
    Frequency,
}

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
        let invalid = |error: toml::de::Error| Error::config(explain(&path.display().to_string(), &error));
        let mut table: Table = toml::from_str(text).map_err(invalid)?;
        if overrides.is_empty() {
            return Self::checked(toml::from_str(text).map_err(invalid)?, path);
        }
        for assignment in overrides {
            set(&mut table, assignment)?;
        }
        let source = format!("{} with --set", path.display());
        let config = table.try_into().map_err(|error| Error::config(explain(&source, &error)))?;
        Self::checked(config, path)
    }

    fn checked(config: Config, path: &Path) -> Result<Self> {
        let problem = config.problem();
        problem.map_or(Ok(config), |problem| Err(Error::config(format!("{}: {problem}", path.display()))))
    }

    /// Values that have the right type but are invalid.
    fn problem(&self) -> Option<String> {
        let detector = &self.model.detector;
        let (train, adamw) = (&self.train, &self.train.adamw);
        let share = |x: f64| (0. ..1.).contains(&x);
        let positive = |x: f64| x > 0. && x.is_finite();
        let checks = [
            ((1..=MAX_EPOCHS).contains(&train.epochs), "train.epochs must be from 1 to 1000000"),
            (train.pairs_per_step > 0, "train.pairs_per_step must be at least 1"),
            (positive(train.learning_rate), "train.learning_rate must be above 0"),
            (train.head_learning_rate.is_none_or(positive), "train.head_learning_rate must be above 0"),
            (self.checkpoint.keep > 0, "checkpoint.keep must be at least 1"),
            (self.threads.is_none_or(|threads| (1..=4096).contains(&threads)), "threads must be from 1 to 4096"),
            (train.entities != Some(0), "train.entities must be at least 1"),
            (train.patience != Some(0), "train.patience must be at least 1"),
            (
                train.patience.is_none() || self.data.dev.is_some(),
                "train.patience needs dev pairs to compare epochs on; set data.dev",
            ),
            (
                train.entities.is_none() || self.loss.normalization == Normalization::Real,
                "train.entities needs loss.normalization = \"real\"",
            ),
            (
                train.state_sample_ratio > 0. && train.state_sample_ratio <= 1.,
                "train.state_sample_ratio must be above 0, and at most 1",
            ),
            (
                train.state_sample_ratio == 1.
                    || !detector.reads_inputs() && self.loss.normalization == Normalization::Real,
                "train.state_sample_ratio below 1 needs a detector that reads whole stories only (model.detector: kind \
                 = \"joint\", context = \"story\", inputs = \"embeddings\", entities = false) and loss.normalization = \
                 \"real\"",
            ),
            (share(train.warmup), "train.warmup must be at least 0 and below 1"),
            (share(adamw.beta1) && share(adamw.beta2), "train.adamw.beta1 and beta2 must be at least 0 and below 1"),
            (positive(adamw.epsilon) && positive(adamw.clip_norm), "train.adamw.epsilon and clip_norm must be above 0"),
            (adamw.weight_decay >= 0., "train.adamw.weight_decay must not be negative"),
            (self.model.dropout.is_none_or(share), "model.dropout must be at least 0 and below 1"),
            (
                detector.kind == DetectorKind::Paper
                    || detector.norm == Norm::After && detector.residual_scale == 1. && !detector.standardize,
                "model.detector: norm, residual_scale and standardize need kind = \"paper\"",
            ),
            (
                detector.residual_scale >= 0. && detector.residual_scale.is_finite(),
                "model.detector.residual_scale must not be negative",
            ),
            (detector.sentence_layers >= 0, "model.detector.sentence_layers must not be negative"),
            (
                detector.kind == DetectorKind::Joint || (detector.sentence_layers == 0 && !detector.entities),
                "model.detector: sentence_layers and entities need kind = \"joint\"",
            ),
            (
                detector.kind == DetectorKind::Joint || self.loss.single_story == 0.,
                "loss.single_story needs model.detector.kind = \"joint\"; the paper's detector does not need this loss",
            ),
            (
                [
                    self.loss.preconditions,
                    self.loss.effects,
                    self.loss.conflicts,
                    self.loss.story,
                    self.loss.single_story,
                ]
                .iter()
                .all(|&weight| weight >= 0. && weight.is_finite()),
                "loss: no weight may be negative",
            ),
        ];
        let of_detector = || self.model.detector.problem().map(|problem| format!("model.detector: {problem}"));
        let of_values = checks.into_iter().find(|(holds, _)| !holds).map(|(_, problem)| problem.to_owned());
        of_values.or_else(of_detector).or_else(|| self.data.problem(train.epochs))
    }
}

/// Sets one dotted key. The value is parsed as TOML; if that fails, it is a string.
fn set(table: &mut Table, assignment: &str) -> Result<()> {
    let wrong = |problem: String| Error::config(format!("--set {}: {problem}", shown(assignment, 100)));
    let malformed = || wrong("must be key=value, e.g. train.epochs=3".into());
    let (key, text) = assignment.split_once('=').ok_or_else(malformed)?;
    let parsed: Result<Table, _> = toml::from_str(&format!("value = {text}"));
    let value = parsed.ok().and_then(|mut t| t.remove("value")).unwrap_or_else(|| Value::String(text.to_owned()));
    let mut parts: Vec<&str> = key.trim().split('.').collect();
    let last = parts.pop().filter(|last| !last.is_empty()).ok_or_else(malformed)?;
    let mut table = table;
    for part in parts {
        let entry = table.entry(part).or_insert_with(|| Value::Table(Table::new()));
        table = entry.as_table_mut().ok_or_else(|| wrong(format!("{} is not a section", shown(part, 100))))?;
    }
    table.insert(last.to_owned(), value);
    Ok(())
}

/// Old names of keys and values of configs and sweep files, and their names now.
const RENAMED: [(&str, &str); 5] = [
    ("field `alone", "single_story"),
    ("field `state_inputs", "state_sample_ratio"),
    ("variant `belief", "paper"),
    ("variant `tuned", "calibrated"),
    ("field `beside", "published"),
];

/// The parser's message with line and column. For an unknown key it adds the key that was probably meant.
pub fn explain(source: &str, error: &toml::de::Error) -> String {
    let renamed = RENAMED.iter().find(|(old, _)| error.message().starts_with(&format!("unknown {old}`")));
    if let Some((old, new)) = renamed {
        let old = old.rsplit('`').next().unwrap_or_default();
        return format!("{source}: {}\n`{old}` is `{new}` now", toml_error(error));
    }
    let meant = key_of_section(error.message()).or_else(|| suggestion(error.message()).map(str::to_owned));
    let suggestion = meant.map(|key| format!("\ndid you mean `{key}`?")).unwrap_or_default();
    format!("{source}: {}{suggestion}", toml_error(error))
}

/// For "unknown field `epochs`, expected ..." at the top of a config: the key of that name in a section
/// (`train.epochs`).
fn key_of_section(message: &str) -> Option<String> {
    let (unknown, expected) = message.strip_prefix("unknown field `")?.split_once("`, expected ")?;
    let is_top = expected.contains("`encoder`") && expected.contains("`train`");
    let (section, _) = SECTIONS.iter().find(|(_, has_key)| is_top && has_key(unknown))?;
    Some(format!("{section}.{unknown}"))
}

/// Whether a section of this type has this key; the value does not matter.
fn has_key<T: DeserializeOwned>(key: &str) -> bool {
    let outcome = T::deserialize(Table::from_iter([(key.to_owned(), Value::Boolean(true))]));
    !outcome.is_err_and(|error| error.message().starts_with("unknown field"))
}

type HasKey = fn(&str) -> bool;

/// The sections of a config, each with a function that knows its keys.
const SECTIONS: [(&str, HasKey); 6] = [
    ("train", has_key::<TrainConfig>),
    ("train.adamw", has_key::<AdamWConfig>),
    ("model", has_key::<ModelOptions>),
    ("model.detector", has_key::<DetectorConfig>),
    ("loss", has_key::<LossConfig>),
    ("checkpoint", has_key::<CheckpointConfig>),
];

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

/// A path in which every `${NAME}` is replaced by the environment variable of that name.
///
/// # Errors
/// `Config` if the variable is not set.
pub fn expand(path: &Path) -> Result<PathBuf> {
    let path_text = path.to_string_lossy();
    let (mut expanded, mut rest) = (String::new(), path_text.as_ref());
    while let Some((before, after)) = rest.split_once("${") {
        let variable = after.split_once('}');
        let (name, after) = variable
            .ok_or_else(|| Error::config(format!("{}: `${{` without `}}`; write ${{NAME}}", path.display())))?;
        let value = std::env::var(name).map_err(|_| {
            Error::config(format!("{}: the environment variable {name} is not set; set it to a folder", path.display()))
        })?;
        expanded += before;
        expanded += &value; // not expanded again: a variable that names itself would never end
        rest = after;
    }
    Ok((expanded + rest).into())
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
    fn an_old_name_leads_to_the_new_one() {
        for (assignment, new) in [
            ("loss.alone=1", "`alone` is `single_story` now"),
            ("train.state_inputs=0.5", "`state_inputs` is `state_sample_ratio` now"),
            ("model.detector.kind=belief", "`belief` is `paper` now"),
        ] {
            let error = open(MINIMAL, &[assignment]).unwrap_err().message;
            assert!(error.contains(new), "{error}");
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
            "model.detector.heads=7",
            "seed=-1",
            "loss.single_story=0.1",
            "model.detector.entities=true",
            "model.detector.sentence_layers=1",
            "model.detector={ kind = 'joint', standardize = true }",
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
            assert_eq!(open(MINIMAL, &[bad]).unwrap_err().kind, crate::error::ErrorKind::Config, "{bad}");
        }
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
