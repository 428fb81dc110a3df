//! Products with weights of few bits.
//!
//! Of few rows, in sums over blocks, whose scales and zero points stand outside of them:
//!
//!     scaled   s[m, k]     x[m, k] / 2^(bits (k mod half))
//!     sums     t[m, b]     sum_j x[m, b, j]
//!     blocks   p[m, n, b]  sum_j s[m, b, j] float(word & mask << bits (j mod half))       half a word, or the other half shifted down
//!     dense    y[m, n]     sum_b scale[n, b] (p[m, n, b] - zero[n, b] t[m, b])
//!
//! A number stays at its place in the half word, where it is a power of two times what it is: so unpacking takes an `and` and a conversion. That
//! power is in `s`, once for all columns. Of many rows the weights are made first, which a schedule does panel by panel:
//!
//!     weights  w[n, k]     (q[n, k] - zero[n, b]) scale[n, b]
//!     dense    y[m, n]     sum_k x[m, k] w[n, k]

use super::elementwise::broadcast_indices;
use super::{Built, Table, TeCall, known_from};
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Compare, Kernel, Scalar, Scalars};
use fusion_operators::ops::few_bits::{DENSE_FEW_BITS, PACK_BITS, Packing, WORD, is_of_blocks};
use fusion_operators::{DType, TensorType};

pub const TABLE: Table = &[(&PACK_BITS, pack), (&DENSE_FEW_BITS, dense)];

fn packing(call: &TeCall) -> Result<Packing, String> {
    Packing::of(&call.attrs, 3).map_err(|violation| violation.to_string())
}

fn pack<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let packing = packing(call)?;
    let signed = call.types[0].dtype == DType::I8;
    let each = packing.of_word();
    let words = kernel.reduce(call.op.name, &call.results[0], &[each], Combine::Sum, |s, axes, over| {
        let (last, lead) = (axes.len() - 1, &axes[..axes.len() - 1]);
        let place = s.index_add(s.index_affine(axes[last], each as i64, 0), over[0]);
        let number = s.cast(s.load(call.operands[0], &[lead, &[place]].concat()), DType::U32);
        let offset = s.int(packing.offset(signed) as i64, DType::U32);
        let bits = s.and(s.add(number, offset), s.int(packing.mask().into(), DType::U32));
        s.shift_left(bits, bits_before(s, over[0], packing))
    });
    Ok(vec![words])
}

/// How many bits are before a number of a word.
fn bits_before<'c>(s: &Scalars<'c>, number: Value<'c>, packing: Packing) -> Scalar<'c> {
    s.from_index(s.index_affine(number, packing.bits as i64, 0), DType::U32)
}

fn dense<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let product = Product::of(call)?;
    let rows: u64 = call.shape(0).split_last().map_or(1, |(_, lead)| lead.iter().product());
    Ok(vec![if is_of_blocks(rows) {
        product.by_blocks(kernel, call)
    } else {
        product.of_weights(kernel, call)
    }])
}

struct Product {
    packing: Packing,
    blocks: u64,
    /// Numbers of a block, and words.
    block: u64,
    words: u64,
}

impl Product {
    fn of(call: &TeCall) -> Result<Product, String> {
        let packing = packing(call)?;
        let (words, blocks) = (known_from(&call.types[1], 0)?[1], known_from(&call.types[2], 0)?[1]);
        let words = words / blocks.max(1);
        Ok(Product { packing, blocks, block: words * packing.of_word(), words })
    }

