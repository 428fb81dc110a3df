//! `reverse_reindex`: a stage that rearranges what it reads goes over the axes of that, and stores where it did before.
//!
//!     for m, n, k     p[m, n] += x[m, k] * w[k, n]                  for m, n, k  p[m, n] += x[m, k] * w[k, n]
//!     for b, h, s, d  y[b, h, s, d] = f(p[b S + s, h D + d])   =>   for m, n     y[m / S, n / D, m mod S, n mod D] = f(p[m, n])
//!
//! Then it reads element by element, and can be the epilogue of a product, whose tiles it stores at other addresses. The axes must be digits
//! of the indices that they make up, so that the way back is known; what stands between the two goes over the new axes as well. (TVM's
//! `reverse_compute_inline` of Shao et al., "Tensor Program Optimization with Probabilistic Programs", 2022, turns maps round in the same way;
//! this one leaves both stages, so that the first may be a reduction.)

use super::super::{Handles, Schedule, Stage, StageId};
use super::divide::{is_untouched, may_be_divided};
use crate::layout::{Digit, Layout};
use fusion_dialects::indices::expr::{Atom, Expr};
use fusion_dialects::indices::{accesses, put, value_at};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::{Op as Te, Scalars};
use fusion_dialects::{
    Build, Op, OpExt, Region, Value, ValueLike, ValueMap, arguments, index_type, ints_attr, is_index_type,
    key, kind_of, ops_in, replace_uses, tensor_type, tensor_type_to_mlir, users,
};
use fusion_operators::{DType, Dim, TensorType};
use std::collections::BTreeSet;

/// How a stage rearranges the elements of one that it reads.
pub struct Rearrangement {
    /// Where the elements of the other are stored.
    pub layout: Layout,
    /// The stage and those between, in program order; the axes of each in terms of those of the other.
    points: Vec<(StageId, Vec<Expr>)>,
}

/// Has a stage go over the axes of one that it reads.
pub fn reverse_reindex(tree: &mut Schedule, stage: StageId, producer: StageId) -> Result<(), String> {
    let Rearrangement { layout, points } = rearrangement(tree, stage, producer)?;
    let given = tree.stages[producer].op.result_values()[0];
    // Tensors over the new axes, by those that they are in place of.
    let mut moved: Vec<(Value, Value)> = vec![(given, given)];
    let mut old = Vec::new();
    for (at, point) in &points {
        let op = tree.stages[*at].op;
        let new = over(op, point, &moved);
        moved.push((op.result_values()[0], new.result_values()[0]));
        tree.stages[*at] = Stage { attach: tree.stages[*at].attach, ..Stage::of(new) };
        old.push(op);
    }
    if let Some((result, new)) = moved.last().copied() {
        replace_uses(result, new);
    }
    old.into_iter().rev().for_each(|op| op.erase());
    tree.stages[stage].layout = Some(layout);
    tree.refresh();
    Ok(())
}

