//! The `.npy` format: one tensor behind a small header written as a Python dictionary.
//!
//! Reading trusts no size it is told: the header is bounded, and the elements are read as they
//! come, never allocated from what the header claims.
//!
//! Strings are numpy's of one length (`<U7`): numbers of characters in 32 bits each, with zeros behind shorter ones.

use fusion_operators::{DType, Tensor, TensorError, tensor::bytes_of};
use std::io::{self, Read, Write};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Longer than any header of a plain array: numpy itself refuses more than 10,000 bytes by default.
const LONGEST_HEADER: usize = 64 << 10;
const MOST_DIMENSIONS: usize = 64;

/// Why bytes are not a `.npy` tensor, or a tensor cannot be one.
#[derive(Debug, thiserror::Error)]
pub enum NpyError {
    /// The first bytes are not those of the format.
    #[error("this is not a .npy file: the first six bytes are not \\x93NUMPY")]
    Magic,
    /// A version of the format nobody has written yet.
    #[error("version {0}.{1} of the .npy format is not known; 1.0, 2.0 and 3.0 are")]
    Version(u8, u8),
    /// A header that no plain array needs.
    #[error("the .npy header claims {0} bytes, more than the {LONGEST_HEADER} a plain array can need")]
    HeaderLength(usize),
    /// The header is not the dictionary the format asks for.
    #[error("the .npy header is malformed: {0}")]
    Header(&'static str),
    /// An element type that no tensor has.
    #[error("elements of numpy type {0:?} are not supported")]
    ElementType(String),
    /// A number that is no character.
    #[error("a string of the .npy file has a number that is no Unicode character")]
    Character,
    /// numpy lacks the element type.
    #[error(
        "numpy has no {0} element type, so a {0} tensor cannot be written as .npy; convert it to f32 first"
    )]
    NoNumpyType(DType),
    /// The shape does not fit the address space.
    #[error(transparent)]
    Shape(#[from] TensorError),
    /// Fewer elements than the shape asks for.
    #[error("the file ends after {found} of the {expected} bytes its shape {shape:?} asks for")]
    Truncated {
        /// The shape in the header.
        shape: Vec<usize>,
        /// Bytes of that shape.
        expected: usize,
        /// Bytes there were.
        found: usize,
    },
    /// More bytes than the shape asks for.
    #[error("there are bytes after the {expected} bytes of the tensor's elements")]
    Trailing {
        /// Bytes of the shape in the header.
        expected: usize,
    },
    /// The file could not be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// What the header says.
struct Header {
    dtype: DType,
    /// Bytes of an element in the file.
    size: usize,
    swapped: bool,
    fortran: bool,
    shape: Vec<usize>,
}

/// Reads one tensor that fills the rest of `reader`, of which at most `limit` bytes can exist.
pub fn read(reader: &mut impl Read, limit: u64) -> Result<Tensor, NpyError> {
    let header = read_header(reader)?;
    // An extent more: the bytes of an element.
    let expected = bytes_of(DType::U8, &[&header.shape[..], &[header.size]].concat())?;
    let truncated = |found| NpyError::Truncated { shape: header.shape.clone(), expected, found };
    if expected as u64 > limit {
        return Err(truncated(limit as usize));
    }
    let mut data = Vec::new();
    reader.take(expected as u64).read_to_end(&mut data)?;
    if data.len() < expected {
        return Err(truncated(data.len()));
    }
    if reader.read(&mut [0])? != 0 {
        return Err(NpyError::Trailing { expected });
    }
    if header.swapped {
        let unit = if header.dtype == DType::String { CHARACTER } else { header.size };
        data.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
    }
    if header.dtype == DType::Bool {
        data.iter_mut().for_each(|byte| *byte = (*byte != 0).into());
    }
    if header.fortran {
        data = row_major(&data, &header.shape, header.size);
    }
    if header.dtype == DType::String {
        let strings =
            data.chunks_exact(header.size).map(string_of).collect::<Result<Vec<String>, NpyError>>()?;
        return Ok(Tensor::from_strings(&header.shape, &strings)?);
    }
    Ok(Tensor::from_bytes(header.dtype, &header.shape, data)?)
}

/// Bytes of a character.
const CHARACTER: usize = 4;

/// The string of an element's bytes.
fn string_of(bytes: &[u8]) -> Result<String, NpyError> {
    let (characters, _) = bytes.as_chunks::<CHARACTER>();
    let end = characters.iter().rposition(|c| *c != [0; CHARACTER]).map_or(0, |last| last + 1);
    let of = |c: &[u8; CHARACTER]| char::from_u32(u32::from_ne_bytes(*c)).ok_or(NpyError::Character);
    characters[..end].iter().map(of).collect()
}

/// The bytes of strings, all as long as the longest.
fn write_strings(writer: &mut impl Write, tensor: &Tensor, width: usize) -> Result<(), NpyError> {
    for string in tensor.strings() {
        let mut left = width;
        for c in string.chars() {
            writer.write_all(&u32::from(c).to_ne_bytes())?;
            left -= 1;
        }
        io::copy(&mut io::repeat(0).take((left * CHARACTER) as u64), writer)?;
    }
    Ok(())
}

/// Writes one tensor, in row-major order.
pub fn write(writer: &mut impl Write, tensor: &Tensor) -> Result<(), NpyError> {
    // At least 1, as numpy has it.
    let width = tensor.strings().map(|string| string.chars().count()).fold(1, usize::max);
    let descr = match tensor.dtype() {
        DType::String if cfg!(target_endian = "little") => format!("<U{width}"),
        DType::String => format!(">U{width}"),
        dtype => numpy_name(dtype).ok_or(NpyError::NoNumpyType(dtype))?,
    };
    let mut shape = String::new();
    for extent in tensor.shape() {
        shape += &format!("{extent}, ");
    }
    // Python writes (3,) and (2, 3).
    let shape = if tensor.shape().len() == 1 { shape.trim_end() } else { shape.trim_end_matches(", ") };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic, version, length and text together are a multiple of 64 bytes, newline last.
    let before = MAGIC.len() + 4;
    let padding = (before + text.len() + 1).next_multiple_of(64) - before - text.len() - 1;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(|_| NpyError::HeaderLength(text.len()))?;
    writer.write_all(MAGIC)?;
    writer.write_all(&[1, 0])?;
    writer.write_all(&length.to_le_bytes())?;
    writer.write_all(text.as_bytes())?;
    match tensor.dtype() {
        DType::String => write_strings(writer, tensor, width),
        _ => Ok(writer.write_all(tensor.bytes())?),
    }
}

/// The numpy type of an element type on this machine; none for bf16, and for strings, whose type has their length.
fn numpy_name(dtype: DType) -> Option<String> {
    let order = match (dtype.size(), cfg!(target_endian = "little")) {
        (1, _) => '|',
        (_, true) => '<',
        (_, false) => '>',
    };
    let kind = match dtype {
        DType::BF16 | DType::String => return None,
        DType::F64 | DType::F32 | DType::F16 => 'f',
        DType::I64 | DType::I32 | DType::I16 | DType::I8 => 'i',
        DType::U64 | DType::U32 | DType::U16 | DType::U8 => 'u',
        DType::Bool => 'b',
    };
    Some(format!("{order}{kind}{}", dtype.size()))
}

fn read_header(reader: &mut impl Read) -> Result<Header, NpyError> {
    let mut start = [0; 8];
    read_exactly(reader, &mut start, NpyError::Magic)?;
    if !start.starts_with(MAGIC) {
        return Err(NpyError::Magic);
    }
    let ends = || NpyError::Header("the file ends inside it");
    let length = match (start[6], start[7]) {
        (1, 0) => {
            let mut length = [0; 2];
            read_exactly(reader, &mut length, ends())?;
            u16::from_le_bytes(length).into()
        }
        (2 | 3, 0) => {
            let mut length = [0; 4];
            read_exactly(reader, &mut length, ends())?;
            u32::from_le_bytes(length) as usize
        }
        (major, minor) => return Err(NpyError::Version(major, minor)),
    };
    if length > LONGEST_HEADER {
        return Err(NpyError::HeaderLength(length));
    }
    let mut text = vec![0; length];
    read_exactly(reader, &mut text, ends())?;
    let text = std::str::from_utf8(&text).map_err(|_| NpyError::Header("it is not text"))?;
    Dictionary { rest: text }.header()
}

/// `read_exact` that says what ended too early.
fn read_exactly(reader: &mut impl Read, buffer: &mut [u8], short: NpyError) -> Result<(), NpyError> {
    reader.read_exact(buffer).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => short,
        _ => NpyError::Io(e),
    })
}

