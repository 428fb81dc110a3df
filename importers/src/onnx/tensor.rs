//! `TensorProto` to host tensors.
//!
//! Nothing a file says is trusted: extents, offsets and lengths are checked against the bytes that
//! are there before anything is allocated, and external data stays within the model's directory.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use fusion_operators::tensor::bytes_of;
use fusion_operators::{DType, Tensor, TensorError};

use super::narrow_types::Narrow;
use super::proto::TensorProto;

/// Extents above this are taken for damage: no tensor has them, and arithmetic with them may overflow.
pub const MOST_EXTENT: u64 = 1 << 40;

/// Why a `TensorProto` is not a tensor.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum TensorProtoError {
    #[error("tensor '{name}' has element type {element}, which is not supported")]
    ElementType { name: String, element: String },
    #[error("tensor '{name}' has the extent {extent}, which is out of range")]
    Extent { name: String, extent: i64 },
    #[error("tensor '{name}' has {found} elements, but its shape {shape:?} needs {expected}")]
    Count { name: String, shape: Vec<usize>, expected: usize, found: usize },
    #[error("tensor '{name}' has {found} bytes of packed elements, but its shape {shape:?} needs {expected}")]
    Packed { name: String, shape: Vec<usize>, expected: usize, found: usize },
    #[error("tensor '{name}' has strings in another place than string_data, which cannot be")]
    Strings { name: String },
    #[error("element {index} of tensor '{name}' is no text in UTF-8")]
    Text { name: String, index: usize },
    #[error("tensor '{name}' is stored in segments, which are not supported")]
    Segmented { name: String },
    #[error("sparse tensor '{name}': {why}")]
    Sparse { name: String, why: String },
    #[error("tensor '{name}': {source}")]
    Tensor { name: String, source: TensorError },
    #[error(
        "tensor '{name}' is stored in another file, but the model was read from memory; load it with Model::open"
    )]
    NoDirectory { name: String },
    #[error("tensor '{name}': {problem} of its external data")]
    External { name: String, problem: String },
    #[error("tensor '{name}': cannot read external data file {}: {source}", path.display())]
    Io { name: String, path: PathBuf, source: std::io::Error },
}

/// The element type of a number in `TensorProto.DataType`, or the name of an unsupported one.
pub fn element_type(number: i32) -> Result<DType, String> {
    const UNSUPPORTED: [(i32, &str); 11] = [
        (0, "undefined"),
        (14, "complex64"),
        (15, "complex128"),
        (17, "float8e4m3fn"),
        (18, "float8e4m3fnuz"),
        (19, "float8e5m2"),
        (20, "float8e5m2fnuz"),
        (21, "uint4"),
        (22, "int4"),
        (23, "float4e2m1"),
        (24, "float8e8m0"),
    ];
    Ok(match number {
        1 => DType::F32,
        2 => DType::U8,
        3 => DType::I8,
        4 => DType::U16,
        5 => DType::I16,
        6 => DType::I32,
        7 => DType::I64,
        8 => DType::String,
        9 => DType::Bool,
        10 => DType::F16,
        11 => DType::F64,
        12 => DType::U32,
        13 => DType::U64,
        16 => DType::BF16,
        other => {
            let known = UNSUPPORTED.iter().find(|(n, _)| *n == other);
            return Err(known.map_or_else(|| format!("number {other}"), |(_, name)| (*name).to_owned()));
        }
    })
}

/// The number of an element type in `TensorProto.DataType`.
pub fn number_of(dtype: DType) -> i32 {
    (1..32).find(|&number| element_type(number) == Ok(dtype)).unwrap_or_default()
}

/// As [`element_type`], or what holds the elements of a type that programs do not have.
pub fn held_type(number: i32) -> Result<DType, String> {
    element_type(number).or_else(|name| Narrow::of(number.into()).map(|narrow| narrow.dtype).ok_or(name))
}