/// How a stage rearranges what another gives, or why it cannot go over the axes of that.
pub fn rearrangement(tree: &Schedule, stage: StageId, producer: StageId) -> Result<Rearrangement, String> {
    let (s, p) = (&tree.stages[stage], &tree.stages[producer]);
    let wrong =
        |why: &str| format!("has stage \"{}\" go over the axes of stage \"{}\", {why}", s.name, p.name);
    if !may_be_divided(tree, stage) || s.is_reduction() || s.is_narrowed() || s.into.is_some() {
        return Err(wrong(
            "but only a result of the kernel that combines nothing, that no other stage reads and that no primitive arranged can",
        ));
    }
    let is_compute = matches!(kind_of(p.op), Some(Kind::Te(Te::Compute)));
    let shape = match &p.op.result_values()[..] {
        [given] if is_compute => tensor_type(*given).and_then(|t| t.shape()).unwrap_or_default(),
        _ => return Err(wrong("which is no te.compute of one result")),
    };
    let behind = readers(tree, producer);
    let axes: Vec<Expr> = s.extents().into_iter().enumerate().map(|(axis, n)| Expr::var(axis, n)).collect();
    let mut points: Vec<(StageId, Vec<Expr>)> = vec![(stage, axes)];
    let mut read: Option<Vec<Expr>> = None;
    // Those who read a stage come behind it.
    for at in tree.in_order().into_iter().rev() {
        let Some((_, point)) = points.iter().find(|(of, _)| *of == at) else { continue };
        let point: Vec<Option<Expr>> = point.iter().cloned().map(Some).collect();
        for access in accesses(tree.stages[at].op) {
            let Some(source) = tree.giving(access.tensor).filter(|q| behind.contains(q)) else { continue };
            let indices: Option<Vec<Expr>> =
                access.indices.iter().map(|i| put(i.as_ref()?, &point)).collect();
            let indices = indices.filter(|all| !access.is_conditional && !all.iter().any(Expr::is_opaque));
            let indices = indices.ok_or_else(|| wrong("which it reads at indices that are not known"))?;
            let known = match source == producer {
                true => read.get_or_insert_with(|| indices.clone()),
                false => match points.iter().position(|(of, _)| *of == source) {
                    Some(place) => &mut points[place].1,
                    None => {
                        points.push((source, indices.clone()));
                        continue;
                    }
                },
            };
            if *known != indices {
                return Err(wrong("of which it reads several elements for one"));
            }
        }
    }
    let read = read.ok_or_else(|| wrong("which it does not read"))?;
    let order = tree.in_order();
    points.sort_by_key(|(of, _)| order.iter().position(|other| other == of));
    for (between, _) in points.iter().filter(|(of, _)| *of != stage) {
        let others = tree.consumers(*between).into_iter().any(|c| !points.iter().any(|(of, _)| *of == c));
        let q = &tree.stages[*between];
        let several = q.op.result_values().len() != 1;
        if others
            || several
            || q.is_reduction()
            || tree.results.contains(between)
            || !is_untouched(tree, *between)
        {
            return Err(wrong(&format!(
                "but stage \"{}\" between them is read by others, combines elements, gives several results or was arranged",
                q.name
            )));
        }
    }
    let (layout, back) = turned(&read, &s.extents(), &shape)
        .ok_or_else(|| wrong("but its axes are not the digits of the indices with which it reads that"))?;
    let back: Vec<Option<Expr>> = back.into_iter().map(Some).collect();
    let turn = |point: Vec<Expr>| point.iter().filter_map(|e| put(e, &back)).collect();
    let points = points.into_iter().map(|(of, point)| (of, turn(point))).collect();
    Ok(Rearrangement { layout, points })
}

/// A stage and all that read it, through any others.
pub fn readers(tree: &Schedule, stage: StageId) -> BTreeSet<StageId> {
    let (mut open, mut found) = (vec![stage], BTreeSet::new());
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(tree.consumers(next));
        }
    }
    found
}

/// Where elements are stored that are read at those indices, in terms of axes of those extents, and the axes in terms of the indices.
fn turned(read: &[Expr], extents: &[u64], shape: &[u64]) -> Option<(Layout, Vec<Expr>)> {
    let mut digits: Vec<Option<Digit>> = vec![None; extents.len()];
    let mut placed: Vec<Digit> = Vec::new();
    for (dim, (index, &extent)) in read.iter().zip(shape).enumerate() {
        let mut parts = Vec::new();
        for (atom, by) in index.terms() {
            let Atom::Var(v) = atom else { return None };
            parts.push((u64::try_from(by).ok()?, v.id, v.extent));
        }
        parts.sort_unstable();
        let mut unit = 1;
        for (place, (by, axis, n)) in parts.iter().enumerate() {
            let base = (place + 1 < parts.len()).then_some(*n);
            if *by != unit || digits[*axis].replace(Digit { axis: dim, unit, base }).is_some() {
                return None;
            }
            unit *= n;
        }
        if unit != extent || index.offset() != 0 {
            return None;
        }
        if parts.is_empty() {
            placed.push(Digit { axis: dim, unit: 1, base: None });
        }
    }
    if digits.iter().zip(extents).any(|(digit, n)| digit.is_none() && *n != 1) {
        return None;
    }
    let value = |digit: &Digit| {
        let quotient = Expr::var(digit.axis, shape[digit.axis]).div(digit.unit as i64);
        digit.base.map_or(quotient.clone(), |base| quotient.modulo(base as i64))
    };
    let back = digits.iter().map(|digit| digit.as_ref().map_or(Expr::constant(0), value)).collect();
    placed.extend(digits.into_iter().flatten());
    Some((Layout::new(shape.len(), placed).ok()?, back))
}

