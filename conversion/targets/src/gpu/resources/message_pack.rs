//! MessagePack, as far as the notes of AMD's objects use it: maps, lists, texts, integers and truth values
//! (<https://github.com/msgpack/msgpack/blob/master/spec.md>).

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer, or a truth value as 0 or 1.
    Int(i64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A map; its keys are texts.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Of a map.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let Value::Map(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The integer.
    pub fn int(&self) -> Option<u64> {
        let Value::Int(n) = self else { return None };
        u64::try_from(*n).ok()
    }

    /// The text.
    pub fn text(&self) -> Option<&str> {
        let Value::Text(text) = self else { return None };
        Some(text)
    }
}

/// Values inside of each other go no deeper.
const DEEPEST: usize = 32;

/// Reads one value; nothing where the bytes are no such.
pub fn read(bytes: &[u8]) -> Option<Value> {
    value(&mut { bytes }, DEEPEST)
}

fn take<'a>(rest: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(n)?;
    *rest = left;
    Some(taken)
}

/// An unsigned number of that many bytes.
fn number(rest: &mut &[u8], bytes: usize) -> Option<u64> {
    Some(take(rest, bytes)?.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)))
}

fn value(rest: &mut &[u8], depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let kind = take(rest, 1)?[0];
    let mut size = |bytes: usize| number(rest, bytes).map(|n| n as usize);
    match kind {
        0x00..=0x7f => Some(Value::Int(i64::from(kind))),
        0xe0..=0xff => Some(Value::Int(i64::from(kind as i8))),
        0x80..=0x8f => map(rest, usize::from(kind & 15), depth),
        0x90..=0x9f => list(rest, usize::from(kind & 15), depth),
        0xa0..=0xbf => text(rest, usize::from(kind & 31)),
        0xc2 | 0xc3 => Some(Value::Int(i64::from(kind == 0xc3))),
        0xcc..=0xcf => i64::try_from(number(rest, 1 << (kind - 0xcc))?).ok().map(Value::Int),
        0xd0..=0xd3 => {
            let bytes = 1 << (kind - 0xd0);
            let unused = 64 - 8 * bytes as u32;
            Some(Value::Int(((number(rest, bytes)? << unused) as i64) >> unused))
        }
        0xd9..=0xdb => size(1 << (kind - 0xd9)).and_then(|n| text(rest, n)),
        0xdc | 0xdd => size(2 << (kind - 0xdc)).and_then(|n| list(rest, n, depth)),
        0xde | 0xdf => size(2 << (kind - 0xde)).and_then(|n| map(rest, n, depth)),
        _ => None,
    }
}

fn text(rest: &mut &[u8], n: usize) -> Option<Value> {
    Some(Value::Text(String::from_utf8_lossy(take(rest, n)?).into_owned()))
}

fn list(rest: &mut &[u8], n: usize, depth: usize) -> Option<Value> {
    (0..n).map(|_| value(rest, depth)).collect::<Option<_>>().map(Value::List)
}

fn map(rest: &mut &[u8], n: usize, depth: usize) -> Option<Value> {
    let entry = |_| {
        let Value::Text(key) = value(rest, depth)? else { return None };
        Some((key, value(rest, depth)?))
    };
    (0..n).map(entry).collect::<Option<_>>().map(Value::Map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        let bytes = b"\x82\xa1a\x93\x01\xff\xcd\x01\x02\xd9\x02bc\xc3";
        let list = Value::List(vec![Value::Int(1), Value::Int(-1), Value::Int(258)]);
        let read = read(bytes).unwrap();
        assert_eq!(read.get("a"), Some(&list));
        assert_eq!(read.get("bc").and_then(Value::int), Some(1));
    }

    #[test]
    fn what_ends_early_is_nothing() {
        assert_eq!(read(b"\x82\xa1a"), None);
        assert_eq!(read(b""), None);
        assert_eq!(read(&[0x91; 1000]), None);
        assert_eq!(read(b"\xdd\xff\xff\xff\xff"), None);
    }
}
