//! Pieces of memory, and which one each tensor of a program lies in.

use super::arena::Lifetime;
use fusion_dialects::{Attribute, Op, PassError, Value, ValueLike, key, op_key};
use fusion_operators::DType;
use std::collections::HashMap;

/// A number of a storage.
pub type Id = usize;

/// What memory a storage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The caller's, only read.
    Input(usize),
    /// The caller's, written.
    Output(usize),
    /// That one of the constants.
    Constant(usize),
    /// Somewhere in the workspace.
    Arena,
    /// A piece of another storage, from a byte on.
    Piece(Id, u64),
}

/// A piece of memory.
#[derive(Clone, Debug)]
pub struct Storage {
    /// Where.
    pub place: Place,
    /// Number of elements.
    pub elements: u64,
    /// Their type.
    pub dtype: DType,
    /// The first and the last moment it is live; `None` until it is written.
    pub(super) life: Option<(usize, usize)>,
}

impl Storage {
    /// Bytes.
    pub fn bytes(&self) -> u64 {
        self.elements.saturating_mul(self.dtype.size() as u64)
    }
}

/// The memory of a loop.
#[derive(Clone, Debug, Default)]
pub struct LoopState {
    /// What each iteration starts from.
    pub state: Vec<Id>,
    /// What the condition hands to the body and gives as results.
    pub passed: Vec<Id>,
    /// Where a next state waits that another copy of the same iteration would overwrite.
    pub saved: Vec<Option<Id>>,
}

/// The memory of a program.
#[derive(Default)]
pub struct Plan<'c> {
    /// All storages.
    pub storages: Vec<Storage>,
    /// The constants, each once.
    pub constants: Vec<Attribute<'c>>,
    // The maps are only looked up, never iterated: their order cannot leak.
    pub(super) of: HashMap<usize, Id>,
    pub(super) scratch: HashMap<usize, Id>,
    pub(super) loops: HashMap<usize, LoopState>,
}

impl<'c> Plan<'c> {
    /// The storage of a tensor.
    pub fn of(&self, value: Value<'c>) -> Result<Id, PassError<'c>> {
        let missing = || PassError::new(value.location(), "a tensor that has no memory yet is used");
        self.of.get(&key(value)).copied().ok_or_else(missing)
    }

    /// The storages of tensors.
    pub fn of_all(&self, values: &[Value<'c>]) -> Result<Vec<Id>, PassError<'c>> {
        values.iter().map(|v| self.of(*v)).collect()
    }

    /// The storage that a piece lies in, and the byte where it begins there; other storages lie in themselves.
    pub fn base(&self, id: Id) -> (Id, u64) {
        let (mut base, mut at) = (id, 0u64);
        while let Place::Piece(of, offset) = self.storages[base].place {
            (base, at) = (of, at.saturating_add(offset));
        }
        (base, at)
    }

    /// The storages that pieces lie in, by number.
    pub fn cut_up(&self) -> Vec<bool> {
        let mut cut = vec![false; self.storages.len()];
        for id in 0..cut.len() {
            let (base, _) = self.base(id);
            cut[base] |= base != id;
        }
        cut
    }

    /// The memory a call lends to its kernel.
    pub fn scratch(&self, call: Op<'c>) -> Option<Id> {
        self.scratch.get(&op_key(call)).copied()
    }

    /// The memory of a loop.
    pub fn loop_state(&self, op: Op<'c>) -> Result<&LoopState, PassError<'c>> {
        self.loops.get(&op_key(op)).ok_or_else(|| PassError::at(op, "has no memory for its state"))
    }

    /// The size of each constant.
    pub fn constant_bytes(&self) -> Vec<u64> {
        let mut bytes = vec![0; self.constants.len()];
        for storage in &self.storages {
            if let Place::Constant(k) = storage.place {
                bytes[k] = storage.bytes();
            }
        }
        bytes
    }

    /// The storages in the arena, with what the packer needs to know of them.
    pub fn lifetimes(&self) -> Vec<(Id, Lifetime)> {
        let in_arena = self.storages.iter().enumerate().filter(|(_, s)| s.place == Place::Arena);
        in_arena
            .filter_map(|(id, s)| {
                let (first, last) = s.life?;
                Some((id, Lifetime { size: s.bytes(), first, last }))
            })
            .collect()
    }
}