/// The same computation over other axes, in terms of which its own are that point; loads of what has these axes are of its own element.
fn over<'c>(op: Op<'c>, point: &[Expr], moved: &[(Value<'c>, Value<'c>)]) -> Op<'c> {
    let build = Build::before(op);
    let context = build.context();
    let of = |value: Value<'c>| tensor_type(value).unwrap_or_else(|| TensorType::new(Vec::new(), DType::F32));
    let dims: Vec<Dim> = of(moved[0].0).dims;
    let body = build.region(&vec![index_type(context); dims.len()], |inner, axes| {
        let mut map = ValueMap::new();
        let scalars = Scalars { build: inner };
        for (argument, at) in op.body(0).map(arguments).unwrap_or_default().into_iter().zip(point) {
            map.insert(argument, value_at(&scalars, at, &|v| axes.get(v).copied()));
        }
        let mut indices = Vec::new();
        for old in op.body(0).map(ops_in).unwrap_or_default() {
            let tensor = old
                .operand_values()
                .first()
                .copied()
                .filter(|_| matches!(kind_of(old), Some(Kind::Te(Te::Load))));
            match tensor.and_then(|t| moved.iter().find(|(given, _)| key(*given) == key(t))) {
                Some((_, new)) => {
                    let operands: Vec<Value> = std::iter::once(*new).chain(axes.iter().copied()).collect();
                    let loaded = old.result_values()[0];
                    map.insert(loaded, inner.value(Te::Load.name(), &operands, loaded.r#type(), &[]));
                }
                None => indices.push(map.clone_op(&inner, old)),
            }
        }
        // Indices of what is read at its own element now.
        for op in indices.into_iter().rev() {
            let is_index = |v: &Value| is_index_type(v.r#type()) && users(*v).is_empty();
            if op.result_values().first().is_some_and(is_index) {
                op.erase();
            }
        }
    });
    let ty = TensorType::new(dims.clone(), of(op.result_values()[0]).dtype);
    let extents: Vec<i64> = dims.iter().map(|dim| dim.known().map_or(0, |n| n as i64)).collect();
    let mut attrs = vec![("axes", ints_attr(context, &extents))];
    attrs.extend(["name", "reduce", "init"].into_iter().filter_map(|name| Some((name, op.attr(name)?))));
    let result = tensor_type_to_mlir(context, &ty);
    build.op_with_regions(Te::Compute.name(), &[], &[result], &attrs, vec![body, Region::new()])
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let operands = op.operand_values();
    let (stage, producer) = (handles.stage(operands[0])?, handles.stage(operands[1])?);
    reverse_reindex(tree, stage, producer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_that_are_digits_are_turned_round() {
        // y[h, s, d] of p[s, h * 4 + d]
        let (h, s, d) = (Expr::var(0, 3), Expr::var(1, 5), Expr::var(2, 4));
        let read = [s.clone(), h.times(4).plus(&d)];
        let (layout, back) = turned(&read, &[3, 5, 4], &[5, 12]).expect("they are digits");
        assert_eq!(layout.to_map(), "affine_map<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>");
        let column = Expr::var(1, 12);
        assert_eq!(back, [column.div(4), Expr::var(0, 5), column.modulo(4)]);
        // A part of the columns, and one of them twice.
        assert!(turned(&read, &[3, 5, 4], &[5, 16]).is_none());
        assert!(turned(&[s.clone(), h.times(3).plus(&d)], &[3, 5, 4], &[5, 12]).is_none());
        assert!(turned(&[s.clone(), s], &[3, 5, 4], &[5, 5]).is_none());
    }
}
