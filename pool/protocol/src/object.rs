//! Objects: bytes named by their hash, so that each is sent once and none can be another than it was.

use crate::CHUNK_BYTES;
use crate::messages::Chunk;
use bytes::{Bytes, BytesMut};

/// The name of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// That of some bytes.
    pub fn of(bytes: &[u8]) -> Hash {
        Hash(*blake3::hash(bytes).as_bytes())
    }

    /// The one that a message has.
    pub fn read(bytes: &[u8]) -> Result<Hash, String> {
        let wrong = |_| format!("the hash of an object has 32 bytes, and this one has {}", bytes.len());
        bytes.try_into().map(Hash).map_err(wrong)
    }

    /// As a message has it.
    pub fn bytes(&self) -> Bytes {
        Bytes::copy_from_slice(&self.0)
    }
}

/// The messages that bring an object.
pub fn chunks(hash: Hash, object: Bytes) -> impl Iterator<Item = Chunk> + Send {
    let (total, mut next, mut first) = (object.len() as u64, 0, true);
    std::iter::from_fn(move || {
        if next == object.len() && !first {
            return None;
        }
        first = false;
        let end = (next + CHUNK_BYTES).min(object.len());
        let bytes = object.slice(next..end);
        next = end;
        Some(Chunk { hash: hash.bytes(), total, bytes })
    })
}

/// An object of which parts are there.
#[derive(Debug)]
pub struct Partial {
    hash: Hash,
    total: usize,
    bytes: BytesMut,
}

impl Partial {
    /// The object that a chunk begins, of so many bytes at most.
    pub fn begin(chunk: &Chunk, most: usize) -> Result<Partial, String> {
        let hash = Hash::read(&chunk.hash)?;
        match usize::try_from(chunk.total).ok().filter(|total| *total <= most) {
            Some(total) => Ok(Partial { hash, total, bytes: BytesMut::new() }),
            None => Err(format!("an object of {} bytes is larger than the {most} allowed here", chunk.total)),
        }
    }

    /// Adds a chunk; gives the object where it is whole.
    pub fn add(&mut self, chunk: &Chunk) -> Result<Option<(Hash, Bytes)>, String> {
        if chunk.hash != self.hash.bytes() || chunk.total != self.total as u64 {
            return Err("a part of one object comes among the parts of another".to_owned());
        }
        if chunk.bytes.len() > self.total - self.bytes.len() {
            return Err(format!("more than the {} bytes of an object came", self.total));
        }
        if chunk.bytes.is_empty() && self.total > 0 {
            return Err("an empty part of an object came".to_owned());
        }
        self.bytes.extend_from_slice(&chunk.bytes);
        if self.bytes.len() < self.total {
            return Ok(None);
        }
        let whole = std::mem::take(&mut self.bytes).freeze();
        match Hash::of(&whole) == self.hash {
            true => Ok(Some((self.hash, whole))),
            false => Err("the bytes of an object do not have its hash".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_together(chunks: impl IntoIterator<Item = Chunk>, most: usize) -> Result<Option<Bytes>, String> {
        let mut partial = None;
        for chunk in chunks {
            let partial = match &mut partial {
                Some(partial) => partial,
                none => none.insert(Partial::begin(&chunk, most)?),
            };
            if let Some((_, whole)) = partial.add(&chunk)? {
                return Ok(Some(whole));
            }
        }
        Ok(None)
    }

    #[test]
    fn objects_come_in_parts() {
        for size in [0, 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES] {
            let object = Bytes::from((0..size).map(|i| (i * 7) as u8).collect::<Vec<_>>());
            let parts: Vec<Chunk> = chunks(Hash::of(&object), object.clone()).collect();
            assert_eq!(parts.len(), size.div_ceil(CHUNK_BYTES).max(1));
            assert_eq!(put_together(parts, size), Ok(Some(object)));
        }
    }

    #[test]
    fn objects_that_are_others_are_refused() {
        let object = Bytes::from(vec![7; CHUNK_BYTES + 10]);
        let good: Vec<Chunk> = chunks(Hash::of(&object), object.clone()).collect();
        let said = |change: &dyn Fn(&mut Vec<Chunk>)| {
            let mut parts = good.clone();
            change(&mut parts);
            put_together(parts, 2 * CHUNK_BYTES).unwrap_err()
        };
        assert!(said(&|c| c[1].bytes = vec![8; 10].into()).contains("do not have its hash"));
        assert!(said(&|c| c[1].bytes = vec![7; 11].into()).contains("more than the"));
        assert!(said(&|c| c[1].bytes = Bytes::new()).contains("an empty part"));
        assert!(said(&|c| c[1].hash = Hash::of(b"other").bytes()).contains("among the parts of another"));
        assert!(
            said(&|c| c[0].hash = Bytes::from_static(b"short")).contains("has 32 bytes, and this one has 5")
        );
        assert!(said(&|c| c[0].total = u64::MAX).contains("larger than the"));
        assert_eq!(put_together(good[..1].to_vec(), 2 * CHUNK_BYTES), Ok(None));
    }
}
