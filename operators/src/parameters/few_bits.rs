//! How numbers of few bits lie in words, see [`ops::few_bits`](crate::ops::few_bits).
//!
//! ```text
//!     word, 4 bits:    high half             low half
//!                      q7   q6   q5   q4     q3   q2   q1   q0
//! ```

use crate::{Attrs, Violation};

/// Bits of a word.
pub const WORD: u64 = 32;
/// How many bits a number may have.
pub const BITS: [i64; 3] = [2, 4, 8];

/// How numbers lie in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Bits of a number.
    pub bits: u64,
}

impl Packing {
    /// Of a call's attribute `bits`, which constraint `number` is about.
    pub fn of(attrs: &Attrs, number: u32) -> Result<Packing, Violation> {
        let bits = attrs.int_or("bits", 4);
        match BITS.contains(&bits) {
            true => Ok(Packing { bits: bits as u64 }),
            false => Err(Violation::new(number, format!("bits must be 2, 4 or 8, found {bits}"))),
        }
    }

    /// Numbers of a word.
    pub fn of_word(self) -> u64 {
        WORD / self.bits
    }

    /// Numbers of half a word.
    pub fn of_half(self) -> u64 {
        self.of_word() / 2
    }

    /// A number, as its lowest bits.
    pub fn mask(self) -> u32 {
        (1 << self.bits) - 1
    }

    /// What is added to numbers below 0, so that the least one is 0.
    pub fn offset(self, signed: bool) -> i128 {
        if signed { 1 << (self.bits - 1) } else { 0 }
    }

    /// The number at a place of a row of words.
    pub fn number(self, words: &[u32], at: usize) -> u32 {
        let each = self.of_word() as usize;
        words[at / each] >> (at % each * self.bits as usize) & self.mask()
    }

    /// Words of a row of numbers; none where they do not fill them.
    pub fn words(self, numbers: u64) -> Option<u64> {
        numbers.is_multiple_of(self.of_word()).then(|| numbers / self.of_word())
    }
}

/// The numbers of a block, where so many blocks of whole words make up a row of so many numbers.
pub fn block(packing: Packing, numbers: u64, blocks: u64, constraint: u32) -> Result<u64, Violation> {
    let whole = numbers > 0
        && blocks > 0
        && numbers.is_multiple_of(blocks)
        && packing.words(numbers / blocks).is_some();
    if !whole {
        return Err(Violation::new(
            constraint,
            format!(
                "scales must be one a block, and blocks must be of whole words, of {} numbers of {} bits: found {blocks} blocks of {numbers} numbers",
                packing.of_word(),
                packing.bits
            ),
        ));
    }
    Ok(numbers / blocks)
}

/// More rows than this have weights made for all of them; fewer have sums over blocks, whose numbers are unpacked for a few rows at a time.
pub const FEW_ROWS: u64 = 16;

/// Whether a product of so many rows is of sums over blocks.
pub fn is_of_blocks(rows: u64) -> bool {
    rows <= FEW_ROWS
}
