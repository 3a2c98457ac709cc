//! Reads and writes named weights as safetensors. Names and shapes must match exactly.

use super::encoder::{TRAINED_ROWS, WORD_TABLE};
use super::header::Header;
use super::kernels::all_finite;
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use crate::torch::read;
use safetensors::tensor::{Dtype, TensorInfo, View};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use tch::{Device, Kind, Tensor, nn};

/// Named tensors in the order of their names.
pub type NamedTensors = BTreeMap<String, Tensor>;

/// A safetensors file whose header has been read and checked; no tensor has been read yet.
pub struct WeightsFile {
    path: PathBuf,
    file: File,
    header: Header,
}

impl WeightsFile {
    /// Opens a file and reads its header. Tensors named `position_ids` are not weights and are skipped.
    ///
    /// # Errors
    /// `MissingInput`, `Io`; `Refused` if it is not safetensors; `Config` if it holds anything but floats.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = || -> std::io::Result<(File, u64)> {
            // Opening a pipe would block.
            if !std::fs::metadata(path)?.is_file() {
                return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a regular file"));
            }
            let file = File::open(path)?;
            let length = file.metadata()?.len();
            Ok((file, length))
        };
        let (mut file, length) = opened().map_err(|error| missing(path, &error))?;
        let mut header = Header::read(&mut file, length).map_err(|error| error.about(path.display()))?;
        header.tensors.retain(|(name, _)| !name.ends_with("position_ids"));
        if let Some((name, info)) = header.tensors.iter().find(|(_, info)| kind(info.dtype).is_none()) {
            let message =
                format!("{}: {name} is {:?}, which is not read; save it as float32", path.display(), info.dtype);
            return Err(Error::config(message));
        }
        Ok(WeightsFile { path: path.to_owned(), file, header })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How many numbers the file holds.
    pub(super) fn numbers(&self) -> u128 {
        self.header.tensors.iter().map(|(_, info)| numel(info) as u128).sum()
    }

    /// The names of the tensors, in the order of the header.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.header.tensors.iter().map(|(name, _)| name.as_str())
    }

    /// The shape of the tensor with this index in the header.
    pub(super) fn shape(&self, index: usize) -> Vec<i64> {
        shape(&self.header.tensors[index].1)
    }

    /// Refuses a file with fewer numbers than a config needs, before memory is allocated for them.
    ///
    /// # Errors
    /// `Config`.
    pub fn require_numbers(&self, needed: u128) -> Result<()> {
        require_numbers(&self.path, self.numbers(), needed)
    }

    /// The tensor with this index in the header, as float32.
    fn tensor(&mut self, index: usize) -> Result<Tensor> {
        let (name, info) = &self.header.tensors[index];
        let kind = kind(info.dtype).ok_or_else(|| Error::new(ErrorKind::Internal, format!("{name}: not a float")))?;
        let tensor = Tensor::empty(shape(info), (kind, Device::Cpu));
        self.read_into(index, &tensor)?;
        Ok(tensor.to_kind(Kind::Float))
    }

    /// Fills a variable of the same shape. Float32 is read straight into it: the word table is most of an encoder, and
    /// should not be in memory twice.
    pub(super) fn fill(&mut self, index: usize, variable: &Tensor) -> Result<()> {
        let direct = variable.device() == Device::Cpu && variable.kind() == Kind::Float && variable.is_contiguous();
        if direct && self.header.tensors[index].1.dtype == Dtype::F32 {
            return self.read_into(index, variable);
        }
        let tensor = self.tensor(index)?;
        tch::no_grad(|| variable.shallow_clone().copy_(&tensor));
        Ok(())
    }

    /// Lets a variable on the CPU have its numbers in the file itself, mapped into memory, instead of in a copy. The file
    /// stays as it is if the variable is changed. `false` if that is not possible: then nothing was done.
    ///
    /// Meanwhile nobody may shorten the file: the process would end. Files of a run are replaced, never written in place.
    #[cfg(unix)]
    fn map(&self, index: usize, variable: &Tensor) -> bool {
        use std::os::fd::AsRawFd;
        const SIZE: usize = size_of::<f32>();
        let info = &self.header.tensors[index].1;
        let [start, end] =
            [info.data_offsets.0, info.data_offsets.1].map(|offset| self.header.data_start as usize + offset);
        if variable.device() != Device::Cpu || info.dtype != Dtype::F32 || !start.is_multiple_of(SIZE) {
            return false;
        }
        let (start, end) = ((start / SIZE) as i64, (end / SIZE) as i64);
        // The file that was opened, whatever has its name now.
        let path = format!("/dev/fd/{}", self.file.as_raw_fd());
        let Ok(numbers) = Tensor::f_from_file(&path, false, end, (Kind::Float, Device::Cpu)) else { return false };
        let tensor = numbers.narrow(0, start, end - start).view(shape(info).as_slice());
        variable.shallow_clone().set_data(&tensor);
        true
    }

    #[cfg(not(unix))]
    fn map(&self, _: usize, _: &Tensor) -> bool {
        false
    }

    /// Reads the bytes of a tensor into a tensor of the same size and kind.
    fn read_into(&mut self, index: usize, tensor: &Tensor) -> Result<()> {
        let (begin, end) = self.header.tensors[index].1.data_offsets;
        assert!(tensor.is_contiguous() && tensor.numel() * tensor.kind().elt_size_in_bytes() == end - begin);
        if begin == end {
            return Ok(()); // an empty tensor has no `data_ptr`
        }
        // SAFETY: a contiguous tensor has this many bytes from `data_ptr`; any bytes are valid numbers; nothing else
        // uses it.
        let bytes = unsafe { std::slice::from_raw_parts_mut(tensor.data_ptr().cast::<u8>(), end - begin) };
        let read = self.file.seek(SeekFrom::Start(self.header.data_start + begin as u64));
        read.and_then(|_| self.file.read_exact(bytes)).map_err(|error| Error::reading(&self.path, &error))
    }
}

