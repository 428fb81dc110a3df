//! Protocol buffers as the fields that they are on the wire.
//!
//!     field = tag (number, kind), then a varint, 8 bytes, 4 bytes, or a length and so many bytes

use prost::bytes::Buf;
use prost::encoding::{WireType, decode_key, decode_varint, encode_key, encode_varint};

/// A field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field<'a> {
    /// Its number.
    pub number: u32,
    /// All of it, tag included.
    pub whole: &'a [u8],
    /// What is in it, where it has a length: a message, a string, bytes.
    pub content: &'a [u8],
}

/// What is wrong with bytes that are no message.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("byte {at} of the message is no field of a protocol buffer")]
pub struct NotAMessage {
    /// Where.
    pub at: usize,
}

/// The fields of a message, in order.
pub fn fields(message: &[u8]) -> Result<Vec<Field<'_>>, NotAMessage> {
    let mut rest = message;
    let mut all = Vec::new();
    while rest.has_remaining() {
        let start = message.len() - rest.len();
        let wrong = || NotAMessage { at: start };
        let (number, kind) = decode_key(&mut rest).map_err(|_| wrong())?;
        let length = match kind {
            WireType::Varint => {
                decode_varint(&mut rest).map_err(|_| wrong())?;
                0
            }
            WireType::SixtyFourBit => 8,
            WireType::ThirtyTwoBit => 4,
            WireType::LengthDelimited => decode_varint(&mut rest).map_err(|_| wrong())?,
            WireType::StartGroup | WireType::EndGroup => return Err(wrong()),
        };
        let length = usize::try_from(length).ok().filter(|length| *length <= rest.len()).ok_or_else(wrong)?;
        let (content, behind) = rest.split_at(length);
        rest = behind;
        all.push(Field { number, whole: &message[start..message.len() - rest.len()], content });
    }
    Ok(all)
}

/// Appends a field of bytes.
pub fn put(out: &mut Vec<u8>, number: u32, content: &[u8]) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(content.len() as u64, out);
    out.extend(content);
}

/// Appends a field that is a number.
pub fn put_int(out: &mut Vec<u8>, number: u32, value: i64) {
    encode_key(number, WireType::Varint, out);
    encode_varint(value as u64, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_its_fields() {
        let mut message = Vec::new();
        put_int(&mut message, 1, -1);
        put(&mut message, 700, b"name");
        message.extend([0x1d, 1, 2, 3, 4]);
        let found = fields(&message).unwrap();
        assert_eq!(found.iter().map(|f| f.number).collect::<Vec<_>>(), [1, 700, 3]);
        assert_eq!(found[1].content, b"name");
        assert_eq!(found.iter().flat_map(|f| f.whole.to_vec()).collect::<Vec<_>>(), message);
    }

    #[test]
    fn damage_is_an_error() {
        assert_eq!(fields(&[0x0a, 5, 1]), Err(NotAMessage { at: 0 }));
        assert_eq!(fields(&[8, 1, 0x0b]), Err(NotAMessage { at: 2 }));
        assert_eq!(fields(&[0xff; 12]), Err(NotAMessage { at: 0 }));
        assert_eq!(
            fields(&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
            Err(NotAMessage { at: 0 })
        );
    }
}
