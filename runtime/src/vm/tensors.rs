//! Tensors of a running program: counted, aligned to 64 bytes, and recycled.
//!
//! A tensor is a slot with a type, a number of owners and a buffer. When the last owner lets go, slot and buffer wait for the next
//! tensor of that size, so a loop over scalars asks the system for nothing. What waits is bounded; above that, buffers are freed.
//!
//! ```text
//!   slots     [ f32[64] x1 ][ i1 x2 ][ waiting ][ f32[64] x1 ]
//!   waiting   64 bytes: slot 2        256 bytes: none
//! ```

use fusion_operators::aligned::{ALIGNMENT, AlignedBuffer};
use fusion_operators::{DType, Dictionary, Tensor, TensorType};
use indexmap::{IndexMap, IndexSet};

/// The place of a tensor.
pub type Slot = u32;
/// The place of a type among those that the machine has met.
pub type TypeId = u32;

/// Bytes of buffers that wait at most.
const MOST_WAITING: usize = 256 << 20;

/// Why a value cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoMemory {
    /// There is no memory, or no more is allowed.
    #[error("there is no memory for {bytes} more bytes: its values have {held} bytes and may have {most}")]
    Bytes {
        /// Bytes asked for.
        bytes: usize,
        /// Bytes in use.
        held: usize,
        /// Bytes allowed.
        most: usize,
    },
    /// Its size overflows, or its extents are not known.
    #[error("there cannot be a {0}")]
    Type(TensorType),
}

struct Counted {
    owners: u32,
    ty: TypeId,
    buffer: AlignedBuffer,
}

struct Size {
    bytes: usize,
    /// Which of the lists of slots that wait.
    class: usize,
}

/// All tensors of a machine.
pub struct Tensors {
    slots: Vec<Counted>,
    types: IndexSet<TensorType>,
    sizes: Vec<Size>,
    /// Slots that wait, by the size of their buffers.
    waiting: IndexMap<usize, Vec<Slot>>,
    waiting_bytes: usize,
    /// Slots without buffers.
    bare: Vec<Slot>,
    /// Bytes of all buffers, waiting ones as well.
    held_bytes: usize,
    most_bytes: usize,
    live: usize,
    /// What the elements of tensors of strings are numbers of.
    pub strings: Dictionary,
}

impl Tensors {
    /// None yet.
    pub fn new(most_bytes: usize) -> Self {
        let mut tensors = Tensors {
            slots: Vec::new(),
            types: IndexSet::new(),
            sizes: Vec::new(),
            waiting: IndexMap::new(),
            waiting_bytes: 0,
            bare: Vec::new(),
            held_bytes: 0,
            most_bytes,
            live: 0,
            strings: Dictionary::default(),
        };
        // The first types are those of scalars, in the order of their names.
        for dtype in DType::ALL {
            let known = tensors.intern(&TensorType::fixed(&[], dtype));
            debug_assert_eq!(known, Ok(dtype as TypeId));
        }
        tensors
    }

    /// True for a tensor of rank 0 and that element type.
    #[inline]
    pub fn is_scalar(&self, slot: Slot, dtype: DType) -> bool {
        self.slots[slot as usize].ty == dtype as TypeId
    }

    /// The bits of a tensor of rank 0.
    #[inline]
    pub fn scalar_bits(&self, slot: Slot) -> u64 {
        let counted = &self.slots[slot as usize];
        // Buffers are of at least 64 bytes.
        let Some(bytes) = counted.buffer.bytes().first_chunk::<8>() else { return 0 };
        let bits = u64::from_le_bytes(*bytes);
        match self.sizes[counted.ty as usize].bytes {
            8 => bits,
            bytes => bits & ((1 << (8 * bytes)) - 1),
        }
    }

    /// A new tensor of rank 0.
    #[inline]
    pub fn new_scalar(&mut self, dtype: DType, bits: u64) -> Result<Slot, NoMemory> {
        let slot = self.allocate(dtype as TypeId)?;
        let bytes = self.slots[slot as usize].buffer.bytes_mut();
        if let Some(place) = bytes.first_chunk_mut::<8>() {
            *place = bits.to_le_bytes();
        }
        Ok(slot)
    }

    /// Tensors that have owners.
    pub fn live(&self) -> usize {
        self.live
    }

    /// Bytes of buffers.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// The number that stands for a type of known extents.
    pub fn intern(&mut self, ty: &TensorType) -> Result<TypeId, NoMemory> {
        if let Some(known) = self.types.get_index_of(ty) {
            return Ok(known as TypeId);
        }
        let bytes = ty.bytes().and_then(|bytes| usize::try_from(bytes).ok());
        let rounded = bytes.and_then(|bytes| bytes.max(1).checked_next_multiple_of(ALIGNMENT));
        let (Some(bytes), Some(rounded)) = (bytes, rounded.filter(|&n| n <= isize::MAX as usize)) else {
            return Err(NoMemory::Type(ty.clone()));
        };
        let class = self.waiting.entry(rounded).index();
        self.waiting.entry(rounded).or_default();
        self.sizes.push(Size { bytes, class });
        Ok(self.types.insert_full(ty.clone()).0 as TypeId)
    }

    /// The type a number stands for.
    pub fn type_of_id(&self, id: TypeId) -> &TensorType {
        &self.types[id as usize]
    }

    /// The type of a tensor.
    #[inline]
    pub fn type_id(&self, slot: Slot) -> TypeId {
        self.slots[slot as usize].ty
    }

