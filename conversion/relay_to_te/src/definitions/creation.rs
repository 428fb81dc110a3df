//! Tensors from attributes and types: `arange[i] = start + i * step`, `dynamic_iota[i] = i`, `shape_of[k] = extent of axis k`.

use super::{Built, Table, TeCall};
use fusion_dialects::te::{Compare, Kernel};
use fusion_operators::ops::creation::{ARANGE, DYNAMIC_IOTA, SHAPE_OF};
use fusion_operators::{DType, Dim};

pub const TABLE: Table = &[(&ARANGE, arange), (&DYNAMIC_IOTA, dynamic_iota), (&SHAPE_OF, shape_of)];

/// Exact for integers when start and step are whole; else in f64.
fn arange<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (start, step) = (call.attrs.float_or("start", 0.0), call.attrs.float_or("step", 1.0));
    let float = call.results[0].dtype.is_float();
    let whole = start.fract() == 0.0 && step.fract() == 0.0;
    let result = kernel.compute(call.op.name, &call.results[0], |s, axes| {
        if !float && whole {
            // Wraps at 64 bits, which leaves the lower ones, all that the type keeps, exact.
            let number = |v: f64| s.int(v as i128 as i64, DType::I64);
            return s.add(number(start), s.mul(s.from_index(axes[0], DType::I64), number(step)));
        }
        let number = |v| s.float(v, DType::F64);
        let value = s.add(number(start), s.mul(s.from_index(axes[0], DType::F64), number(step)));
        // Fractions are cut, then integers wrap.
        if float || call.results[0].dtype == DType::Bool { value } else { s.cast(value, DType::I64) }
    });
    Ok(vec![result])
}

/// Its extent is a number that the shape function reads.
fn dynamic_iota<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let result = kernel.compute(call.op.name, &call.results[0], |s, axes| s.from_index(axes[0], DType::I64));
    Ok(vec![result])
}

fn shape_of<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let extents = call.dims(0);
    let result = kernel.compute(call.op.name, &call.results[0], |s, axes| {
        let number = |dim: &Dim| match dim.known() {
            Some(known) => s.int(known as i64, DType::I64),
            None => s.from_index(s.extent(dim), DType::I64),
        };
        let mut chosen = extents.last().map_or_else(|| s.int(0, DType::I64), number);
        for (k, extent) in extents.iter().enumerate().rev().skip(1) {
            let here = s.index_compare(Compare::Equal, axes[0], s.index(k as i64));
            chosen = s.select(here, number(extent), chosen);
        }
        chosen
    });
    Ok(vec![result])
}
