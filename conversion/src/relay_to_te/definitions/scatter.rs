//! Writing at computed indices: `y = x; y[p(i, indices)] = f(y[p(i, indices)], updates[i])`, one update after another.
//! A negative index counts from the back; one out of range writes nothing.
//!
//!     scatter_elements   p(i) = i with indices[i] at axis
//!     scatter_nd         p(i, r) = (indices[i, :]..., r)

use super::indices::{each_index, flat, from_front, strides};
use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::loops::{Buffer, Loops};
use fusion_dialects::te::scalar::compute_type;
use fusion_dialects::te::{Compare, Kernel, Scalar, Scalars};
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
    fn place(&self, loops: &Loops<'c>, index: Value<'c>, extent: u64) -> (Value<'c>, Scalar<'c>) {
        let s = loops.scalars();
        let place = from_front(&s, loops.load(self.indices, index), extent);
        let low = s.index_compare(Compare::GreaterEqual, place, s.index(0));
        let high = s.index_compare(Compare::Less, place, s.index(extent as i64));
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
    let elements = ty
        .elements()
        .ok_or_else(|| format!("has a result of type {ty} with more elements than can be counted."))?;
    let meet: Option<Meet> = match call.attrs.str_or("reduction", "none") {
        "add" => Some(Scalars::add),
        "mul" => Some(Scalars::mul),
        "max" => Some(Scalars::max),
        "min" => Some(Scalars::min),
        _ => None,
    };
    // Many updates may meet in one element: half types are rounded after the last.
    let wide = if meet.is_some() { ty.with_dtype(compute_type(ty.dtype)) } else { ty.clone() };
    let buffers = |ins: &[Buffer<'c>], out| Scatter { indices: ins[1], updates: ins[2], result: out, meet };
    if wide == *ty {
        return Ok(kernel.update(call.op.name, &call.operands, ty, |loops, ins, outs| {
            updates(loops, &buffers(ins, outs[0]));
        }));
    }
    let built = kernel.nest(call.op.name, &call.operands, std::slice::from_ref(&wide), |loops, ins, outs| {
        loops.each_independent(elements, |l, i| l.store(l.load_raw(ins[0], i), outs[0], i));
        updates(loops, &buffers(ins, outs[0]));
    });
    Ok(vec![kernel.compute("round", ty, |s, axes| s.load(built[0], axes))])
}

fn scatter_elements<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let axis = axis(&call.facts()).map_err(|violation| violation.to_string())?;
    let (shape, region) = (call.shape(0), call.shape(2));
    let (steps, update_steps) = (strides(&shape), strides(&region));
    scatter(kernel, call, |loops, buffers| {
        // Updates of different lines along the axis meet in no element.
        each_index(loops, &region, &|a| a != axis, &mut |inner, at| {
            let s = inner.scalars();
            let update = flat(&s, at, &update_steps);
            let (place, inside) = buffers.place(inner, update, shape[axis]);
            inner.guard(inside, |l| {
                let mut to = at.to_vec();
                to[axis] = place;
                buffers.put(l, update, flat(&l.scalars(), &to, &steps));
            });
        });
    })
}

fn scatter_nd<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (shape, indices) = (call.shape(0), call.shape(1));
    let Some((&k, rows)) = indices.split_last() else {
        return Err("needs indices with at least one axis.".into());
    };
    let k = k as usize;
    let product = |extents: &[u64]| extents.iter().fold(1u64, |n, &d| n.wrapping_mul(d));
    let (rows, block) = (product(rows), product(&shape[k..]));
    let steps = strides(&shape);
    scatter(kernel, call, |loops, buffers| {
        loops.each(rows, |l, row| {
            let s = l.scalars();
            let named: Vec<_> =
                (0..k).map(|j| buffers.place(l, s.index_affine(row, k as i64, j as i64), shape[j])).collect();
            let places: Vec<_> = named.iter().map(|(place, _)| *place).collect();
            let write = |l: &Loops<'c>| {
                let s = l.scalars();
                let to = flat(&s, &places, &steps[..k]);
                let from = s.index_affine(row, block as i64, 0);
                l.each_independent(block, |l, r| {
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
