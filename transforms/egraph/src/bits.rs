//! How many bits the elements of a constant of integers need: weights of 4 bits have a byte each in a program.
//!
//!     ui8   0 .. 15       4        i8   -8 .. 7      4
//!     ui8   0 .. 3        2        i8   -2 .. 1      2

use fusion_operators::ops::few_bits::BITS;
use fusion_operators::{DType, Tensor};

/// The fewest of the bits that few-bit products know which hold all elements. They only fall while a graph grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bits(u32);

impl Default for Bits {
    fn default() -> Bits {
        Bits(u32::MAX)
    }
}

impl Bits {
    /// Of elements that are known.
    pub fn of(tensor: &Tensor) -> Bits {
        // Of signed numbers those below 0 are turned round, so that the bits but for the sign are asked for.
        let all = match tensor.dtype() {
            DType::U8 => tensor.bytes().iter().fold(0, |all, &q| all | q),
            DType::I8 => tensor.bytes().iter().fold(0, |all, &q| all | if q >= 128 { !q } else { q }) << 1,
            _ => return Bits::default(),
        };
        let enough = |bits: &i64| u32::from(all) < 1 << bits;
        BITS.into_iter().find(enough).map_or_else(Bits::default, |bits| Bits(bits as u32))
    }

    /// How many, where that is known.
    pub fn known(self) -> Option<u32> {
        Some(self.0).filter(|bits| *bits <= 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_bits_that_hold_all_are_found() {
        let of = |dtype, numbers: &[i128]| {
            Bits::of(&Tensor::from_ints(dtype, &[numbers.len()], numbers).unwrap()).known()
        };
        assert_eq!(of(DType::U8, &[0, 3]), Some(2));
        assert_eq!(of(DType::U8, &[4, 15]), Some(4));
        assert_eq!(of(DType::U8, &[16]), Some(8));
        assert_eq!(of(DType::I8, &[-2, 1]), Some(2));
        assert_eq!(of(DType::I8, &[-3]), Some(4));
        assert_eq!(of(DType::I8, &[-8, 7]), Some(4));
        assert_eq!(of(DType::I8, &[8]), Some(8));
        assert_eq!(of(DType::I8, &[-128, 127]), Some(8));
        assert_eq!(of(DType::I32, &[0]), None);
    }
}
