//! Weights of one direction of a recurrent operator.
//!
//!     floats     x W'                                  W: [gates, inputs]
//!     few bits   q(x) (W - zero) * (scale of x * scale of W)      W: [inputs, gates], x quantized to 8 bits by its own range

use fusion_operators::ops::contraction;

use crate::onnx::build::Made;
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::arithmetic::integer_products::{Quantized, scaled};
use crate::onnx::ops::arithmetic::quantization::by_own_range;

/// The weights of the input or of the state.
pub enum Weight {
    /// `[gates, inputs]`
    Floats(Value),
    /// `[inputs, gates]`, with a scale for all or each gate.
    FewBits(Quantized, Value),
}

impl Weight {
    /// Of direction d.
    pub fn floats(im: &mut Importer, w: Value, d: i64) -> Result<Weight, Fault> {
        Ok(Weight::Floats(im.select_at(w, 0, d)?))
    }

    /// Of direction d; the scale and the zero point are two operands side by side.
    pub fn few_bits(
        im: &mut Importer,
        node: &Node,
        (at, scale): (usize, usize),
        d: i64,
    ) -> Result<Weight, Fault> {
        let numbers = im.select_at(node.input(at)?, 0, d)?;
        let zero = im.select_at(node.input(scale + 1)?, 0, d)?;
        let scale = im.select_at(node.input(scale)?, 0, d)?;
        Ok(Weight::FewBits(Quantized { numbers, zero: Some(zero) }, scale))
    }

    /// The products of rows with the weights.
    pub fn times(&self, im: &mut Importer, x: Value) -> Made {
        match self {
            Weight::Floats(w) => im.bin(&contraction::DENSE, x, *w),
            Weight::FewBits(w, scale) => {
                let (numbers, of_x, zero) = by_own_range(im, x)?;
                scaled(im, (Quantized { numbers, zero: Some(zero) }, of_x), (*w, *scale))
            }
        }
    }

    /// The weights of some gates.
    pub fn columns(&self, im: &mut Importer, begin: i64, end: i64) -> Result<Weight, Fault> {
        match self {
            Weight::Floats(w) => Ok(Weight::Floats(im.slice(*w, 0, begin, end)?)),
            Weight::FewBits(..) => Err(Fault::unsupported("a GRU with weights of few bits")),
        }
    }
}
