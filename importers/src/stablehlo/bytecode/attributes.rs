//! Attributes and types from their numbers in a file.
//!
//! Each is decoded once. Those of builtin are numbered by MLIR, those of vhlo by StableHLO; what is neither is text.

use super::cursor::{Cursor, Read};
use super::tables::{Encoded, Tables};
use crate::stablehlo::graph::{Attr, Attributes};
use crate::stablehlo::text::literals::{booleans, from_bytes};
use crate::stablehlo::text::types::{range_of, tensor};
use crate::stablehlo::types::{Element, Quantized, TensorTy, Type};
use fusion_operators::DType;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Attributes and types that hold others are nested at most so deeply.
const MOST_DEPTH: usize = 64;

/// A type as it is decoded: of elements, of values, or of functions, which no value has.
#[derive(Clone, Debug)]
pub enum Decoded {
    Element(Element),
    Value(Type),
    Other,
}

/// Decodes attributes and types.
pub struct Decoder<'t, 'b> {
    tables: &'t Tables<'b>,
    attributes: RefCell<HashMap<usize, Attr>>,
    types: RefCell<HashMap<usize, Decoded>>,
    depth: Cell<usize>,
}

/// The words of an enumeration.
fn word(words: &[&str], number: u64) -> Read<Attr> {
    let found = usize::try_from(number).ok().and_then(|i| words.get(i));
    found
        .map(|word| Attr::Word((*word).to_owned()))
        .ok_or_else(|| format!("{number} is none of {}", words.join(", ")))
}

impl<'t, 'b> Decoder<'t, 'b> {
    pub fn new(tables: &'t Tables<'b>) -> Self {
        Decoder { tables, attributes: RefCell::default(), types: RefCell::default(), depth: Cell::new(0) }
    }

    fn nested<T>(&self, f: impl FnOnce() -> Read<T>) -> Read<T> {
        self.depth.set(self.depth.get() + 1);
        let made = match self.depth.get() > MOST_DEPTH {
            true => Err(format!("attributes are nested more than {MOST_DEPTH} levels deep")),
            false => f(),
        };
        self.depth.set(self.depth.get() - 1);
        made
    }

    /// The attribute whose number comes next.
    pub fn attribute(&self, cursor: &mut Cursor<'b>) -> Read<Attr> {
        let index = cursor.index(self.tables.attributes.len(), "attribute")?;
        if let Some(known) = self.attributes.borrow().get(&index) {
            return Ok(known.clone());
        }
        let made = self.nested(|| self.decode(self.tables.attributes[index]))?;
        self.attributes.borrow_mut().insert(index, made.clone());
        Ok(made)
    }

    /// The type whose number comes next.
    fn any_type(&self, cursor: &mut Cursor<'b>) -> Read<Decoded> {
        let index = cursor.varint()?;
        self.type_at(index)
    }

    fn type_at(&self, index: u64) -> Read<Decoded> {
        let count = self.tables.types.len();
        let within = usize::try_from(index).ok().filter(|&i| i < count);
        let index = within.ok_or_else(|| format!("type {index} is named, and there are {count}"))?;
        if let Some(known) = self.types.borrow().get(&index) {
            return Ok(known.clone());
        }
        let made = self.nested(|| self.decode_type(self.tables.types[index]))?;
        self.types.borrow_mut().insert(index, made.clone());
        Ok(made)
    }

    /// The type of a value whose number comes next.
    pub fn value_type(&self, cursor: &mut Cursor<'b>) -> Read<Type> {
        let index = cursor.varint()?;
        self.value_type_at(index)
    }

    /// The type of a value by its number.
    pub fn value_type_at(&self, index: u64) -> Read<Type> {
        Ok(match self.type_at(index)? {
            Decoded::Value(ty) => ty,
            Decoded::Element(element) => Type::Other(element.to_string()),
            Decoded::Other => Type::Other("a function".into()),
        })
    }

    fn element(&self, cursor: &mut Cursor<'b>) -> Read<Element> {
        match self.any_type(cursor)? {
            Decoded::Element(element) => Ok(element),
            _ => Err("a tensor has elements that are no numbers".into()),
        }
    }

    fn string(&self, cursor: &mut Cursor<'b>) -> Read<String> {
        Ok(self.tables.strings[cursor.index(self.tables.strings.len(), "string")?].to_owned())
    }

