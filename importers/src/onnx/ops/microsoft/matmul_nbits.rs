//! Products with weights of 2, 4 or 8 bits, quantized in blocks along what is summed over.
//!
//!     y[.., n] = sum of a[.., k] (q[n, k] - zero[n, k / block]) scale[n, k / block]  (+ bias[n])
//!
//! Weights are packed, the first in the lowest bits of a byte. A zero point is half of the range where none is given. With `g_idx`, it says for
//! each `k` which block's scale and zero point it has: then they stand in no order, and a program holds the weight in floats. (ONNX Runtime, "Contrib operators", MatMulNBits.)

use fusion_operators::ops::{contraction::DENSE, elementwise as ew};
use fusion_operators::{Attrs, DType, Tensor};

use super::row;
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;

pub const ROWS: &[Conversion] = &[row("MatMulNBits", matmul_nbits)];

/// How a weight is packed.
struct Packing {
    rows: i64,
    depth: i64,
    bits: i64,
    block: i64,
}

impl Packing {
    fn read(node: &Node) -> Result<Packing, Fault> {
        let found = Packing {
            rows: node.required_int("N")?,
            depth: node.required_int("K")?,
            bits: node.int("bits", 4)?,
            block: node.required_int("block_size")?,
        };
        let is_extent = |n: i64| (1..=1 << 30).contains(&n);
        if !is_extent(found.rows) || !is_extent(found.depth) {
            return Err(Fault::value(format!(
                "K and N must be from 1 to 2^30, found {} and {}",
                found.depth, found.rows
            )));
        }
        if ![2, 4, 8].contains(&found.bits) {
            return Err(Fault::value(format!("weights must have 2, 4 or 8 bits, found {}", found.bits)));
        }
        if !(16..=1 << 20).contains(&found.block) || !(found.block as u64).is_power_of_two() {
            return Err(Fault::value(format!(
                "block_size must be a power of two from 16 on, found {}",
                found.block
            )));
        }
        Ok(found)
    }

    fn blocks(&self) -> i64 {
        (self.depth + self.block - 1) / self.block
    }

    /// Rows of numbers, as many as that shape has, each in a byte.
    fn unpacked(&self, im: &mut Importer, packed: Value, shape: &[i64], what: &str) -> Made {
        let numbers: i64 = shape.iter().product();
        let Some(tensor) = im.constant_of(packed) else {
            return Err(Fault::unsupported(format!("{what} that are not known when compiling")));
        };
        let bytes = (numbers * self.bits + 7) / 8;
        let wanted = self.rows.checked_mul(bytes);
        if tensor.dtype() != DType::U8 || i64::try_from(tensor.len()).ok() != wanted {
            return Err(Fault::value(format!(
                "{what} of {} bits must be {} x {bytes} bytes of uint8, found {}",
                self.bits,
                self.rows,
                tensor.tensor_type()
            )));
        }
        let (each, mask) = (8 / self.bits as usize, ((1u16 << self.bits) - 1) as u8);
        let rows = tensor.bytes().chunks_exact(bytes as usize);
        let number = |row: &[u8], at: usize| (row[at / each] >> (at % each * self.bits as usize)) & mask;
        let all: Vec<u8> =
            rows.flat_map(|row| (0..numbers as usize).map(move |at| number(row, at))).collect();
        let shape: Vec<usize> = [&[self.rows], shape].concat().iter().map(|&n| n as usize).collect();
        let tensor =
            Tensor::from_bytes(DType::U8, &shape, all).map_err(|why| Fault::value(why.to_string()))?;
        Ok(im.constant(tensor))
    }
}

fn matmul_nbits(im: &mut Importer, node: &Node) -> Converted {
    let packing = Packing::read(node)?;
    let (a, blocks) = (node.input(0)?, packing.blocks());
    let dtype = im.dtype(a)?;
    let weights = packing.unpacked(im, node.input(1)?, &[blocks, packing.block], "the weights")?;
    let by_blocks = [packing.rows, blocks];
    let scale = of_blocks(im, node.input(2)?, by_blocks, "scales")?;
    let scale = im.cast(scale, dtype)?;
    let zero = match node.opt(3) {
        Some(zero) if im.dtype(zero)?.is_float() => Some(of_blocks(im, zero, by_blocks, "zero points")?),
        Some(zero) => Some(packing.unpacked(im, zero, &[blocks], "the zero points")?),
        None => None,
    };
    let zero = match zero {
        Some(zero) => im.cast(zero, dtype)?,
        None => im.scalar(dtype, 2f64.powi(packing.bits as i32 - 1))?,
    };
    let numbers = im.cast(weights, dtype)?;
    let padded = blocks * packing.block;
    let (a, w) = match node.opt(4) {
        None => {
            let each = |im: &mut Importer, v: Value| match im.rank(v)? {
                0 => Ok(v),
                _ => im.expand_dims(v, &[2]),
            };
            let (zero, scale) = (each(im, zero)?, each(im, scale)?);
            let w = im.sub(numbers, zero)?;
            let w = im.mul(w, scale)?;
            // The weight stays of whole blocks, so that it can stay packed; what its last block has too much meets zeros.
            (lengthened(im, a, padded - packing.depth)?, im.reshape(w, &[packing.rows, padded])?)
        }
        Some(groups) => {
            if im.ty(groups)?.elements().is_some_and(|n| n as i64 != packing.depth) {
                return Err(Fault::value(format!(
                    "g_idx must have a number for each of the {} rows, found {}",
                    packing.depth,
                    im.ty(groups)?
                )));
            }
            let each = |im: &mut Importer, v: Value| match im.rank(v)? {
                0 => Ok(v),
                _ => im.gather(v, groups, 1),
            };
            let (zero, scale) = (each(im, zero)?, each(im, scale)?);
            let numbers = im.reshape(numbers, &[packing.rows, padded])?;
            let numbers = shortened(im, numbers, packing.depth)?;
            let w = im.sub(numbers, zero)?;
            (a, im.mul(w, scale)?)
        }
    };
    let y = im.op(&DENSE, &[a, w], Attrs::new())?;
    match node.opt(5) {
        Some(bias) => Ok(vec![im.bin(&ew::ADD, y, bias)?]),
        None => Ok(vec![y]),
    }
}

/// One number a block, `[N, blocks]`, which may be given as a vector.
fn of_blocks(im: &mut Importer, v: Value, shape: [i64; 2], what: &str) -> Made {
    let wanted = (shape[0] as u64).checked_mul(shape[1] as u64);
    if im.ty(v)?.elements() != wanted {
        return Err(Fault::value(format!(
            "{what} must be {} x {}, one a block, found {}",
            shape[0],
            shape[1],
            im.ty(v)?
        )));
    }
    im.reshape(v, &shape)
}

/// Data with so many zeros more along its last axis.
fn lengthened(im: &mut Importer, v: Value, more: i64) -> Made {
    let mut padding = vec![0; 2 * im.rank(v)?];
    match padding.last_mut() {
        Some(last) => *last = more,
        None => return Err(Fault::value("the data is one number, and must have rows")),
    }
    im.pad(v, &padding, 0.0)
}

fn shortened(im: &mut Importer, v: Value, depth: i64) -> Made {
    match im.extent(v, 1, "the weight")? == depth {
        true => Ok(v),
        false => im.slice(v, 1, 0, depth),
    }
}
