//! `reindex`: a sum of products over windows becomes a product of two matrices.
//!
//!     y[n, o, h, w] += x[n, c, h + r, w + s] * f[o, c, r, s]            by (n), (o), (h, w), (c, r, s)
//!
//!     a[o, k] = f[o, k / 9, k / 3 mod 3, k mod 3]
//!     b[n, k, p] = x[n, k / 9, p / W + k / 3 mod 3, p mod W + k mod 3]      =>      y[n, o, p] += b[n, k, p] * a[o, k]
//!
//! The copies have the axes of the computation, of which they are one for one elements (Feng et al., "TensorIR", 2023, calls it so); computed
//! where they are used, they are what a product copies anyway (Chellapilla et al., "High Performance Convolutional Neural Networks for
//! Document Processing", 2006, on convolutions as products). What reads the result goes on with the new axes.

use super::super::{Attach, Handle, Handles, Schedule, Stage, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::indices::{accesses, put, value_at};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::{Kernel, Op as Te, Scalars};
use fusion_dialects::{
    Build, Op, OpExt, Value, ValueLike, ValueMap, arguments, defining_op, index_type, ints_attr,
    is_index_type, key, kind_of, nested_ops, ops_in, tensor_type, tensor_type_to_mlir,
};
use fusion_operators::{Dim, TensorType};

/// A copy: what it is called, and its axes.
pub type Copy<'a> = (&'a str, &'a [usize]);

/// An axis that several became.
struct Group {
    axes: std::ops::Range<usize>,
    extent: u64,
    reduce: bool,
}

/// Gives a sum of products other axes, and copies of what it reads; gives the copies.
pub fn reindex<'c>(
    tree: &mut Schedule<'c>,
    stage: StageId,
    groups: &[usize],
    copies: [Copy; 2],
) -> Result<[StageId; 2], String> {
    let s = &tree.stages[stage];
    let (op, name) = (s.op, s.name.clone());
    let touched =
        !s.relations.is_empty() || s.layout.is_some() || s.scope.is_some() || s.tensorized.is_some();
    if s.attach != Attach::Root || touched {
        return Err(format!("gives stage \"{name}\" other axes after other primitives; do it first"));
    }
    if tree.results.contains(&stage) {
        return Err(format!(
            "gives stage \"{name}\", a result of the kernel, other axes; use te.cache_write first"
        ));
    }
    let read = accesses(op);
    let indices = |n: usize| read.get(n)?.indices.iter().cloned().collect::<Option<Vec<Expr>>>();
    let (2, Some(first), Some(second), [result]) =
        (read.len(), indices(0), indices(1), &op.result_values()[..])
    else {
        return Err(format!(
            "gives stage \"{name}\" other axes, which is no product of two elements at indices of its axes"
        ));
    };
    // The new axes go through all of the computation; what is needed of it is found where it is computed.
    let whole: Vec<(u64, u64)> = tree.stages[stage].extents().into_iter().map(|n| (0, n)).collect();
    let rank = tree.stages[stage].rank();
    tree.stages[stage].narrow_as(&whole[..rank]);
    let groups = grouped(tree, stage, groups)?;
    let readers: Vec<Op> = tree
        .consumers(stage)
        .into_iter()
        .flat_map(|c| nested_ops(tree.stages[c].op))
        .filter(|o| o.operand_values().iter().any(|v| key(*v) == key(*result)))
        .collect();
    if let Some(other) = readers.iter().find(|o| !matches!(kind_of(**o), Some(Kind::Te(Te::Load)))) {
        return Err(format!("gives stage \"{name}\" other axes, which is read by {}", other.full_name()));
    }
    for (copy, _) in copies {
        if tree.named(copy).is_some() {
            return Err(format!("makes a stage \"{copy}\", but the kernel has one of that name"));
        }
    }
    // Each old axis in terms of the new ones.
    let old: Vec<Option<Expr>> =
        groups.iter().enumerate().flat_map(|(g, group)| of_group(tree, stage, g, group)).collect();
    let mut made = Vec::new();
    for (n, (indices, (copy, order))) in [first, second].into_iter().zip(copies).enumerate() {
        let at: Option<Vec<Expr>> = indices.iter().map(|e| put(e, &old)).collect();
        let at = at
            .filter(|all| !all.iter().any(Expr::is_opaque))
            .ok_or("reads at indices that depend on data")?;
        let goes = |g: usize| at.iter().any(|e| e.mentions(g));
        let once = order.iter().enumerate().all(|(i, g)| !order[..i].contains(g) && *g < groups.len());
        if !once || (0..groups.len()).any(|g| goes(g) && !order.contains(&g)) {
            return Err(format!(
                "copies operand {n} of stage \"{name}\" with the axes {order:?}, each of which must be there once, and all that it goes along"
            ));
        }
        let tensor = read[n].tensor;
        let Some(source) = tensor_type(tensor) else { return Err("copies a value that is no tensor".into()) };
        let dims = order.iter().map(|g| Dim::Static(groups[*g].extent)).collect();
        let ty = TensorType::new(dims, source.dtype);
        let value = Kernel::new(Build::before(op)).compute(copy, &ty, |s, axes| {
            let variable = |g: usize| order.iter().position(|o| *o == g).map(|i| axes[i]);
            let at: Vec<Value> = at.iter().map(|e| value_at(s, e, &variable)).collect();
            s.load(tensor, &at)
        });
        made.push((value, order));
    }
    let new = rebuilt(op, &groups, &made);
    for load in readers {
        read_by_groups(load, new.result_values()[0], &groups, tree, stage);
    }
    op.erase();
    tree.stages[stage] = Stage::of(new);
    let mut ids = [0; 2];
    for (id, (value, _)) in ids.iter_mut().zip(&made) {
        let Some(copy) = defining_op(*value) else { return Err("has no copy".into()) };
        *id = tree.add(copy);
    }
    Ok(ids)
}