    fn by_blocks<'c>(&self, kernel: &Kernel<'c>, call: &TeCall<'c>) -> Value<'c> {
        let [x, words, scale, zero] = call.operands[..] else { return call.operands[0] };
        let (packing, half) = (self.packing, self.packing.of_half());
        let lead = &call.types[0].dims[..call.types[0].rank() - 1];
        let of = |more: &[u64]| {
            TensorType::new(
                [lead, &more.iter().map(|n| (*n).into()).collect::<Vec<_>>()].concat(),
                DType::F32,
            )
        };
        let scaled = kernel.compute("scaled", &call.types[0], |s, at| {
            let place = s.index_mod(at[at.len() - 1], half as i64);
            let data = s.load(x, at);
            s.mul(data, s.cast(over_power(s, place, packing), data.dtype))
        });
        let sums = kernel.reduce("sums", &of(&[self.blocks]), &[self.block], Combine::Sum, |s, at, over| {
            let (own, block) = at.split_at(at.len() - 1);
            let place = s.index_add(s.index_affine(block[0], self.block as i64, 0), over[0]);
            s.load(x, &[own, &[place]].concat())
        });
        let rows = call.shape(1)[0];
        let steps = [self.words, 2, half];
        let blocks =
            kernel.reduce("blocks", &of(&[rows, self.blocks]), &steps, Combine::Sum, |s, at, over| {
                let (own, [n, block]) = (&at[..at.len() - 2], [at[at.len() - 2], at[at.len() - 1]]);
                let word = s.index_add(s.index_affine(block, self.words as i64, 0), over[0]);
                let first = s.index_affine(word, packing.of_word() as i64, 0);
                let place = s.index_add(s.index_affine(over[1], half as i64, 0), over[2]);
                let data = s.load(scaled, &[own, &[s.index_add(first, place)]].concat());
                let word = s.load(words, &[n, word]);
                let is_upper = s.index_compare(Compare::Equal, over[1], s.index(1));
                let upper = s.shift_right(word, s.int(WORD as i64 / 2, DType::U32));
                let mask = s.int(packing.mask().into(), DType::U32);
                let mask = s.shift_left(mask, bits_before(s, over[2], packing));
                let number = s.and(s.select(is_upper, upper, word), mask);
                s.mul(data, float(s, number))
            });
        kernel.reduce(call.op.name, &call.results[0], &[self.blocks], Combine::Sum, |s, at, over| {
            let (own, n) = at.split_at(at.len() - 1);
            let place = [n[0], over[0]];
            let product = s.load(blocks, &[at, over].concat());
            let sum = s.load(sums, &[own, over].concat());
            let product = s.sub(product, s.mul(s.load(zero, &self.of_scales(s, call, &place)), sum));
            s.mul(product, s.load(scale, &place))
        })
    }

    fn of_weights<'c>(&self, kernel: &Kernel<'c>, call: &TeCall<'c>) -> Value<'c> {
        let [x, words, scale, zero] = call.operands[..] else { return call.operands[0] };
        let (packing, rows) = (self.packing, call.shape(1)[0]);
        let depth = self.blocks * self.block;
        let weights = kernel.compute("weights", &TensorType::fixed(&[rows, depth], DType::F32), |s, at| {
            let place = [at[0], s.index_div(at[1], self.block as i64)];
            let word = s.load(words, &[at[0], s.index_div(at[1], packing.of_word() as i64)]);
            let before = bits_before(s, s.index_mod(at[1], packing.of_word() as i64), packing);
            let number = s.and(s.shift_right(word, before), s.int(packing.mask().into(), DType::U32));
            let number = s.sub(float(s, number), s.load(zero, &self.of_scales(s, call, &place)));
            s.mul(number, s.load(scale, &place))
        });
        kernel.reduce(call.op.name, &call.results[0], &[depth], Combine::Sum, |s, at, over| {
            let (own, n) = at.split_at(at.len() - 1);
            s.mul(s.load(x, &[own, over].concat()), s.load(weights, &[n, over].concat()))
        })
    }

    /// The place in the zero points, which broadcast to the scales, of a place in these.
    fn of_scales<'c>(&self, s: &Scalars<'c>, call: &TeCall<'c>, place: &[Value<'c>]) -> Vec<Value<'c>> {
        broadcast_indices(s, place, &call.types[3].dims, &call.types[2].dims)
    }
}

/// A number of few bits, whatever its place in half a word, as a float: its sign is known, which conversions of signed numbers are faster by.
fn float<'c>(s: &Scalars<'c>, number: Scalar<'c>) -> Scalar<'c> {
    s.cast(s.cast(number, DType::I32), s.compute_type(DType::F32))
}

/// One over the power of two that a number at a place of half a word is a multiple of there.
fn over_power<'c>(s: &Scalars<'c>, place: Value<'c>, packing: Packing) -> Scalar<'c> {
    /// Bits of the mantissa of an f32, and the exponent of 1.
    const MANTISSA: i64 = 23;
    const ONE: i64 = 127;
    let bits = bits_before(s, place, packing);
    let exponent = s.sub(s.int(ONE, DType::U32), bits);
    let bits = s.shift_left(exponent, s.int(MANTISSA, DType::U32));
    s.bitcast(s.bitcast(bits, DType::I32), DType::F32)
}
