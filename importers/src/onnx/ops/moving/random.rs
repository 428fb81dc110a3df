//! Random numbers, from the words of one generator (`relay.philox`).
//!
//! ```text
//!   uniform   u = 2^-d (word >> (32 - d))    d digits of the type; f64 has 53 of two words
//!   normal    z = sqrt(-2 ln(1 - u)) cos(2 pi v)     (Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958)
//! ```
//! A node's key is its seed, or follows from its name: a program computes the same numbers in each run.

use fusion_operators::ops::philox::PHILOX;
use fusion_operators::ops::{elementwise as ew, reduction};
use fusion_operators::{Attrs, DType, Dim, Format, Tensor};

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::known::Extent;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("RandomUniform", |im, node| {
        let dims = shape_attribute(node)?;
        spread(im, node, &dims, node.opt_dtype("dtype")?.unwrap_or(DType::F32))
    }),
    row("RandomUniformLike", |im, node| {
        let (dims, dtype) = like(im, node)?;
        spread(im, node, &dims, dtype)
    }),
    row("RandomNormal", |im, node| {
        let dims = shape_attribute(node)?;
        bell(im, node, &dims, node.opt_dtype("dtype")?.unwrap_or(DType::F32))
    }),
    row("RandomNormalLike", |im, node| {
        let (dims, dtype) = like(im, node)?;
        bell(im, node, &dims, dtype)
    }),
    row("Bernoulli", bernoulli),
    row("Multinomial", multinomial),
    row("Dropout", dropout),
];

/// The words of one node: what places count from, and how many an element takes.
struct Stream {
    key: Value,
    counter: Value,
}

impl Stream {
    fn of(im: &mut Importer, node: &Node, seed: Option<u64>) -> Result<Stream, Fault> {
        let key = seed.unwrap_or_else(|| named(im, node));
        let key = im.constant(Tensor::from_slice(&[], &[key])?);
        Ok(Stream { key, counter: im.constant(Tensor::from_slice(&[2], &[0u64; 2])?) })
    }

    /// The word `at` of `each` words for every element.
    fn words(&self, im: &mut Importer, dims: &[Dim], [at, each]: [u32; 2]) -> Made {
        let places = im.arange_dim(DType::U64, &Dim::product(dims), at.into(), each.into())?;
        let places = im.reshape_dims(places, dims)?;
        im.op(&PHILOX, &[self.key, self.counter, places], Attrs::new())
    }

    /// Numbers of [0, 1), as a float type has digits for; `at` of `each` for every element.
    fn uniform(&self, im: &mut Importer, dims: &[Dim], dtype: DType, [at, each]: [u32; 2]) -> Made {
        if dtype != DType::F64 {
            let digits = Format::of(dtype).map_or(f32::MANTISSA_DIGITS, |format| format.precision as u32);
            let words = self.words(im, dims, [at, each])?;
            return fraction(im, words, digits, DType::F32);
        }
        let [upper, lower] = [2 * at, 2 * at + 1].map(|at| self.words(im, dims, [at, 2 * each]));
        let upper = fraction(im, upper?, u32::BITS, dtype)?;
        let rest = f64::MANTISSA_DIGITS - u32::BITS;
        let lower = fraction(im, lower?, rest, dtype)?;
        let lower = im.mul_f(lower, f64::exp2(-f64::from(u32::BITS)))?;
        im.add(upper, lower)
    }

    fn normal(&self, im: &mut Importer, dims: &[Dim], dtype: DType) -> Made {
        let [u, v] = [0, 1].map(|at| self.uniform(im, dims, dtype, [at, 2]));
        let (above, v) = (im.f_sub(1.0, u?)?, v?);
        let log = im.un(&ew::LOG, above)?;
        let square = im.mul_f(log, -2.0)?;
        let radius = im.un(&ew::SQRT, square)?;
        let angle = im.mul_f(v, std::f64::consts::TAU)?;
        let cosine = im.un(&ew::COS, angle)?;
        im.mul(radius, cosine)
    }
}

/// The upper `digits` of words, as a fraction of 1.
fn fraction(im: &mut Importer, words: Value, digits: u32, dtype: DType) -> Made {
    let places = im.like(words, (u32::BITS - digits).into())?;
    let kept = im.bin(&ew::SHIFT_RIGHT, words, places)?;
    let number = im.cast(kept, dtype)?;
    im.mul_f(number, f64::exp2(-f64::from(digits)))
}

