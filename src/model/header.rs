//! Checks the header of a safetensors file before anything else of the file is read. A file of another format is
//! refused by its content, whatever its name. Every tensor must be where the header says, and fit its shape.
//! `safetensors` checks the same, but its errors don't say which tensor is wrong, and in which bytes.

use crate::error::{Error, ErrorKind, Result};
use crate::untrusted::{json_error, shown};
use safetensors::tensor::TensorInfo;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

/// The longest header that is read, in bytes. Those of encoders have some ten thousand.
pub const MAX_HEADER: u64 = 8 << 20;

/// Size of the field with the header's length, in bytes. It comes first in the file.
const LENGTH: u64 = 8;
const MAX_DIMENSIONS: usize = 8;
const MAX_NAME: usize = 256;
const METADATA: &str = "__metadata__";

/// The remedy for a file in another format.
const REMEDY: &str = "only safetensors are read as weights; if you trust the file, load it elsewhere and write its \
                      tensors with safetensors.torch.save_file(tensors, \"model.safetensors\")";

/// The position of every tensor in a file.
#[derive(Debug)]
pub struct Header {
    /// In the order of their bytes, which leave no gaps.
    pub tensors: Vec<(String, TensorInfo)>,
    /// The byte of the file at which the first tensor begins.
    pub data_start: u64,
}

impl Header {
    /// Reads and checks the header of a file of `length` bytes.
    ///
    /// # Errors
    /// `Refused`, with the position in the header, if the file is not safetensors or the header does not describe all
    /// of it; `Data` if it is cut off; `Io`.
    pub fn read(file: &mut (impl Read + Seek), length: u64) -> Result<Self> {
        let failed = |error: io::Error| Error::new(ErrorKind::Io, format!("cannot be read: {error}"));
        if let Some(format) = other_format(file, length).map_err(failed)? {
            return Err(not_safetensors(format!("it is {format}")));
        }
        let size = header_size(file, length)?;
        let mut bytes = vec![0; size as usize];
        file.read_exact(&mut bytes).map_err(failed)?;
        let Tensors(mut tensors) = parse(&bytes).map_err(not_safetensors)?;
        tensors.sort_by_key(|(_, info)| info.data_offsets);
        let data_start = LENGTH + size;
        let end = tensors.iter().map(|(_, info)| info.data_offsets.1 as u64).max().unwrap_or(0);
        let data = length - data_start;
        match check(&tensors, data) {
            Err(_) if end > data && check(&tensors, end).is_ok() => {
                Err(cut_off(&format!("its tensors have {end} bytes, of which it has {data}")))
            }
            checked => checked.map_err(not_safetensors),
        }?;
        Ok(Header { tensors, data_start })
    }
}

/// Copying may have been interrupted, or the disk was full.
fn cut_off(how: &str) -> Error {
    let remedy = "copy or download it again";
    Error::data(format!("the file is cut off: {how}; {remedy}"))
}

fn not_safetensors(message: String) -> Error {
    Error::new(ErrorKind::Refused, format!("not a safetensors file: {message}; {REMEDY}"))
}

/// The length of the header. The file must be at least that long.
fn header_size(file: &mut (impl Read + Seek), length: u64) -> Result<u64> {
    if length < LENGTH {
        return Err(cut_off(&format!("it ends at byte {length}, before the {LENGTH} bytes of the header's length")));
    }
    let mut bytes = [0; LENGTH as usize];
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_exact(&mut bytes));
    read.map_err(|error| Error::new(ErrorKind::Io, format!("cannot be read: {error}")))?;
    let size = u64::from_le_bytes(bytes);
    if size > MAX_HEADER {
        let message = format!("bytes 0 to 7 announce a header of {size} bytes; at most {MAX_HEADER} are allowed");
        return Err(not_safetensors(message));
    }
    if size > length - LENGTH {
        let how = format!("bytes 0 to 7 announce a header of {size} bytes, but the file has {length}");
        let begins_one = file.read(&mut bytes[..1]).is_ok_and(|read| read == 1 && bytes[0] == b'{');
        return Err(if begins_one { cut_off(&how) } else { not_safetensors(how) });
    }
    Ok(size)
}

fn parse(header: &[u8]) -> Result<Tensors, String> {
    if header.first() != Some(&b'{') {
        return Err("the header, from byte 8 on, does not begin with {".into());
    }
    let text = std::str::from_utf8(header);
    let text =
        text.map_err(|error| format!("the header is not UTF-8 at byte {}", LENGTH as usize + error.valid_up_to()))?;
    serde_json::from_str(text).map_err(|error| format!("the header is invalid: {}", json_error(&error)))
}

/// The tensors of a header; names may be repeated.
struct Tensors(Vec<(String, TensorInfo)>);

impl<'de> Deserialize<'de> for Tensors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TensorsVisitor)
    }
}

struct TensorsVisitor;

impl<'de> Visitor<'de> for TensorsVisitor {
    type Value = Tensors;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tensors, A::Error> {
        let (mut tensors, mut names) = (Vec::new(), HashSet::new());
        while let Some(name) = entries.next_key::<String>()? {
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format_args!("{name:?} is repeated")));
            }
            if name == METADATA {
                entries.next_value::<BTreeMap<String, String>>()?;
            } else {
                tensors.push((name, entries.next_value()?));
            }
        }
        Ok(Tensors(tensors))
    }
}

/// Checks that the tensors, sorted by their offsets, are possible and fill `data` bytes exactly.
fn check(tensors: &[(String, TensorInfo)], data: u64) -> Result<(), String> {
    let mut end = 0;
    for (name, info) in tensors {
        check_tensor(name, info, end, data).map_err(|problem| format!("tensor \"{}\": {problem}", shown(name, 80)))?;
        end = info.data_offsets.1;
    }
    if end as u64 != data {
        return Err(format!("bytes {end} to {data} of the data belong to no tensor"));
    }
    Ok(())
}