/// The new axes, each a range of old ones.
fn grouped(tree: &Schedule, stage: StageId, numbers: &[usize]) -> Result<Vec<Group>, String> {
    let s = &tree.stages[stage];
    let wrong = || {
        format!(
            "gives the {} axes of stage \"{}\" the numbers {numbers:?}; they must be one each, from 0 in steps of 0 or 1, and not the same for \
             a parallel axis and a reduction axis",
            s.op_axes(),
            s.name
        )
    };
    let mut groups: Vec<Group> = Vec::new();
    for (axis, &number) in numbers.iter().enumerate() {
        let Some(a) = s.axes.get(axis).filter(|_| axis < s.op_axes()) else { return Err(wrong()) };
        if number == groups.len() {
            groups.push(Group { axes: axis..axis, extent: 1, reduce: a.reduce });
        }
        let is_last = number + 1 == groups.len();
        match groups.last_mut() {
            Some(group) if is_last && group.reduce == a.reduce => {
                group.axes.end = axis + 1;
                group.extent = group.extent.saturating_mul(a.extent);
            }
            _ => return Err(wrong()),
        }
    }
    if numbers.len() == s.op_axes() { Ok(groups) } else { Err(wrong()) }
}

/// The old axes of a group: digits of the new one, which is variable `g`.
fn of_group(tree: &Schedule, stage: StageId, g: usize, group: &Group) -> Vec<Option<Expr>> {
    let axes = &tree.stages[stage].axes;
    let whole = Expr::var(g, group.extent);
    let digit = |axis: usize| {
        let unit: u64 = axes[axis + 1..group.axes.end].iter().map(|a| a.extent).product();
        Some(whole.div(unit.max(1) as i64).modulo(axes[axis].extent.max(1) as i64))
    };
    group.axes.clone().map(digit).collect()
}

