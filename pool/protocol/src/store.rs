//! Objects that are kept, up to so many bytes; the one that was not asked for the longest goes first.

use crate::object::Hash;
use bytes::Bytes;
use std::collections::HashMap;

/// Objects by hash.
#[derive(Debug)]
pub struct Store {
    most: usize,
    bytes: usize,
    clock: u64,
    objects: HashMap<Hash, (Bytes, u64)>,
}

impl Store {
    /// One of at most so many bytes.
    pub fn new(most: usize) -> Store {
        Store { most, bytes: 0, clock: 0, objects: HashMap::new() }
    }

    /// The most bytes that an object may have.
    pub fn most(&self) -> usize {
        self.most
    }

    /// An object.
    pub fn get(&mut self, hash: &Hash) -> Option<Bytes> {
        self.clock += 1;
        let (object, used) = self.objects.get_mut(hash)?;
        *used = self.clock;
        Some(object.clone())
    }

    /// Keeps an object, unless it is larger than all that may be kept.
    pub fn put(&mut self, hash: Hash, object: Bytes) {
        if object.len() > self.most || self.get(&hash).is_some() {
            return;
        }
        while self.bytes + object.len() > self.most {
            let Some(oldest) = self.objects.iter().min_by_key(|(_, (_, used))| *used).map(|(hash, _)| *hash)
            else {
                break;
            };
            self.bytes -= self.objects.remove(&oldest).map_or(0, |(object, _)| object.len());
        }
        self.bytes += object.len();
        self.clock += 1;
        self.objects.insert(hash, (object, self.clock));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_not_used_the_longest_goes_first() {
        let object = |byte: u8| Bytes::from(vec![byte; 40]);
        let hash = |byte: u8| Hash::of(&object(byte));
        let mut store = Store::new(100);
        store.put(hash(1), object(1));
        store.put(hash(2), object(2));
        assert_eq!(store.get(&hash(1)), Some(object(1)));
        store.put(hash(3), object(3));
        assert_eq!(store.get(&hash(2)), None);
        assert_eq!((store.get(&hash(1)), store.get(&hash(3))), (Some(object(1)), Some(object(3))));
        let large = Bytes::from(vec![0; 101]);
        store.put(Hash::of(&large), large.clone());
        assert_eq!(store.get(&Hash::of(&large)), None);
        assert!(store.get(&hash(1)).is_some() && store.bytes == 80);
    }
}