/// Like [`WeightsFile::require_numbers`], for a file at `path` that holds `held` numbers.
pub(super) fn require_numbers(path: &Path, held: u128, needed: u128) -> Result<()> {
    if needed <= held {
        return Ok(());
    }
    Err(Error::config(format!(
        "{}: holds {held} numbers, but the config needs at least {needed}; use weights and config of the same model",
        path.display()
    )))
}

/// The error for a missing file. If there is a pickle of the same weights beside it, says what to do with that.
fn missing(path: &Path, error: &std::io::Error) -> Error {
    let mut missing = Error::reading(path, error);
    if let Some(pickle) = pickle_beside(path).filter(|_| missing.kind == ErrorKind::MissingInput) {
        let remedy =
            "is a pickle file, which we do not read; if you trust it, convert it with safetensors.torch.save_file";
        missing.message = format!("{}; {} {remedy}", missing.message, pickle.display());
    }
    missing
}

/// The same weights in a form that we do not read.
pub(super) fn pickle_beside(path: &Path) -> Option<PathBuf> {
    let pickles = ["pytorch_model.bin", "pytorch_model.bin.index.json"].map(|name| path.with_file_name(name));
    pickles.into_iter().find(|pickle| pickle.exists())
}

fn kind(dtype: Dtype) -> Option<Kind> {
    match dtype {
        Dtype::F32 => Some(Kind::Float),
        Dtype::F16 => Some(Kind::Half),
        Dtype::BF16 => Some(Kind::BFloat16),
        Dtype::F64 => Some(Kind::Double),
        _ => None,
    }
}

fn shape(info: &TensorInfo) -> Vec<i64> {
    info.shape.iter().map(|&size| size as i64).collect()
}

fn numel(info: &TensorInfo) -> usize {
    info.shape.iter().product()
}

/// Reads all tensors of a safetensors file, as float32.
///
/// # Errors
/// Like [`WeightsFile::open`].
pub fn read(path: &Path) -> Result<NamedTensors> {
    let mut file = WeightsFile::open(path)?;
    (0..file.header.tensors.len()).map(|i| Ok((file.header.tensors[i].0.clone(), file.tensor(i)?))).collect()
}

/// Writes tensors as float32: into a temporary file, then by a rename, so that a reader never sees half a file. It can be
/// read by those who can read other new files.
pub fn write(path: &Path, tensors: &NamedTensors) -> Result<()> {
    let failed = |error: std::io::Error| Error::writing(path, &error);
    let permissions = File::create(path).and_then(|file| file.metadata()).map_err(failed)?.permissions();
    let views = tensors.iter().map(|(name, tensor)| (name.as_str(), FloatView::new(tensor)));
    let metadata = [("format".to_owned(), "pt".to_owned())].into();
    safetensors::serialize_to_file(views, Some(metadata), path)
        .map_err(|error| Error::new(ErrorKind::Io, format!("{}: cannot be written: {error}", path.display())))?;
    std::fs::set_permissions(path, permissions).map_err(failed)
}