/// The key of a node without a seed: FNV-1a of its name, behind those of the functions that call it.
fn named(im: &Importer, node: &Node) -> u64 {
    let callers = im.scopes.iter().map(|scope| scope.caller.as_str());
    let names = callers.chain([node.place.name.as_str()]).filter(|name| !name.is_empty());
    let bytes = names.flat_map(|name| name.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A seed of float, by its bits.
fn seed(node: &Node) -> Result<Option<u64>, Fault> {
    Ok(node.opt_float("seed")?.map(|seed| (seed as f32).to_bits().into()))
}

fn shape_attribute(node: &Node) -> Result<Vec<Dim>, Fault> {
    let shape = node.ints("shape")?.ok_or_else(|| Fault::MissingAttribute { name: "shape".into() })?;
    crate::onnx::build::volume(shape, "attribute shape")?;
    Ok(shape.iter().map(|&n| Extent::Known(n).dim()).collect())
}

fn like(im: &mut Importer, node: &Node) -> Result<(Vec<Dim>, DType), Fault> {
    let x = node.input(0)?;
    let dtype = match node.opt_dtype("dtype")? {
        Some(dtype) => dtype,
        None => im.dtype(x)?,
    };
    Ok((im.dims(x)?, dtype))
}

/// The type in which numbers of a type are made.
fn made_in(dtype: DType) -> Result<DType, Fault> {
    match dtype {
        DType::F64 => Ok(DType::F64),
        _ if dtype.is_float() => Ok(DType::F32),
        _ => Err(Fault::value(format!("random numbers are floats, found the type {dtype}"))),
    }
}

/// low + (high - low) u.
fn spread(im: &mut Importer, node: &Node, dims: &[Dim], dtype: DType) -> Converted {
    let (low, high) = (node.float("low", 0.0)?, node.float("high", 1.0)?);
    made_in(dtype)?;
    let u = Stream::of(im, node, seed(node)?)?.uniform(im, dims, dtype, [0, 1])?;
    moved(im, u, [high - low, low], dtype)
}

/// mean + scale z.
fn bell(im: &mut Importer, node: &Node, dims: &[Dim], dtype: DType) -> Converted {
    let (mean, scale) = (node.float("mean", 0.0)?, node.float("scale", 1.0)?);
    let made = made_in(dtype)?;
    let z = Stream::of(im, node, seed(node)?)?.normal(im, dims, made)?;
    moved(im, z, [scale, mean], dtype)
}

/// x factor + offset.
fn moved(im: &mut Importer, x: Value, [factor, offset]: [f64; 2], dtype: DType) -> Converted {
    let scaled = im.mul_f(x, factor)?;
    let moved = im.add_f(scaled, offset)?;
    Ok(vec![im.cast(moved, dtype)?])
}

/// 1 with the probability that the operand says.
fn bernoulli(im: &mut Importer, node: &Node) -> Converted {
    let p = node.input(0)?;
    let (dims, dtype) = like(im, node)?;
    let made = made_in(im.dtype(p)?)?;
    let u = Stream::of(im, node, seed(node)?)?.uniform(im, &dims, made, [0, 1])?;
    let p = im.cast(p, made)?;
    let is_one = im.less(u, p)?;
    Ok(vec![im.cast(is_one, dtype)?])
}

/// Classes by their probabilities, whose logarithms the operand holds: the first at which the sum of those so far exceeds u.
fn multinomial(im: &mut Importer, node: &Node) -> Converted {
    let logits = node.input(0)?;
    let made = made_in(im.dtype(logits)?)?;
    let dtype = node.opt_dtype("dtype")?.unwrap_or(DType::I32);
    let samples = node.int("sample_size", 1)?;
    crate::onnx::build::volume(&[samples], "attribute sample_size")?;
    let [batch, classes] = <[Dim; 2]>::try_from(im.dims(logits)?)
        .map_err(|_| Fault::value("the operand must be a matrix, a row a batch"))?;
    let Some(last) = classes.known().and_then(|n| n.checked_sub(1)) else {
        return Err(Fault::value("the number of classes must be known and not 0"));
    };
    let logits = im.cast(logits, made)?;
    let chances = im.softmax(logits, 1)?;
    let sums = im.op(&reduction::CUMSUM, &[chances], Attrs::new().with("axis", 1i64))?;
    let sums = im.expand_dims(sums, &[1])?;
    let dims = [batch, Extent::Known(samples).dim(), Dim::Static(1)];
    let u = Stream::of(im, node, seed(node)?)?.uniform(im, &dims, made, [0, 1])?;
    let stays = im.less(u, sums)?;
    let passed = im.un(&ew::LOGICAL_NOT, stays)?;
    let passed = im.cast(passed, DType::I64)?;
    let class = im.sum(passed, &[2], false)?;
    let class = im.clip(class, 0.0, last as f64)?;
    Ok(vec![im.cast(class, dtype)?])
}

/// In training, an element is dropped with the probability `ratio`, and the others are divided by 1 - ratio.
fn dropout(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let training = if node.version >= 12 { node.opt(2) } else { None };
    let Some(training) = training else { return kept(im, node, x) };
    let known = im.constant_of(training).map(|t| t.to_ints().iter().any(|&t| t != 0));
    let given = match node.opt(1) {
        Some(ratio) => ratio,
        None => im.scalar(DType::F32, 0.5)?,
    };
    let ratio_is_0 = im.constant_of(given).is_some_and(|ratio| ratio.to_f64s() == [0.0]);
    if known == Some(false) || ratio_is_0 {
        return kept(im, node, x);
    }
    let (dims, dtype) = (im.dims(x)?, im.dtype(x)?);
    let made = made_in(dtype)?;
    let seed = node.opt_int("seed")?.map(|seed| seed as u64);
    let u = Stream::of(im, node, seed)?.uniform(im, &dims, made, [0, 1])?;
    let ratio = im.reshape(given, &[])?;
    let mut ratio = im.cast(ratio, made)?;
    let none = im.scalar(made, 0.0)?;
    if known.is_none() {
        // A ratio of 0 keeps all.
        let training = im.reshape(training, &[])?;
        let training = im.cast(training, DType::Bool)?;
        ratio = im.select(training, ratio, none)?;
    }
    let is_dropped = im.less(u, ratio)?;
    let rest = im.f_sub(1.0, ratio)?;
    let wide = im.cast(x, made)?;
    let grown = im.div(wide, rest)?;
    let y = im.select(is_dropped, none, grown)?;
    let mut results = vec![im.cast(y, dtype)?];
    if node.wants(1) {
        results.push(im.un(&ew::LOGICAL_NOT, is_dropped)?);
    }
    Ok(results)
}

/// In inference, nothing is dropped.
fn kept(im: &mut Importer, node: &Node, x: Value) -> Converted {
    if !node.wants(1) {
        return Ok(vec![x]);
    }
    let dims = im.dims(x)?;
    let dtype = if node.version >= 10 { DType::Bool } else { im.dtype(x)? };
    Ok(vec![x, im.full_dims(dtype, &dims, 1.0)?])
}