/// A reader of the one Python dictionary that heads the file.
struct Dictionary<'a> {
    rest: &'a str,
}

impl<'a> Dictionary<'a> {
    fn header(mut self) -> Result<Header, NpyError> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect('{', "it does not start with '{'")?;
        while !self.take('}') {
            let key = self.string()?;
            self.expect(':', "a key is not followed by ':'")?;
            match key {
                "descr" => descr = Some(self.descr()?),
                "fortran_order" => fortran = Some(self.boolean()?),
                "shape" => shape = Some(self.shape()?),
                _ => return Err(NpyError::Header("it has a key other than descr, fortran_order and shape")),
            }
            if !self.take(',') {
                self.expect('}', "its entries are not separated by ','")?;
                break;
            }
        }
        if !self.rest.trim().is_empty() {
            return Err(NpyError::Header("there is text after the dictionary"));
        }
        let (dtype, size, swapped) = descr.ok_or(NpyError::Header("it has no descr"))?;
        let fortran = fortran.ok_or(NpyError::Header("it has no fortran_order"))?;
        let shape = shape.ok_or(NpyError::Header("it has no shape"))?;
        Ok(Header { dtype, size, swapped, fortran, shape })
    }

    fn take(&mut self, c: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, c: char, why: &'static str) -> Result<(), NpyError> {
        if self.take(c) { Ok(()) } else { Err(NpyError::Header(why)) }
    }

    fn string(&mut self) -> Result<&'a str, NpyError> {
        let quote = if self.take('\'') { '\'' } else { '"' };
        if quote == '"' {
            self.expect('"', "a string was expected")?;
        }
        let (text, rest) = self.rest.split_once(quote).ok_or(NpyError::Header("a string has no end"))?;
        self.rest = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, NpyError> {
        self.rest = self.rest.trim_start();
        for (name, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(name) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(NpyError::Header("fortran_order is neither True nor False"))
    }

    /// The element type, the bytes of an element, and whether these are in the other order than this machine's.
    fn descr(&mut self) -> Result<(DType, usize, bool), NpyError> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with(['[', '(']) {
            return Err(NpyError::ElementType("a structure".to_owned()));
        }
        let text = self.string()?;
        let unknown = || NpyError::ElementType(text.to_owned());
        let mut letters = text.chars();
        let order = letters.next().ok_or_else(unknown)?;
        let rest = letters.as_str();
        let number = |d: &DType| numpy_name(*d).is_some_and(|name| name[1..] == *rest);
        let (dtype, size) = match rest.strip_prefix('U').and_then(|width| width.parse::<usize>().ok()) {
            Some(width) if width > 0 => (DType::String, width.saturating_mul(CHARACTER)),
            _ => DType::ALL.into_iter().find(number).map(|d| (d, d.size())).ok_or_else(unknown)?,
        };
        let big = match order {
            '<' => false,
            '>' => true,
            '=' => cfg!(target_endian = "big"),
            '|' if dtype.size() == 1 => cfg!(target_endian = "big"),
            _ => return Err(unknown()),
        };
        Ok((dtype, size, big != cfg!(target_endian = "big")))
    }

    fn shape(&mut self) -> Result<Vec<usize>, NpyError> {
        self.expect('(', "the shape is not a tuple")?;
        let mut shape = vec![];
        while !self.take(')') {
            self.rest = self.rest.trim_start();
            let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            let (digits, rest) = self.rest.split_at(end);
            let extent =
                digits.parse().map_err(|_| NpyError::Header("an extent of the shape is not a size"))?;
            if shape.len() == MOST_DIMENSIONS {
                return Err(NpyError::Header("the shape has more than 64 dimensions"));
            }
            shape.push(extent);
            // Python 2 wrote long integers as 3L.
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            if !self.take(',') {
                self.expect(')', "the extents of the shape are not separated by ','")?;
                break;
            }
        }
        Ok(shape)
    }
}

/// Elements stored first dimension fastest, as elements stored last dimension fastest.
fn row_major(data: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut strides = vec![size; shape.len()];
    for i in 1..shape.len() {
        strides[i] = strides[i - 1] * shape[i - 1];
    }
    let mut index = vec![0; shape.len()];
    let mut out = Vec::with_capacity(data.len());
    let mut offset = 0;
    while out.len() < data.len() {
        out.extend_from_slice(&data[offset..][..size]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            offset += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            offset -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    out
}
