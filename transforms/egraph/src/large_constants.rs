//! The numbers of large constants: equal contents have one number.
//!
//! Large constants are resources, which MLIR does not unique. Contents are read only where two constants have one type, hashed once, and
//! compared where their hashes agree.

use fusion_dialects::{Attribute, attr_key, read_tensor};
use fusion_operators::{Tensor, TensorType};
use std::collections::HashMap;

/// The constants seen so far. Only looked up, never iterated.
#[derive(Default)]
pub struct LargeConstants {
    by_attribute: HashMap<usize, u32>,
    by_type: HashMap<TensorType, Vec<Seen>>,
}

struct Seen {
    number: u32,
    /// The hash of its content, once somebody asked.
    hash: Option<u64>,
}

impl LargeConstants {
    /// The number of a constant, which is its place in the list of contents.
    pub fn number<'c>(
        &mut self,
        attr: Attribute<'c>,
        ty: &TensorType,
        contents: &mut Vec<Attribute<'c>>,
    ) -> u32 {
        let identity = attr_key(attr);
        if let Some(&number) = self.by_attribute.get(&identity) {
            return number;
        }
        let alike = self.by_type.entry(ty.clone()).or_default();
        let mut own = None;
        if !alike.is_empty()
            && let Some(content) = read_tensor(attr)
        {
            let hash = hash(&content);
            own = Some(hash);
            for seen in alike.iter_mut() {
                let other = || read_tensor(contents[seen.number as usize]);
                let known = seen.hash.or_else(|| other().map(|other| self::hash(&other)));
                seen.hash = known;
                if known == own && other().is_some_and(|other| other.bytes() == content.bytes()) {
                    self.by_attribute.insert(identity, seen.number);
                    return seen.number;
                }
            }
        }
        let number = contents.len() as u32;
        contents.push(attr);
        alike.push(Seen { number, hash: own });
        self.by_attribute.insert(identity, number);
        number
    }
}

/// FNV-1a over words of eight bytes: weights are many.
fn hash(tensor: &Tensor) -> u64 {
    let mut words = tensor.bytes().chunks_exact(8);
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    for word in words.by_ref() {
        add(u64::from_le_bytes(word.try_into().unwrap_or_default()));
    }
    words.remainder().iter().for_each(|&byte| add(u64::from(byte)));
    hash
}
