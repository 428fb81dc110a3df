//! The metadata section: constants that are too large to be written where they are used.
//!
//! ```text
//!   #[metadata]
//!   { "root": 1,
//!     "nodes": [ {"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
//!                {"type_key": "Array", "data": [3]}, {"type_key": "relay.Constant", "attrs": {"data": "0"}} ],
//!     "b64ndarrays": ["..."] }
//! ```
//! It is a graph of nodes that name each other by their places. An array in `b64ndarrays` is, in base 64 and little
//! endian: a magic number and 0 (u64 each), device kind and number (i32), rank (i32), kind of number, its bits (u8) and lanes
//! (u16), the extents (i64), the number of bytes (i64), the bytes. As TVM's serialisation of NDArray writes them.

use super::error::{Fault, Outcome};
use super::syntax::Span;
use fusion_operators::{DType, Tensor};
use serde_json::{Value, json};

/// What the section holds.
#[derive(Default)]
pub struct Metadata {
    /// The constants, `meta[relay.Constant][i]`.
    pub constants: Vec<Tensor>,
}

const MAGIC: u64 = 0xDD5E_40F0_96B4_A13F;
const KEY: &str = "relay.Constant";

/// Reads a section, which begins at that byte.
pub fn read(section: &str, file: u32, start: usize) -> Outcome<Metadata> {
    let span = Span { file, start: start as u32, end: (start + 2) as u32 };
    let wrong = |why: String| Fault::boxed(span, format!("the metadata section cannot be read: {why}"));
    let end = if section.starts_with('#') { ']' } else { ':' };
    let json = section.split_once(end).map_or("", |(_, rest)| rest);
    let json: Value = serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
    read_json(&json).map_err(wrong)
}

fn read_json(json: &Value) -> Result<Metadata, String> {
    let nodes = json["nodes"].as_array().ok_or("it has no list of nodes")?;
    let node = |place: &Value| -> Result<&Value, String> {
        let found = place.as_u64().and_then(|place| nodes.get(place as usize));
        found.ok_or_else(|| format!("there is no node {place}"))
    };
    let root = node(&json["root"])?;
    let (keys, data) = (root["keys"].as_array(), root["data"].as_array());
    let Some(at) = keys.and_then(|keys| keys.iter().position(|key| key == KEY)) else {
        return Ok(Metadata::default());
    };
    let list = node(data.and_then(|data| data.get(at)).unwrap_or(&Value::Null))?;
    let mut constants = Vec::new();
    for place in list["data"].as_array().ok_or("its constants are no list")? {
        let attrs = &node(place)?["attrs"];
        let index: Option<usize> = attrs["data"].as_str().and_then(|text| text.parse().ok());
        let text = index.and_then(|index| json["b64ndarrays"].get(index)).and_then(Value::as_str);
        let text = text.ok_or("a constant has no array")?;
        constants.push(from_bytes(&from_base64(text)?)?);
    }
    Ok(Metadata { constants })
}

/// A section with these constants.
pub fn write(constants: &[Tensor]) -> String {
    let places: Vec<usize> = (0..constants.len()).map(|i| 3 + i).collect();
    let mut nodes = vec![
        json!({"type_key": ""}),
        json!({"type_key": "Map", "keys": [KEY], "data": [2]}),
        json!({"type_key": "Array", "data": places}),
    ];
    nodes.extend(
        (0..constants.len()).map(|i| json!({"type_key": KEY, "attrs": {"data": i.to_string(), "span": "0"}})),
    );
    let arrays: Vec<String> = constants.iter().map(|tensor| to_base64(&to_bytes(tensor))).collect();
    let section = json!({"root": 1, "nodes": nodes, "b64ndarrays": arrays, "attrs": {"fusion_format": "1"}});
    format!("#[metadata]\n{section:#}\n")
}

/// Kind and bits of an element type (DLPack).
fn dlpack(dtype: DType) -> (u8, u8) {
    let bits = (dtype.size() * 8) as u8;
    match dtype {
        DType::Bool => (1, 1),
        DType::BF16 => (4, bits),
        _ if dtype.is_float() => (2, bits),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => (1, bits),
        _ => (0, bits),
    }
}

fn to_bytes(tensor: &Tensor) -> Vec<u8> {
    let (kind, bits) = dlpack(tensor.dtype());
    let mut bytes = Vec::with_capacity(tensor.bytes().len() + 64);
    bytes.extend(MAGIC.to_le_bytes());
    bytes.extend(0u64.to_le_bytes());
    bytes.extend(1i32.to_le_bytes());
    bytes.extend(0i32.to_le_bytes());
    bytes.extend((tensor.shape().len() as i32).to_le_bytes());
    bytes.extend([kind, bits]);
    bytes.extend(1u16.to_le_bytes());
    tensor.shape().iter().for_each(|n| bytes.extend((*n as i64).to_le_bytes()));
    bytes.extend((tensor.bytes().len() as i64).to_le_bytes());
    bytes.extend(tensor.bytes());
    bytes
}

/// Reads numbers from the front of bytes.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (first, rest) = self.0.split_first_chunk::<N>().ok_or("an array is cut off")?;
        self.0 = rest;
        Ok(*first)
    }
}

fn from_bytes(bytes: &[u8]) -> Result<Tensor, String> {
    let mut bytes = Bytes(bytes);
    if u64::from_le_bytes(bytes.take()?) != MAGIC {
        return Err("an array does not begin as arrays do".into());
    }
    bytes.take::<16>()?;
    let rank = i32::from_le_bytes(bytes.take()?);
    let [kind, bits, lanes, more] = bytes.take()?;
    let dtype = DType::ALL.into_iter().find(|dtype| dlpack(*dtype) == (kind, bits));
    let dtype = dtype.filter(|_| (lanes, more) == (1, 0));
    let dtype = dtype.ok_or_else(|| format!("an array has elements of kind {kind} with {bits} bits"))?;
    let rank = usize::try_from(rank).ok().filter(|rank| *rank <= 64).ok_or("an array has no rank")?;
    let mut shape = Vec::with_capacity(rank);
    for _ in 0..rank {
        let extent = usize::try_from(i64::from_le_bytes(bytes.take()?));
        shape.push(extent.map_err(|_| "an array has a negative extent")?);
    }
    let size = i64::from_le_bytes(bytes.take()?);
    if usize::try_from(size) != Ok(bytes.0.len()) {
        return Err(format!("an array has {} bytes, it says {size}", bytes.0.len()));
    }
    let mut data = bytes.0.to_vec();
    if dtype == DType::Bool {
        data.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
    Tensor::from_bytes(dtype, &shape, data).map_err(|error| error.to_string())
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn to_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().enumerate().fold(0u32, |word, (i, b)| word | u32::from(*b) << (16 - 8 * i));
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i)) as usize & 63];
            text.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

fn from_base64(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut word, mut bits) = (0u32, 0);
    for digit in text.bytes().filter(|b| !b.is_ascii_whitespace()).take_while(|b| *b != b'=') {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err("an array is not in base 64".into()),
        };
        word = (word << 6) | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
            word &= (1 << bits) - 1;
        }
    }
    Ok(bytes)
}