/// The same reduction over the new axes, of elements of the copies.
fn rebuilt<'c>(op: Op<'c>, groups: &[Group], copies: &[(Value<'c>, &[usize])]) -> Op<'c> {
    let build = Build::before(op);
    let context = build.context();
    let body = build.region(&vec![index_type(context); groups.len()], |inner, axes| {
        let (mut map, mut copies) = (ValueMap::new(), copies.iter());
        for old in op.body(0).map(ops_in).unwrap_or_default() {
            let results = old.result_values();
            match (kind_of(old), results.first()) {
                (Some(Kind::Te(Te::Load)), Some(loaded)) => {
                    let Some((copy, order)) = copies.next() else { continue };
                    let operands: Vec<Value> =
                        std::iter::once(*copy).chain(order.iter().map(|g| axes[*g])).collect();
                    map.insert(*loaded, inner.value(Te::Load.name(), &operands, loaded.r#type(), &[]));
                }
                (_, Some(value)) if is_index_type(value.r#type()) => {}
                _ => {
                    map.clone_op(&inner, old);
                }
            }
        }
    });
    let combined = op.body(1).map(arguments).unwrap_or_default();
    let types: Vec<_> = combined.iter().map(|v| v.r#type()).collect();
    let combiner = build.region(&types, |inner, values| {
        let mut map = ValueMap::new();
        for (old, new) in combined.iter().zip(values) {
            map.insert(*old, *new);
        }
        for old in op.body(1).map(ops_in).unwrap_or_default() {
            map.clone_op(&inner, old);
        }
    });
    let of = |reduce: bool| -> Vec<i64> {
        groups.iter().filter(|g| g.reduce == reduce).map(|g| g.extent as i64).collect()
    };
    let dims = of(false).into_iter().map(|n| Dim::Static(n as u64)).collect();
    let dtype = tensor_type(op.result_values()[0]).map_or(fusion_operators::DType::F32, |t| t.dtype);
    let result = tensor_type_to_mlir(context, &TensorType::new(dims, dtype));
    let mut attrs = vec![("axes", ints_attr(context, &of(false))), ("reduce", ints_attr(context, &of(true)))];
    attrs.extend(["name", "init"].into_iter().filter_map(|name| Some((name, op.attr(name)?))));
    build.op_with_regions(Te::Compute.name(), &[], &[result], &attrs, vec![body, combiner])
}

/// Has a load read the new result.
fn read_by_groups<'c>(load: Op<'c>, new: Value<'c>, groups: &[Group], tree: &Schedule<'c>, stage: StageId) {
    let (build, operands) = (Build::before(load), load.operand_values());
    let (s, axes) = (Scalars { build }, &tree.stages[stage].axes);
    let mut passed = vec![new];
    for group in groups.iter().filter(|group| !group.reduce) {
        let mut at = operands[1 + group.axes.start];
        for axis in group.axes.start + 1..group.axes.end {
            at = s.index_add(s.index_affine(at, axes[axis].extent as i64, 0), operands[1 + axis]);
        }
        passed.push(at);
    }
    let value = build.value(Te::Load.name(), &passed, load.result_values()[0].r#type(), &[]);
    load.replace_all_uses(&[value]);
    load.erase();
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let stage = handles.stage(op.operand_values()[0])?;
    let list = |name: &str| -> Vec<usize> {
        let all = op.ints(name).unwrap_or_default();
        all.into_iter().map(|n| usize::try_from(n).unwrap_or(usize::MAX)).collect()
    };
    let (groups, first, second) = (list("groups"), list("first_axes"), list("second_axes"));
    let name = |which: &str| op.text(which).unwrap_or_default();
    let copies = [(name("first"), first.as_slice()), (name("second"), second.as_slice())];
    let made = reindex(tree, stage, &groups, copies)?;
    handles.define(&op.result_values(), &made.map(Handle::Stage));
    Ok(())
}
