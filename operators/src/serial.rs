//! How element types, attributes and tensors are written to and read from files.
//!
//! Element types go by name, so that a file does not depend on their order here. A tensor is its element type, its extents
//! and its bytes in little-endian order; bytes that do not fill the extents are refused. The bytes of strings are those of each, after how
//! many there are, in 64 bits.

use crate::{Attr, Attrs, DType, Tensor};
use serde::de::{self, Deserializer, Visitor};
use serde::ser::{SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};
use std::fmt;

impl Serialize for DType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.mlir_name())
    }
}

impl<'de> Deserialize<'de> for DType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = DType;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("the name of an element type")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<DType, E> {
                name.parse().map_err(|()| E::custom(format!("{name:?} is not an element type")))
            }
        }
        deserializer.deserialize_str(Name)
    }
}

impl Serialize for Attrs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_seq(Some(self.iter().count()))?;
        for pair in self.iter() {
            all.serialize_element(&pair)?;
        }
        all.end()
    }
}

impl<'de> Deserialize<'de> for Attrs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pairs = Vec::<(String, Attr)>::deserialize(deserializer)?;
        let mut all = Attrs::new();
        for (name, value) in pairs {
            all.set(&name, value);
        }
        Ok(all)
    }
}

/// Bytes as one piece, which formats copy at once.
struct Bytes<B>(B);

impl Serialize for Bytes<&[u8]> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes<Vec<u8>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Piece;
        impl<'de> Visitor<'de> for Piece {
            type Value = Vec<u8>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
            fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
                Ok(bytes)
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut bytes: A) -> Result<Vec<u8>, A::Error> {
                let mut all = Vec::new();
                while let Some(byte) = bytes.next_element()? {
                    all.push(byte);
                }
                Ok(all)
            }
        }
        deserializer.deserialize_byte_buf(Piece).map(Bytes)
    }
}

/// Strings of their bytes, each after its length.
fn strings(mut bytes: &[u8]) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<8>() {
        let (string, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        found.push(std::str::from_utf8(string).ok()?);
        bytes = rest;
    }
    bytes.is_empty().then_some(found)
}

impl Serialize for Tensor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.dtype() == DType::String {
            let mut bytes = Vec::new();
            for string in self.strings() {
                bytes.extend((string.len() as u64).to_le_bytes());
                bytes.extend(string.as_bytes());
            }
            return (self.dtype(), self.shape(), Bytes(&bytes[..])).serialize(serializer);
        }
        (self.dtype(), self.shape(), Bytes(self.bytes())).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Tensor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (dtype, shape, bytes) = <(DType, Vec<usize>, Bytes<Vec<u8>>)>::deserialize(deserializer)?;
        if dtype == DType::String {
            let strings = strings(&bytes.0)
                .ok_or_else(|| de::Error::custom("a tensor of strings has others than in UTF-8"))?;
            return Tensor::from_strings(&shape, &strings).map_err(de::Error::custom);
        }
        Tensor::from_bytes(dtype, &shape, bytes.0).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let tensor = Tensor::from_slice(&[2, 2], &[1.0f32, -2.5, 0.0, 4.0]).unwrap();
        let text = serde_json::to_string(&tensor).unwrap();
        assert_eq!(serde_json::from_str::<Tensor>(&text).unwrap(), tensor);
        let strings = Tensor::from_strings(&[3], &["a", "", "é\n"]).unwrap();
        let text = serde_json::to_string(&strings).unwrap();
        assert_eq!(serde_json::from_str::<Tensor>(&text).unwrap(), strings);
        let attrs = Attrs::new().with("axis", 3).with("kind", "x").with("to", DType::BF16);
        let text = serde_json::to_string(&attrs).unwrap();
        assert_eq!(serde_json::from_str::<Attrs>(&text).unwrap(), attrs);
    }

    #[test]
    fn bytes_that_do_not_fill_the_extents_are_refused() {
        let said = serde_json::from_str::<Tensor>(r#"["f32", [3], [0, 0]]"#).unwrap_err().to_string();
        assert!(said.starts_with("a f32 tensor of shape [3] needs 12 bytes, found 2"), "{said}");
        let cut = serde_json::from_str::<Tensor>(r#"["!relay.string", [1], [2, 0, 0, 0, 0, 0, 0, 0, 97]]"#);
        assert!(cut.is_err());
        assert!(serde_json::from_str::<DType>("\"f33\"").is_err());
    }
}
