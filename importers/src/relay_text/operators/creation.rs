//! Operators that make tensors.

use super::shape::fixed;
use super::{Built, Call};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::ops::{creation, shape};
use fusion_operators::{Attrs, DType};

const fn row(
    name: &'static str,
    operands: (usize, usize),
    attributes: &'static [&'static str],
    build: super::Build,
) -> Built {
    Built { name, operands, attributes, ignored: &[], build }
}

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    row("zeros", (0, 0), &["shape", "dtype"], |call| filled(call, 0.0)),
    row("ones", (0, 0), &["shape", "dtype"], |call| filled(call, 1.0)),
    row("zeros_like", (1, 1), &[], |call| filled_like(call, 0.0)),
    row("ones_like", (1, 1), &[], |call| filled_like(call, 1.0)),
    row("full", (1, 1), &["shape", "dtype"], full),
    row("full_like", (2, 2), &[], full_like),
    row("arange", (1, 3), &["start", "stop", "step", "dtype"], arange),
    row("shape_of", (1, 1), &["dtype"], |call| shape_of(call, DType::I32)),
    row("vm.shape_of", (1, 1), &["dtype"], |call| shape_of(call, DType::I64)),
];

fn broadcast<'c>(call: &mut Call<'_, 'c, '_>, scalar: Value<'c>, shape: Vec<i64>) -> Outcome<Value<'c>> {
    if shape.is_empty() {
        return Ok(scalar);
    }
    call.row(&shape::BROADCAST_TO, &[scalar], Attrs::new().with("shape", shape))
}

fn filled<'c>(call: &mut Call<'_, 'c, '_>, number: f64) -> Outcome<Made<'c>> {
    let dtype = call.maybe_element("dtype")?.unwrap_or(DType::F32);
    let shape = call.maybe_ints("shape")?.unwrap_or_default();
    let scalar = call.scalar(dtype, number)?;
    broadcast(call, scalar, shape).map(Made::Value)
}

fn filled_like<'c>(call: &mut Call<'_, 'c, '_>, number: f64) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    filled_as(call, x, number).map(Made::Value)
}

/// A number in the shape of a tensor.
pub fn filled_as<'c>(call: &mut Call<'_, 'c, '_>, x: Value<'c>, number: f64) -> Outcome<Value<'c>> {
    let (dtype, shape) = (call.known(x, "the type")?.dtype, fixed(call, x)?);
    let scalar = call.scalar(dtype, number)?;
    broadcast(call, scalar, shape)
}

fn full<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let mut scalar = call.operand(0);
    if let Some(dtype) = call.maybe_element("dtype")? {
        scalar = call.cast(scalar, dtype)?;
    }
    let shape = call.maybe_ints("shape")?.unwrap_or_default();
    broadcast(call, scalar, shape).map(Made::Value)
}

fn full_like<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, scalar) = (call.operand(0), call.operand(1));
    let (dtype, shape) = (call.known(x, "the type")?.dtype, fixed(call, x)?);
    let scalar = call.cast(scalar, dtype)?;
    broadcast(call, scalar, shape).map(Made::Value)
}

/// From start up to stop by step; TVM's printer writes the three as operands and, again, as attributes.
fn arange<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let count = call.arguments.len();
    let mut numbers = Vec::with_capacity(count);
    let mut first = None;
    for i in 0..count {
        let tensor = call.constant(i)?;
        if tensor.len() != 1 {
            return call.fault("takes scalars");
        }
        first.get_or_insert(tensor.dtype());
        numbers.push(tensor.f64_at(0));
    }
    let (start, stop, step) = match numbers[..] {
        [stop] => (0.0, stop, 1.0),
        [start, stop] => (start, stop, 1.0),
        [start, stop, step, ..] => (start, stop, step),
        [] => return call.fault("takes where to stop"),
    };
    let dtype = call.maybe_element("dtype")?.or(first).unwrap_or(DType::F32);
    let size = ((stop - start) / step).ceil().max(0.0);
    if step == 0.0 || size.is_nan() || size >= 1e15 {
        return call.fault(format!("there is no number of steps from {start} to {stop} by {step}"));
    }
    let attrs =
        Attrs::new().with("size", size as i64).with("start", start).with("step", step).with("dtype", dtype);
    call.row(&creation::ARANGE, &[], attrs).map(Made::Value)
}

fn shape_of<'c>(call: &mut Call<'_, 'c, '_>, usual: DType) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let shape = call.plain(&creation::SHAPE_OF, &[x])?;
    let dtype = call.maybe_element("dtype")?.unwrap_or(usual);
    call.cast(shape, dtype).map(Made::Value)
}
