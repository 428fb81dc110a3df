//! Writing at computed indices: `y = x; y[p(i, indices)] = f(y[p(i, indices)], updates[i])`, one update after another.
//! A negative index counts from the back; one out of range writes nothing.
//!
//!     scatter_elements   p(i) = i with indices[i] at axis
//!     scatter_nd         p(i, r) = (indices[i, :]..., r)

use super::indices::{Size, each_index, from_front, number};
use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::loops::{Buffer, Loops};
use fusion_dialects::te::{Compare, Kernel, Scalar, Scalars};
use fusion_operators::Dim;
use fusion_operators::ops::indexing::*;

pub const TABLE: Table = &[(&SCATTER_ELEMENTS, scatter_elements), (&SCATTER_ND, scatter_nd)];

/// How an update meets what is there.
type Meet<'c> = fn(&Scalars<'c>, Scalar<'c>, Scalar<'c>) -> Scalar<'c>;

/// The buffers of a scatter.
struct Scatter<'c> {
    indices: Buffer<'c>,
    updates: Buffer<'c>,
    result: Buffer<'c>,
    meet: Option<Meet<'c>>,
}

impl<'c> Scatter<'c> {
    /// Puts the update at a flat index into the result at a flat index.
    fn put(&self, loops: &Loops<'c>, update: Value<'c>, to: Value<'c>) {
        let value = match self.meet {
            None => loops.load_raw(self.updates, update),
            Some(meet) => {
                let there = loops.load(self.result, to);
                meet(&loops.scalars(), there, loops.load(self.updates, update))
            }
        };
        loops.store(value, self.result, to);
    }

    /// The place that the index at a flat index names on an axis, and whether the axis has it.
    fn place(&self, loops: &Loops<'c>, index: Value<'c>, extent: &Dim) -> (Value<'c>, Scalar<'c>) {
        let s = loops.scalars();
        let place = from_front(&s, loops.load(self.indices, index), extent);
        let low = s.index_compare(Compare::GreaterEqual, place, s.index(0));
        let high = s.index_compare(Compare::Less, place, s.extent(extent));
        (place, s.and(low, high))
    }
}

/// Runs the updates on a copy of the data.
fn scatter<'c>(
    kernel: &Kernel<'c>,
    call: &TeCall<'c>,
    updates: impl FnOnce(&Loops<'c>, &Scatter<'c>),
) -> Built<'c> {
    let ty = &call.results[0];
    if ty.shape().is_some() && ty.elements().is_none() {
        return Err(format!("has a result of type {ty} with more elements than can be counted."));
    }
    let meet: Option<Meet> = match call.attrs.str_or("reduction", "none") {
        "add" => Some(Scalars::add),
        "mul" => Some(Scalars::mul),
        "max" => Some(Scalars::max),
        "min" => Some(Scalars::min),
        _ => None,
    };
    // Many updates may meet in one element: half types are rounded after the last.
    let wide = if meet.is_some() { ty.with_dtype(kernel.compute_type(ty.dtype)) } else { ty.clone() };
    let buffers = |ins: &[Buffer<'c>], out| Scatter { indices: ins[1], updates: ins[2], result: out, meet };
    if wide == *ty && call.types[0] == *ty {
        return Ok(kernel.update(call.op.name, &call.operands, ty, |loops, ins, outs| {
            updates(loops, &buffers(ins, outs[0]));
        }));
    }
    let built = kernel.nest(call.op.name, &call.operands, std::slice::from_ref(&wide), |loops, ins, outs| {
        let elements = Size::of(&loops.scalars(), &ty.dims);
        elements.each_independent(loops, |l, i| l.store(l.load_raw(ins[0], i), outs[0], i));
        updates(loops, &buffers(ins, outs[0]));
    });
    if wide == *ty {
        return Ok(built);
    }
    Ok(vec![kernel.compute("round", ty, |s, axes| s.load(built[0], axes))])
}

fn scatter_elements<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let axis = axis(&call.facts()).map_err(|violation| violation.to_string())?;
    let (dims, region) = (call.dims(0), call.dims(2));
    scatter(kernel, call, |loops, buffers| {
        let s = loops.scalars();
        let sizes: Vec<Size> = region.iter().map(|dim| Size::of(&s, std::slice::from_ref(dim))).collect();
        // Updates of different lines along the axis meet in no element.
        each_index(loops, &sizes, &|a| a != axis, &mut |inner, at| {
            let s = inner.scalars();
            let update = number(&s, at, region);
            let (place, inside) = buffers.place(inner, update, &dims[axis]);
            inner.guard(inside, |l| {
                let mut to = at.to_vec();
                to[axis] = place;
                buffers.put(l, update, number(&l.scalars(), &to, dims));
            });
        });
    })
}

fn scatter_nd<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (dims, indices) = (call.dims(0), call.dims(1));
    let Some((k, rows)) = indices.split_last().and_then(|(k, rows)| Some((k.known()? as usize, rows))) else {
        return Err("needs indices with at least one axis, the last of which is known.".into());
    };
    scatter(kernel, call, |loops, buffers| {
        let s = loops.scalars();
        let (rows, block) = (Size::of(&s, rows), Size::of(&s, &dims[k..]));
        rows.each(loops, |l, row| {
            let s = l.scalars();
            let named: Vec<_> =
                (0..k).map(|j| buffers.place(l, s.index_affine(row, k as i64, j as i64), &dims[j])).collect();
            let places: Vec<_> = named.iter().map(|(place, _)| *place).collect();
            let write = |l: &Loops<'c>| {
                let s = l.scalars();
                let to = number(&s, &places, dims);
                let from = block.times(&s, row);
                block.each_independent(l, |l, r| {
                    let s = l.scalars();
                    buffers.put(l, s.index_add(from, r), s.index_add(to, r));
                });
            };
            match named.iter().map(|(_, inside)| *inside).reduce(|a, b| s.and(a, b)) {
                Some(inside) => l.guard(inside, write),
                None => write(l),
            }
        });
    })
}