    fn list<T>(
        &self,
        cursor: &mut Cursor<'b>,
        mut f: impl FnMut(&mut Cursor<'b>) -> Read<T>,
    ) -> Read<Vec<T>> {
        (0..cursor.count()?).map(|_| f(cursor)).collect()
    }

    fn map(&self, cursor: &mut Cursor<'b>) -> Read<Attr> {
        let entries = self.list(cursor, |cursor| Ok((self.attribute(cursor)?, self.attribute(cursor)?)))?;
        let mut map = Attributes::new();
        for (name, value) in entries {
            if let Attr::Text(name) = name {
                map.insert(name, value);
            }
        }
        Ok(Attr::Map(map))
    }

    fn decode(&self, encoded: Encoded<'b>) -> Read<Attr> {
        let mut cursor = Cursor::new(encoded.bytes);
        match (encoded.custom, self.tables.dialects[encoded.dialect]) {
            (true, "builtin") => self.builtin(&mut cursor),
            (true, "vhlo") => self.vhlo(&mut cursor),
            _ => Ok(Attr::Opaque),
        }
    }

    fn builtin(&self, cursor: &mut Cursor<'b>) -> Read<Attr> {
        Ok(match cursor.varint()? {
            0 => Attr::List(self.list(cursor, |cursor| self.attribute(cursor))?),
            1 => self.map(cursor)?,
            2 | 3 => Attr::Text(self.string(cursor)?),
            7 => Attr::Unit,
            // A place in a file, or with a name, which says more.
            11 => match (self.attribute(cursor)?, cursor.varint()?) {
                (Attr::Text(file), line) => Attr::Text(format!("{file}:{line}")),
                _ => Attr::Opaque,
            },
            14 => self.attribute(cursor)?,
            _ => Attr::Opaque,
        })
    }

    fn vhlo(&self, cursor: &mut Cursor<'b>) -> Read<Attr> {
        Ok(match cursor.varint()? {
            1 => Attr::List(self.list(cursor, |cursor| self.attribute(cursor))?),
            2 => Attr::Bool(cursor.varint()? != 0),
            3 => word(&["EQ", "NE", "GE", "GT", "LE", "LT"], cursor.varint()?)?,
            4 => word(&["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"], cursor.varint()?)?,
            6 => self.map(cursor)?,
            7 => word(&["FFT", "IFFT", "RFFT", "IRFFT"], cursor.varint()?)?,
            8 => {
                let element = self.element(cursor)?;
                Attr::Float(float(cursor, &element)?)
            }
            9 => {
                let element = self.element(cursor)?;
                let byte = element.kept().is_some_and(|dtype| dtype.size() == 1);
                let value = match (byte, &element) {
                    (true, Element::Plain(DType::U8)) => i64::from(cursor.byte()?),
                    (true, _) => i64::from(cursor.byte()? as i8),
                    (false, _) => cursor.signed()?,
                };
                Attr::Int(value.into())
            }
            11 => word(&["DEFAULT", "HIGH", "HIGHEST"], cursor.varint()?)?,
            12 => word(&["DEFAULT", "THREE_FRY", "PHILOX"], cursor.varint()?)?,
            13 => word(&["", "UNIFORM", "NORMAL"], cursor.varint()?)?,
            14 => Attr::Text(self.string(cursor)?),
            15 => {
                let ty = self.value_type(cursor)?;
                let size = cursor.count()?;
                let bytes = cursor.take(size)?;
                let is_bool = ty.tensor().is_some_and(|t| t.element == Element::Plain(DType::Bool));
                let bytes = match (is_bool, ty.elements()) {
                    (true, Some(count)) => booleans(bytes, count),
                    _ => bytes.to_vec(),
                };
                match ty.tensor().is_some_and(|t| t.element.kept().is_some()) {
                    true => from_bytes(&ty, bytes)?,
                    false => Attr::Opaque,
                }
            }
            16 => word(&["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"], cursor.varint()?)?,
            _ => Attr::Opaque,
        })
    }

    fn decode_type(&self, encoded: Encoded<'b>) -> Read<Decoded> {
        let mut cursor = Cursor::new(encoded.bytes);
        match (encoded.custom, self.tables.dialects[encoded.dialect]) {
            (true, "vhlo") => self.vhlo_type(&mut cursor),
            (false, _) => {
                let text = std::str::from_utf8(cursor.until_zero().unwrap_or_default()).unwrap_or_default();
                Ok(tensor(text).map_or(Decoded::Other, Decoded::Value))
            }
            _ => Ok(Decoded::Other),
        }
    }

    fn vhlo_type(&self, cursor: &mut Cursor<'b>) -> Read<Decoded> {
        let plain = |dtype| Element::Plain(dtype);
        let narrow = |bits, signed| Element::Narrow { bits, signed };
        Ok(Decoded::Element(match cursor.varint()? {
            0 => plain(DType::Bool),
            1 => match self.element(cursor)? {
                Element::Plain(dtype @ (DType::F32 | DType::F64)) => Element::Complex(dtype),
                other => return Err(format!("complex numbers of {other} are not supported")),
            },
            2 => plain(DType::BF16),
            3 => plain(DType::F16),
            4 => plain(DType::F32),
            5 => plain(DType::F64),
            9 => plain(DType::I64),
            10 => narrow(4, true),
            11 => plain(DType::I8),
            12 => plain(DType::I16),
            13 => plain(DType::I32),
            14 => plain(DType::I64),
            15 => narrow(4, false),
            16 => plain(DType::U8),
            17 => plain(DType::U16),
            18 => plain(DType::U32),
            19 => plain(DType::U64),
            31 => narrow(2, true),
            32 => narrow(2, false),
            code @ (20 | 21) => {
                if code == 21 {
                    self.attribute(cursor)?;
                }
                let dims = self.list(cursor, Cursor::signed)?;
                let element = self.element(cursor)?;
                let dims = dims.into_iter().map(|n| u64::try_from(n).ok()).collect();
                return Ok(Decoded::Value(Type::Tensor(TensorTy { dims, element })));
            }
            22 => return Ok(Decoded::Value(Type::Token)),
            23 => {
                let types = self.list(cursor, |cursor| self.value_type(cursor))?;
                return Ok(Decoded::Value(Type::Tuple(types)));
            }
            24 => {
                cursor.varint()?;
                let (storage, expressed) = (self.element(cursor)?, self.element(cursor)?);
                let (scale, zero) = (float(cursor, &plain(DType::F64))?, cursor.signed()?);
                let range = (cursor.signed()?, cursor.signed()?);
                quantized(storage, &expressed, None, (vec![scale], vec![zero]), range)?
            }
            30 => {
                cursor.varint()?;
                let (storage, expressed) = (self.element(cursor)?, self.element(cursor)?);
                let axis = cursor.varint()? as usize;
                let range = (cursor.signed()?, cursor.signed()?);
                let scales = self.list(cursor, |cursor| float(cursor, &plain(DType::F64)))?;
                let zeros = self.list(cursor, Cursor::signed)?;
                quantized(storage, &expressed, Some(axis), (scales, zeros), range)?
            }
            code @ (6 | 7 | 27..=29 | 34..=40) => {
                Element::Other(format!("a float of 8 bits or fewer (type {code} of vhlo)"))
            }
            _ => return Ok(Decoded::Other),
        }))
    }
}

fn quantized(
    storage: Element,
    expressed: &Element,
    axis: Option<usize>,
    (scales, zeros): (Vec<f64>, Vec<i64>),
    range: (i64, i64),
) -> Read<Element> {
    let Element::Plain(expressed) = *expressed else {
        return Err("a quantized type stands for no floats".into());
    };
    let range = if range.0 < range.1 { range } else { range_of(&storage).unwrap_or(range) };
    Ok(Element::Quantized(Rc::new(Quantized { storage, expressed, axis, scales, zeros, range })))
}

/// The bits of a float: a byte, or a number with a sign.
fn float(cursor: &mut Cursor, element: &Element) -> Read<f64> {
    match element {
        Element::Plain(DType::F64) => Ok(f64::from_bits(cursor.signed()? as u64)),
        Element::Plain(DType::F32) => Ok(f32::from_bits(cursor.signed()? as u32).into()),
        Element::Plain(DType::F16) => half(cursor.signed()? as u16),
        Element::Plain(DType::BF16) => Ok(f32::from_bits((cursor.signed()? as u32) << 16).into()),
        other => Err(format!("a float of type {other} is not supported here")),
    }
}

fn half(bits: u16) -> Read<f64> {
    let tensor = fusion_operators::Tensor::from_bytes(DType::F16, &[], bits.to_ne_bytes());
    tensor.map(|t| t.f64_at(0)).map_err(|error| error.to_string())
}
