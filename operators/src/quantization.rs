//! What a quantizer may do with the calls of an operator: facts of its row.
//!
//!     x  ~  (q - zero) scale        q whole, least <= q <= most
//!
//! A quantizer asks which operands may be such numbers, of how many bits, and along which axis a weight may have scales of its own.

use crate::{Attrs, TensorType};

/// How an operator takes part in the integer pieces of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// Integers in, sums of their products out: its operands are quantized, and what follows takes floats.
    Sums,
}

/// How quotients become whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// To the nearest one, and halves to the even one.
    Even,
}

/// The whole numbers that stand for floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// How many bits they may have, the most first.
    pub bits: &'static [u32],
    /// Whether there are numbers below 0. There is no zero point then, and as many numbers below 0 as above.
    pub signed: bool,
    /// How they are rounded.
    pub ties: Ties,
}

impl Numbers {
    /// The least and the greatest, of so many bits.
    pub fn range(&self, bits: u32) -> (f64, f64) {
        let most = |bits: u32| 2f64.powi(bits as i32) - 1.0;
        if self.signed { (-most(bits - 1), most(bits - 1)) } else { (0.0, most(bits)) }
    }
}

/// Data: bytes with a zero point.
pub const DATA: Numbers = Numbers { bits: &[8], signed: false, ties: Ties::Even };
/// Weights: signed numbers without one, so that sums of the data beside them are not needed.
pub const WEIGHT: Numbers = Numbers { bits: &[8, 4], signed: true, ties: Ties::Even };

/// An operand that may be quantized.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Which one.
    pub place: usize,
    /// What stands for it where it is computed.
    pub computed: Numbers,
    /// What stands for it where it is a constant.
    pub constant: Numbers,
    /// The axis of a constant along which each channel of the result has its own scale, if there is one.
    pub channels: fn(&Attrs, &[TensorType]) -> Option<usize>,
}

/// What a quantizer may do with a call.
#[derive(Clone, Copy, Debug)]
pub struct Quantization {
    /// How the operator takes part.
    pub partition: Partition,
    /// Its operands.
    pub operands: &'static [Operand],
}