    /// The type of a tensor.
    pub fn type_of(&self, slot: Slot) -> &TensorType {
        self.type_of_id(self.type_id(slot))
    }

    /// A new tensor with one owner; its elements are anything.
    #[inline]
    pub fn allocate(&mut self, ty: TypeId) -> Result<Slot, NoMemory> {
        let class = self.sizes[ty as usize].class;
        if let Some(slot) = self.waiting[class].pop() {
            let counted = &mut self.slots[slot as usize];
            counted.owners = 1;
            counted.ty = ty;
            self.waiting_bytes -= counted.buffer.bytes().len();
            self.live += 1;
            return Ok(slot);
        }
        self.allocate_new(ty, class)
    }

    #[cold]
    fn allocate_new(&mut self, ty: TypeId, class: usize) -> Result<Slot, NoMemory> {
        let bytes = self.waiting.get_index(class).map_or(0, |(bytes, _)| *bytes);
        if bytes > self.most_bytes.saturating_sub(self.held_bytes) {
            self.free_waiting();
        }
        let none = NoMemory::Bytes { bytes, held: self.held_bytes, most: self.most_bytes };
        if bytes > self.most_bytes.saturating_sub(self.held_bytes) {
            return Err(none);
        }
        let Ok(buffer) = AlignedBuffer::zeroed(bytes) else { return Err(none) };
        let counted = Counted { owners: 1, ty, buffer };
        let slot = match self.bare.pop() {
            Some(slot) => {
                self.slots[slot as usize] = counted;
                slot
            }
            // Half of the numbers of a handle are those of tensors.
            None if self.slots.len() >= (u32::MAX / 2) as usize => return Err(none),
            None => {
                self.slots.push(counted);
                (self.slots.len() - 1) as Slot
            }
        };
        self.held_bytes += bytes;
        self.live += 1;
        Ok(slot)
    }

    fn free_waiting(&mut self) {
        for (bytes, slots) in &mut self.waiting {
            for slot in slots.drain(..) {
                self.slots[slot as usize].buffer = AlignedBuffer::default();
                self.held_bytes -= bytes;
                self.bare.push(slot);
            }
        }
        self.waiting_bytes = 0;
    }

    /// One owner more.
    #[inline]
    pub fn retain(&mut self, slot: Slot) {
        let owners = &mut self.slots[slot as usize].owners;
        *owners = owners.saturating_add(1);
    }

    /// One owner less.
    #[inline]
    pub fn release(&mut self, slot: Slot) {
        let counted = &mut self.slots[slot as usize];
        counted.owners -= 1;
        if counted.owners > 0 {
            return;
        }
        self.live -= 1;
        let bytes = counted.buffer.bytes().len();
        if self.waiting_bytes + bytes <= MOST_WAITING {
            let class = self.sizes[counted.ty as usize].class;
            self.waiting_bytes += bytes;
            self.waiting[class].push(slot);
        } else {
            counted.buffer = AlignedBuffer::default();
            self.held_bytes -= bytes;
            self.bare.push(slot);
        }
    }

    /// The bytes of a tensor.
    #[inline]
    pub fn bytes(&self, slot: Slot) -> &[u8] {
        let counted = &self.slots[slot as usize];
        &counted.buffer.bytes()[..self.sizes[counted.ty as usize].bytes]
    }

    /// The bytes of a tensor, to write.
    #[inline]
    pub fn bytes_mut(&mut self, slot: Slot) -> &mut [u8] {
        let counted = &mut self.slots[slot as usize];
        &mut counted.buffer.bytes_mut()[..self.sizes[counted.ty as usize].bytes]
    }

    /// A copy of a tensor of the host.
    pub fn copy_in(&mut self, tensor: &Tensor) -> Result<Slot, NoMemory> {
        let ty = self.intern(&tensor.tensor_type())?;
        if tensor.dtype() == DType::String {
            return self.copy_strings_in(ty, tensor);
        }
        let slot = self.allocate(ty)?;
        self.bytes_mut(slot).copy_from_slice(tensor.bytes());
        Ok(slot)
    }

    fn copy_strings_in(&mut self, ty: TypeId, tensor: &Tensor) -> Result<Slot, NoMemory> {
        let numbers = self.strings.numbers(tensor);
        let (bytes, held) = (self.strings.bytes(), self.held_bytes);
        if bytes > self.most_bytes.saturating_sub(held) {
            return Err(NoMemory::Bytes { bytes, held, most: self.most_bytes });
        }
        let slot = self.allocate(ty)?;
        let (places, _) = self.bytes_mut(slot).as_chunks_mut::<8>();
        places.iter_mut().zip(numbers).for_each(|(place, number)| *place = number.to_ne_bytes());
        Ok(slot)
    }

    /// A copy for the host.
    pub fn copy_out(&self, slot: Slot) -> Result<Tensor, NoMemory> {
        let ty = self.type_of(slot);
        let shape: Vec<usize> = ty.dims.iter().filter_map(|dim| dim.known()).map(|n| n as usize).collect();
        if ty.dtype == DType::String {
            let (places, _) = self.bytes(slot).as_chunks::<8>();
            let numbers: Vec<u64> = places.iter().map(|place| u64::from_ne_bytes(*place)).collect();
            return self.strings.tensor(&shape, &numbers).map_err(|_| NoMemory::Type(ty.clone()));
        }
        Tensor::from_bytes(ty.dtype, &shape, self.bytes(slot)).map_err(|_| NoMemory::Type(ty.clone()))
    }
}