/// `start` is the end of the previous tensor.
fn check_tensor(name: &str, info: &TensorInfo, start: usize, data: u64) -> Result<(), String> {
    if name.is_empty() || name.len() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(format!("the name is empty, longer than {MAX_NAME} bytes, or has control characters"));
    }
    let (shape, (begin, end)) = (&info.shape, info.data_offsets);
    if shape.len() > MAX_DIMENSIONS {
        return Err(format!("it has {} dimensions; at most {MAX_DIMENSIONS} are allowed", shape.len()));
    }
    // A shape with a 0 must not overflow either: strides are products of the other sizes.
    let bits = shape.iter().try_fold(info.dtype.bitsize(), |bits, &size| bits.checked_mul(size.max(1)));
    if bits.and_then(|bits| i64::try_from(bits).ok()).is_none() {
        return Err(format!("its shape {shape:?} is larger than any memory"));
    }
    let bits = shape.iter().product::<usize>() * info.dtype.bitsize();
    match begin.cmp(&start) {
        _ if begin > end => Err(format!("its offsets {begin} to {end} go backwards")),
        _ if end as u64 > data => Err(format!("its offsets {begin} to {end} lead out of the {data} bytes of data")),
        std::cmp::Ordering::Less => {
            Err(format!("its offset {begin} overlaps the previous tensor, which ends at {start}"))
        }
        std::cmp::Ordering::Greater => Err(format!("its offset {begin} leaves a gap after {start}")),
        _ if !bits.is_multiple_of(8) || end - begin != bits / 8 => {
            Err(format!("its shape {shape:?} of {} does not take {} bytes", info.dtype, end - begin))
        }
        _ => Ok(()),
    }
}

/// How files of other formats begin: the position of the bytes, the bytes, the format's name.
const BEGINNINGS: [(usize, &[u8], &str); 22] = [
    (0, b"PK\x03\x04", ZIP),
    (0, b"PK\x05\x06", ZIP),
    (0, b"PK\x07\x08", ZIP),
    (
        0,
        b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19",
        "a pickle of an old PyTorch, which can run any code when it is loaded",
    ),
    (0, b"\x80\x02", PICKLE),
    (0, b"\x80\x03", PICKLE),
    (0, b"\x80\x04", PICKLE),
    (0, b"\x80\x05", PICKLE),
    (257, b"ustar", "a tar archive, as old PyTorch wrote them"),
    (0, b"\x1f\x8b\x08", "compressed (gzip)"),
    (0, b"BZh", "compressed (bzip2)"),
    (0, b"\xfd7zXZ\x00", "compressed (xz)"),
    (0, b"\x28\xb5\x2f\xfd", "compressed (zstd)"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file, as Keras writes them"),
    (0, b"\x93NUMPY", "a NumPy array"),
    (0, b"GGUF", "a GGUF file"),
    (0, b"\x7fELF", "a program"),
    (0, b"version https://git-lfs", "a pointer to a file in Git LFS (`git lfs pull` fetches the file itself)"),
    (0, b"<", "HTML or XML, as a failed download leaves it"),
    (0, b"{", "JSON; the index of a model in several files must be named model.safetensors.index.json"),
    (0, b"#!", "a script"),
];

const ZIP: &str =
    "a zip archive (as torch.save and numpy.savez write them), whose pickles can run any code when loaded";
const PICKLE: &str = "a pickle, which can run any code when it is loaded";

/// The name of the other format, if the file has one or could also be read as one.
fn other_format(file: &mut (impl Read + Seek), length: u64) -> io::Result<Option<&'static str>> {
    let start = part(file, 0, 512)?;
    let known = BEGINNINGS.iter().find(|(at, magic, _)| start.get(*at..).is_some_and(|rest| rest.starts_with(magic)));
    if let Some((_, magic, format)) = known
        && !(magic.len() <= 3 && could_be_length(&start))
    {
        return Ok(Some(format));
    }
    // A zip archive is read from its end; anything may precede it.
    let tail = part(file, length.saturating_sub(ZIP_END + u64::from(u16::MAX)), ZIP_END + u64::from(u16::MAX))?;
    if ends_as_zip(&tail) {
        return Ok(Some("also a zip archive"));
    }
    let text_pickle = start.first().is_some_and(|first| b"(c]}lIF".contains(first)) && tail.ends_with(b".");
    Ok((text_pickle && !could_be_length(&start)).then_some(PICKLE))
}

/// Whether these bytes can be the length of a safetensors header although they look like another format: the length 640
/// has a pickle's 0x80 0x02. No pickle continues with five zeros, unless they are the argument of an instruction.
fn could_be_length(start: &[u8]) -> bool {
    let takes_zeros = |byte: &u8| b"G\x8d\x8e\x95".contains(byte);
    start.get(3..9).is_some_and(|bytes| bytes == b"\0\0\0\0\0{") && !takes_zeros(&start[2])
}

/// Bytes of the last record of a zip archive, without its comment.
const ZIP_END: u64 = 22;

/// Whether the bytes contain the last record of a zip archive, whose comment must reach the end of the file.
fn ends_as_zip(tail: &[u8]) -> bool {
    let records = tail.windows(ZIP_END as usize).enumerate().filter(|(_, record)| record.starts_with(b"PK\x05\x06"));
    let comment = |record: &[u8]| usize::from(u16::from_le_bytes([record[20], record[21]]));
    records.into_iter().any(|(at, record)| at + ZIP_END as usize + comment(record) == tail.len())
}

/// At most `most` bytes, starting at `from`.
fn part(file: &mut (impl Read + Seek), from: u64, most: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