/// Converts a tensor; `directory` is where external data may lie.
pub fn tensor(proto: &TensorProto, directory: Option<&Path>) -> Result<Tensor, TensorProtoError> {
    let name = || proto.name.clone();
    let dtype = held_type(proto.data_type)
        .map_err(|element| TensorProtoError::ElementType { name: name(), element })?;
    if proto.segment.is_some() {
        return Err(TensorProtoError::Segmented { name: name() });
    }
    let mut shape = Vec::with_capacity(proto.dims.len());
    for &extent in &proto.dims {
        match u64::try_from(extent) {
            Ok(n) if n <= MOST_EXTENT => shape.push(n as usize),
            _ => return Err(TensorProtoError::Extent { name: name(), extent }),
        }
    }
    let wrap = |source| TensorProtoError::Tensor { name: name(), source };
    let bytes = bytes_of(dtype, &shape).map_err(wrap)?;
    if let Some(narrow) = Narrow::of(proto.data_type.into()) {
        let elements = unpacked(proto, directory, narrow, bytes, &shape)?;
        return Tensor::from_bytes(dtype, &shape, elements).map_err(wrap);
    }
    if dtype == DType::String && (proto.data_location == 1 || proto.raw_data.is_some()) {
        return Err(TensorProtoError::Strings { name: name() });
    }
    if proto.data_location == 1 {
        let data = external(proto, directory, bytes)?;
        return Tensor::from_bytes(dtype, &shape, to_native(dtype, data)).map_err(wrap);
    }
    if let Some(raw) = &proto.raw_data {
        // Weights by the gigabyte are copied once.
        let is_native = cfg!(target_endian = "little") && dtype != DType::Bool;
        return match is_native {
            true => Tensor::from_bytes(dtype, &shape, raw),
            false => Tensor::from_bytes(dtype, &shape, to_native(dtype, raw.to_vec())),
        }
        .map_err(wrap);
    }
    typed(proto, dtype, &shape, bytes / dtype.size())
}

/// Elements of fewer than 8 bits, or floats of 8, a byte each.
fn unpacked(
    proto: &TensorProto,
    directory: Option<&Path>,
    narrow: &Narrow,
    count: usize,
    shape: &[usize],
) -> Result<Vec<u8>, TensorProtoError> {
    let size = narrow.packed_size(count);
    let packed: Vec<u8> = match &proto.raw_data {
        _ if proto.data_location == 1 => external(proto, directory, size)?,
        Some(raw) => raw.to_vec(),
        // Each number is a byte, with as many elements as fit.
        None => proto.int32_data.iter().map(|&v| v as u8).collect(),
    };
    if packed.len() != size {
        let (name, shape, found) = (proto.name.clone(), shape.to_vec(), packed.len());
        return Err(TensorProtoError::Packed { name, shape, expected: size, found });
    }
    Ok(narrow.unpacked(&packed, count))
}

/// Elements from the field that belongs to the element type.
fn typed(
    proto: &TensorProto,
    dtype: DType,
    shape: &[usize],
    expected: usize,
) -> Result<Tensor, TensorProtoError> {
    let check = |found: usize| {
        if found == expected {
            return Ok(());
        }
        let (name, shape) = (proto.name.clone(), shape.to_vec());
        Err(TensorProtoError::Count { name, shape, expected, found })
    };
    let made = match dtype {
        DType::F32 => {
            check(proto.float_data.len())?;
            Tensor::from_slice(shape, &proto.float_data)
        }
        DType::F64 => {
            check(proto.double_data.len())?;
            Tensor::from_slice(shape, &proto.double_data)
        }
        DType::I64 => {
            check(proto.int64_data.len())?;
            Tensor::from_slice(shape, &proto.int64_data)
        }
        DType::U64 | DType::U32 => {
            check(proto.uint64_data.len())?;
            let values: Vec<i128> = proto.uint64_data.iter().map(|&v| v.into()).collect();
            Tensor::from_ints(dtype, shape, &values)
        }
        DType::String => {
            check(proto.string_data.len())?;
            let text = |(index, bytes)| {
                let bytes: &prost::bytes::Bytes = bytes;
                std::str::from_utf8(bytes)
                    .map_err(|_| TensorProtoError::Text { name: proto.name.clone(), index })
            };
            let strings = proto.string_data.iter().enumerate().map(text).collect::<Result<Vec<&str>, _>>()?;
            Tensor::from_strings(shape, &strings)
        }
        DType::F16 | DType::BF16 => {
            // Each element is the bit pattern, in the low half.
            check(proto.int32_data.len())?;
            let data = proto.int32_data.iter().flat_map(|&v| (v as u16).to_ne_bytes()).collect::<Vec<u8>>();
            Tensor::from_bytes(dtype, shape, data)
        }
        _ => {
            check(proto.int32_data.len())?;
            let values: Vec<i128> = proto.int32_data.iter().map(|&v| v.into()).collect();
            Tensor::from_ints(dtype, shape, &values)
        }
    };
    made.map_err(|source| TensorProtoError::Tensor { name: proto.name.clone(), source })
}

