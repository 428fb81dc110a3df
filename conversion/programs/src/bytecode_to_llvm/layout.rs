//! Where values have what: the picture at the top of `runtime/language/language.h`, in numbers.
//!
//! ```text
//!   0      4     8     9      10     12      16
//!   | count | tag | kind | class | which | parts | ...
//! ```
//! Sizes are in classes; memory of one class is as good as any other of it: multiples of 16 bytes up to 128, then four sizes to
//! each doubling, of which only multiples of 64 are used. Tensors of 64 bytes or more begin at a multiple of 64.

use fusion_operators::TensorType;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Its elements, or a pointer to them.
    Tensor = 0,
    /// Of a data type: its fields.
    Data = 1,
    /// Its elements.
    Tuple = 2,
    /// A function and its first arguments.
    Closure = 3,
    /// What it holds.
    Cell = 4,
}

/// The number of owners of a value that lies in the library.
pub const IMMORTAL: i32 = -(1 << 30);
/// The class of values that lie in the library.
pub const NO_CLASS: u8 = 255;
/// Values up to this many bytes have a class; larger tensors have their elements elsewhere.
pub const LARGEST: u64 = 1 << 20;

/// Offset of the tag.
pub const TAG: u64 = 4;
/// Offset of the second word: kind, class, which and parts.
pub const WORD: u64 = 8;
/// Offset of the class.
pub const CLASS: u64 = 9;
/// Offset of the number of parts.
pub const PARTS: u64 = 12;
/// Offset of the first field, of a tensor's data pointer, and of a closure's code.
pub const FIELDS: u64 = 16;
/// Offset of what follows a pointer there: a tensor's extents, what a closure has captured.
pub const BEHIND_POINTER: u64 = 24;

/// Offsets in a run's context: the lowest the stack may grow.
pub const STACK_LIMIT: u64 = 0;
/// How many values there are.
pub const LIVE: u64 = 8;
/// The workspace of kernels.
pub const WORKSPACE: u64 = 16;
/// The lists of free memory, one a class.
pub const FREE: u64 = 32;

/// The first word of a new value: one owner, and the tag.
pub fn first_word(count: i32, tag: u32) -> i64 {
    i64::from(count as u32) | i64::from(tag) << 32
}

/// The second word.
pub fn second_word(kind: Kind, class: u8, which: u16, parts: u32) -> i64 {
    i64::from(kind as u8) | i64::from(class) << 8 | i64::from(which) << 16 | i64::from(parts) << 32
}

/// The class of values of that many bytes, at most [`LARGEST`].
pub fn class_of(bytes: u64) -> u8 {
    if bytes <= 128 {
        return bytes.div_ceil(16).max(1) as u8 - 1;
    }
    let last = bytes.next_multiple_of(64) - 1;
    let doubling = last.ilog2();
    8 + (doubling as u8 - 7) * 4 + (last >> (doubling - 2) & 3) as u8
}

/// Where a tensor of known extents has its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorLayout {
    /// Offset of the first element.
    pub data: u64,
    /// Bytes of the value.
    pub bytes: u64,
}

/// The layout of a tensor whose elements lie in the value; `None` for large tensors, and those of dynamic extents.
pub fn tensor_layout(ty: &TensorType) -> Option<TensorLayout> {
    let (elements, header) = (ty.bytes()?, BEHIND_POINTER + 8 * ty.rank() as u64);
    let data = match (ty.rank(), elements < 64) {
        (0, _) => header,
        (_, true) => header.next_multiple_of(16),
        (_, false) => header.next_multiple_of(64),
    };
    // Elements begin before the end, also when there are none: who frees goes by that.
    let bytes = data.checked_add(elements.max(1)).filter(|&bytes| bytes <= LARGEST)?;
    Some(TensorLayout { data, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_operators::DType;

    /// The size of a class, as `fusion_bytes_of_class` has it.
    fn bytes_of(class: u8) -> u64 {
        match class {
            0..8 => (u64::from(class) + 1) * 16,
            _ => u64::from(5 + (class - 8) % 4) << (5 + (class - 8) / 4),
        }
    }

    #[test]
    fn classes_hold_their_sizes_and_waste_little() {
        for bytes in 0..=LARGEST {
            let class = class_of(bytes);
            assert!(class < 60, "{bytes}");
            assert!(bytes_of(class) >= bytes, "{bytes}");
            assert!(class == 0 || bytes_of(class) <= (bytes + 64) * 5 / 4, "{bytes}");
            assert!(bytes <= 128 || bytes_of(class).is_multiple_of(64), "{bytes}");
        }
    }

    #[test]
    fn small_tensors_lie_in_their_values() {
        let layout = |shape: &[u64]| tensor_layout(&TensorType::fixed(shape, DType::F32));
        assert_eq!(layout(&[]), Some(TensorLayout { data: 24, bytes: 28 }));
        assert_eq!(layout(&[3]), Some(TensorLayout { data: 32, bytes: 44 }));
        assert_eq!(layout(&[4, 4]), Some(TensorLayout { data: 64, bytes: 128 }));
        assert_eq!(layout(&[1 << 18]), None);
        assert_eq!(layout(&[u64::MAX, 2]), None);
    }
}
