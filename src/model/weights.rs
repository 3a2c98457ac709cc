//! Reading and writing weights as safetensors, by name, checked both ways.

use super::encoder::TRAINED_ROWS;
use super::tiered::ENCODER_PREFIX;
use crate::error::{Error, ErrorKind, Result};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, View};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use tch::{Device, Kind, Tensor, nn};

/// Named tensors in the order of their names.
pub type NamedTensors = BTreeMap<String, Tensor>;

/// Tensors of published checkpoints that are no part of an encoder without pooler.
const NOT_OF_THE_ENCODER: [&str; 4] = ["pooler.", "lm_head.", "classifier.", "embeddings.position_ids"];

/// Reads all tensors of a safetensors file, as float32.
///
/// # Errors
/// `MissingInput`, `Io`; `Refused` if it is not a safetensors file; `Config` if it holds anything but floats.
pub fn read(path: &Path) -> Result<NamedTensors> {
    let bytes = std::fs::read(path).map_err(|error| Error::reading(path, &error))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|error| {
        Error::new(
            ErrorKind::Refused,
            format!("{}: not a safetensors file ({error}); no other format is read", path.display()),
        )
    })?;
    let named = file.iter().filter(|(name, _)| !name.ends_with("position_ids"));
    named
        .map(|(name, view)| match float_tensor(&view) {
            Some(tensor) => Ok((name.to_owned(), tensor)),
            None => Err(Error::config(format!("{}: {name} is {:?}, not a float", path.display(), view.dtype()))),
        })
        .collect()
}

fn float_tensor(view: &TensorView) -> Option<Tensor> {
    let kind = match view.dtype() {
        Dtype::F32 => Kind::Float,
        Dtype::F16 => Kind::Half,
        Dtype::BF16 => Kind::BFloat16,
        Dtype::F64 => Kind::Double,
        _ => return None,
    };
    let shape: Vec<i64> = view.shape().iter().map(|&d| d as i64).collect();
    Some(Tensor::from_data_size(view.data(), &shape, kind).to_kind(Kind::Float))
}

/// Writes tensors as float32, beside the target and then in its place: a reader never meets half a file.
pub fn write(path: &Path, tensors: &NamedTensors) -> Result<()> {
    let views = tensors.iter().map(|(name, tensor)| (name.as_str(), FloatView::new(tensor)));
    let metadata = [("format".to_owned(), "pt".to_owned())].into();
    safetensors::serialize_to_file(views, Some(metadata), path)
        .map_err(|error| Error::new(ErrorKind::Io, format!("{}: cannot be written: {error}", path.display())))?;
    share(path)
}

/// Lets others read the file: it was made as a temporary one, which only its owner may.
fn share(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let readable = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(path, readable).map_err(|error| Error::writing(path, &error))?;
    }
    Ok(())
}

/// A tensor as safetensors wants to see it.
struct FloatView {
    tensor: Tensor,
    shape: Vec<usize>,
}

impl FloatView {
    fn new(tensor: &Tensor) -> Self {
        let tensor = tensor.detach().to_kind(Kind::Float).to_device(Device::Cpu).contiguous();
        let shape = tensor.size().iter().map(|&d| d as usize).collect();
        FloatView { tensor, shape }
    }
}

impl View for FloatView {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        let mut bytes = vec![0; self.data_len()];
        self.tensor.copy_data_u8(&mut bytes, self.tensor.numel());
        bytes.into()
    }

    fn data_len(&self) -> usize {
        self.tensor.numel() * 4
    }
}

/// The variables of a model under the names they are saved with.
///
/// The caller has merged trained rows into the word table ([`super::encoder::Embeddings::merge_trained_rows`]).
pub fn named(store: &nn::VarStore) -> NamedTensors {
    store.variables().into_iter().filter(|(name, _)| !name.ends_with(TRAINED_ROWS)).collect()
}

/// Copies the weights of a whole model into its variables.
///
/// # Errors
/// `Config`, with the lists, if a name is missing or unexpected or a shape differs; nothing is copied then.
pub fn load(store: &nn::VarStore, path: &Path) -> Result<()> {
    assign(&named(store), &read(path)?, path)
}

/// Copies the weights of a Hugging Face encoder, whose names may carry the model's prefix, into the encoder's
/// variables, and returns the names that were passed over because they are no part of it.
///
/// # Errors
/// As [`load`].
pub fn load_encoder(store: &nn::VarStore, path: &Path) -> Result<Vec<String>> {
    let prefix = format!("{ENCODER_PREFIX}.");
    let (mut weights, mut passed_over) = (NamedTensors::new(), Vec::new());
    for (name, tensor) in read(path)? {
        let bare = name.strip_prefix(&prefix).unwrap_or(&name);
        if NOT_OF_THE_ENCODER.iter().any(|other| bare.starts_with(other)) {
            passed_over.push(name);
        } else {
            weights.insert(format!("{prefix}{bare}"), tensor);
        }
    }
    let variables = named(store).into_iter().filter(|(name, _)| name.starts_with(&prefix)).collect();
    assign(&variables, &weights, path)?;
    Ok(passed_over)
}

fn assign(variables: &NamedTensors, weights: &NamedTensors, path: &Path) -> Result<()> {
    check_fit(variables, weights, path)?;
    tch::no_grad(|| {
        for (name, variable) in variables {
            variable.shallow_clone().copy_(&weights[name]);
        }
    });
    Ok(())
}

fn check_fit(variables: &NamedTensors, weights: &NamedTensors, path: &Path) -> Result<()> {
    let missing: Vec<_> = variables.keys().filter(|name| !weights.contains_key(*name)).cloned().collect();
    let unexpected: Vec<_> = weights.keys().filter(|name| !variables.contains_key(*name)).cloned().collect();
    let shapes: Vec<_> = variables
        .iter()
        .filter_map(|(name, variable)| Some((name, variable.size(), weights.get(name)?.size())))
        .filter(|(_, expected, found)| expected != found)
        .map(|(name, expected, found)| format!("{name} is {found:?}, should be {expected:?}"))
        .collect();
    let problems: Vec<String> = [("missing", missing), ("unexpected", unexpected), ("of another shape", shapes)]
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("\n  {} {what}: {}", names.len(), abridged(&names)))
        .collect();
    if problems.is_empty() {
        return Ok(());
    }
    Err(Error::config(format!("{}: the weights do not fit the configuration:{}", path.display(), problems.concat())))
}

fn abridged(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let rest = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len() - rest].join(", ");
    if rest > 0 { format!("{shown}, and {rest} more") } else { shown }
}