/// SHA-256 of names, shapes and values.
pub fn sha256(tensors: &NamedTensors) -> String {
    let digest = |(name, tensor): (&String, &Tensor)| {
        let view = FloatView::new(tensor);
        format!("{name} {:?} {}\n", view.shape, durable::sha256(&view.data()))
    };
    durable::sha256(tensors.iter().map(digest).collect::<String>().as_bytes())
}

/// A tensor in the form that the safetensors library needs.
struct FloatView {
    tensor: Tensor,
    shape: Vec<usize>,
}

impl FloatView {
    fn new(tensor: &Tensor) -> Self {
        let tensor = read::to_cpu(&tensor.detach().to_kind(Kind::Float)).contiguous();
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

/// The variables of a model, with the names under which they are saved.
///
/// The caller must first merge trained rows into the word table ([`super::encoder::Embeddings::merge_trained_rows`]).
pub fn named(store: &nn::VarStore) -> NamedTensors {
    store.variables().into_iter().filter(|(name, _)| !name.ends_with(TRAINED_ROWS)).collect()
}

/// Copies the weights of a whole model into its variables.
///
/// # Errors
/// `Config`, with lists, if a name is missing or unexpected or a shape differs; then nothing is copied. `Data` if a
/// number is not finite.
pub fn load(store: &nn::VarStore, path: &Path) -> Result<()> {
    assign(store, path, |file, index, _, variable| file.fill(index, variable))
}

/// Like [`load`], for a model that won't be trained. On the CPU its word table, most of an encoder, stays in the file.
///
/// The other weights are copied as always: how matmuls round may depend on where in memory they begin.
pub fn load_to_predict(store: &nn::VarStore, path: &Path) -> Result<()> {
    assign(store, path, |file, index, name, variable| {
        if name.ends_with(WORD_TABLE) && file.map(index, variable) { Ok(()) } else { file.fill(index, variable) }
    })
}

/// Gives each variable its weights, by the number of the tensor in the file.
fn assign(
    store: &nn::VarStore,
    path: &Path,
    give: impl Fn(&mut WeightsFile, usize, &str, &Tensor) -> Result<()>,
) -> Result<()> {
    let mut file = WeightsFile::open(path)?;
    let variables = named(store);
    let numbers: BTreeMap<&str, usize> = file.names().enumerate().map(|(i, name)| (name, i)).collect();
    let shapes = numbers.iter().map(|(&name, &i)| (name, file.shape(i))).collect();
    check_fit(&variables, &shapes, path)?;
    let numbers: Vec<usize> = variables.keys().map(|name| numbers[name.as_str()]).collect();
    for ((name, variable), number) in variables.iter().zip(numbers) {
        give(&mut file, number, name, variable)?;
    }
    require_finite(&variables, path)
}

/// Refuses weights from `path` that contain NaN or infinity.
///
/// # Errors
/// `Data`.
pub(super) fn require_finite(variables: &NamedTensors, path: &Path) -> Result<()> {
    let is_finite = |tensor: &Tensor| match tensor.device() == Device::Cpu && tensor.kind() == Kind::Float {
        true => all_finite(&tensor.contiguous()),
        false => read::are_finite(tensor),
    };
    match variables.iter().find(|(_, tensor)| !is_finite(tensor)) {
        Some((name, _)) => Err(Error::data(format!(
            "{}: {name} holds a number that is not finite; use other weights, or train again",
            path.display()
        ))),
        None => Ok(()),
    }
}

pub(super) fn check_fit(variables: &NamedTensors, weights: &BTreeMap<&str, Vec<i64>>, path: &Path) -> Result<()> {
    let missing: Vec<_> = variables.keys().filter(|name| !weights.contains_key(name.as_str())).cloned().collect();
    let unexpected =
        weights.keys().filter(|name| !variables.contains_key(**name)).map(|name| name.to_string()).collect();
    let shapes: Vec<_> = variables
        .iter()
        .filter_map(|(name, variable)| Some((name, variable.size(), weights.get(name.as_str())?)))
        .filter(|(_, expected, found)| expected != *found)
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

/// The encoder's tensors under their names in a bare Hugging Face model, without our prefix; and all other tensors.
pub fn split(tensors: NamedTensors, prefix: &str) -> (NamedTensors, NamedTensors) {
    let prefix = format!("{prefix}.");
    let (encoder, heads): (NamedTensors, NamedTensors) =
        tensors.into_iter().partition(|(name, _)| name.starts_with(&prefix));
    (encoder.into_iter().map(|(name, tensor)| (name[prefix.len()..].to_owned(), tensor)).collect(), heads)
}
