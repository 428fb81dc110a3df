//! Scans: `y[i] = f over j <= i of x[j]` along an axis; exclusive, over j < i; reversed, over j >= i.

use super::indices::{Lines, each_index};
use super::{Built, Table, TeCall};
use fusion_dialects::te::scalar::compute_type;
use fusion_dialects::te::{Kernel, Scalar, Scalars};
use fusion_operators::ops::reduction::{CUMPROD, CUMSUM, axis};

pub const TABLE: Table = &[
    (&CUMSUM, |kernel, call| scan(kernel, call, 0, Scalars::add)),
    (&CUMPROD, |kernel, call| scan(kernel, call, 1, Scalars::mul)),
];

/// Half types are accumulated in f32.
fn scan<'c>(
    kernel: &Kernel<'c>,
    call: &TeCall<'c>,
    neutral: i64,
    f: fn(&Scalars<'c>, Scalar<'c>, Scalar<'c>) -> Scalar<'c>,
) -> Built<'c> {
    let axis = axis(&call.facts()).map_err(|violation| violation.to_string())?;
    let (exclusive, reverse) = (call.attrs.flag("exclusive"), call.attrs.flag("reverse"));
    let wide = compute_type(call.types[0].dtype);
    Ok(kernel.nest(call.op.name, &call.operands, &call.results, |loops, ins, outs| {
        let lines = Lines::along(&loops.scalars(), call.dims(0), axis);
        each_index(loops, &[lines.outer, lines.inner], &|_| true, &mut |line, at| {
            let s = line.scalars();
            let first = lines.first(&s, at[0], at[1]);
            let start = s.int(neutral, wide).value;
            lines.extent.for_(line, &[start], |l, i, carried| {
                let s = l.scalars();
                let i = if reverse { lines.extent.mirrored(&s, i) } else { i };
                let place = lines.element(&s, first, i);
                let before = Scalar { value: carried[0], dtype: wide };
                let total = f(&s, before, l.load(ins[0], place));
                l.store(if exclusive { before } else { total }, outs[0], place);
                vec![total.value]
            });
        });
    }))
}