/// Little-endian bytes of a file as bytes of this machine; booleans become 0 or 1.
fn to_native(dtype: DType, mut data: Vec<u8>) -> Vec<u8> {
    if dtype == DType::Bool {
        for byte in &mut data {
            *byte = (*byte != 0).into();
        }
    }
    if cfg!(target_endian = "big") {
        for element in data.chunks_exact_mut(dtype.size()) {
            element.reverse();
        }
    }
    data
}

/// Reads exactly `bytes` bytes of external data.
fn external(
    proto: &TensorProto,
    directory: Option<&Path>,
    bytes: usize,
) -> Result<Vec<u8>, TensorProtoError> {
    let name = || proto.name.clone();
    let fail = |problem: String| TensorProtoError::External { name: name(), problem };
    let directory = directory.ok_or_else(|| TensorProtoError::NoDirectory { name: name() })?;
    let entry = |key: &str| proto.external_data.iter().find(|e| e.key == key).map(|e| e.value.as_str());
    let number = |key: &str| -> Result<Option<u64>, TensorProtoError> {
        entry(key)
            .map(|text| text.parse().map_err(|_| fail(format!("'{text}' is not a valid {key}"))))
            .transpose()
    };
    let location = entry("location").ok_or_else(|| fail("no location is given".into()))?;
    let relative = Path::new(location);
    let inside = relative.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
    if location.is_empty() || !inside {
        return Err(fail(format!(
            "'{location}' is not a path within the model's directory for the location"
        )));
    }
    let path = directory.join(relative);
    let io = |source| TensorProtoError::Io { name: name(), path: path.clone(), source };
    // A link must not lead out either.
    let (root, real) = (directory.canonicalize().map_err(io)?, path.canonicalize().map_err(io)?);
    if !real.starts_with(&root) {
        return Err(fail(format!("'{location}' leads out of the model's directory as the location")));
    }
    if !real.metadata().map_err(io)?.is_file() {
        return Err(fail(format!("'{location}' is not a regular file as the location")));
    }
    let mut file = File::open(&real).map_err(io)?;
    let size = file.metadata().map_err(io)?.len();
    let offset = number("offset")?.unwrap_or(0);
    let rest = size.checked_sub(offset).ok_or_else(|| {
        fail(format!("offset {offset} is beyond the {size} bytes of '{location}', the location"))
    })?;
    let length = number("length")?.unwrap_or(bytes as u64);
    if length > rest {
        return Err(fail(format!("length {length} exceeds the {rest} bytes left in '{location}'")));
    }
    if length != bytes as u64 {
        return Err(fail(format!("length {length} is not the {bytes} bytes the shape needs, the size")));
    }
    file.seek(SeekFrom::Start(offset)).map_err(io)?;
    let mut data = vec![0; bytes];
    file.read_exact(&mut data).map_err(io)?;
    Ok(data)
}

/// The type of each part of complex numbers, by their number in `TensorProto.DataType`.
pub fn part_type(number: i32) -> Option<DType> {
    match number {
        14 => Some(DType::F32),
        15 => Some(DType::F64),
        _ => None,
    }
}

/// The real and the imaginary parts of a tensor of complex numbers, if it is one.
pub fn complex(
    proto: &TensorProto,
    directory: Option<&Path>,
) -> Result<Option<[Tensor; 2]>, TensorProtoError> {
    let Some(dtype) = part_type(proto.data_type) else { return Ok(None) };
    // Both parts of an element lie side by side.
    let number = number_of(dtype);
    let pairs = TensorProto {
        data_type: number,
        dims: proto.dims.iter().copied().chain([2]).collect(),
        ..proto.clone()
    };
    let pairs = tensor(&pairs, directory)?;
    let (size, wrap) = (dtype.size(), |source| TensorProtoError::Tensor { name: proto.name.clone(), source });
    let shape = &pairs.shape()[..pairs.shape().len() - 1];
    let part = |first: usize| {
        let elements = pairs.bytes().chunks_exact(size).skip(first).step_by(2);
        Tensor::from_bytes(dtype, shape, elements.flatten().copied().collect::<Vec<u8>>()).map_err(wrap)
    };
    Ok(Some([part(0)?, part(1)?]))
}
